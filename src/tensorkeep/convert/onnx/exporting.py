"""Exporting: the source is opened, translated, verified, and written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from tensorkeep._lazy import later
from tensorkeep._version import __version__
from tensorkeep.convert.hub import refuse
from tensorkeep.convert.onnx.ends import Chosen, chosen_ends
from tensorkeep.convert.onnx.options import DEFAULT, Ends, OnnxOptions, Sizes, option_problems
from tensorkeep.convert.onnx.reports import ExportedNode, OnnxExport
from tensorkeep.convert.onnx.sources import ExportSource, Source, opened_source
from tensorkeep.errors import UnimplementedError, WrongTypeError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.amounts import some_of

if TYPE_CHECKING:
    from tensorkeep.convert.onnx import files, runtimes, splitting, verifying
    from tensorkeep.onnx import graphs, models
    from tensorkeep.onnx.passes import layout
else:  # what needs the extra `onnx`
    files = later("tensorkeep.convert.onnx.files")
    runtimes = later("tensorkeep.convert.onnx.runtimes")
    splitting = later("tensorkeep.convert.onnx.splitting")
    verifying = later("tensorkeep.convert.onnx.verifying")
    graphs = later("tensorkeep.onnx.graphs")
    models = later("tensorkeep.onnx.models")
    layout = later("tensorkeep.onnx.passes.layout")

_PRODUCER: Final = "tensorkeep"
_RANDOM: Final = (
    "Random", "StatelessRandom", "StatelessTruncated", "StatelessParameterized", "StatelessMultinomial", "Multinomial",
    "TruncatedNormal", "ParameterizedTruncatedNormal", "StatefulStandardNormal", "StatefulUniform", "StatefulTruncated",
)  # fmt: skip


def export_onnx(
    source: ExportSource,
    target: PathLike,
    options: OnnxOptions = DEFAULT,
    *,
    signature: str | None = None,
    inputs: Ends | None = None,
    outputs: Ends | None = None,
    opset: int | None = None,
    shapes: Mapping[str, Sizes] | None = None,
    verify: bool | None = None,
    overwrite: bool | None = None,
    fs: FileSystem = FILES,
) -> OnnxExport:
    """Writes a model as an ONNX file, checked by `onnx`; if asked, run by ONNX Runtime and compared before it is there.

    `source` is a SavedModel directory, a frozen graph (.pb, .pbtxt), a .meta file or the prefix of a checkpoint with
    one, a loaded model, an opened graph, a graph, a message, or a session with its graph. The arguments by keyword are
    those of `options` that are used most, and count before it. All that stands against an export is said in one
    error; the target appears whole or not at all.
    """
    more: dict[str, Any] = {
        "signature": signature, "inputs": inputs, "outputs": outputs, "opset": opset, "shapes": shapes,
        "verify": verify, "overwrite": overwrite,
    }  # fmt: skip
    if not isinstance(options, OnnxOptions):
        raise WrongTypeError(f"options of an export are an OnnxOptions, got {type(options).__name__}")
    options = replace(options, **{name: value for name, value in more.items() if value is not None})
    refuse("an export cannot be made as it is asked for", option_problems(options))
    require_packages(verifies=options.verify)
    path = path_text(target)
    files.require_free(path, bool(options.external_data), options.overwrite or options.dry_run, fs)
    with ExitStack() as stack:
        opened = opened_source(source, options, stack, fs)
        chosen = chosen_ends(opened.part, opened.wider, options, opened.where, _opset_problems(options))
        opset = _opset(options)
        try:
            return _export_chosen(opened, chosen, path, replace(options, opset=opset), fs)
        except graphs.CannotTranslateError as error:
            older = _older_opset(error, options)
            if older is None:
                raise
        return _export_chosen(opened, chosen, path, replace(options, opset=older), fs)


def require_packages(*, verifies: bool) -> None:
    """UnimplementedError, which names the extra, if a package is missing that an export needs."""
    needed = ("onnx", "onnx_ir", "onnxruntime") if verifies else ("onnx", "onnx_ir")
    if missing := [name for name in needed if find_spec(name) is None]:
        raise UnimplementedError(
            f"ONNX needs packages that are not installed ({', '.join(missing).replace('_', '-')}): "
            'pip install "tensorkeep[onnx]"'
        )


def _opset(options: OnnxOptions) -> int:
    if options.opset is None:
        return models.NEWEST_OPSET if find_spec("onnxruntime") is None else runtimes.newest_opset()
    return options.opset


def _opset_problems(options: OnnxOptions) -> list[str]:
    oldest, newest = graphs.OLDEST_OPSET, models.NEWEST_OPSET
    if options.opset is None or oldest <= options.opset <= newest:
        return []
    return [
        f"opset {options.opset} cannot be written: those from {oldest} to {newest} can; leave it out for the newest "
        "that ONNX Runtime runs"
    ]


def _older_opset(error: graphs.CannotTranslateError, options: OnnxOptions) -> int | None:
    """The version of ONNX in which all can be said that could not be, if none is asked for and there is one."""
    known = [problem.newest_opset for problem in error.problems if problem.newest_opset is not None]
    return min(known) if options.opset is None and known and len(known) == len(error.problems) else None


def _export_chosen(opened: Source, chosen: Chosen, path: str, options: OnnxOptions, fs: FileSystem) -> OnnxExport:
    split = splitting.split_model(chosen, path, options) if options.split else None
    parts = {} if split is None else split.parts
    if split is not None:
        splitting.require_free(parts, options.overwrite or options.dry_run, fs)
        chosen = split.middle
    translated = _translate_chosen(opened, chosen, options)
    model = translated.model
    for name in dict.fromkeys(options.channels_first):
        layout.take_channels_first(model, name)
    _describe(model, opened, options)
    files.check(model)
    packed = files.packed_model(model, path, options.external_data)
    verification = None
    if options.verify:
        changed = list(dict.fromkeys(item.op for item in translated.outcome.dropped if item.op.startswith("Assign")))
        verification = verifying.verify(
            chosen, model, packed, options, is_random=_is_random(translated.outcome), changed=changed, fs=fs
        )
    files.require_free(path, bool(packed.weights), options.overwrite or options.dry_run, fs)
    names = [path, files.data_path(path)] if packed.weights else [path]
    if not options.dry_run:
        if split is not None:
            splitting.write_parts(split, fs)
        names = files.write_model(packed, path, options.durability, fs)
    assert options.opset is not None
    outcome = translated.outcome
    return OnnxExport(
        source=opened.path or opened.where,
        target=path,
        signature=opened.signature,
        opset=options.opset,
        files=tuple(names),
        nbytes=packed.nbytes,
        inputs={value.name: _spec_text(value) for value in model.graph.inputs},
        outputs={value.name: _spec_text(value) for value in model.graph.outputs},
        node_counts=dict(Counter(node.op_type for node in model.graph.all_nodes())),
        nodes=tuple(ExportedNode(item.node, item.op, item.how) for item in outcome.nodes),
        dropped=tuple(ExportedNode(item.node, item.op, item.how) for item in outcome.dropped),
        verification=verification,
        remarks=tuple(_remarks(chosen, outcome, options)),
        is_dry_run=options.dry_run,
        parts={word: part.directory for word, part in parts.items()},
    )


def _translate_chosen(opened: Source, chosen: Chosen, options: OnnxOptions) -> Any:
    assert options.opset is not None
    how = models.TranslateOptions(
        options.opset, folds=options.folds, custom_ops=dict(options.custom_ops), axes=dict(chosen.axes)
    )
    try:
        return models.translate_graph(
            chosen.inputs, chosen.outputs, chosen.session.lasting_resource, how, chosen.captured
        )
    except graphs.CannotTranslateError as error:
        said = graphs.CannotTranslateError(_problems_text(opened, error))
        said.problems = error.problems
        raise said from None


def _problems_text(opened: Source, error: graphs.CannotTranslateError) -> str:
    """All that cannot be exported, by op and node, with what to do about it."""
    example = min((problem.op for problem in error.problems), default="MyOp")
    return "\n".join(
        [
            f"{opened.where} cannot be exported, as these operations are nothing that ONNX has:",
            *(models.problem_lines(error.problems) or [str(error)]),
            "Export less: name inputs behind them, or outputs before them (inputs=, outputs=; --inputs, --outputs).",
            f'Or keep them as nodes that you bring code for (custom_ops={{"{example}": "my.domain"}}; '
            f"--custom-op {example}=my.domain).",
            "Or leave what comes before and after to us (split=True; --split).",
        ]
    )


def _describe(model: Any, opened: Source, options: OnnxOptions) -> None:
    """Writes into a model who wrote it and from what; no dates, so that the bytes are the same every time."""
    model.producer_name, model.producer_version = _PRODUCER, __version__
    about = {"source": opened.path, "signature": opened.signature, **options.metadata}
    model.metadata_props.update({name: about[name] for name in sorted(about) if about[name]})


def _is_random(outcome: Any) -> bool:
    return any(item.op.startswith(_RANDOM) and not item.how.startswith("a constant") for item in outcome.nodes)


def _remarks(chosen: Chosen, outcome: Any, options: OnnxOptions) -> list[str]:
    found = [
        f'the output "{name}" is called as an input is, and is "{other}" in the file'
        for name, other in chosen.renamed.items()
    ]
    there = {item.op for item in outcome.nodes}
    unused = [op for op in options.custom_ops if op not in there]
    if unused:
        found.append(f"nothing that is exported is of the custom op {some_of(unused, 3)}")
    kinds = Counter(item.op for item in outcome.dropped)
    if kinds:
        listed = ", ".join(f"{count} {op}" for op, count in sorted(kinds.items()))
        found.append(f"left out, as the file only computes: {listed}")
    return found


def _spec_text(value: Any) -> str:
    dtype = "" if value.dtype is None else value.dtype.name.lower()
    if value.shape is None:
        return f"{dtype} of any shape"
    sizes = [str(size if isinstance(size, int) else size.value or "?") for size in value.shape]
    return f"{dtype} [{', '.join(sizes)}]"
