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


def write_page(command: str, paths: Sequence[str], target: str, given: Namespace, output: Output) -> int:
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
        told = {"path": paths[0], "target": target, "is_dry_run": given.dry_run, **sizes, "left_out": page.left_out}
        output.data(f"{command}/1", told if command == "report" else {"paths": list(paths), **told})
        return DONE
    verb = "would write" if given.dry_run else "wrote"
    parts = ((page.tensors, "tensor"), (page.graphs, "graph"), (page.findings, "finding"))
    what = ", ".join(amount_of(count, noun) for count, noun in parts)
    output.line(f"{verb} {shown_value(target)}, {size_text(size)}: {what}")
    for remark in page.left_out:
        output.note(f"not in the page: {remark}")
    return DONE
