"""Programs of `tf.feature_column`, for TensorFlow 1 and for us.

A program takes the module that it calls `tf` and a folder for its files, and returns what is run, once before and once
after a training step. Variables begin as numbers that say which they are.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Program = Callable[[Any, Path], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def counting(tf: Any, scale: float = 0.01) -> Callable[..., Any]:
    """An initializer that gives each element its own number."""

    def initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        sizes = [int(size) for size in shape]
        offset = 0 if partition_info is None else partition_info.var_offset[0] * sizes[1]
        numbers = np.arange(offset, offset + np.prod(sizes), dtype=np.float32).reshape(sizes)
        return tf.constant(np.sin(numbers) * np.float32(scale * 100))

    return initializer


def features(tf: Any) -> dict[str, Any]:
    return {
        "price": tf.constant([[1.0], [50.0], [-3.0]]),
        "pair": tf.constant([[1, 2], [3, 4], [500, 600]]),
        "words": tf.constant([["a", "b"], ["c", ""], ["", ""]]),
        "flat": tf.constant(["x", "y", ""]),
        "ids": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([3, 7, 1], tf.int64), [3, 3]),
        "weight": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, -1.0, 2.0], [3, 3]),
        "numbers": tf.constant([[4], [9], [-1]], tf.int64),
    }


def columns(tf: Any) -> dict[str, Any]:
    """Columns without variables, by name."""
    fc = tf.feature_column
    price = fc.numeric_column("price", normalizer_fn=lambda x: x / 10.0)
    pair = fc.numeric_column("pair", shape=[2], dtype=tf.int32)
    ids = fc.categorical_column_with_identity("ids", 10)
    return {
        "price": price,
        "pair": pair,
        "buckets": fc.bucketized_column(price, [0.0, 1.0, 4.0]),
        "pair_buckets": fc.bucketized_column(pair, [2.5, 100]),
        "words": fc.categorical_column_with_hash_bucket("words", 20),
        "numbers": fc.categorical_column_with_hash_bucket("numbers", 7, tf.int64),
        "flat": fc.categorical_column_with_vocabulary_list("flat", ["x", "z", "y"]),
        "flat_oov": fc.categorical_column_with_vocabulary_list("words", ["a", "z"], num_oov_buckets=3),
        "known_numbers": fc.categorical_column_with_vocabulary_list("numbers", [9, 4], default_value=1),
        "ids": ids,
        "clipped": fc.categorical_column_with_identity("numbers", 5, default_value=2),
        "weighted": fc.weighted_categorical_column(ids, "weight"),
    }


def trained(tf: Any, output: Any) -> tuple[Any, Any]:
    """A step towards 1, which waits for the output, and the output before it."""
    loss = tf.reduce_mean(tf.square(output - 1.0))
    with tf.control_dependencies([loss, output]):
        return tf.train.GradientDescentOptimizer(0.5).minimize(loss), output


@program
def numbers(tf: Any, folder: Path) -> Any:
    own = columns(tf)
    return tf.feature_column.input_layer(features(tf), [own[name] for name in ("price", "pair", "buckets")])


@program
def buckets_of_vectors(tf: Any, folder: Path) -> Any:
    return tf.feature_column.input_layer(features(tf), columns(tf)["pair_buckets"])


@program
def indicators(tf: Any, folder: Path) -> Any:
    own = columns(tf)
    names = ("words", "flat", "ids", "clipped", "weighted", "pair_buckets")
    return tf.feature_column.input_layer(
        features(tf), [tf.feature_column.indicator_column(own[name]) for name in names]
    )


@program
def embeddings(tf: Any, folder: Path) -> Any:
    own, fc = columns(tf), tf.feature_column
    chosen = [
        fc.embedding_column(own["words"], 3, initializer=counting(tf)),
        fc.embedding_column(own["flat"], 2, combiner="sum", initializer=counting(tf)),
        fc.embedding_column(own["weighted"], 4, combiner="sqrtn", initializer=counting(tf), max_norm=0.5),
        fc.embedding_column(own["known_numbers"], 2, initializer=counting(tf), trainable=False),
        own["price"],
    ]
    return trained(tf, fc.input_layer(features(tf), chosen))


@program
def lookups_that_are_not_safe(tf: Any, folder: Path) -> Any:
    column = tf.feature_column.embedding_column(
        tf.feature_column.categorical_column_with_identity("numbers", 10),
        3,
        initializer=counting(tf),
        use_safe_embedding_lookup=False,
    )
    return trained(tf, tf.feature_column.input_layer({"numbers": tf.constant([[4], [9], [2]], tf.int64)}, [column]))


@program
def unknown_words(tf: Any, folder: Path) -> Any:
    own, fc = columns(tf), tf.feature_column
    return trained(
        tf, fc.input_layer(features(tf), [fc.embedding_column(own["flat_oov"], 3, initializer=counting(tf))])
    )


@program
def vocabulary_files(tf: Any, folder: Path) -> Any:
    fc, path = tf.feature_column, folder / "words.txt"
    path.write_text("a\nc\nz\n")
    whole = fc.categorical_column_with_vocabulary_file("words", str(path), num_oov_buckets=2)
    first = fc.categorical_column_with_vocabulary_file("flat", str(path), vocabulary_size=2, default_value=1)
    return trained(
        tf,
        fc.input_layer(
            features(tf), [fc.embedding_column(whole, 2, initializer=counting(tf)), fc.indicator_column(first)]
        ),
    )


@program
def crosses(tf: Any, folder: Path) -> Any:
    own, fc = columns(tf), tf.feature_column
    inner = fc.crossed_column(["words", "flat"], 50)
    outer = fc.crossed_column([inner, own["buckets"], own["ids"]], 30, hash_key=5)
    return trained(
        tf, fc.input_layer(features(tf), [fc.embedding_column(outer, 2, initializer=counting(tf)),
                                          fc.indicator_column(inner)])
    )  # fmt: skip


@program
def shared_tables(tf: Any, folder: Path) -> Any:
    fc = tf.feature_column
    one = fc.categorical_column_with_hash_bucket("words", 9)
    other = fc.categorical_column_with_hash_bucket("flat", 9)
    shared = fc.shared_embedding_columns([one, other], 3, initializer=counting(tf))
    named = fc.shared_embedding_columns(
        [fc.categorical_column_with_identity("ids", 12)], 2, shared_embedding_collection_name="own",
        initializer=counting(tf),
    )  # fmt: skip
    return trained(tf, fc.input_layer(features(tf), [*shared, *named]))


@program
def two_layers(tf: Any, folder: Path) -> Any:
    own, fc = columns(tf), tf.feature_column
    column = fc.embedding_column(own["words"], 3, initializer=counting(tf))
    with tf.variable_scope("outer"):
        one = fc.input_layer(features(tf), [column])
        other = fc.input_layer(features(tf), [column])
    return trained(tf, one + 2.0 * other)


@program
def parts(tf: Any, folder: Path) -> Any:
    own, fc = columns(tf), tf.feature_column
    with tf.variable_scope("cut", partitioner=tf.fixed_size_partitioner(3)):
        tables = [fc.embedding_column(own["words"], 3, initializer=counting(tf))]
        first = fc.input_layer(features(tf), tables)
        second = fc.linear_model(features(tf), [own["words"], own["price"]])
    return trained(tf, first + second)


@program
def linear_models(tf: Any, folder: Path) -> Any:
    own, fc = columns(tf), tf.feature_column
    every = [
        *own.values(),
        fc.crossed_column(["words", "flat"], 50),
        fc.embedding_column(own["flat"], 2, initializer=counting(tf)),
    ]
    unlike = {column.name: column for column in every}
    return trained(tf, fc.linear_model(features(tf), list(unlike.values()), units=2))


@program
def linear_means(tf: Any, folder: Path) -> Any:
    own, fc = columns(tf), tf.feature_column
    with tf.variable_scope("outer"):
        first = fc.linear_model(features(tf), [own["words"], own["weighted"]], sparse_combiner="mean")
        second = fc.linear_model(features(tf), [own["words"], own["weighted"]], sparse_combiner="sqrtn")
    return trained(tf, first - second)


@program
def variables_by_column(tf: Any, folder: Path) -> Any:
    own, fc = columns(tf), tf.feature_column
    found: dict[Any, Any] = {}
    tensors: dict[Any, Any] = {}
    chosen = [fc.embedding_column(own["words"], 3, initializer=counting(tf)), own["price"]]
    layer = fc.input_layer(features(tf), chosen, cols_to_vars=found, cols_to_output_tensors=tensors)
    more: dict[Any, Any] = {}
    model = fc.linear_model(features(tf), [own["words"], own["price"]], cols_to_vars=more)
    names = [[variable.op.name for variable in found[column]] for column in chosen]
    names += [[variable.op.name for variable in more[key]] for key in (own["words"], own["price"], "bias")]
    return layer, model, [tensors[column] for column in chosen], tf.constant([str(item) for item in names])


@program
def examples(tf: Any, folder: Path) -> Any:
    own, fc = columns(tf), tf.feature_column
    chosen = [
        own["price"],
        fc.numeric_column("missing", shape=(2,), default_value=3.0),
        fc.embedding_column(own["words"], 3, initializer=counting(tf)),
        fc.indicator_column(own["weighted"]),
        fc.indicator_column(fc.crossed_column(["words", own["buckets"]], 6)),
    ]
    feature = tf.train.Feature
    rows = [
        {
            "price": feature(float_list=tf.train.FloatList(value=[number])),
            "words": feature(bytes_list=tf.train.BytesList(value=words)),
            "ids": feature(int64_list=tf.train.Int64List(value=ids)),
            "weight": feature(float_list=tf.train.FloatList(value=[0.5] * len(ids))),
        }
        for number, words, ids in ((1.0, [b"a", b"c"], [1, 2]), (20.0, [], [3]))
    ]
    encoded = [tf.train.Example(features=tf.train.Features(feature=row)).SerializeToString() for row in rows]
    spec = fc.make_parse_example_spec(chosen)
    parsed = tf.parse_example(tf.constant(encoded), spec)
    shown = tf.constant(sorted(f"{name} {type(kind).__name__} {kind.dtype.name}" for name, kind in spec.items()))
    return trained(tf, fc.input_layer(parsed, chosen)), shown


@program
def a_table_of_a_checkpoint(tf: Any, folder: Path) -> Any:
    prefix = str(folder / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable("some/table", initializer=np.arange(60, dtype=np.float32).reshape(20, 3))
        session.run(tf.global_variables_initializer())
        tf.train.Saver([table]).save(session, prefix, write_meta_graph=False)
    own, fc = columns(tf), tf.feature_column
    column = fc.embedding_column(own["words"], 3, ckpt_to_load_from=prefix, tensor_name_in_ckpt="some/table")
    return trained(tf, fc.input_layer(features(tf), [column]))
