"""Datasets: `tf.data.Dataset` as TensorFlow 1 has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorkeep._lazy import later
from tensorkeep.dtypes import BOOL, INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit, emit_operation, emit_tensors
from tensorkeep.graph.building import colocate_with, control_dependencies, name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.runtime.composite_values import SparseTensorValue
from tensorkeep.shapes import Shape
from tensorkeep.tf1.datasets.functions import ElementFunction, argument_types, traced
from tensorkeep.tf1.datasets.options import Options
from tensorkeep.tf1.datasets.structures import (
    DatasetSpec,
    batched_tensors_of,
    common_specs,
    component_shape,
    element_of,
    flat,
    flat_kinds,
    flat_shapes,
    mapped,
    normalized,
    packed,
    register_value,
    spec_classes,
    spec_of,
    spec_shapes,
    spec_types,
    tensors_of,
    with_rows,
    without_rows,
)
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.random.numbers import get_seed
from tensorkeep.tf1.functions.type_specs import SparseTensorSpec, TensorSpec, TypeSpec

if TYPE_CHECKING:
    from tensorkeep.tf1.datasets import batches, generators, iterators, mixing
else:  # they are made of datasets
    batches, generators = later("tensorkeep.tf1.datasets.batches"), later("tensorkeep.tf1.datasets.generators")
    iterators, mixing = later("tensorkeep.tf1.datasets.iterators"), later("tensorkeep.tf1.datasets.mixing")

AUTOTUNE: Final = -1
INFINITE_CARDINALITY: Final = -1
UNKNOWN_CARDINALITY: Final = -2
SHARD_HINT: Final = -1


def int64_of(value: Any, name: str) -> Tensor:
    """A number that an op wants as an integer of 64 bits."""
    return convert(value, INT64, name)


def seed_tensors(seed: int | None) -> tuple[Tensor, Tensor]:
    """The two seeds of a dataset as tensors; both zero stands for none, and is avoided if seeds are given."""
    first, second = get_seed(seed)
    seed_tensor = constant(0 if first is None else first, INT64, name="seed")
    if second is None:
        return seed_tensor, constant(0, INT64, name="seed2")
    with name_scope("seed2") as scope:
        other = constant(second, INT64)
        zeros = [
            emit("Equal", tensor, constant(0, INT64, name=f"Equal{at}/y"), name=f"Equal{at}")
            for at, tensor in (("", seed_tensor), ("_1", other))
        ]
        both = emit("LogicalAnd", *zeros, name="LogicalAnd")
        return seed_tensor, emit("SelectV2", both, constant(2**31 - 1, INT64), other, name=scope)


class Dataset:
    """A dataset: elements of one structure, one after the other. Every method gives a new one."""

    def __init__(self, variant: Tensor, element_spec: Any, options: Options | None = None) -> None:
        self._variant_tensor = variant
        self._element_spec = element_spec
        self._options = options or Options()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self._element_spec!r}>"

    def __iter__(self) -> Any:
        raise _not_eager("__iter__")

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        raise WrongTypeError("len() of a dataset is a tensor in graphs: use tf.data.experimental.cardinality")

    # ------------------------------------------------------------------------------------------------ structure

    @property
    def element_spec(self) -> Any:
        """The structure of the elements."""
        return self._element_spec

    @property
    def output_types(self) -> Any:
        """The types of an element's values, in its structure."""
        return spec_types(self._element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element's values, in its structure."""
        return spec_shapes(self._element_spec)

    @property
    def output_classes(self) -> Any:
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

    def _made(self, variant: Tensor, spec: Any) -> Dataset:
        return Dataset(variant, spec, self._options)

    def _changed(self, op: str, *inputs: Any, spec: Any = None, **attrs: Any) -> Dataset:
        """The dataset that an op makes of this one; its elements are as before unless `spec` says otherwise."""
        found = self._element_spec if spec is None else spec
        return self._made(emit(op, self._variant_tensor, *inputs, **flat_kinds(found), **attrs), found)

    # -------------------------------------------------------------------------------------------------- sources

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of one element."""
        element = normalized(tensors)
        spec = mapped(spec_of, element)
        return _source("TensorDataset", tensors_of(element), spec)

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of the rows of tensors along their first dimension."""
        element = normalized(tensors)
        spec = mapped(lambda leaf: without_rows(spec_of(leaf)), element)
        _check_sizes(flat(element))
        return _source("TensorSliceDataset", batched_tensors_of(element), spec)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: SparseTensor | SparseTensorValue) -> Dataset:
        """A dataset of the rows of a sparse tensor."""
        value = (
            SparseTensor.from_value(sparse_tensor) if isinstance(sparse_tensor, SparseTensorValue) else sparse_tensor
        )
        if not isinstance(value, SparseTensor):
            raise WrongTypeError(f"`sparse_tensor` must be a tf.SparseTensor object, got {sparse_tensor!r}")
        variant = emit("SparseTensorSliceDataset", value.indices, value.values, value.dense_shape)
        rank = value.shape.ndims
        indices = TensorShape([None, None if rank is None else rank - 1])
        dense = TensorShape([None if rank is None else rank - 1])
        parts = (TensorSpec(indices, INT64), TensorSpec([None], value.dtype), TensorSpec(dense, INT64))
        return Dataset(variant, parts)

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """A dataset of whole numbers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`."""
        dtype = DType.of(kwargs.pop("output_type", INT64))
        kwargs.pop("name", None)
        if kwargs or not 1 <= len(args) <= 3:
            raise InvalidArgumentError(f"Invalid `args`. The length of `args` should be between 1 and 3, got {args}")
        start, stop, step = {1: (0, *args, 1), 2: (*args, 1), 3: args}[len(args)]
        numbers = [int64_of(value, name) for value, name in ((start, "start"), (stop, "stop"), (step, "step"))]
        spec = TensorSpec([], dtype)
        return Dataset(emit("RangeDataset", *numbers, **flat_kinds(spec)), spec)

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: DTypeLike = INT64, name: str | None = None) -> Dataset:
        """A dataset of numbers without end."""
        with name_scope("counter"):
            first = convert(start, DType.of(dtype), "start")
            each = convert(step, DType.of(dtype), "step")
            return Dataset.from_tensors(0).repeat(None).scan(first, lambda state, _: (state + each, state))

    @staticmethod
    def random(
        seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """A dataset of random numbers of 32 bits, without end."""
        spec = TensorSpec([], INT64)
        if rerandomize_each_iteration:
            raise UnimplementedError("rerandomize_each_iteration needs TensorFlow 2's datasets: leave it out")
        return Dataset(emit("RandomDataset", *seed_tensors(seed), **flat_kinds(spec)), spec)

    @staticmethod
    def list_files(
        file_pattern: TensorLike, shuffle: bool | None = None, seed: int | None = None, name: str | None = None
    ) -> Dataset:
        """A dataset of the names of files that match patterns, at random unless `shuffle` is False."""
        with name_scope("list_files"):
            patterns = convert(file_pattern, STRING, "file_pattern")
            found = emit("MatchingFiles", patterns)
            source = Dataset(
                emit(
                    "TensorSliceDataset",
                    [_not_empty(found, patterns)],
                    output_shapes=(Shape(()),),
                    is_files=True,
                ),
                TensorSpec([], STRING),
            )
            if shuffle is not None and not shuffle:
                return source
            size = emit("Shape", found, out_type=INT64)
            count = emit("Maximum", emit("Squeeze", size), constant(1, INT64))
            return source.shuffle(count, seed=seed)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Datasets side by side: an element has the structure in which they are given."""
        if not args and datasets is None:
            raise WrongTypeError("Must pass at least one dataset to `zip`.")
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        if isinstance(given, list):
            raise WrongTypeError("Invalid input to `zip`. Inputs are expected to be (nested) structures of Datasets")
        leaves = flat(given)
        for leaf in leaves:
            if not isinstance(leaf, Dataset):
                raise WrongTypeError(f"Invalid input to `zip`. Inputs must be datasets, got {type(leaf)}.")
        spec = packed(given, [leaf._element_spec for leaf in leaves])
        variants = [leaf._variant_tensor for leaf in leaves]
        options = leaves[0]._options
        for leaf in leaves[1:]:
            options = options.merge(leaf._options)
        return Dataset(emit("ZipDataset", variants, **flat_kinds(spec)), spec, options)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Sequence[Any] | None = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """A dataset of what the iterators that a Python function gives have, one for each pass."""
        return generators.from_generator(generator, output_types, output_shapes, args, output_signature)

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Dataset],
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of several datasets, each drawn from one of them at random."""
        return mixing.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)

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
        """The first elements."""
        return self._changed("TakeDataset", int64_of(count, "count"))

    def skip(self, count: TensorLike, name: str | None = None) -> Dataset:
        """All but the first elements."""
        return self._changed("SkipDataset", int64_of(count, "count"))

    def shard(self, num_shards: TensorLike, index: TensorLike, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from number `index` on."""
        for value, what in ((num_shards, "num_shards"), (index, "index")):
            _check_number(value, what)
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
        """The same dataset, of which is said how it is to be run."""
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

    def _traced(self, function: Callable[..., Any], name: str, specs: Any = None) -> ElementFunction:
        return traced(function, self._element_spec if specs is None else specs, name)

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
        made = self._traced(map_func, "Dataset_map")
        shared = {
            "f": made.reference,
            "Targuments": argument_types(made.captured),
            "use_inter_op_parallelism": is_parallel,
            "preserve_cardinality": preserves,
        }
        if num_parallel_calls is None:
            return self._changed("MapDataset", list(made.captured), spec=made.specs, **shared)
        calls = int64_of(num_parallel_calls, "num_parallel_calls")
        order = deterministic_text(deterministic)
        captured = list(made.captured)
        return self._changed("ParallelMapDatasetV2", captured, calls, spec=made.specs, deterministic=order, **shared)

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
        made = self._inner(map_func, "Dataset_flat_map")
        return self._changed(
            "FlatMapDataset",
            list(made.captured),
            spec=made.specs.element_spec,
            f=made.reference,
            Targuments=argument_types(made.captured),
        )

    def _inner(self, map_func: Callable[..., Any], name: str) -> ElementFunction:
        made = self._traced(map_func, name)
        if not isinstance(made.specs, DatasetSpec):
            raise WrongTypeError(f"The `map_func` argument must return a `Dataset` object. Got {made.specs!r}.")
        return made

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
        cycle, block = AUTOTUNE if cycle_length is None else cycle_length, 1 if block_length is None else block_length
        made = self._inner(map_func, "Dataset_interleave")
        numbers = [int64_of(cycle, "cycle_length"), int64_of(block, "block_length")]
        shared = {"f": made.reference, "Targuments": argument_types(made.captured)}
        spec, captured = made.specs.element_spec, list(made.captured)
        if num_parallel_calls is None:
            return self._changed("InterleaveDataset", captured, *numbers, spec=spec, **shared)
        buffers = [int64_of(AUTOTUNE, "buffer_output_elements"), int64_of(AUTOTUNE, "prefetch_input_elements")]
        return self._changed(
            "ParallelInterleaveDatasetV4",
            captured,
            *numbers,
            *buffers,
            int64_of(num_parallel_calls, "num_parallel_calls"),
            spec=spec,
            deterministic=deterministic_text(deterministic),
            **shared,
        )

    def _predicated(self, op: str, predicate: Callable[..., Any], name: str) -> Dataset:
        made = self._traced(predicate, name)
        if (
            not isinstance(made.specs, TensorSpec)
            or made.specs.dtype is not BOOL
            or made.specs.shape.ndims not in (0, None)
        ):
            raise InvalidArgumentError(
                f"Invalid `predicate`: it must return a scalar boolean tensor, but its return type is {made.specs!r}."
            )
        types = argument_types(made.captured)
        return self._changed(op, list(made.captured), predicate=made.reference, Targuments=types)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of which a predicate is true."""
        return self._predicated("FilterDataset", predicate, "Dataset_filter")

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Dataset:
        """The same as `filter`."""
        return self.filter(predicate)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first of which a predicate is not true."""
        return self._predicated("TakeWhileDataset", predicate, "Dataset_take_while")

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """What a function of a state and an element gives besides the next state, one element after the other."""
        state = normalized(initial_state)
        state_spec = mapped(spec_of, state)
        made, state_spec = _with_state(scan_func, state_spec, self._element_spec, "Dataset_scan", True)
        return self._changed(
            "ScanDataset",
            tensors_of(state),
            list(made.captured),
            spec=made.specs[1],
            f=made.reference,
            Tstate=flat_kinds(state_spec)["output_types"],
            Targuments=argument_types(made.captured),
            preserve_cardinality=True,
        )

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """What a function of a state and an element makes of all elements, beginning with a state."""
        with name_scope("initial_state"):
            state = normalized(initial_state)
        state_spec = mapped(spec_of, state)
        made, state_spec = _with_state(reduce_func, state_spec, self._element_spec, "reduce", False)
        found = emit_tensors(
            "ReduceDataset",
            self._variant_tensor,
            tensors_of(state),
            list(made.captured),
            f=made.reference,
            Tstate=flat_kinds(state_spec)["output_types"],
            Targuments=argument_types(made.captured),
            **flat_kinds(state_spec),
        )
        return element_of(state_spec, found)

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
        spec = mapped(DatasetSpec, self._element_spec)
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
        if (window_size is None) == (window_size_func is None):
            raise InvalidArgumentError("Either the `window_size` argument or the `window_size_func` argument is given")

        def key_func_wrapper(*args: Any) -> Any:
            return _as_int64(key_func(*args))

        def window_size_func_wrapper(key: Any) -> Any:
            return _as_int64(window_size if window_size_func is None else window_size_func(key))

        number = TensorSpec([], INT64)
        key = self._traced(key_func_wrapper, "Dataset_group_by_window")
        reduce = traced(reduce_func, (number, DatasetSpec(self._element_spec)), "Dataset_group_by_window")
        size = traced(window_size_func_wrapper, number, "Dataset_group_by_window")
        if not isinstance(reduce.specs, DatasetSpec):
            raise WrongTypeError(f"`reduce_func` must return a single `Dataset` object. Got {reduce.specs!r}.")
        return self._changed(
            "GroupByWindowDataset",
            list(key.captured),
            list(reduce.captured),
            list(size.captured),
            spec=reduce.specs.element_spec,
            key_func=key.reference,
            reduce_func=reduce.reference,
            window_size_func=size.reference,
            Tkey_func_other_arguments=argument_types(key.captured),
            Treduce_func_other_arguments=argument_types(reduce.captured),
            Twindow_size_func_other_arguments=argument_types(size.captured),
        )

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
        known = _known_size(size, drops)
        spec = mapped(lambda leaf: with_rows(leaf, known), self._element_spec)
        if num_parallel_calls is None:
            return self._changed("BatchDatasetV2", size, drops, spec=spec)
        calls = int64_of(num_parallel_calls, "num_parallel_calls")
        order = deterministic_text(deterministic)
        return self._changed("ParallelBatchDataset", size, calls, drops, spec=spec, deterministic=order)

    def padded_batch(
        self,
        batch_size: TensorLike,
        padded_shapes: Any = None,
        padding_values: Any = None,
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
        told = _padded_shapes(specs, padded_shapes)
        values = _padding_values(specs, padding_values)
        size, drops = int64_of(batch_size, "batch_size"), convert(drop_remainder, BOOL, "drop_remainder")
        known = _known_size(size, drops)
        made = packed(
            specs,
            [
                TensorSpec(TensorShape([known]).concatenate(_tensor_shape(shape)), spec.dtype)
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

        source = self.map(normalize) if not _has_composites(self._element_spec) else self._by_rows()
        spec = mapped(without_rows, self._element_spec)
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

    def sparse_batch(self, batch_size: TensorLike, row_shape: Any, name: str | None = None) -> Dataset:
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
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches of elements of about the same length."""
        buckets = batches.Buckets(element_length_func, bucket_boundaries, bucket_batch_sizes)
        return batches.bucketed(
            self, buckets, padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder
        )

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
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
        """The only element."""
        found = emit_tensors("DatasetToSingleElement", self._variant_tensor, **flat_kinds(self._element_spec))
        return element_of(self._element_spec, found)

    def cardinality(self) -> Tensor:
        """How many elements it has, as far as that is known."""
        return emit("DatasetCardinality", self._variant_tensor)

    def as_numpy_iterator(self) -> Any:
        """Not in graphs."""
        raise _not_eager("as_numpy_iterator")


def _not_eager(what: str) -> UnimplementedError:
    return UnimplementedError(
        f"`{what}` of a dataset needs eager execution, which is not here: make an iterator "
        "(tf.data.make_one_shot_iterator) and run what its get_next() gives"
    )


def _source(op: str, tensors: Sequence[Tensor], spec: Any) -> Dataset:
    shapes = tuple(map(told_component, flat(spec), tensors)) if op == "TensorDataset" else None
    kinds = flat_kinds(spec)["output_shapes"] if shapes is None else shapes
    return Dataset(emit(op, list(tensors), output_shapes=kinds), spec)


def told_component(spec: TypeSpec, tensor: Tensor) -> Shape:
    """The shape of the tensor as which a value of a source travels."""
    return tensor.static_shape if isinstance(spec, SparseTensorSpec) else component_shape(spec)


def _check_sizes(leaves: Sequence[Any]) -> None:
    sizes = [int(shape[0]) for leaf in leaves if (shape := leaf.shape).ndims and shape.as_list()[0] is not None]
    if len(set(sizes)) > 1:
        raise InvalidArgumentError(
            f"Dimensions {sizes[0]} and {next(size for size in sizes if size != sizes[0])} are not compatible"
        )


def _not_empty(found: Tensor, patterns: Tensor) -> Tensor:
    """Names of files, of which there must be some when they are wanted."""
    from_first = emit("StridedSlice", emit("Shape", found), [0], [1], [1], shrink_axis_mask=1)
    is_filled = emit("Greater", from_first, constant(0), name="match_not_empty")
    axes = constant(np.arange(patterns.static_shape.rank or 0, dtype=np.int32))
    joined = emit("ReduceJoin", patterns, axes, separator=", ")
    message = emit("Add", constant("No files matched pattern: "), joined, name="message")
    return asserted(found, is_filled, message)


def asserted(value: Tensor, condition: Tensor, message: Tensor) -> Tensor:
    """A tensor that is there only if a condition holds."""
    check = emit_operation("Assert", condition, [message], summarize=1, name="assert_not_empty/Assert")
    with control_dependencies([check]):
        return emit("Identity", value)


def _check_number(value: Any, what: str) -> None:
    if isinstance(value, bool) or (isinstance(value, int) and what == "num_shards" and value < 1):
        raise InvalidArgumentError(f"{what} must be a positive number, got {value!r}")


def deterministic_text(deterministic: bool | None) -> bytes:
    """What ops are told of whether the order must be kept."""
    return b"default" if deterministic is None else b"true" if deterministic else b"false"


def _as_int64(value: Any) -> Tensor:
    found = convert(value, None if hasattr(value, "dtype") else INT64)
    if found.dtype.base_dtype is not INT64:
        raise InvalidArgumentError(f"expected a scalar of type int64, got {found!r}")
    return found


def _known_size(size: Tensor, drops: Tensor) -> int | None:
    """How many rows every batch has, if that is known."""
    number, always = constant_value(size), constant_value(drops)
    return int(number) if number is not None and always is not None and bool(always) else None


def _has_composites(specs: Any) -> bool:
    return any(not isinstance(spec, TensorSpec) for spec in flat(specs))


def _with_state(
    function: Callable[..., Any], state_spec: Any, element_spec: Any, name: str, gives_more: bool
) -> tuple[ElementFunction, Any]:
    """A function of a state and an element; the shapes of the state are widened until they hold for what it gives."""
    while True:
        made = traced(function, (state_spec, element_spec), name)
        if gives_more and not (isinstance(made.specs, tuple) and len(made.specs) == 2):
            raise WrongTypeError(
                f"The scan function must return a pair of the new state and the output value. Got {made.specs!r}"
            )
        new = made.specs[0] if gives_more else made.specs
        for old, found in zip(flat(state_spec), flat(new), strict=True):
            if getattr(old, "dtype", None) is not getattr(found, "dtype", None):
                raise WrongTypeError(
                    f"The element types for the new state must match the initial state: {old}, {found}"
                )
        wider = common_specs(state_spec, packed(state_spec, flat(new)))
        if repr(wider) == repr(state_spec):
            return made, state_spec
        state_spec = wider


def _padded_shapes(specs: Any, padded_shapes: Any) -> list[Tensor]:
    if padded_shapes is None:
        shapes: list[Any] = [spec.shape for spec in flat(specs)]
        if any(shape.ndims is None for shape in shapes):
            raise InvalidArgumentError("You must provide `padded_shapes` argument because component has unknown rank.")
    else:
        shapes = _shape_leaves(specs, padded_shapes)
    found = []
    for shape, spec in zip(shapes, flat(specs), strict=True):
        if isinstance(shape, Tensor):
            found.append(emit("Cast", shape, DstT=INT64) if shape.dtype is not INT64 else shape)
            continue
        dims = plain_shape(shape).dims
        if dims is None or (spec.shape.ndims is not None and len(dims) != spec.shape.ndims):
            raise InvalidArgumentError(f"The padded shape {shape} is not compatible with the shape {spec.shape}.")
        for size, own in zip(dims, spec.shape.as_list() if spec.shape.ndims is not None else dims, strict=True):
            if size is not None and own is not None and size < own:
                raise InvalidArgumentError(
                    f"The padded shape {shape} is not compatible with the shape {spec.shape} of the corresponding input"
                )
        found.append(constant(np.array([-1 if size is None else size for size in dims], np.int64), INT64))
    return found


def _shape_leaves(specs: Any, shapes: Any) -> list[Any]:
    """Padded shapes beside a structure; a tensor may be one too."""
    if isinstance(shapes, Tensor):
        return [shapes]
    if isinstance(specs, tuple):
        return [leaf for part, item in zip(specs, shapes, strict=True) for leaf in _shape_leaves(part, item)]
    if isinstance(specs, Mapping):
        return [leaf for key in sorted(specs) for leaf in _shape_leaves(specs[key], shapes[key])]
    return list(flat_shapes(specs, shapes))


def _tensor_shape(told: Tensor) -> TensorShape:
    known = constant_value(told)
    if known is None:
        rank = told.static_shape.dims[0] if told.static_shape.dims else None
        return TensorShape(None) if rank is None else TensorShape([None] * rank)
    return TensorShape([None if size < 0 else int(size) for size in known])


def _padding_values(specs: Any, given: Any) -> list[Tensor]:
    leaves = flat(specs)
    if given is None:
        values: list[Any] = [None] * len(leaves)
    elif isinstance(specs, tuple | Mapping):
        values = flat(given)
        if len(values) == 1 and len(leaves) > 1:
            values = values * len(leaves)
    else:
        values = [given]
    found = []
    for value, spec in zip(values, leaves, strict=True):
        zero: Any = b"" if spec.dtype is STRING else np.zeros((), spec.dtype.array_dtype)[()]
        tensor = convert(zero if value is None else value, spec.dtype, "padding_value")
        if tensor.static_shape.rank not in (0, None):
            raise InvalidArgumentError(f"Padding value should be a scalar, but is {tensor!r}.")
        found.append(tensor)
    return found


def _dataset_value(spec: Any, tensor: Tensor) -> Dataset:
    return Dataset(tensor, spec.element_spec)


register_value(DatasetSpec, _dataset_value)
