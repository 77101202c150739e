"""slim: records decoded, read by several readers, and variables found and set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.tf1.contrib.running import values

slim = tf.contrib.slim
decoder = slim.tfexample_decoder


def example(**features: Any) -> bytes:
    made = {}
    for key, value in features.items():
        if isinstance(value[0], bytes):
            made[key] = tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
        elif isinstance(value[0], float):
            made[key] = tf.train.Feature(float_list=tf.train.FloatList(value=value))
        else:
            made[key] = tf.train.Feature(int64_list=tf.train.Int64List(value=value))
    message = tf.train.Example(features=tf.train.Features(feature=made))
    return bytes(message.SerializeToString())


def test_a_decoder_makes_images_boxes_and_tensors_of_an_example() -> None:
    pixels = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)

    def build() -> Any:
        png = values(lambda: tf.image.encode_png(pixels))[0]
        record = example(
            image=[png], kind=[b"png"], raw=[pixels.tobytes()], raw_kind=[b"RAW"], label=[3, 4, 5, 6], height=[2],
            width=[2], ymin=[0.0, 0.5], xmin=[0.1, 0.6], ymax=[0.2, 0.7], xmax=[0.3, 0.8],
        )  # fmt: skip
        features = {
            **{key: tf.FixedLenFeature((), tf.string) for key in ("image", "kind", "raw", "raw_kind")},
            **{key: tf.VarLenFeature(tf.int64) for key in ("label", "height", "width")},
            **{key: tf.VarLenFeature(tf.float32) for key in ("ymin", "xmin", "ymax", "xmax")},
        }
        items = {
            "image": decoder.Image("image", "kind"),
            "raw": decoder.Image("raw", "raw_kind", shape=(2, 2, 3)),
            "boxes": decoder.BoundingBox(),
            "label": decoder.Tensor("label"),
            "square": decoder.Tensor("label", shape_keys=["height", "width"]),
            "both": decoder.BackupHandler(decoder.Tensor("label"), decoder.Tensor("height")),
            "twice": decoder.ItemHandlerCallback("label", lambda found: found["label"].values * 2),
        }
        made = decoder.TFExampleDecoder(features, items)
        assert made.list_items() == list(items)
        with pytest.raises(ValueError, match="no item"):
            made.decode(record, ["nothing"])
        return dict(zip(items, made.decode(record), strict=True))

    found, _ = values(build)
    np.testing.assert_array_equal(found["image"], pixels)
    np.testing.assert_array_equal(found["raw"], pixels)
    np.testing.assert_allclose(found["boxes"], [[0, 0.1, 0.2, 0.3], [0.5, 0.6, 0.7, 0.8]], rtol=1e-6)
    assert found["label"].tolist() == found["both"].tolist() == [3, 4, 5, 6]
    assert found["square"].tolist() == [[3, 4], [5, 6]]
    assert found["twice"].tolist() == [6, 8, 10, 12]


def test_a_provider_reads_every_record_of_all_files_once(tmp_path: Path) -> None:
    for file in range(2):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part-{file}")) as writer:
            for number in range(3):
                writer.write(example(label=[10 * file + number]))
    with tf.Graph().as_default():
        features, items = {"label": tf.FixedLenFeature((), tf.int64)}, {"label": decoder.Tensor("label")}
        dataset = slim.dataset.Dataset(
            str(tmp_path / "part-*"),
            tf.TFRecordReader,
            decoder.TFExampleDecoder(features, items),
            6,
            {"label": "a number"},
            num_classes=20,
        )
        assert dataset.num_classes == 20
        provider = slim.dataset_data_provider.DatasetDataProvider(
            dataset, num_readers=2, num_epochs=1, common_queue_min=2, seed=1
        )
        assert provider.list_items() == ["label", "record_key"]
        assert provider.num_samples() == 6
        with pytest.raises(ValueError, match="is invalid"):
            provider.get(["nothing"])
        (label,) = provider.get(["label"])
        found = []
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            with slim.queues.QueueRunners(session):
                with pytest.raises(slim.queues.NestedQueueRunnerError), slim.queues.QueueRunners(session):
                    pass
                for _ in range(6):
                    found.append(int(session.run(label)))
                with pytest.raises(tf.errors.OutOfRangeError):
                    session.run(label)
    assert sorted(found) == [0, 1, 2, 10, 11, 12]
    with pytest.raises(ValueError, match="No data files"):
        slim.parallel_reader.get_data_files(str(tmp_path / "nothing-*"))


def test_model_variables_are_found_by_scope_suffix_and_name() -> None:
    with tf.Graph().as_default():
        with tf.variable_scope("net"):
            slim.conv2d(tf.zeros([1, 4, 4, 1]), 2, 3, scope="one", normalizer_fn=slim.batch_norm)
            slim.conv2d(tf.zeros([1, 4, 4, 1]), 2, 3, scope="two")
        tf.get_variable("other", [])
        names = [item.op.name for item in slim.get_model_variables()]
        assert names == [
            "net/one/weights", "net/one/BatchNorm/beta", "net/one/BatchNorm/moving_mean",
            "net/one/BatchNorm/moving_variance", "net/two/weights", "net/two/biases",
        ]  # fmt: skip
        assert [item.op.name for item in slim.get_variables_by_name("weights")] == [
            "net/one/weights",
            "net/two/weights",
        ]
        assert [item.op.name for item in slim.get_variables("net/two")] == ["net/two/weights", "net/two/biases"]
        assert [item.op.name for item in slim.get_variables_to_restore(exclude=["net"])] == ["other"]
        assert slim.get_unique_variable("net/two/biases").op.name == "net/two/biases"
        with pytest.raises(ValueError, match="uniquely"):
            slim.get_unique_variable("net/two")
        kept = slim.filter_variables(slim.get_model_variables(), ["weights"], ["two"])
        assert [item.op.name for item in kept] == ["net/one/weights"]
        assert slim.model_analyzer.analyze_vars(slim.get_model_variables("net/two")) == (20, 80)
        assert (
            slim.model_analyzer.tensor_description(slim.get_unique_variable("net/two/weights"))
            == "(float32_ref 3x3x1x2)"
        )


def test_variables_are_set_from_values_and_from_checkpoints(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("a", initializer=[1.0, 2.0])
        tf.get_variable("b", initializer=3.0)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.get_variable("a", [2]), tf.get_variable("c", [])
        with pytest.raises(ValueError, match=r"missing variable \[c\]"):
            slim.assign_from_checkpoint(path, [a, b])
        begin, feeds = slim.assign_from_checkpoint(path, [a, b], ignore_missing_vars=True)
        by_name = slim.assign_from_checkpoint_fn(path, {"b": b})
        some = slim.assign_from_checkpoint_fn(path, [a, b], ignore_missing_vars=True)
        assert slim.assign_from_checkpoint_fn(path, [b], ignore_missing_vars=True) is None
        set_values = slim.assign_from_values_fn({"c": np.array(7.0, np.float32)})
        session.run(begin, feeds)
        assert session.run(a).tolist() == [1.0, 2.0]
        by_name(session)
        assert session.run(b) == 3.0
        set_values(session)
        assert session.run(b) == 7.0
        some(session)
        assert session.run(a).tolist() == [1.0, 2.0]


def test_losses_take_predictions_first_and_weights_of_examples() -> None:
    predictions, labels = np.array([[1.0, 2.0], [3.0, 5.0]], np.float32), np.zeros((2, 2), np.float32)

    def build() -> Any:
        found = [
            slim.losses.mean_squared_error(tf.constant(predictions), labels),
            slim.losses.absolute_difference(tf.constant(predictions), labels, weights=[1.0, 0.0]),
            slim.losses.softmax_cross_entropy(tf.constant(predictions), [[0, 1], [1, 0]], weights=[0.0, 1.0]),
            slim.losses.sparse_softmax_cross_entropy(tf.constant(predictions), [[1], [0]], weights=[0.0, 1.0]),
        ]
        return [*found, slim.losses.get_total_loss()]

    found, _ = values(build)
    entropy = np.log(1 + np.exp(2.0))
    expected = [39 / 4, 1.5, entropy, entropy]
    np.testing.assert_allclose(found[:4], expected, rtol=1e-5)
    np.testing.assert_allclose(found[4], sum(expected), rtol=1e-5)


def test_sizes_are_printed_where_programs_print(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default() as graph:
        tf.get_variable("a", [2, 3])
        slim.model_analyzer.analyze_vars(tf.global_variables())
        assert capsys.readouterr().out == ""
        assert slim.model_analyzer.analyze_vars(tf.global_variables(), print_info=True) == (6, 24)
        rule = "---------"
        assert capsys.readouterr().out.splitlines() == [
            *(rule, "Variables: name (type shape) [size]", rule),
            *("a:0 (float32_ref 2x3) [6, bytes: 24]", "Total size of variables: 6", "Total bytes of variables: 24"),
        ]
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant([1.0, 2.0], name="x"), 1.0, name="y")
        assert slim.model_analyzer.analyze_ops(graph, print_info=True) == 5
        assert capsys.readouterr().out.splitlines() == [
            *(rule, "Operations: name -> (type shapes) [size]", rule),
            *("x \t-> (float32 2) [2]", "y/y \t-> (float32 ) [1]", "y \t-> (float32 2) [2]"),
        ]
