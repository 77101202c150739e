"""The operations of a saver: those that write a checkpoint, those that read one, and the SaverDef that names them.

    <name>/filename, <name>/Const        the prefix of the checkpoint, which a run feeds
    <name>/SaveV2 ...                    write; the prefix comes out behind them
    <name>/RestoreV2, <name>/Assign ...  read and assign, joined in <name>/restore_all

A sharded saver has such operations for each device that variables are on. Names, attributes and order are
TensorFlow's, for they are in the files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import emit_operation
from tensorkeep.graph.building import chosen_name, control_dependencies, current_graph, device, graph_of, name_scope
from tensorkeep.graph.collections import collection_keys, get_collection
from tensorkeep.graph.devices import DeviceSpec
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.saveable import Saveable, SaveableObject, SaveSpec
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.ops.files.checkpoints import (
    merge_v2_checkpoints,
    restore_v2,
    save_slices,
    save_v2,
    sharded_filename,
    sharded_filespec,
)
from tensorkeep.proto.messages import SaverDef
from tensorkeep.tf1.functions.arrays.shapes import placeholder_with_default, shape, stack, where
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.grouping import group, with_dependencies
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.parsing.strings import regex_full_match, string_join
from tensorkeep.tf1.training.savers.incremental_graph import (
    add_incremental,
    begin_delta,
    by_rows,
    forget_saved_changes,
    record_from_the_first_step,
)
from tensorkeep.tf1.variables.embedding_variables.saving import EmbeddingSaveable
from tensorkeep.tf1.variables.global_step import get_global_step
from tensorkeep.tf1.variables.hash_tables.saving import BloomFilterSaveable, HashTableSaveable
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.saveable import (
    CoalescedVariable,
    ReferenceVariableSaveable,
    ResourceVariableSaveable,
    SaveItem,
    SaveItems,
    base_dtype,
    sorted_saveables,
)

V1: Final = 1
V2: Final = 2
DeviceGroup: TypeAlias = tuple[str, list[Saveable]]  # a device, and what is on it


def on_processor(name: str) -> str:
    """The first processor of the machine that a device belongs to."""
    return DeviceSpec.from_string(name).replace(device_type="CPU", device_index=0).to_string()


class BaseSaverBuilder:
    """Adds a saver's operations to a graph. Derive from it to have other ones.

    Methods have the names and arguments of TensorFlow's class, and call one another as there, those with an underscore
    too: builders that were written for TensorFlow override them.
    """

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
    VariableSaveable = ReferenceVariableSaveable
    ResourceVariableSaveable = ResourceVariableSaveable
    EmbeddingVariableSaveable = EmbeddingSaveable
    CoalescedVariableSaveable = CoalescedVariable

    def __init__(self, write_version: int = V2) -> None:
        if write_version not in (V1, V2):
            raise InvalidArgumentError(
                f"Unexpected write_version: {write_version}; expected SaverDef.V1 or SaverDef.V2"
            )
        self._write_version = write_version
        self._is_incremental = False
        self._saves_rows = False

    # ------------------------------------------------------------------------------------- to be overridden

    def save_op(self, filename_tensor: Tensor, saveables: Sequence[Saveable]) -> Operation:
        """An operation that writes saveables to a file."""
        streamed = _streamed_saveables(saveables)
        if streamed:
            return self._save_streamed(filename_tensor, _plain(saveables), streamed)
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names = [spec.name for spec in specs]
        slices = [spec.slice_spec for spec in specs]
        if self._write_version == V1:
            written: Operation = save_slices(filename_tensor, names, slices, _tensors(saveables), name="save")
            return written
        rows = self._by_rows(saveables)
        with control_dependencies([begin_delta((), rows)] if rows else []):
            written = save_v2(filename_tensor, names, slices, _tensors(saveables, rows))
        return written

    def _by_rows(self, saveables: Sequence[Saveable]) -> list[Saveable]:
        """The saveables of which an incremental checkpoint holds only the rows that changed."""
        return by_rows(saveables) if self._saves_rows else []

    def _save_streamed(
        self, filename_tensor: Tensor, plain: Sequence[Saveable], streamed: Sequence[EmbeddingSaveable]
    ) -> Operation:
        if self._write_version == V1:
            names = ", ".join(f'"{saveable.name}"' for saveable in streamed)
            raise InvalidArgumentError(f"embedding variables cannot be saved in the old format, V1: {names}")
        specs = [spec for saveable in plain for spec in saveable.specs]
        rows = self._by_rows(plain)
        begun = [begin_delta(streamed, rows)] if self._is_incremental else []
        with control_dependencies(begun if rows else []):
            tensors = [_step(), *_tensors(plain, rows)]
        with control_dependencies(begun):
            return emit_operation(
                "SaveV3",
                filename_tensor,
                ["global_step", *(spec.name for spec in specs)],
                ["", *(spec.slice_spec for spec in specs)],
                [saveable.name for saveable in streamed],
                stack([saveable.address for saveable in streamed]),
                tensors,
                ev_key_types=[saveable.key_dtype for saveable in streamed],
                has_ev=True,
            )

    def restore_op(self, filename_tensor: Tensor, saveable: Saveable, preferred_shard: int) -> list[Tensor]:
        """The tensors of one saveable, read from a file."""
        return [
            restore_v2(filename_tensor, [spec.name], [spec.slice_spec], dtypes=[base_dtype(spec)])[0]
            for spec in saveable.specs
        ]

    def bulk_restore(
        self, filename_tensor: Tensor, saveables: Sequence[Saveable], preferred_shard: int, restore_sequentially: bool
    ) -> list[Tensor]:
        """The tensors of all saveables, read from a file."""
        tensors: list[Tensor] = []
        for saveable in saveables:
            place = saveable.specs[0].device
            with device(on_processor(place) if place else None):
                tensors.extend(self.restore_op(filename_tensor, saveable, preferred_shard))
        return tensors

    def sharded_filename(self, filename_tensor: Tensor, shard: int, num_shards: Tensor) -> Tensor:
        """The name of one of several files."""
        named: Tensor = sharded_filename(filename_tensor, shard, num_shards)
        return named

    # ------------------------------------------------------- to be overridden too; the names are TensorFlow's

    def _AddSaveOps(self, filename_tensor: Tensor, saveables: Sequence[Saveable]) -> Tensor:  # noqa: N802
        """The name of the file, once saveables that are on one device are written to it."""
        saved: Tensor = with_dependencies([self.save_op(filename_tensor, saveables)], filename_tensor)
        return saved

    def _AddShardedSaveOps(self, filename_tensor: Tensor, per_device: Sequence[DeviceGroup]) -> Tensor:  # noqa: N802
        """The name of the checkpoint, or the pattern of its names, once the saveables of each device are written."""
        if self._write_version == V2:
            return self._AddShardedSaveOpsForV2(filename_tensor, per_device)
        count = constant(len(per_device), name="num_shards")
        saves: list[Tensor] = []
        for shard, (place, saveables) in enumerate(per_device):
            with device(place):
                filename = self.sharded_filename(filename_tensor, shard, count)
                saves.append(self._AddSaveOps(filename, saveables))
        with control_dependencies([save.op for save in saves]):
            pattern: Tensor = sharded_filespec(filename_tensor, count)
            return pattern

    def _AddShardedSaveOpsForV2(  # noqa: N802
        self, checkpoint_prefix: Tensor, per_device: Sequence[DeviceGroup]
    ) -> Tensor:
        """The prefix of a checkpoint in format V2, once the parts of all devices are written and merged."""
        with device("CPU"):
            is_remote = regex_full_match(checkpoint_prefix, "^s3://.*")
            suffix = where(is_remote, constant(".part"), constant("_temp/part"))
            temporary = string_join([checkpoint_prefix, suffix])
        count = constant(len(per_device), name="num_shards")
        prefixes: list[Tensor] = []
        saves: list[Tensor] = []
        for shard, (place, saveables) in enumerate(per_device):
            with device(on_processor(place)):
                prefixes.append(self.sharded_filename(temporary, shard, count))
                saves.append(self._AddSaveOps(prefixes[-1], saveables))
        with control_dependencies([save.op for save in saves]), device(on_processor(per_device[-1][0])):
            merged = merge_v2_checkpoints(prefixes, checkpoint_prefix, delete_old_dirs=True)
            with control_dependencies([merged]):
                saved: Tensor = identity(checkpoint_prefix)
                return saved

    def _AddRestoreOps(  # noqa: N802
        self,
        filename_tensor: Tensor,
        saveables: Sequence[Saveable],
        restore_sequentially: bool,
        reshape: bool,
        preferred_shard: int = -1,
        name: str = "restore_all",
    ) -> Operation:
        """The operation that reads saveables which are on one device, and assigns them."""
        plain = [saveable for saveable in _plain(saveables) if not _reads_itself(saveable)]
        read: Sequence[Tensor] = ()
        if plain or not saveables:
            read = self.bulk_restore(filename_tensor, plain, preferred_shard, restore_sequentially)
        tensors = iter(read)
        assigned: list[Any] = []
        for saveable in saveables:
            if isinstance(saveable, EmbeddingSaveable):
                assigned.append(saveable.restore_from(filename_tensor))
                continue
            if _reads_itself(saveable):
                assigned.append(saveable.restore([filename_tensor], None))
                continue
            shapes = list(map(_shape_of, saveable.specs)) if reshape else None
            assigned.append(saveable.restore([next(tensors) for _ in saveable.specs], shapes))
        return group(*assigned, name=name)

    def _AddShardedRestoreOps(  # noqa: N802
        self,
        filename_tensor: Tensor,
        per_device: Sequence[DeviceGroup],
        restore_sequentially: bool,
        reshape: bool,
    ) -> Operation:
        """The operation that reads the saveables of each device, and assigns them."""
        restored: list[Operation] = []
        for shard, (place, saveables) in enumerate(per_device):
            with device(place):
                restored.append(
                    self._AddRestoreOps(
                        filename_tensor,
                        saveables,
                        restore_sequentially,
                        reshape,
                        preferred_shard=shard,
                        name="restore_shard",
                    )
                )
        return group(*restored, name="restore_all")

    def _GroupByDevices(self, saveables: Sequence[Saveable]) -> list[DeviceGroup]:  # noqa: N802
        """Saveables by the devices that they are on, the devices in order."""
        groups: dict[str, list[Saveable]] = {}
        for saveable in saveables:
            places = {DeviceSpec.from_string(spec.device or "").to_string() for spec in saveable.specs}
            if len(places) != 1:
                raise InvalidArgumentError(
                    f"All tensors of a saveable object must be on the same device: {saveable.name}"
                )
            groups.setdefault(places.pop(), []).append(saveable)
        return sorted(groups.items(), key=lambda item: item[0])

    # ---------------------------------------------------------------------------------------------- build

    def build(
        self,
        names_to_saveables: Mapping[str, SaveItem] | SaveItems,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
    ) -> SaverDef:
        """Adds the operations, and says what they are called."""
        return self._build_internal(
            names_to_saveables=names_to_saveables,
            reshape=reshape,
            sharded=sharded,
            max_to_keep=max_to_keep,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            name=name,
            restore_sequentially=restore_sequentially,
            filename=filename,
        )

    def _build_internal(
        self,
        names_to_saveables: Mapping[str, SaveItem] | SaveItems,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
        build_save: bool = True,
        build_restore: bool = True,
        incremental: bool = False,
        incremental_rows: bool = False,
    ) -> SaverDef:
        """What a saver calls, as TensorFlow's does: `build` with what only savers ask for.

        `incremental`: there are also operations that save what changed since; of plain variables, with
        `incremental_rows`, only the rows that changed.
        """
        if not (build_save and build_restore):
            raise InvalidArgumentError("save and restore operations need to be built together: graphs have both")
        saveables = sorted_saveables(names_to_saveables)
        _check_hash_tables(saveables, sharded, incremental, self._write_version)
        self._is_incremental = incremental
        self._saves_rows = incremental and incremental_rows
        graph = graph_of(_producers(saveables)) if saveables else current_graph()
        with name_scope(chosen_name(name, "save"), graph):
            prefix = placeholder_with_default(filename or "model", shape=(), name="filename")
            prefix = placeholder_with_default(prefix, shape=(), name="Const")
            if sharded:
                groups = self._GroupByDevices(saveables)
                saved = self._AddShardedSaveOps(prefix, groups)
                restored = self._AddShardedRestoreOps(prefix, groups, restore_sequentially, reshape)
            else:
                saved = self._AddSaveOps(prefix, saveables)
                restored = self._AddRestoreOps(prefix, saveables, restore_sequentially, reshape)
            if incremental:
                saved = self._add_incremental(prefix, saveables, saved)
        _make_whole(graph)
        return SaverDef(
            filename_tensor_name=prefix.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )

    def _add_incremental(self, prefix: Tensor, saveables: Sequence[Saveable], saved: Tensor) -> Tensor:
        """The name of the file, once it is written and what changed before it is forgotten."""
        streamed, plain = _streamed_saveables(saveables), _plain(saveables)
        rows = self._by_rows(plain)
        forgotten = forget_saved_changes(streamed, rows, saved, prefix)
        record_from_the_first_step(streamed)
        add_incremental(prefix, plain, rows, streamed, _step())
        return forgotten


class BulkSaverBuilder(BaseSaverBuilder):
    """Reads all tensors of a file by one operation."""

    def bulk_restore(
        self, filename_tensor: Tensor, saveables: Sequence[Saveable], preferred_shard: int, restore_sequentially: bool
    ) -> list[Tensor]:
        specs = [spec for saveable in saveables for spec in saveable.specs]
        with device("cpu:0"):
            tensors: list[Tensor] = restore_v2(
                filename_tensor,
                [spec.name for spec in specs],
                [spec.slice_spec for spec in specs],
                dtypes=list(map(base_dtype, specs)),
            )
            return tensors


def _plain(saveables: Sequence[Saveable]) -> list[Saveable]:
    """The saveables whose tensors are written and read one by one."""
    return [saveable for saveable in saveables if not isinstance(saveable, EmbeddingSaveable)]


def _reads_itself(saveable: Saveable) -> bool:
    """Whether it is made of tensors, and yet read by an operation of its own."""
    return bool(getattr(saveable, "custom_restore", False))


def _check_hash_tables(saveables: Sequence[Saveable], sharded: bool, incremental: bool, version: int) -> None:
    """Says what a saver of hash tables has to be. Only a sharded one merges what DeepRec stores in parts."""
    tables = [saveable for saveable in saveables if isinstance(saveable, HashTableSaveable | BloomFilterSaveable)]
    if not tables:
        return
    names = ", ".join(f'"{saveable.name}"' for saveable in tables)
    if not sharded:
        raise InvalidArgumentError(
            f"HashTable can only use sharded saver: make it with tf.train.Saver(sharded=True) to save {names}"
        )
    if version == V1:
        raise InvalidArgumentError(f"hash tables cannot be saved in the old format, V1: {names}")
    if incremental:
        raise UnimplementedError(
            f"an incremental checkpoint cannot hold hash tables, of which nothing records what changed: {names}"
        )


def _streamed_saveables(saveables: Sequence[Saveable]) -> list[EmbeddingSaveable]:
    """The saveables of embedding variables, whose tables write and read themselves."""
    return [saveable for saveable in saveables if isinstance(saveable, EmbeddingSaveable)]


def _step() -> Tensor:
    """The step by which embedding variables tell which keys have not been used for long; 0 if nothing counts steps."""
    step = get_global_step()
    if step is None:
        return constant(0, INT64, name="global_step")
    found: Tensor = cast(step, INT64)
    return found


def _tensors(saveables: Sequence[Saveable], rows: Sequence[Saveable] = ()) -> list[Any]:
    """What is written. Those of `rows` are read here: what changed between a reading and here would be lost to both."""
    return [
        saveable.read_again() if saveable in rows and isinstance(saveable, ResourceVariableSaveable) else spec.tensor
        for saveable in saveables
        for spec in saveable.specs
    ]


def _producers(saveables: Sequence[Saveable]) -> list[Any]:
    return [saveable.op for saveable in saveables if isinstance(saveable.op, Tensor | Operation)]


def _shape_of(spec: Any) -> Any:
    static = spec.tensor.get_shape()
    return static if static.is_fully_defined() else shape(spec.tensor)


def _make_whole(graph: Graph) -> None:
    """Adds to a graph the partitioned variables of its collections as tensors, where that was not done yet."""
    for key in collection_keys(graph):
        for item in get_collection(graph, key):
            if isinstance(item, PartitionedVariable) and item.name not in graph:
                item.as_tensor()
