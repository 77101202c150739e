"""Programs of `tf.data`, as functions of a `tf`: each gives a dataset, of which both libraries give the elements."""

from __future__ import annotations

import collections
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Program = Callable[[Any, Path], Any]

Point = collections.namedtuple("Point", "x y")
RAGGED = [[1, 2], [3], [], [4, 5, 6]]


def _fills(tf: Any, most: int = 7) -> Any:
    """Vectors of growing lengths."""
    return tf.data.Dataset.range(1, most).map(lambda n: tf.fill([n], n))


def _pairs(tf: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices((np.arange(10), np.linspace(0, 1, 20, dtype=np.float32).reshape(10, 2)))


def _failing(tf: Any) -> Any:
    """Elements of which one cannot be computed."""
    return tf.data.Dataset.range(6).map(lambda n: tf.debugging.check_numerics(1.0 / tf.cast(n - 2, tf.float32), "bad"))


def _as_it_is(tf: Any, dataset: Any) -> Any:
    """A dataset that TensorFlow does not rewrite: what follows an error is another element then."""
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.autotune.enabled = False
    return dataset.with_options(options)


PROGRAMS: dict[str, Program] = {
    "range": lambda tf, _: tf.data.Dataset.range(2, 11, 3),
    "range downwards": lambda tf, _: tf.data.Dataset.range(5, -5, -2),
    "tensors": lambda tf, _: tf.data.Dataset.from_tensors({"b": [1, 2], "a": (3.0, b"x")}),
    "slices": lambda tf, _: _pairs(tf),
    "dictionary": lambda tf, _: tf.data.Dataset.from_tensor_slices({"b": [1, 2], "a": ([3.0, 4.0], [b"x", b"y"])}),
    "named tuple": lambda tf, _: tf.data.Dataset.from_tensor_slices(Point([1, 2], [[3], [4]])).map(
        lambda p: Point(p.y, p.x)
    ),
    "map": lambda tf, _: _pairs(tf).map(lambda a, b: (a * 2, tf.reduce_sum(b), {"z": b})),
    "parallel map": lambda tf, _: _pairs(tf).map(lambda a, b: a + tf.cast(b[0] * 10, tf.int64), num_parallel_calls=4),
    "auto map": lambda tf, _: _pairs(tf).map(lambda a, b: (b, a), num_parallel_calls=tf.data.experimental.AUTOTUNE),
    "map of py_func": lambda tf, _: tf.data.Dataset.range(5).map(
        lambda n: tf.py_func(lambda v: v * 3, [n], tf.int64), 3
    ),
    "map of a table": lambda tf, _: tf.data.Dataset.from_tensor_slices(["a", "z", "b"]).map(tf.strings.upper),
    "captured": lambda tf, _: (lambda c: tf.data.Dataset.range(5).map(lambda n: n + c))(tf.constant(7, tf.int64)),
    "batch": lambda tf, _: _pairs(tf).batch(4),
    "batch without rest": lambda tf, _: _pairs(tf).batch(4, drop_remainder=True),
    "parallel batch": lambda tf, _: _pairs(tf).batch(3, num_parallel_calls=2),
    "padded": lambda tf, _: _fills(tf).padded_batch(4, [None]),
    "padded to": lambda tf, _: _fills(tf).padded_batch(4, [9], np.int64(-1)),
    "padded pairs": lambda tf, _: (
        _fills(tf)
        .map(lambda v: (v, tf.cast(v, tf.float32)))
        .padded_batch(2, ([None], [7]), (np.int64(5), 0.5), drop_remainder=True)
    ),
    "unbatch": lambda tf, _: _pairs(tf).batch(4).unbatch(),
    "unbatch dictionary": lambda tf, _: tf.data.Dataset.from_tensors({"a": [1, 2], "b": [[3], [4]]}).unbatch(),
    "repeat": lambda tf, _: _pairs(tf).repeat(2),
    "repeat take": lambda tf, _: tf.data.Dataset.range(3).repeat().take(8),
    "repeat nothing": lambda tf, _: tf.data.Dataset.range(0).repeat(),
    "skip": lambda tf, _: tf.data.Dataset.range(9).skip(4),
    "shard": lambda tf, _: tf.data.Dataset.range(11).shard(3, 1),
    "concatenate": lambda tf, _: tf.data.Dataset.range(3).concatenate(tf.data.Dataset.range(5, 7)),
    "zip": lambda tf, _: tf.data.Dataset.zip((tf.data.Dataset.range(5), {"a": _pairs(tf)})),
    "enumerate": lambda tf, _: tf.data.Dataset.from_tensor_slices([b"a", b"b"]).enumerate(5),
    "filter": lambda tf, _: _pairs(tf).filter(lambda a, b: tf.equal(a % 3, 0)),
    "flat map": lambda tf, _: tf.data.Dataset.range(5).flat_map(
        lambda n: tf.data.Dataset.range(n).map(lambda m: n * 10 + m)
    ),
    "interleave": lambda tf, _: tf.data.Dataset.range(1, 7).interleave(
        lambda n: tf.data.Dataset.from_tensors(n).repeat(n), cycle_length=3, block_length=2
    ),
    "interleave of empty": lambda tf, _: tf.data.Dataset.range(7).interleave(
        lambda n: tf.data.Dataset.from_tensors(n).repeat(n % 3), cycle_length=2, block_length=1
    ),
    "parallel interleave": lambda tf, _: tf.data.Dataset.range(1, 7).interleave(
        lambda n: tf.data.Dataset.from_tensors(n).repeat(n), cycle_length=3, block_length=2, num_parallel_calls=2
    ),
    "old parallel interleave": lambda tf, _: tf.data.Dataset.range(1, 7).apply(
        tf.data.experimental.parallel_interleave(lambda n: tf.data.Dataset.from_tensors(n).repeat(n), 3, 2)
    ),
    "prefetch": lambda tf, _: _pairs(tf).prefetch(2).prefetch(tf.data.experimental.AUTOTUNE),
    "cache": lambda tf, _: _pairs(tf).cache().repeat(3),
    "file cache": lambda tf, folder: _pairs(tf).cache(str(folder / "cache")).repeat(2),
    "window": lambda tf, _: tf.data.Dataset.range(11).window(4, 3, 2).flat_map(lambda w: w.batch(9)),
    "window of pairs": lambda tf, _: (
        _pairs(tf).window(3, drop_remainder=True).flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(3), b.batch(3))))
    ),
    "window with gaps": lambda tf, _: tf.data.Dataset.range(20).window(2, 5).flat_map(lambda w: w.batch(9)),
    "group by window": lambda tf, _: tf.data.Dataset.range(20).apply(
        tf.data.experimental.group_by_window(lambda n: n % 3, lambda key, rows: rows.batch(4), 4)
    ),
    "group by reducer": lambda tf, _: tf.data.Dataset.range(10).apply(
        tf.data.experimental.group_by_reducer(
            lambda n: n % 3,
            tf.data.experimental.Reducer(lambda _: np.int64(0), lambda s, n: s + n, lambda s: s * 2),
        )
    ),
    "buckets": lambda tf, _: _fills(tf, 12).apply(
        tf.data.experimental.bucket_by_sequence_length(lambda v: tf.shape(v)[0], [3, 6], [2, 3, 4])
    ),
    "buckets to boundary": lambda tf, _: _fills(tf, 6).apply(
        tf.data.experimental.bucket_by_sequence_length(
            lambda v: tf.shape(v)[0], [3, 8], [2, 3, 4], pad_to_bucket_boundary=True
        )
    ),
    "unique": lambda tf, _: tf.data.Dataset.from_tensor_slices([1, 2, 1, 3, 2]).apply(tf.data.experimental.unique()),
    "unique texts": lambda tf, _: tf.data.Dataset.from_tensor_slices(["a", "b", "a"]).unique(),
    "scan": lambda tf, _: tf.data.Dataset.range(6).apply(
        tf.data.experimental.scan(np.int64(1), lambda s, n: (s * 2, s + n))
    ),
    "take while": lambda tf, _: tf.data.Dataset.range(9).apply(tf.data.experimental.take_while(lambda n: n < 4)),
    "map and batch": lambda tf, _: _pairs(tf).apply(tf.data.experimental.map_and_batch(lambda a, b: (b, a + 1), 4)),
    "ignore errors": lambda tf, _: _failing(tf).apply(tf.data.experimental.ignore_errors()),
    "batch of failing": lambda tf, _: _as_it_is(tf, _failing(tf).batch(2)),
    "failing": lambda tf, _: _failing(tf),
    "unequal": lambda tf, _: _fills(tf).batch(3),
    "ragged batch": lambda tf, _: _fills(tf).apply(tf.data.experimental.dense_to_ragged_batch(4)),
    "sparse batch": lambda tf, _: _fills(tf).apply(tf.data.experimental.dense_to_sparse_batch(4, [8])),
    "sparse rows": lambda tf, _: tf.data.Dataset.from_tensor_slices(
        tf.SparseTensor([[0, 0], [1, 2], [1, 3]], [1.0, 2.0, 3.0], [3, 4])
    ).batch(2),
    "sparse slices": lambda tf, _: tf.data.Dataset.from_sparse_tensor_slices(
        tf.SparseTensor([[0, 0], [1, 2], [1, 3]], [1.0, 2.0, 3.0], [3, 4])
    ),
    "sparse map": lambda tf, _: tf.data.Dataset.from_tensors(tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [3, 4])).map(
        lambda s: (tf.sparse_tensor_to_dense(s), s)
    ),
    "ragged rows": lambda tf, _: tf.data.Dataset.from_tensor_slices(tf.ragged.constant(RAGGED)).batch(3),
    "ragged map": lambda tf, _: tf.data.Dataset.from_tensors(tf.ragged.constant(RAGGED)).map(lambda r: r.to_tensor()),
    "options": lambda tf, _: _pairs(tf).with_options(tf.data.Options()),
    "counter": lambda tf, _: tf.data.experimental.Counter(3, 2).take(4),
    "rebatch": lambda tf, _: _pairs(tf).batch(4).rebatch(3),
    "assert cardinality": lambda tf, _: tf.data.Dataset.range(4).apply(tf.data.experimental.assert_cardinality(5)),
    "generator": lambda tf, _: tf.data.Dataset.from_generator(
        lambda: ((n, [n] * n) for n in range(4)), (tf.int32, tf.float32), ([], [None])
    ),
    "failing generator": lambda tf, _: tf.data.Dataset.from_generator(_raising, tf.int64, []),
    "generator of other types": lambda tf, _: tf.data.Dataset.from_generator(lambda: iter([1, "a"]), tf.int64, []),
    "generator of other shapes": lambda tf, _: tf.data.Dataset.from_generator(
        lambda: iter([[1], [1, 2]]), tf.int64, [1]
    ),
    "generator of arguments": lambda tf, _: tf.data.Dataset.from_generator(
        lambda n: iter(range(n)), tf.int64, [], (4,)
    ),
    "text lines": lambda tf, folder: tf.data.TextLineDataset([_text(folder), _text(folder)]),
    "zipped lines": lambda tf, folder: tf.data.TextLineDataset(_zipped(folder), "GZIP"),
    "records": lambda tf, folder: tf.data.TFRecordDataset([_records(tf, folder)]),
    "zipped records": lambda tf, folder: tf.data.TFRecordDataset(_records(tf, folder, "ZLIB"), "ZLIB"),
    "records in parallel": lambda tf, folder: tf.data.TFRecordDataset([_records(tf, folder)] * 3, num_parallel_reads=2),
    "records of a dataset": lambda tf, folder: tf.data.TFRecordDataset(
        tf.data.Dataset.from_tensors(_records(tf, folder))
    ),
    "cut records": lambda tf, folder: tf.data.TFRecordDataset(
        [_cut(_records(tf, folder)), _records(tf, folder, name="b")]
    ),
    "damaged records": lambda tf, folder: tf.data.TFRecordDataset([_damaged(_records(tf, folder))]),
    "missing file": lambda tf, folder: tf.data.TFRecordDataset([str(folder / "none"), _records(tf, folder)]),
    "pieces": lambda tf, folder: tf.data.FixedLengthRecordDataset(_bytes(folder, 23), 5, 2, 1),
    "odd pieces": lambda tf, folder: tf.data.FixedLengthRecordDataset(_bytes(folder, 24), 5, 2, 1),
    "csv": lambda tf, folder: tf.data.experimental.CsvDataset(_csv(folder), [tf.int32, 2.5, "none"], header=True),
    "csv columns": lambda tf, folder: tf.data.experimental.CsvDataset(
        _csv(folder), [[7], ["x"]], header=True, select_cols=[0, 2]
    ),
    "csv of wrong types": lambda tf, folder: tf.data.experimental.CsvDataset(
        _csv(folder), [[1], [1], ["x"]], header=True
    ),
    "csv dataset": lambda tf, folder: tf.data.experimental.make_csv_dataset(
        _csv(folder), 2, num_epochs=1, shuffle=False, label_name="c"
    ),
    "files": lambda tf, folder: (
        _csv(folder),
        _text(folder),
        tf.data.Dataset.list_files(str(folder / "*.*"), shuffle=False),
    )[-1].map(lambda name: tf.strings.substr(name, -3, 3)),
    "no files": lambda tf, folder: tf.data.Dataset.list_files(str(folder / "*.nothing")),
    "examples": lambda tf, folder: (
        tf.data.TFRecordDataset(_examples(tf, folder))
        .map(
            lambda text: tf.parse_single_example(
                text, {"a": tf.FixedLenFeature([2], tf.float32), "b": tf.FixedLenFeature([], tf.int64, 5)}
            )
        )
        .batch(3)
    ),
    "varying examples": lambda tf, folder: (
        tf.data.TFRecordDataset(_examples(tf, folder))
        .map(lambda text: tf.parse_single_example(text, {"c": tf.VarLenFeature(tf.string)}))
        .batch(3)
    ),
    "examples in batches": lambda tf, folder: (
        tf.data.TFRecordDataset(_examples(tf, folder))
        .batch(4)
        .map(
            lambda texts: tf.parse_example(
                texts, {"c": tf.VarLenFeature(tf.string), "a": tf.FixedLenFeature([2], tf.float32)}
            )
        )
    ),
    "wrong examples": lambda tf, folder: tf.data.TFRecordDataset(_examples(tf, folder)).map(
        lambda text: tf.parse_single_example(text, {"b": tf.FixedLenFeature([2], tf.float32)})
    ),
    "map with a loop": lambda tf, _: tf.data.Dataset.range(5).map(
        lambda n: tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [np.int64(0), np.int64(0)])[1]
    ),
    "map with branches": lambda tf, _: tf.data.Dataset.range(5).map(
        lambda n: tf.cond(n > 2, lambda: n * 2, lambda: -n)
    ),
    "wrong shapes": lambda tf, _: tf.data.Dataset.range(4).map(lambda n: _told_shape(tf, n, [1])),
    "windows of failing": lambda tf, _: _as_it_is(tf, _failing(tf)).window(2).flat_map(lambda w: w.batch(2)),
    "sliding windows of failing": lambda tf, _: (
        _as_it_is(tf, _failing(tf)).window(3, shift=1).flat_map(lambda w: w.batch(3))
    ),
    "map and batch of failing": lambda tf, _: tf.data.Dataset.range(7).apply(
        tf.data.experimental.map_and_batch(lambda n: tf.debugging.check_numerics(1 / tf.cast(n - 3, tf.float32), ""), 3)
    ),
    "filter out of range": lambda tf, _: tf.data.Dataset.range(5).filter(lambda n: _stopping(tf, n) > -1),
    "flat map out of range": lambda tf, _: tf.data.Dataset.range(5).flat_map(
        lambda n: tf.data.Dataset.from_tensors(_stopping(tf, n))
    ),
    "interleave out of range": lambda tf, _: tf.data.Dataset.range(5).interleave(
        lambda n: tf.data.Dataset.from_tensors(_stopping(tf, n)), 2
    ),
    "scan out of range": lambda tf, _: tf.data.Dataset.range(5).apply(
        tf.data.experimental.scan(np.int64(0), lambda s, n: (s, _stopping(tf, n)))
    ),
    "keys out of range": lambda tf, _: tf.data.Dataset.range(5).apply(
        tf.data.experimental.group_by_window(lambda n: _stopping(tf, n), lambda _, rows: rows.batch(2), 2)
    ),
    "sparse rows in a file": lambda tf, folder: (
        tf.data.Dataset.from_tensor_slices(tf.SparseTensor([[0, 0], [1, 2]], [b"a", b"b"], [3, 4]))
        .cache(str(folder / "cache"))
        .repeat(2)
    ),
    "ragged rows in a file": lambda tf, folder: (
        tf.data.Dataset.from_tensor_slices(tf.ragged.constant(RAGGED)).cache(str(folder / "cache")).repeat(2)
    ),
    "too small": lambda tf, _: _fills(tf, 4).padded_batch(2, [2]),
    "too small for sparse": lambda tf, _: _fills(tf, 4).apply(tf.data.experimental.dense_to_sparse_batch(2, [2])),
    "no calls": lambda tf, _: tf.data.Dataset.range(3).interleave(tf.data.Dataset.range, 2, num_parallel_calls=0),
    "dictionaries for tuples": lambda tf, _: tf.data.Dataset.from_generator(
        lambda: iter([{"a": 1, "b": 2}]), (tf.int64, tf.int64)
    ),
    "whole fractions": lambda tf, _: tf.data.Dataset.from_generator(
        lambda: iter([1.0, np.float32(2), np.float64(3)]), tf.int64, []
    ),
    "csv without header": lambda tf, folder: tf.data.experimental.CsvDataset(
        _written(folder, b""), [tf.int32], header=True
    ),
    "csv with line ends of its own": lambda tf, folder: tf.data.experimental.CsvDataset(
        _written(folder, b'1,"a\r\nb"\r2,"c\rd"\r\n3,"""q"""\n'), [tf.int32, tf.string]
    ),
    "csv whose header has lines": lambda tf, folder: tf.data.experimental.CsvDataset(
        _written(folder, b'"a\nb",c\n1,2\n'), [tf.int32, tf.int32], header=True
    ),
    "csv with a quote inside": lambda tf, folder: tf.data.experimental.CsvDataset(
        _written(folder, b'a"b,c\nd,e\n'), [tf.string, tf.string]
    ),
    "csv with a quote that stays open": lambda tf, folder: tf.data.experimental.CsvDataset(
        _written(folder, b'a,b\n"c""d,e\nf,g\n'), [tf.string, tf.string]
    ),
    "a line of nothing": lambda tf, folder: tf.data.TextLineDataset(_written(folder, b"a\n\r\n\r")),
    "shuffle by a tensor": lambda tf, _: tf.data.Dataset.range(9).shuffle(4, seed=tf.constant(3, tf.int64)),
    "shuffle": lambda tf, _: tf.data.Dataset.range(20).shuffle(5, seed=3),
    "shuffle all": lambda tf, _: _pairs(tf).shuffle(100, seed=4),
    "shuffle again": lambda tf, _: tf.data.Dataset.range(10).shuffle(4, seed=3).repeat(3),
    "shuffle the same": lambda tf, _: (
        tf.data.Dataset.range(10).shuffle(4, seed=3, reshuffle_each_iteration=False).repeat(3)
    ),
    "repeat and shuffle": lambda tf, _: tf.data.Dataset.range(7).repeat(3).shuffle(4, seed=9),
    "shuffle and repeat": lambda tf, _: tf.data.Dataset.range(7).apply(
        tf.data.experimental.shuffle_and_repeat(20, 3, seed=8)
    ),
    "shuffle in batches": lambda tf, _: _pairs(tf).shuffle(4, seed=1).batch(3).repeat(2),
    "sample": lambda tf, _: tf.data.experimental.sample_from_datasets(
        [tf.data.Dataset.range(10), tf.data.Dataset.range(100, 110)], [0.3, 0.7], seed=5
    ),
    "choose": lambda tf, _: tf.data.experimental.choose_from_datasets(
        [tf.data.Dataset.range(5), tf.data.Dataset.range(100, 110)], tf.data.Dataset.range(2).repeat(4)
    ),
    "random": lambda tf, _: tf.data.experimental.RandomDataset(seed=5).take(4),
    "resample": lambda tf, _: (
        tf.data.Dataset.range(40)
        .apply(
            tf.data.experimental.rejection_resample(lambda n: tf.cast(n % 2, tf.int32), [0.9, 0.1], [0.5, 0.5], seed=3)
        )
        .map(lambda c, n: c)
    ),
}
ENDING = frozenset(("missing file", "odd pieces"))
"""Those of which only the first error is looked at."""
UNORDERED = frozenset(("resample",))
"""Those whose elements TensorFlow draws in parallel: only how they begin is looked at."""


def _raising() -> Any:
    yield 1
    raise ValueError("not today")


def _told_shape(tf: Any, n: Any, shape: list[int]) -> Any:
    """A vector of one or two elements, of which something else was said."""
    found = tf.py_func(lambda v: np.ones([v % 2 + 1], np.float32), [n], tf.float32)
    found.set_shape(shape)
    return found


def _stopping(tf: Any, n: Any) -> Any:
    """A number, unless it is too large."""

    def stop(_: Any) -> Any:
        raise StopIteration

    return tf.cond(n > 2, lambda: tf.py_func(stop, [n], tf.int64), lambda: n)


def _written(folder: Path, data: bytes) -> str:
    path = folder / "written"
    path.write_bytes(data)
    return str(path)


def _text(folder: Path) -> str:
    path = folder / "lines.txt"
    path.write_bytes(b"one\r\ntwo\n\nfo\rur\nlast")
    return str(path)


def _zipped(folder: Path) -> str:
    import gzip

    path = folder / "lines.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    return str(path)


def _bytes(folder: Path, count: int) -> str:
    path = folder / f"pieces{count}"
    path.write_bytes(bytes(range(count)))
    return str(path)


def _csv(folder: Path) -> str:
    path = folder / "table.csv"
    path.write_bytes(b'a,b,c\n1,2.5,x\n2,,"y, ""z"\n3,1e2,\n')
    return str(path)


def _write(tf: Any, path: Path, records: list[bytes], kind: str = "") -> str:
    with tf.python_io.TFRecordWriter(str(path), tf.io.TFRecordOptions(kind or None)) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def _records(tf: Any, folder: Path, kind: str = "", name: str = "a") -> str:
    return _write(tf, folder / f"{name}{kind}.tfrecord", [b"first", b"", b"x" * 1000], kind)


def _cut(path: str) -> str:
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[:-500])
    return path


def _damaged(path: str) -> str:
    data = bytearray(Path(path).read_bytes())
    data[40] ^= 1
    Path(path).write_bytes(bytes(data))
    return path


def _examples(tf: Any, folder: Path) -> str:
    records = []
    for n in range(7):
        example = tf.train.Example()
        example.features.feature["a"].float_list.value.extend([n, n + 0.5])
        if n % 2:
            example.features.feature["b"].int64_list.value.append(n)
        example.features.feature["c"].bytes_list.value.extend([b"t"] * (n % 3))
        records.append(example.SerializeToString())
    return _write(tf, folder / "examples.tfrecord", records)
