"""Converting: any file of tensors to any other, tensor by tensor, by rules."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from typing import Final

from tensorkeep.checkpoint.casting import CastLoss, refuse_losses
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.convert.checkpoints import BUNDLE, SLICE_FILE, CheckpointTensors
from tensorkeep.convert.formats import format_named, format_of_source, format_of_target
from tensorkeep.convert.hub import (
    VALID,
    Format,
    ModelFormat,
    ModelOptions,
    OpenTensors,
    SinkOptions,
    TensorFormat,
    TensorSink,
    TensorSource,
    listed_names,
    refuse,
)
from tensorkeep.convert.onnx_format import ONNX
from tensorkeep.convert.parquet import PARQUET
from tensorkeep.convert.presets import OBJECT_PATHS, rule_of
from tensorkeep.convert.proof import Digest, Proof, ProvenTensor, check_tensors, digest_of, write_proof
from tensorkeep.convert.rules import AnyRule, Applied, Explanation, apply_rules
from tensorkeep.convert.steps import Lazy, stored_tensor
from tensorkeep.edit.names import Selection
from tensorkeep.edit.plan import Made
from tensorkeep.edit.records import stems_with_records
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, UnimplementedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text
from tensorkeep.io.machine.parallel import read_ahead
from tensorkeep.io.showing.amounts import some_of
from tensorkeep.io.showing.progress import Progress, Told

_LARGE: Final = 8 << 20  # bytes; from here on it pays to have another thread read
AHEAD: Final = VALID - 2  # chunks that are read, or being read, beside the one being written: fewer than stay valid
_NO_MODEL: Final = ModelOptions()
_CHECKPOINTS: Final = (BUNDLE, SLICE_FILE)


@dataclass(frozen=True)
class ConvertOptions:
    """How a conversion is done."""

    to: str | None = None
    """The format by name, where the end of the target's name does not say it."""
    only: Selection | None = None
    """The tensors that are converted, by the names they are stored by. All, unless it is said."""
    prove: bool = False
    """Whether to read the result back, to compare it, and to write a report beside it: `<target>.proof.json`."""
    overwrite: bool = False
    """Whether what is at the target may be replaced."""
    dry_run: bool = False
    """Whether only to find out what would be done, and all that is wrong with it."""
    allow_loss: bool = False
    """Whether numbers may be lost where rules give tensors another type: to zero, to infinity, out of range, ..."""
    shard_bytes: int | None = None
    """How large a file may be, where a format knows several."""
    model: ModelOptions = _NO_MODEL
    """What is needed beside tensors, where the target is a graph or one table."""
    durability: Durability = Durability.DISK
    progress: Progress | None = field(default=None, compare=False)
    written: frozenset[str] | None = None
    """The tensors of the result that are written, where several processes write it together; all, if None."""


@dataclass(frozen=True)
class Converted:
    """What a conversion has written, or would have."""

    source: str
    target: str
    source_format: str
    target_format: str
    files: Sequence[str]
    """The files that were written, or of several files those that name the others."""
    nbytes: int
    explanation: Explanation
    """What became of every tensor."""
    proof: Proof | None = None
    is_dry_run: bool = False
    losses: Mapping[str, CastLoss] = field(default_factory=dict)
    """What other types did to the numbers of tensors that were cast: how many were lost, how many rounded."""

    def __str__(self) -> str:
        verb = "would be converted" if self.is_dry_run else "was converted"
        proven = ", proven" if self.proof is not None else ""
        return (
            f'"{self.source}" ({self.source_format}) {verb} to "{self.target}" ({self.target_format}): '
            f"{len(self.explanation.tensors):,} tensors, {self.nbytes:,} bytes{proven}"
        )


_DEFAULT: Final = ConvertOptions()
_NOTHING: Final = Explanation(())


def convert(
    source: PathLike,
    target: PathLike,
    rules: Sequence[str | AnyRule] = (),
    options: ConvertOptions = _DEFAULT,
    *,
    fs: FileSystem = FILES,
) -> Converted:
    """Converts a file of tensors to another format: the one that the end of the target's name says.

    What the source is, its contents say. `rules` are presets by name, rules, and renamings of `tensorkeep.edit`,
    applied one after the other. Tensors go through memory in small pieces. All that stands against it is said in one
    error before anything is written; the target appears whole or not at all.
    """
    given, path = path_text(source), path_text(target)
    to_format = format_named(options.to) if options.to is not None else format_of_target(path)
    if to_format is ONNX:  # of a graph in any file, also of those that hold no tensors
        return _convert_model(given, path, "model", to_format, rules, options, fs)
    from_format = format_of_source(given, fs)
    if from_format is PARQUET and to_format is BUNDLE:
        _require_plain(rules, options, to_format)
        _require_free([path, *BUNDLE.files(path, {}, _sink_options(options))], options, fs)
        files = PARQUET.restore(given, path, options.model, fs, dry_run=options.dry_run)
        return _empty_report(given, path, from_format.name, to_format, files, options)
    if not isinstance(to_format, TensorFormat):
        return _convert_model(given, path, from_format.name, to_format, rules, options, fs)
    with closing(_by_variable(from_format.open_source(given, fs), rules, to_format)) as opened:
        _tell_of_records(opened, fs)
        _tell_of_remarks(opened)
        whole = _apply_rules(opened, rules, options.only)
        applied = _tensors_to_write(whole, options.written)
        made = {name: Made(item.dtype, item.shape, item.chunks) for name, item in applied.tensors.items()}
        refuse(f'cannot convert "{given}" to "{path}"', applied.problems + to_format.problems(made))
        sink_options = _sink_options(options)
        files = to_format.files(path, made, sink_options)
        _require_free([*files, f"{path}.index.json"], options, fs)
        losses = {name: item.counted_losses() for name, item in applied.tensors.items() if item.casts}
        if not options.allow_loss:
            refuse_losses(f'converting "{given}" to "{path}"', losses)
        digests: dict[str, Digest] | None = {} if options.prove else None
        if not options.dry_run:
            sink = to_format.create_sink(path, made, sink_options, fs)
            _write(sink, applied.tensors, digests, options.progress)
        proof = None
        if digests is not None and not options.dry_run:
            proof = _proven(opened, path, applied.tensors, digests)
            check_tensors(proof, files[-1] if to_format not in _CHECKPOINTS else path, fs)
            write_proof(proof, f"{path}.proof.json", fs)
    return Converted(
        source=given,
        target=path,
        source_format=from_format.name,
        target_format=to_format.name,
        files=files,
        nbytes=sum(item.nbytes for item in applied.tensors.values()),
        explanation=whole.explanation(),
        proof=proof,
        is_dry_run=options.dry_run,
        losses=losses,
    )


def _tensors_to_write(applied: Applied, names: frozenset[str] | None) -> Applied:
    """The tensors that rules made, but only those with these names; all if there are no names."""
    if names is None:
        return applied
    return replace(applied, tensors={name: item for name, item in applied.tensors.items() if name in names})


def explain(
    source: PathLike,
    rules: Sequence[str | AnyRule] = (),
    *,
    only: Selection | None = None,
    fs: FileSystem = FILES,
) -> Explanation:
    """What rules would do to each tensor of a file; InvalidArgumentError with all that is wrong."""
    with closing(_by_variable(open_tensors(source, fs=fs), rules, None)) as opened:
        applied = _apply_rules(opened, rules, only)
        refuse(f'cannot apply the rules to "{opened.path}"', applied.problems)
        return applied.explanation()


def open_tensors(path: PathLike, *, fs: FileSystem = FILES) -> TensorSource:
    """Opens a file of tensors of any format. Use it with `with`."""
    given = path_text(path)
    return format_of_source(given, fs).open_source(given, fs)


def _sink_options(options: ConvertOptions) -> SinkOptions:
    return SinkOptions(options.durability, options.shard_bytes)


def _apply_rules(opened: TensorSource, rules: Sequence[str | AnyRule], only: Selection | None) -> Applied:
    """The tensors that rules make of the chosen ones of a source, with the problems found so far."""
    wanted: list[AnyRule] = [rule_of(rule) for rule in rules]
    left_out = _left_out(opened)
    names = [name for name in (opened if only is None else only.of(opened)) if name not in left_out]
    found = apply_rules({name: stored_tensor(opened, name) for name in names}, wanted)
    found.left_out.update(left_out)
    if only is None and isinstance(opened, OpenTensors):
        found.problems += [
            f'"{name}" is no tensor: {what} (choose others by only=)' for name, what in opened.others.items()
        ]
    if not found.tensors:
        found.problems.append("there is no tensor to convert")
    return found


def _tell_of_records(opened: TensorSource, fs: FileSystem) -> None:
    """Warns that rows which lie beside a checkpoint are not among its tensors."""
    stems = list(stems_with_records(opened.reader, fs)) if isinstance(opened, CheckpointTensors) else []
    if stems:
        warnings.warn(
            f'"{opened.path}" has rows of {some_of(stems, 3)} beside it, as records of an SSD tier, which are not '
            f"converted: put them into the checkpoint first, with `tensorkeep ev repair {opened.path} TARGET`",
            stacklevel=3,
        )


def _tell_of_remarks(opened: TensorSource) -> None:
    """Warns of what a checkpoint holds beside tensors, which is not converted."""
    for remark in opened.reader.remarks if isinstance(opened, CheckpointTensors) else ():
        warnings.warn(f'"{opened.path}": {remark}', stacklevel=3)


def _by_variable(opened: TensorSource, rules: Sequence[str | AnyRule], to_format: Format | None) -> TensorSource:
    """Tensors that were saved from objects by the names of their variables; a checkpoint keeps its objects' keys."""
    asks_for_paths = OBJECT_PATHS in map(rule_of, rules)
    if isinstance(opened, CheckpointTensors) and to_format not in _CHECKPOINTS and not asks_for_paths:
        return opened.by_name()
    return opened


def _left_out(opened: TensorSource) -> dict[str, str]:
    """What is stored with objects and is no variable, or one that is there already, with why it is left out."""
    names = opened.names if isinstance(opened, CheckpointTensors) else None
    if names is None:
        return {}
    why = {OBJECT_GRAPH_KEY: "it describes the objects, and is no variable"}
    why |= {name: "it is what Keras saved of its settings, and is no variable" for name in opened if _is_config(name)}
    return why | {key: f'it is "{name}" once more' for key, name in names.copies.items()}


def _is_config(name: str) -> bool:
    """Whether it is the description of a layer that tf.keras of TensorFlow 2.0 to 2.4 saved beside its variables."""
    return name.endswith(".OBJECT_CONFIG_JSON")


class TargetExistsError(AlreadyExistsError):
    """There is something already where files shall be written."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(f"{listed_names(paths)} exists already; say so if it shall be replaced (overwrite=True)")
        self.paths = tuple(paths)


def _require_free(files: Sequence[str], options: ConvertOptions, fs: FileSystem) -> None:
    if not options.overwrite and (there := [path for path in files if fs.exists(path)]):
        raise TargetExistsError(there)


def _write(
    sink: TensorSink, tensors: Mapping[str, Lazy], digests: dict[str, Digest] | None, progress: Progress | None
) -> None:
    told = Told(progress, sum(item.nbytes for item in tensors.values()))
    with ExitStack() as stack:
        try:
            for name in sink.order:
                tensor = tensors[name]
                chunks = tensor.chunks()
                if tensor.nbytes >= _LARGE:
                    chunks = stack.enter_context(closing(read_ahead(chunks, AHEAD)))
                chunks = told.counted(chunks)
                if digests is not None:
                    digests[name] = Digest(tensor.dtype)
                    chunks = digests[name].of(chunks)
                sink.write(name, ArraySource(tensor.dtype, tensor.shape, chunks))
            sink.commit()
        except BaseException:
            sink.abort()
            raise


def _proven(opened: TensorSource, path: str, tensors: Mapping[str, Lazy], digests: Mapping[str, Digest]) -> Proof:
    """The proof of what was written: the digest of each tensor, and those of the stored tensors that it was made of.
    These are read again only if a rule has changed them.
    """
    proven: dict[str, ProvenTensor] = {}
    for name, tensor in tensors.items():
        written = digests[name].text()
        made_of = dict.fromkeys(tensor.origins, written)
        if tensor.history:
            made_of = {origin: _stored_digest(opened, origin) for origin in tensor.origins}
        proven[name] = ProvenTensor(tensor.dtype.name, tensor.shape, made_of, written)
    return Proof(opened.path, path, proven)


def _stored_digest(opened: TensorSource, name: str) -> str:
    tensor = stored_tensor(opened, name)
    return digest_of(tensor.dtype, tensor.chunks())


# ------------------------------------------------------------------------------------------------- graphs and tables


def _convert_model(
    given: str,
    path: str,
    from_format: str,
    to_format: Format,
    rules: Sequence[str | AnyRule],
    options: ConvertOptions,
    fs: FileSystem,
) -> Converted:
    """Converts to a format that holds more than tensors: it is made of the model as it is, without rules."""
    if not isinstance(to_format, ModelFormat):
        raise UnimplementedError(f"{to_format.name} can be read, and not be written")
    _require_plain(rules, options, to_format)
    _require_free([path], options, fs)
    files = to_format.make(given, path, options.model, _sink_options(options), fs, dry_run=options.dry_run)
    return _empty_report(given, path, from_format, to_format, files, options)


def _require_plain(rules: Sequence[str | AnyRule], options: ConvertOptions, to_format: Format) -> None:
    asked = {"rules": bool(rules), "only": options.only is not None, "prove": options.prove}
    if wrong := [name for name, is_asked in asked.items() if is_asked]:
        raise InvalidArgumentError(f"{to_format.name} is made of a model as it is: {', '.join(wrong)} cannot be used")


def _empty_report(
    given: str, path: str, from_format: str, to_format: Format, files: Sequence[str], options: ConvertOptions
) -> Converted:
    return Converted(given, path, from_format, to_format.name, files, 0, _NOTHING, is_dry_run=options.dry_run)
