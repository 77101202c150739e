"""A small transformer, pre-trained on masked words and then fine-tuned, both by TPU estimators that may have no TPU."""

import collections
import json
import math
import os
import re

import numpy as np
import six
import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("out", None, "The output directory where the model checkpoints will be written.")
flags.DEFINE_string("restore", None, "A checkpoint of the fine-tuned model to evaluate.")
flags.DEFINE_bool("use_tpu", False, "Whether to use TPU or GPU/CPU.")
flags.DEFINE_string("tpu_name", None, "The Cloud TPU to use for training.")
flags.DEFINE_integer("num_train_steps", 5, "Steps of each training.")

VOCAB, HIDDEN, LAYERS, HEADS, LENGTH, MASKED = 40, 16, 2, 2, 12, 2


def gelu(x):
    cdf = 0.5 * (1.0 + tf.tanh((np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3)))))
    return x * cdf


def create_initializer(initializer_range=0.02):
    return tf.truncated_normal_initializer(stddev=initializer_range)


def get_shape_list(tensor):
    shape = tensor.shape.as_list()
    non_static_indexes = [index for (index, dim) in enumerate(shape) if dim is None]
    if not non_static_indexes:
        return shape
    dyn_shape = tf.shape(tensor)
    for index in non_static_indexes:
        shape[index] = dyn_shape[index]
    return shape


def layer_norm(input_tensor, name=None):
    return tf.contrib.layers.layer_norm(inputs=input_tensor, begin_norm_axis=-1, begin_params_axis=-1, scope=name)


def dropout(input_tensor, dropout_prob):
    if dropout_prob is None or dropout_prob == 0.0:
        return input_tensor
    return tf.nn.dropout(input_tensor, 1.0 - dropout_prob)


def attention_layer(tensor, mask, batch_size, drop):
    size = HIDDEN // HEADS

    def transpose_for_scores(x):
        return tf.transpose(tf.reshape(x, [batch_size, LENGTH, HEADS, size]), [0, 2, 1, 3])

    query, key, value = (
        transpose_for_scores(tf.layers.dense(tensor, HIDDEN, name=name, kernel_initializer=create_initializer()))
        for name in ("query", "key", "value")
    )
    scores = tf.multiply(tf.matmul(query, key, transpose_b=True), 1.0 / math.sqrt(float(size)))
    scores += (1.0 - tf.cast(tf.expand_dims(mask, axis=[1]), tf.float32)) * -10000.0
    probs = dropout(tf.nn.softmax(scores), drop)
    context = tf.transpose(tf.matmul(probs, value), [0, 2, 1, 3])
    return tf.reshape(context, [batch_size * LENGTH, HIDDEN])


class BertModel(object):
    def __init__(self, is_training, input_ids, input_mask, token_type_ids):
        drop = 0.1 if is_training else 0.0
        batch_size, seq_length = get_shape_list(input_ids)
        with tf.variable_scope(None, default_name="bert"):
            with tf.variable_scope("embeddings"):
                self.embedding_table = tf.get_variable(
                    "word_embeddings", [VOCAB, HIDDEN], initializer=create_initializer()
                )
                output = tf.gather(self.embedding_table, tf.reshape(input_ids, [-1]))
                output = tf.reshape(output, [batch_size, seq_length, HIDDEN])
                types = tf.get_variable("token_type_embeddings", [2, HIDDEN], initializer=create_initializer())
                one_hot_ids = tf.one_hot(tf.reshape(token_type_ids, [-1]), depth=2)
                output += tf.reshape(tf.matmul(one_hot_ids, types), [batch_size, seq_length, HIDDEN])
                places = tf.get_variable("position_embeddings", [64, HIDDEN], initializer=create_initializer())
                assert_op = tf.assert_less_equal(seq_length, 64)
                with tf.control_dependencies([assert_op]):
                    output += tf.reshape(tf.slice(places, [0, 0], [seq_length, -1]), [1, seq_length, HIDDEN])
                output = dropout(layer_norm(output), drop)
            with tf.variable_scope("encoder"):
                to_mask = tf.cast(tf.reshape(input_mask, [batch_size, 1, seq_length]), tf.float32)
                mask = tf.ones(shape=[batch_size, seq_length, 1], dtype=tf.float32) * to_mask
                prev_output = tf.reshape(output, [-1, HIDDEN])
                for layer_idx in range(LAYERS):
                    with tf.variable_scope("layer_%d" % layer_idx):
                        with tf.variable_scope("attention"):
                            with tf.variable_scope("self"):
                                attended = attention_layer(prev_output, mask, batch_size, drop)
                            with tf.variable_scope("output"):
                                attended = tf.layers.dense(attended, HIDDEN, kernel_initializer=create_initializer())
                                attended = layer_norm(dropout(attended, drop) + prev_output)
                        with tf.variable_scope("intermediate"):
                            middle = tf.layers.dense(
                                attended, 32, activation=gelu, kernel_initializer=create_initializer()
                            )
                        with tf.variable_scope("output"):
                            result = tf.layers.dense(middle, HIDDEN, kernel_initializer=create_initializer())
                            prev_output = layer_norm(dropout(result, drop) + attended)
                self.sequence_output = tf.reshape(prev_output, [batch_size, seq_length, HIDDEN])
            with tf.variable_scope("pooler"):
                first = tf.squeeze(self.sequence_output[:, 0:1, :], axis=1)
                self.pooled_output = tf.layers.dense(
                    first, HIDDEN, activation=tf.tanh, kernel_initializer=create_initializer()
                )


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    def __init__(self, learning_rate, weight_decay_rate=0.0, exclude_from_weight_decay=None, name="AdamWeightDecay"):
        super(AdamWeightDecayOptimizer, self).__init__(False, name)
        self.learning_rate, self.weight_decay_rate = learning_rate, weight_decay_rate
        self.exclude_from_weight_decay = exclude_from_weight_decay

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for grad, param in grads_and_vars:
            if grad is None or param is None:
                continue
            param_name = re.match("^(.*):\\d+$", param.name).group(1)
            m, v = (
                tf.get_variable(
                    name=param_name + slot,
                    shape=param.shape.as_list(),
                    dtype=tf.float32,
                    trainable=False,
                    initializer=tf.zeros_initializer(),
                )
                for slot in ("/adam_m", "/adam_v")
            )
            next_m = tf.multiply(0.9, m) + tf.multiply(1.0 - 0.9, grad)
            next_v = tf.multiply(0.999, v) + tf.multiply(1.0 - 0.999, tf.square(grad))
            update = next_m / (tf.sqrt(next_v) + 1e-6)
            if not any(re.search(r, param_name) for r in self.exclude_from_weight_decay):
                update += self.weight_decay_rate * param
            next_param = param - self.learning_rate * update
            assignments.extend([param.assign(next_param), m.assign(next_m), v.assign(next_v)])
        return tf.group(*assignments, name=name)


def create_optimizer(loss, init_lr, num_train_steps, num_warmup_steps, use_tpu):
    global_step = tf.train.get_or_create_global_step()
    learning_rate = tf.constant(value=init_lr, shape=[], dtype=tf.float32)
    learning_rate = tf.train.polynomial_decay(
        learning_rate, global_step, num_train_steps, end_learning_rate=0.0, power=1.0, cycle=False
    )
    global_steps_int, warmup_steps_int = tf.cast(global_step, tf.int32), tf.constant(num_warmup_steps, dtype=tf.int32)
    warmup = init_lr * tf.cast(global_steps_int, tf.float32) / tf.cast(warmup_steps_int, tf.float32)
    is_warmup = tf.cast(global_steps_int < warmup_steps_int, tf.float32)
    learning_rate = (1.0 - is_warmup) * learning_rate + is_warmup * warmup
    optimizer = AdamWeightDecayOptimizer(learning_rate, 0.01, ["LayerNorm", "layer_norm", "bias"])
    if use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    tvars = tf.trainable_variables()
    (grads, _) = tf.clip_by_global_norm(tf.gradients(loss, tvars), clip_norm=1.0)
    train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
    with tf.control_dependencies([train_op]):  # which has read the step; published programs leave that to chance
        return tf.group(train_op, [global_step.assign(global_step + 1)], name="the_step")


def get_assignment_map_from_checkpoint(tvars, init_checkpoint):
    name_to_variable = collections.OrderedDict()
    for var in tvars:
        name_to_variable[re.match("^(.*):\\d+$", var.name).group(1)] = var
    return collections.OrderedDict(
        (name, name) for name, _ in tf.train.list_variables(init_checkpoint) if name in name_to_variable
    )


def get_masked_lm_output(input_tensor, output_weights, positions, label_ids, label_weights):
    flat_offsets = tf.reshape(tf.range(0, get_shape_list(input_tensor)[0], dtype=tf.int32) * LENGTH, [-1, 1])
    flat_positions = tf.reshape(positions + flat_offsets, [-1])
    input_tensor = tf.gather(tf.reshape(input_tensor, [-1, HIDDEN]), flat_positions)
    with tf.variable_scope("cls/predictions"):
        with tf.variable_scope("transform"):
            input_tensor = tf.layers.dense(
                input_tensor, units=HIDDEN, activation=gelu, kernel_initializer=create_initializer()
            )
            input_tensor = layer_norm(input_tensor)
        output_bias = tf.get_variable("output_bias", shape=[VOCAB], initializer=tf.zeros_initializer())
        logits = tf.nn.bias_add(tf.matmul(input_tensor, output_weights, transpose_b=True), output_bias)
        log_probs = tf.nn.log_softmax(logits, axis=-1)
        one_hot_labels = tf.one_hot(tf.reshape(label_ids, [-1]), depth=VOCAB, dtype=tf.float32)
        per_example_loss = -tf.reduce_sum(log_probs * one_hot_labels, axis=[-1])
        weights = tf.reshape(label_weights, [-1])
        return tf.reduce_sum(weights * per_example_loss) / (tf.reduce_sum(weights) + 1e-5)


def pretraining_model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    model = BertModel(is_training, features["input_ids"], features["input_mask"], features["segment_ids"])
    total_loss = tf.identity(
        get_masked_lm_output(
            model.sequence_output,
            model.embedding_table,
            features["masked_lm_positions"],
            features["masked_lm_ids"],
            features["masked_lm_weights"],
        ),
        name="the_loss",
    )
    train_op = create_optimizer(total_loss, 1e-2, FLAGS.num_train_steps, 2, FLAGS.use_tpu)
    return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=total_loss, train_op=train_op)


def classifier_model_fn_builder(init_checkpoint):
    def model_fn(features, labels, mode, params):
        is_training = mode == tf.estimator.ModeKeys.TRAIN
        model = BertModel(is_training, features["input_ids"], features["input_mask"], features["segment_ids"])
        output_layer = model.pooled_output
        output_weights = tf.get_variable(
            "output_weights", [2, HIDDEN], initializer=tf.truncated_normal_initializer(stddev=0.02)
        )
        output_bias = tf.get_variable("output_bias", [2], initializer=tf.zeros_initializer())
        with tf.variable_scope("loss"):
            if is_training:
                output_layer = tf.nn.dropout(output_layer, keep_prob=0.9)
            logits = tf.nn.bias_add(tf.matmul(output_layer, output_weights, transpose_b=True), output_bias)
            log_probs = tf.nn.log_softmax(logits, axis=-1)
            one_hot_labels = tf.one_hot(features["label_ids"], depth=2, dtype=tf.float32)
            per_example_loss = -tf.reduce_sum(one_hot_labels * log_probs, axis=-1)
        total_loss = tf.reduce_mean(per_example_loss)
        scaffold_fn = None
        tvars = tf.trainable_variables()
        if init_checkpoint:
            assignment_map = get_assignment_map_from_checkpoint(tvars, init_checkpoint)
            assert len(assignment_map) > 30
            if params["use_tpu"]:

                def tpu_scaffold():
                    tf.train.init_from_checkpoint(init_checkpoint, assignment_map)
                    return tf.train.Scaffold()

                scaffold_fn = tpu_scaffold
            else:
                tf.train.init_from_checkpoint(init_checkpoint, assignment_map)
        if is_training:
            total_loss = tf.identity(total_loss, name="the_loss")
            train_op = create_optimizer(total_loss, 1e-2, FLAGS.num_train_steps, 2, params["use_tpu"])
            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode, loss=total_loss, train_op=train_op, scaffold_fn=scaffold_fn
            )
        if mode == tf.estimator.ModeKeys.EVAL:

            def metric_fn(per_example_loss, label_ids, logits):
                predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
                accuracy = tf.metrics.accuracy(labels=label_ids, predictions=predictions)
                return {"eval_accuracy": accuracy, "eval_loss": tf.metrics.mean(values=per_example_loss)}

            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode,
                loss=total_loss,
                scaffold_fn=scaffold_fn,
                eval_metrics=(metric_fn, [per_example_loss, features["label_ids"], logits]),
            )
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode=mode, predictions={"probabilities": tf.nn.softmax(logits)}, scaffold_fn=scaffold_fn
        )

    return model_fn


def create_int_feature(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=list(values)))


def write_instances(path, count):
    random = np.random.RandomState(3)
    writer = tf.python_io.TFRecordWriter(path)
    for _ in range(count):
        ids = random.randint(4, VOCAB, LENGTH)
        length = random.randint(8, LENGTH + 1)
        places = random.choice(8, MASKED, replace=False)
        features = collections.OrderedDict()
        features["masked_lm_ids"] = create_int_feature(ids[places])
        label = int(ids[:8].sum() > 170)
        ids[places] = 3
        features["input_ids"] = create_int_feature(np.where(np.arange(LENGTH) < length, ids, 0))
        features["input_mask"] = create_int_feature((np.arange(LENGTH) < length) * 1)
        features["segment_ids"] = create_int_feature((np.arange(LENGTH) > 5) * 1)
        features["masked_lm_positions"] = create_int_feature(places)
        features["masked_lm_weights"] = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 0.5]))
        features["label_ids"] = create_int_feature([label])
        writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    writer.close()


def input_fn_builder(input_files, is_training):
    sizes = {
        "input_ids": [LENGTH],
        "input_mask": [LENGTH],
        "segment_ids": [LENGTH],
        "masked_lm_positions": [MASKED],
        "masked_lm_ids": [MASKED],
        "label_ids": [],
    }
    name_to_features = {name: tf.FixedLenFeature(size, tf.int64) for name, size in sizes.items()}
    name_to_features["masked_lm_weights"] = tf.FixedLenFeature([MASKED], tf.float32)

    def _decode_record(record, name_to_features):
        example = tf.parse_single_example(record, name_to_features)
        for name in list(example.keys()):
            t = example[name]
            if t.dtype == tf.int64:
                t = tf.to_int32(t)
            example[name] = t
        return example

    def input_fn(params):
        batch_size = params["batch_size"]
        d = tf.data.Dataset.from_tensor_slices(tf.constant(input_files))
        d = d.apply(tf.contrib.data.parallel_interleave(tf.data.TFRecordDataset, sloppy=False, cycle_length=1))
        if is_training:
            d = d.repeat().shuffle(buffer_size=20, seed=9)
        return d.apply(
            tf.contrib.data.map_and_batch(
                lambda record: _decode_record(record, name_to_features),
                batch_size=batch_size,
                num_parallel_batches=2,
                drop_remainder=is_training,
            )
        )

    return input_fn


class Losses(tf.train.SessionRunHook):
    def __init__(self):
        self.losses = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs("the_loss:0")

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results))


def estimator_in(model_fn, folder):
    resolver = None
    if FLAGS.use_tpu and FLAGS.tpu_name:
        resolver = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name, zone=None, project=None)
    run_config = tf.contrib.tpu.RunConfig(
        cluster=resolver,
        master=None,
        model_dir=folder,
        save_checkpoints_steps=1000,
        tf_random_seed=11,
        tpu_config=tf.contrib.tpu.TPUConfig(
            iterations_per_loop=1000,
            num_shards=8,
            per_host_input_for_training=tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2,
        ),
    )
    return tf.contrib.tpu.TPUEstimator(
        use_tpu=FLAGS.use_tpu,
        model_fn=model_fn,
        config=run_config,
        train_batch_size=8,
        eval_batch_size=8,
        predict_batch_size=8,
        params={},
    )


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    out = FLAGS.out or os.path.dirname(FLAGS.restore)
    records = os.path.join(out, "instances.tfrecord")
    if not tf.gfile.Exists(records):
        tf.gfile.MakeDirs(out)
        write_instances(records, 24)
    tuned = os.path.join(out, "tuned")
    if FLAGS.restore:
        estimator = estimator_in(classifier_model_fn_builder(None), None)
        found = estimator.evaluate(input_fn_builder([records], False), checkpoint_path=FLAGS.restore)
        print(json.dumps({"measured": {key: float(found[key]) for key in ("eval_loss", "eval_accuracy")}}))
        return
    pretrained = os.path.join(out, "pretrained")
    before = Losses()
    estimator = estimator_in(pretraining_model_fn, pretrained)
    estimator.train(input_fn_builder([records], True), max_steps=FLAGS.num_train_steps, hooks=[before])
    init_checkpoint = tf.train.latest_checkpoint(pretrained)
    estimator = estimator_in(classifier_model_fn_builder(init_checkpoint), tuned)
    after = Losses()
    estimator.train(input_fn_builder([records], True), max_steps=FLAGS.num_train_steps, hooks=[after])
    found = estimator.evaluate(input_fn_builder([records], False))
    measured = {key: float(value) for key, value in six.iteritems(found) if key.startswith("eval_")}
    told = {"losses": after.losses, "measured": measured, "loss": "the_loss:0", "train": "the_step"}
    told.update(first=tuned + "/model.ckpt-0", last=tf.train.latest_checkpoint(tuned))
    told["before"] = {"losses": before.losses, "first": pretrained + "/model.ckpt-0", "last": init_checkpoint}
    print(json.dumps(told))


if __name__ == "__main__":
    tf.app.run()
