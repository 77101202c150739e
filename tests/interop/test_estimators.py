"""Programs of estimators: trained, evaluated, asked, exported, and their models loaded by TensorFlow.

Estimators are gone from TensorFlow, so what it can do with them is load what they export: the checkpoint and the
SavedModel. What they compute is compared in `tests/tf1/estimators`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow

import tensorkeep.v1 as tf

estimator: Any = tf.estimator
fc: Any = tf.feature_column


def answers_of_tensorflow(folder: bytes, signature: str, **inputs: Any) -> dict[str, Any]:
    """What a SavedModel answers when TensorFlow has loaded it."""
    loaded = tensorflow.saved_model.load(folder.decode())
    tensors = {name: tensorflow.constant(value) for name, value in inputs.items()}
    return {name: value.numpy() for name, value in loaded.signatures[signature](**tensors).items()}


# ---------------------------------------------------------------------------------------------------- Digits


def digits() -> tuple[Any, Any]:
    """Pictures of 8 by 8: a bright stroke in one of four places, and noise."""
    numbers = np.random.default_rng(0)
    labels = numbers.integers(0, 4, 240)
    pictures = numbers.random((240, 8, 8)) * 60
    for picture, label in zip(pictures, labels, strict=True):
        picture[label * 2 : label * 2 + 2] += 150
    return pictures.astype(np.uint8), labels


def write_records(path: Path, pictures: Any, labels: Any) -> None:
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for picture, label in zip(pictures, labels, strict=True):
            features = {
                "image_raw": tf.train.Feature(bytes_list=tf.train.BytesList(value=[picture.tobytes()])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(label)])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())


def parsed(serialized: Any) -> Any:
    spec = {"image_raw": tf.FixedLenFeature([], tf.string), "label": tf.FixedLenFeature([], tf.int64)}
    found = tf.parse_single_example(serialized, spec)
    picture = tf.cast(tf.decode_raw(found["image_raw"], tf.uint8), tf.float32) / 255.0 - 0.5
    picture.set_shape([64])
    return {"image": picture}, tf.cast(found["label"], tf.int32)


def convolutional(features: Any, labels: Any, mode: str, params: Any) -> Any:
    net = tf.reshape(features["image"], [-1, 8, 8, 1])
    net = tf.layers.conv2d(net, 6, 3, padding="same", activation=tf.nn.relu)
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.dense(tf.layers.flatten(net), 16, activation=tf.nn.relu)
    net = tf.layers.dropout(net, rate=0.2, training=mode == estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(net, 4)
    predictions = {"classes": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits, name="softmax_tensor")}
    if mode == estimator.ModeKeys.PREDICT:
        outputs = {"classify": estimator.export.PredictOutput(predictions)}
        return estimator.EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    accuracy = tf.metrics.accuracy(labels, predictions["classes"])
    if mode == estimator.ModeKeys.EVAL:
        return estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    optimizer = tf.train.AdamOptimizer(params["learning_rate"])
    step = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    tf.identity(loss, name="cross_entropy")
    tf.summary.scalar("train_accuracy", accuracy[1])
    return estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def test_digits_from_record_files(tmp_path: Path) -> None:
    pictures, labels = digits()
    write_records(tmp_path / "train.tfrecord", pictures[:200], labels[:200])
    write_records(tmp_path / "test.tfrecord", pictures[200:], labels[200:])

    def reads(name: str, is_training: bool) -> Any:
        def input_fn() -> Any:
            dataset = tf.data.TFRecordDataset(str(tmp_path / name))
            dataset = dataset.shuffle(200, seed=3).repeat() if is_training else dataset
            return dataset.map(parsed, num_parallel_calls=2).batch(20).prefetch(1)

        return input_fn

    model = estimator.Estimator(
        convolutional,
        str(tmp_path / "model"),
        estimator.RunConfig(save_checkpoints_steps=30, tf_random_seed=2),
        {"learning_rate": 0.01},
    )
    hook = tf.train.LoggingTensorHook({"cross_entropy": "cross_entropy"}, every_n_iter=20)
    model.train(reads("train.tfrecord", True), hooks=[hook], steps=60)
    assert model.evaluate(reads("test.tfrecord", False))["accuracy"] > 0.9
    rows = list(model.predict(reads("test.tfrecord", False)))
    assert np.mean([row["classes"] == label for row, label in zip(rows, labels[200:], strict=True)]) > 0.9

    receiver = estimator.export.build_raw_serving_input_receiver_fn(
        {"image": tf.placeholder(tf.float32, [None, 64], name="image")}
    )
    folder = model.export_savedmodel(str(tmp_path / "export"), receiver)
    inputs = pictures[200:].reshape(-1, 64).astype(np.float32) / np.float32(255) - np.float32(0.5)
    found = answers_of_tensorflow(folder, "serving_default", image=inputs)
    np.testing.assert_allclose(found["probabilities"], [row["probabilities"] for row in rows], atol=1e-5)
    reader = tensorflow.train.load_checkpoint(str(tmp_path / "model"))
    assert reader.get_tensor("global_step") == 60
    assert reader.get_tensor("conv2d/kernel").shape == (3, 3, 1, 6)


# ---------------------------------------------------------------------------------------------------- Wide and deep


def people(count: int = 240) -> tuple[dict[str, Any], Any]:
    """Rows of a census: who earns more is told by age, education and job together."""
    numbers = np.random.default_rng(1)
    age = numbers.integers(18, 70, count).astype(np.float32)
    education = numbers.integers(0, 4, count)
    job = numbers.integers(0, 3, count)
    schools = np.array([b"none", b"school", b"college", b"doctor"], object)
    jobs = np.array([b"clerk", b"smith", b"singer"], object)
    labels = ((age > 35) & (education >= 2) | (job == 2)).astype(np.int64)
    return {"age": age, "education": schools[education], "job": jobs[job]}, labels


def wide_and_deep_columns() -> tuple[list[Any], list[Any]]:
    age = fc.numeric_column("age", normalizer_fn=lambda x: (x - 40.0) / 15.0)
    education = fc.categorical_column_with_vocabulary_list("education", ["none", "school", "college", "doctor"])
    job = fc.categorical_column_with_hash_bucket("job", 20)
    buckets = fc.bucketized_column(age, [-1.0, -0.3, 0.5, 1.0])
    crossed = fc.crossed_column([buckets, "education"], 100)
    return [buckets, education, job, crossed], [age, fc.indicator_column(education), fc.embedding_column(job, 4)]


def test_wide_and_deep(tmp_path: Path) -> None:
    features, labels = people()
    wide, deep = wide_and_deep_columns()
    model = estimator.DNNLinearCombinedClassifier(
        str(tmp_path / "model"),
        linear_feature_columns=wide,
        linear_optimizer="Ftrl",
        dnn_feature_columns=deep,
        dnn_hidden_units=[16, 8],
        dnn_optimizer=tf.train.AdagradOptimizer(0.1),
        config=estimator.RunConfig(tf_random_seed=3, save_checkpoints_steps=60),
    )
    inputs = estimator.inputs.numpy_input_fn(features, labels, batch_size=40, num_epochs=None, shuffle=True)
    checked = estimator.inputs.numpy_input_fn(features, labels, batch_size=40, num_epochs=1, shuffle=False)
    spec = fc.make_parse_example_spec([*wide, *deep])
    receiver = estimator.export.build_parsing_serving_input_receiver_fn(spec)
    metrics, exported = estimator.train_and_evaluate(
        model,
        estimator.TrainSpec(inputs, max_steps=120),
        estimator.EvalSpec(checked, steps=None, exporters=estimator.FinalExporter("census", receiver)),
    )
    assert metrics["accuracy"] > 0.85
    assert metrics["auc"] > 0.9
    rows = list(model.predict(checked))[:30]
    examples = [
        tf.train.Example(
            features=tf.train.Features(
                feature={
                    "age": tf.train.Feature(float_list=tf.train.FloatList(value=[features["age"][i]])),
                    "education": tf.train.Feature(bytes_list=tf.train.BytesList(value=[features["education"][i]])),
                    "job": tf.train.Feature(bytes_list=tf.train.BytesList(value=[features["job"][i]])),
                }
            )
        ).SerializeToString()
        for i in range(30)
    ]
    found = answers_of_tensorflow(exported[0], "predict", examples=examples)
    np.testing.assert_allclose(found["probabilities"], [row["probabilities"] for row in rows], atol=1e-5)
    scores = answers_of_tensorflow(exported[0], "serving_default", inputs=examples)["scores"]
    np.testing.assert_allclose(scores, found["probabilities"], atol=1e-6)
    names = {name for name, _ in tensorflow.train.list_variables(str(tmp_path / "model"))}
    assert {"linear/linear_model/job/weights", "dnn/hiddenlayer_1/kernel", "dnn/logits/bias"} <= names


# ---------------------------------------------------------------------------------------------------- BERT


def sentences(count: int) -> dict[str, Any]:
    """Sentences of eight words; which of two kinds one is, is told by whether word 7 is in it."""
    numbers = np.random.default_rng(count)
    ids = numbers.integers(8, 40, (count, 8)).astype(np.int32)
    labels = numbers.integers(0, 2, count).astype(np.int32)
    ids[np.arange(count), numbers.integers(0, 8, count)] = np.where(labels, 7, 6)
    return {"input_ids": ids, "input_mask": np.ones((count, 8), np.int32), "label_ids": labels}


def transformer(ids: Any, mask: Any, is_training: bool) -> Any:
    """A small encoder: embeddings, one block of attention, and the first position pooled."""
    normal = tf.truncated_normal_initializer(stddev=0.1)
    with tf.variable_scope("bert"):
        with tf.variable_scope("embeddings"):
            table = tf.get_variable("word_embeddings", [40, 16], initializer=normal)
            places = tf.get_variable("position_embeddings", [8, 16], initializer=normal)
            hidden = tf.nn.embedding_lookup(table, ids) + tf.expand_dims(places, 0)
        with tf.variable_scope("encoder/layer_0/attention"):
            query, key, value = (
                tf.layers.dense(hidden, 16, name=name, kernel_initializer=normal) for name in ("query", "key", "value")
            )
            scores = tf.matmul(query, key, transpose_b=True) / 4.0
            scores += (1.0 - tf.cast(tf.expand_dims(mask, 1), tf.float32)) * -10000.0
            context = tf.matmul(tf.nn.softmax(scores), value)
            hidden = hidden + tf.layers.dropout(context, 0.1, training=is_training)
        with tf.variable_scope("pooler"):
            return tf.layers.dense(tf.reduce_mean(hidden, 1), 16, activation=tf.tanh, kernel_initializer=normal)


def classifier(features: Any, labels: Any, mode: str, params: Any) -> Any:
    """The model function of a fine-tuning program, with a TPU in mind."""
    is_training = mode == estimator.ModeKeys.TRAIN
    pooled = transformer(features["input_ids"], features["input_mask"], is_training)
    weights = tf.get_variable("output_weights", [2, 16], initializer=tf.truncated_normal_initializer(stddev=0.1))
    bias = tf.get_variable("output_bias", [2], initializer=tf.zeros_initializer())
    logits = tf.nn.bias_add(tf.matmul(pooled, weights, transpose_b=True), bias)
    probabilities = tf.nn.softmax(logits)
    if mode == estimator.ModeKeys.PREDICT:
        return estimator.tpu.TPUEstimatorSpec(mode, predictions={"probabilities": probabilities})
    one_hot = tf.one_hot(features["label_ids"], 2, dtype=tf.float32)
    losses = -tf.reduce_sum(one_hot * tf.nn.log_softmax(logits), -1)
    loss = tf.reduce_mean(losses)
    scaffold_fn = None
    if params.get("init_checkpoint"):
        found = {variable.op.name: variable.op.name for variable in tf.trainable_variables("bert")}

        def scaffold_fn() -> Any:
            tf.train.init_from_checkpoint(params["init_checkpoint"], found)
            return tf.train.Scaffold()

    if mode == estimator.ModeKeys.EVAL:

        def metric_fn(each: Any, label_ids: Any, logits: Any) -> Any:
            return {
                "eval_accuracy": tf.metrics.accuracy(label_ids, tf.argmax(logits, -1)),
                "eval_loss": tf.metrics.mean(each),
            }

        metrics = (metric_fn, [losses, features["label_ids"], logits])
        return estimator.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=metrics, scaffold_fn=scaffold_fn)
    optimizer = tf.train.AdamOptimizer(0.01)
    step = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=step, scaffold_fn=scaffold_fn)


def fed_with(arrays: dict[str, Any], is_training: bool) -> Any:
    def input_fn(params: Any) -> Any:
        dataset = tf.data.Dataset.from_tensor_slices(arrays)
        dataset = dataset.repeat().shuffle(100, seed=1) if is_training else dataset
        return dataset.batch(params["batch_size"], drop_remainder=is_training)

    return input_fn


def test_a_model_like_bert_is_tuned_on_a_tpu_estimator(tmp_path: Path) -> None:
    def made(name: str, init_checkpoint: str | None) -> Any:
        config = estimator.tpu.RunConfig(
            model_dir=str(tmp_path / name),
            save_checkpoints_steps=40,
            tf_random_seed=5,
            tpu_config=estimator.tpu.TPUConfig(
                iterations_per_loop=10,
                num_shards=8,
                per_host_input_for_training=estimator.tpu.InputPipelineConfig.PER_HOST_V2,
            ),
        )
        return estimator.tpu.TPUEstimator(
            classifier, config=config, params={"init_checkpoint": init_checkpoint}, use_tpu=False,
            train_batch_size=16, eval_batch_size=20, predict_batch_size=10,
        )  # fmt: skip

    trained = made("pretrained", None).train(fed_with(sentences(120), True), max_steps=80)
    tuned = made("tuned", trained.latest_checkpoint())
    tuned.train(fed_with(sentences(60), True), steps=20)
    found = tuned.evaluate(fed_with(sentences(60), False))
    assert found["eval_accuracy"] > 0.9
    asked = sentences(60)
    rows = list(tuned.predict(fed_with(asked, False)))
    assert len(rows) == 60

    def receiver() -> Any:
        fed = {name: tf.placeholder(tf.int32, [None, 8], name=name) for name in ("input_ids", "input_mask")}
        return estimator.export.ServingInputReceiver(fed, fed)

    folder = tuned.export_saved_model(str(tmp_path / "export"), receiver)
    answers = answers_of_tensorflow(
        folder, "serving_default", input_ids=asked["input_ids"], input_mask=asked["input_mask"]
    )
    np.testing.assert_allclose(answers["probabilities"], [row["probabilities"] for row in rows], atol=1e-5)
    names = {name for name, _ in tensorflow.train.list_variables(str(tmp_path / "tuned"))}
    assert {"bert/embeddings/word_embeddings", "bert/encoder/layer_0/attention/query/kernel", "output_bias"} <= names
