"""Datasets: `tf.data.Dataset` as TensorFlow 1 has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from tensorkeep._lazy import later
from tensorkeep.dtypes import BOOL, INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit, emit_tensors
from tensorkeep.graph.building import colocate_with, name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.runtime.composite_values import SparseTensorValue
from tensorkeep.tf1.datasets.arguments import (
    AUTOTUNE,
    check_number,
    deterministic_text,
    int64_of,
    known_size,
    seed_tensors,
)
from tensorkeep.tf1.datasets.options import Options
from tensorkeep.tf1.datasets.padding import known_padded_shape, padded_shape_tensors, padding_value_tensors
from tensorkeep.tf1.datasets.structures import (
    Classes,
    DatasetSpec,
    Element,
    Nested,
    Shapes,
    Specs,
    Types,
    batched_tensors_of,
    common_specs,
    element_of,
    flat,
    flat_kinds,
    map_leaves,
    pack_leaves,
    register_value,
    spec_classes,
    spec_shapes,
    spec_types,
    with_rows,
    without_rows,
)
from tensorkeep.tf1.functions.type_specs import TensorSpec, TypeSpec

if TYPE_CHECKING:
    from tensorkeep.tf1.datasets import batches, generators, iterators, mapping, mixing, sources
else:  # they are made of datasets
    batches, generators = later("tensorkeep.tf1.datasets.batches"), later("tensorkeep.tf1.datasets.generators")
    iterators, mapping = later("tensorkeep.tf1.datasets.iterators"), later("tensorkeep.tf1.datasets.mapping")
    mixing, sources = later("tensorkeep.tf1.datasets.mixing"), later("tensorkeep.tf1.datasets.sources")

Datasets: TypeAlias = "Nested[Dataset]"
"""Datasets in a structure, which is that of the elements of them side by side."""
Weights: TypeAlias = "TensorLike | Dataset | None"
"""How often an element of each of several datasets is drawn; a dataset of such weights changes them each time."""


class Dataset:
    """A dataset: elements of one structure, one after the other. Every method gives a new one."""

    def __init__(self, variant: Tensor, element_spec: Specs, options: Options | None = None) -> None:
        self._variant_tensor = variant
        self._element_spec = element_spec
        self._options = options or Options()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self._element_spec!r}>"

    def __iter__(self) -> Iterator[Any]:
        raise _not_eager("__iter__")

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        raise WrongTypeError("len() of a dataset is a tensor in graphs: use tf.data.experimental.cardinality")

    # ------------------------------------------------------------------------------------------------ structure

    @property
    def element_spec(self) -> Specs:
        """The structure of the elements."""
        return self._element_spec

    @property
    def output_types(self) -> Types:
        """The types of an element's values, in its structure."""
        return spec_types(self._element_spec)

    @property
    def output_shapes(self) -> Shapes:
        """The shapes of an element's values, in its structure."""
        return spec_shapes(self._element_spec)

    @property
    def output_classes(self) -> Classes:
        """The classes of an element's values, in its structure."""
        return spec_classes(self._element_spec)

    @property
    def _type_spec(self) -> TypeSpec:
        return DatasetSpec(self._element_spec)

    @property
    def _graph(self) -> Graph:
        return self._variant_tensor.graph

    def options(self) -> Options:
        """What was said of how it is to be run."""
        return self._options

    def _made(self, variant: Tensor, spec: Specs) -> Dataset:
        return Dataset(variant, spec, self._options)

    def _changed(self, op: str, *inputs: Any, spec: Specs | None = None, **attrs: Any) -> Dataset:
        """The dataset that an op makes of this one; its elements are as before unless `spec` says otherwise."""
        found = self._element_spec if spec is None else spec
        return self._made(emit(op, self._variant_tensor, *inputs, **flat_kinds(found), **attrs), found)

    # -------------------------------------------------------------------------------------------------- sources

    @staticmethod
    def from_tensors(tensors: Element, name: str | None = None) -> Dataset:
        """A dataset of one element."""
        return sources.from_tensors(tensors)

    @staticmethod
    def from_tensor_slices(tensors: Element, name: str | None = None) -> Dataset:
        """A dataset of the rows of tensors along their first dimension."""
        return sources.from_tensor_slices(tensors)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: SparseTensor | SparseTensorValue) -> Dataset:
        """A dataset of the rows of a sparse tensor."""
        return sources.from_sparse_tensor_slices(sparse_tensor)

    @staticmethod
    def range(*args: TensorLike, **kwargs: DTypeLike | None) -> Dataset:
        """A dataset of whole numbers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`."""
        return sources.number_range(*args, **kwargs)

    @staticmethod
    def counter(
        start: TensorLike = 0, step: TensorLike = 1, dtype: DTypeLike = INT64, name: str | None = None
    ) -> Dataset:
        """A dataset of numbers without end."""
        with name_scope("counter"):
            first = convert(start, DType.of(dtype), "start")
            each = convert(step, DType.of(dtype), "step")
            return Dataset.from_tensors(0).repeat(None).scan(first, lambda state, _: (state + each, state))

    @staticmethod
    def random(
        seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """A dataset of random numbers of 32 bits, without end; others in every pass if it is to rerandomize."""
        spec = TensorSpec([], INT64)
        seeds = seed_tensors(seed)
        if not rerandomize_each_iteration:
            return Dataset(emit("RandomDataset", *seeds, **flat_kinds(spec)), spec)
        kinds = {"rerandomize_each_iteration": True, **flat_kinds(spec)}
        return Dataset(emit("RandomDatasetV2", *seeds, emit("DummySeedGenerator"), **kinds), spec)

    @staticmethod
    def list_files(
        file_pattern: TensorLike, shuffle: bool | None = None, seed: int | None = None, name: str | None = None
    ) -> Dataset:
        """A dataset of the names of files that match patterns, at random unless `shuffle` is False."""
        return sources.list_files(file_pattern, shuffle, seed)

    @staticmethod
    def zip(*args: Datasets, datasets: Datasets | None = None, name: str | None = None) -> Dataset:
        """Datasets side by side: an element has the structure in which they are given."""
        return sources.zip_datasets(*args, datasets=datasets)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Types | None = None,
        output_shapes: Shapes = None,
        args: Sequence[Any] | None = None,
        output_signature: Specs | None = None,
        name: str | None = None,
    ) -> Dataset:
        """A dataset of what the iterators that a Python function gives have, one for each pass."""
        return generators.from_generator(generator, output_types, output_shapes, args, output_signature)

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Dataset],
        weights: Weights = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of several datasets, each drawn from one of them at random."""
        return mixing.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration)

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Elements of several datasets, in the order that a dataset of their numbers says."""
        return mixing.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)

    # ---------------------------------------------------------------------------------------------------- parts

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """This dataset, and after it another one of the same types."""
        spec = common_specs(self._element_spec, dataset._element_spec)
        return self._changed("ConcatenateDataset", dataset._variant_tensor, spec=spec)

    def repeat(self, count: TensorLike | None = None, name: str | None = None) -> Dataset:
        """The dataset so many times over; without end if nothing is said."""
        return self._changed("RepeatDataset", int64_of(-1 if count is None else count, "count"))

    def take(self, count: TensorLike, name: str | None = None) -> Dataset:
        """A dataset of the first `count` elements."""
        return self._changed("TakeDataset", int64_of(count, "count"))

    def skip(self, count: TensorLike, name: str | None = None) -> Dataset:
        """All but the first elements."""
        return self._changed("SkipDataset", int64_of(count, "count"))

    def shard(self, num_shards: TensorLike, index: TensorLike, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from number `index` on."""
        for value, what in ((num_shards, "num_shards"), (index, "index")):
            check_number(value, what)
        if isinstance(num_shards, int) and isinstance(index, int) and not 0 <= index < num_shards:
            raise InvalidArgumentError(f"Index must be between 0 and {num_shards - 1}, got index = {index}")
        return self._changed("ShardDataset", int64_of(num_shards, "num_shards"), int64_of(index, "index"))

    def enumerate(self, start: TensorLike = 0, name: str | None = None) -> Dataset:
        """The elements with their numbers before them."""
        most = np.iinfo(np.int64).max
        numbers = Dataset.range(start, most)
        rewritten = numbers._changed("RewriteDataset", b"replicate_on_split")
        return Dataset.zip((rewritten, self))

    def shuffle(
        self,
        buffer_size: TensorLike,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """The elements at random, drawn from a buffer; in another order every time unless told otherwise."""
        return self._changed(
            "ShuffleDataset",
            int64_of(buffer_size, "buffer_size"),
            *seed_tensors(seed),
            reshuffle_each_iteration=True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration),
        )

    def cache(self, filename: TensorLike = "", name: str | None = None) -> Dataset:
        """The elements kept in memory, or in a file, once they have been gone through."""
        return self._changed("CacheDataset", convert(filename, STRING, "filename"))

    def prefetch(self, buffer_size: TensorLike | None, name: str | None = None) -> Dataset:
        """The elements, so many of which are made before they are asked for."""
        size = AUTOTUNE if buffer_size is None else buffer_size
        with colocate_with(self._variant_tensor):
            return self._changed("PrefetchDataset", int64_of(size, "buffer_size"), slack_period=0)

    def unique(self, name: str | None = None) -> Dataset:
        """The elements that were not there before."""
        for spec in flat(self._element_spec):
            if not isinstance(spec, TensorSpec) or spec.dtype not in (DType.of("int32"), INT64, STRING):
                raise WrongTypeError("`tf.data.Dataset.unique` works on tensors of int32, int64 and string")
        return self._changed("UniqueDataset")

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """The elements whose making does not fail."""
        return self._changed("IgnoreErrorsDataset", log_warning=log_warning)

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """This dataset with options that say how it is to be run."""
        merged = self._options.merge(options)
        with colocate_with(self._variant_tensor):
            made = self._changed("OptionsDataset", serialized_options=options.encoded())
        return Dataset(made._variant_tensor, self._element_spec, merged)

    def apply(self, transformation_func: Callable[[Any], Any]) -> Dataset:
        """What a function makes of the dataset."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise WrongTypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}.")
        return made

    # ------------------------------------------------------------------------------------------------ functions

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """What a function makes of each element; with `num_parallel_calls`, of several at a time, in their order."""
        return self._mapped(map_func, num_parallel_calls, deterministic, preserves=False)

    def _mapped(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None,
        *,
        preserves: bool = True,
        is_parallel: bool = True,
    ) -> Dataset:
        return mapping.map_elements(
            self, map_func, num_parallel_calls, deterministic, preserves=preserves, is_parallel=is_parallel
        )

    def map_with_legacy_function(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None,
        use_unbounded_threadpool: bool = False,
    ) -> Dataset:
        """The same as `map`."""
        return self.map(map_func, num_parallel_calls, deterministic)

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The datasets that a function makes of the elements, one after the other."""
        return mapping.flat_map(self, map_func)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: TensorLike | None = None,
        block_length: TensorLike | None = None,
        num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The datasets that a function makes of the elements, `cycle_length` at a time, a block of each in turn."""
        return mapping.interleave(self, map_func, cycle_length, block_length, num_parallel_calls, deterministic)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of which a predicate is true."""
        return mapping.choose_elements(self, "FilterDataset", predicate, "Dataset_filter")

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Dataset:
        """The same as `filter`."""
        return self.filter(predicate)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first of which a predicate is not true."""
        return mapping.choose_elements(self, "TakeWhileDataset", predicate, "Dataset_take_while")

    def scan(self, initial_state: Element, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """What a function of a state and an element gives besides the next state, one element after the other."""
        return mapping.scan(self, initial_state, scan_func)

    def reduce(self, initial_state: Element, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """What a function of a state and an element makes of all elements, beginning with a state."""
        return mapping.reduce(self, initial_state, reduce_func)

    def window(
        self,
        size: TensorLike,
        shift: TensorLike | None = None,
        stride: TensorLike = 1,
        drop_remainder: TensorLike = False,
        name: str | None = None,
    ) -> Dataset:
        """Stretches of the dataset, each as datasets of its components."""
        numbers = [int64_of(size, "size"), int64_of(size if shift is None else shift, "shift")]
        spec = map_leaves(DatasetSpec, self._element_spec)
        last = [int64_of(stride, "stride"), convert(drop_remainder, BOOL, "drop_remainder")]
        return self._changed("WindowDataset", *numbers, *last, spec=spec)

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: TensorLike | None = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """What a function makes of elements with the same key, whenever there are so many of them."""
        return mapping.group_by_window(self, key_func, reduce_func, window_size, window_size_func)

    # -------------------------------------------------------------------------------------------------- batches

    def batch(
        self,
        batch_size: TensorLike,
        drop_remainder: TensorLike = False,
        num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """So many elements as one, along a new first dimension."""
        size, drops = int64_of(batch_size, "batch_size"), convert(drop_remainder, BOOL, "drop_remainder")
        known = known_size(size, drops)
        spec = map_leaves(lambda leaf: with_rows(leaf, known), self._element_spec)
        if num_parallel_calls is None:
            return self._changed("BatchDatasetV2", size, drops, spec=spec)
        calls = int64_of(num_parallel_calls, "num_parallel_calls")
        order = deterministic_text(deterministic)
        return self._changed("ParallelBatchDataset", size, calls, drops, spec=spec, deterministic=order)

    def padded_batch(
        self,
        batch_size: TensorLike,
        padded_shapes: Shapes = None,
        padding_values: Element = None,
        drop_remainder: TensorLike = False,
        name: str | None = None,
    ) -> Dataset:
        """So many elements as one, each filled up to a shape."""
        specs = self._element_spec
        for spec in flat(specs):
            if not isinstance(spec, TensorSpec):
                raise WrongTypeError(
                    f"`padded_batch` is only supported for datasets that produce tensors, got {spec!r}"
                )
        told = padded_shape_tensors(specs, padded_shapes)
        values = padding_value_tensors(specs, padding_values)
        size, drops = int64_of(batch_size, "batch_size"), convert(drop_remainder, BOOL, "drop_remainder")
        known = known_size(size, drops)
        made = pack_leaves(
            specs,
            [
                TensorSpec(TensorShape([known]).concatenate(known_padded_shape(shape)), spec.dtype)
                for shape, spec in zip(told, flat(specs), strict=True)
            ],
        )
        kinds = flat_kinds(made)
        variant = emit(
            "PaddedBatchDatasetV2",
            self._variant_tensor,
            size,
            told,
            values,
            drops,
            Toutput_types=kinds["output_types"],
            output_shapes=kinds["output_shapes"],
        )
        return self._made(variant, made)

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of the elements along their first dimension."""

        def normalize(*args: Any) -> Any:
            return args if len(args) > 1 or isinstance(self._element_spec, tuple) else args[0]

        is_plain = all(isinstance(spec, TensorSpec) for spec in flat(self._element_spec))
        source = self.map(normalize) if is_plain else self._by_rows()
        spec = map_leaves(without_rows, self._element_spec)
        return source._changed("UnbatchDataset", spec=spec)

    def _by_rows(self) -> Dataset:
        """The elements with sparse and ragged tensors as tensors of their rows."""

        def normalize(*args: Any) -> Any:
            element = args if isinstance(self._element_spec, tuple) else args[0]
            return tuple(batched_tensors_of(element))

        return self.map(normalize)

    def ragged_batch(
        self,
        batch_size: TensorLike,
        drop_remainder: TensorLike = False,
        row_splits_dtype: DTypeLike = INT64,
        name: str | None = None,
    ) -> Dataset:
        """So many elements of different sizes as one ragged tensor for each component."""
        return batches.ragged_batch(self, batch_size, drop_remainder, row_splits_dtype)

    def sparse_batch(self, batch_size: TensorLike, row_shape: ShapeLike, name: str | None = None) -> Dataset:
        """So many elements of different sizes as one sparse tensor whose rows have a shape."""
        return batches.sparse_batch(self, batch_size, row_shape)

    def rebatch(self, batch_size: TensorLike, drop_remainder: TensorLike = False, name: str | None = None) -> Dataset:
        """The rows of the elements in batches of another size, or of sizes that take turns."""
        return batches.rebatch(self, batch_size, drop_remainder)

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Shapes = None,
        padding_values: Element = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches of elements of about the same length."""
        buckets = batches.Buckets(element_length_func, bucket_boundaries, bucket_batch_sizes)
        return batches.bucket_elements(
            self, buckets, padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder
        )

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: TensorLike,
        initial_dist: TensorLike | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements with their classes, of which some are left out so that classes have another distribution."""
        return mixing.rejection_resample(self, class_func, target_dist, initial_dist, seed)

    # -------------------------------------------------------------------------------------------------- elements

    def make_one_shot_iterator(self) -> iterators.Iterator:
        """An iterator that goes through the dataset once, and needs no initializer."""
        return iterators.make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> iterators.Iterator:
        """An iterator that begins whenever its initializer is run."""
        return iterators.make_initializable_iterator(self, shared_name)

    def get_single_element(self, name: str | None = None) -> Any:
        """The element of a dataset that has exactly one; running it fails if there are none or more."""
        found = emit_tensors("DatasetToSingleElement", self._variant_tensor, **flat_kinds(self._element_spec))
        return element_of(self._element_spec, found)

    def cardinality(self) -> Tensor:
        """How many elements it has, as far as that is known."""
        return emit("DatasetCardinality", self._variant_tensor)

    def as_numpy_iterator(self) -> NoReturn:
        """Raises: the values of a dataset as arrays need eager execution, and there are only graphs."""
        raise _not_eager("as_numpy_iterator")


def _not_eager(what: str) -> UnimplementedError:
    return UnimplementedError(
        f"`{what}` of a dataset needs eager execution, which is not here: make an iterator "
        "(tf.data.make_one_shot_iterator) and run what its get_next() gives"
    )


def _dataset_value(spec: Any, tensor: Tensor) -> Dataset:
    return Dataset(tensor, spec.element_spec)


register_value(DatasetSpec, _dataset_value)
