"""Pages that commands write: `tensorkeep report` and `tensorkeep view --export`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from tensorkeep.cli.command import DONE
from tensorkeep.cli.files import write_text
from tensorkeep.cli.output import Output, amount_of, shown_value, size_text
from tensorkeep.cli.progress import watching
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.inspect.identifying import identify
from tensorkeep.viewer.page import export_page


def write_page(schema: str, paths: Sequence[str], target: str, given: Namespace, output: Output) -> int:
    """Writes a page on what is at some paths, or says what would be written."""
    with watching(output) as bar:
        page = export_page(paths, progress=bar)
    if not page.tensors and not page.graphs:
        kinds = ", ".join(f'"{path}" ({identify(path).kind})' for path in paths)
        raise InvalidArgumentError(f"there are neither tensors nor a graph at {kinds}")
    if not given.dry_run:
        write_text(target, page.text, overwrite=given.force)
    size = len(page.text.encode("utf-8", "backslashreplace"))
    if output.is_json:
        sizes = {"bytes": size, "tensors": page.tensors, "graphs": page.graphs, "findings": page.findings}
        told = {"paths": list(paths), "target": target, "is_dry_run": given.dry_run, **sizes}
        output.data(schema, {**told, "left_out": page.left_out})
        return DONE
    verb = "would write" if given.dry_run else "wrote"
    parts = ((page.tensors, "tensor"), (page.graphs, "graph"), (page.findings, "finding"))
    what = ", ".join(amount_of(count, noun) for count, noun in parts)
    output.line(f"{verb} {shown_value(target)}, {size_text(size)}: {what}")
    for remark in page.left_out:
        output.note(f"not in the page: {remark}")
    return DONE
