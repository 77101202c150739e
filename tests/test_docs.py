"""The documentation is true: its examples run, its links lead somewhere, and no public name goes unmentioned.

What an author of docs/**/*.md, or of README.md, has to know:

* Every ```python block is run. The blocks of a page are run in order, in one namespace and one folder, empty at first,
  as is the default graph; warnings are errors. A block inside an HTML comment is run and not shown.
* Comments that begin with `# ->`, behind a statement or right below it, together say what the statement prints or, if
  it is an expression, its repr. If it raises, they say `NameOfTheError: its message`. As in doctests, `...` stands for
  anything, and all white space is alike.
* A block whose first line is `# needs NAME` is run only where the package NAME is installed.
* What is not Python is fenced as ```text or ```sh.
"""

from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
import io
import re
import textwrap
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tensorkeep
from tensorkeep.dtypes import ALL_DTYPES
from tensorkeep.v1 import reset_default_graph

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GUIDE = (DOCS / "guide" / "checkpoints.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "reference.md").read_text(encoding="utf-8")
PAGES = sorted(DOCS.rglob("*.md")) + [path for path in [ROOT / "README.md"] if path.exists()]

FENCED = re.compile(r"^(?P<indent> *)```(?P<kind>[^\n]*)\n(?P<code>.*?)^(?P=indent)```[ ]*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ +(?P<text>.*)$", re.MULTILINE)
NEEDS = re.compile(r"# needs (?P<name>\w+)\n")
KINDS = {"python", "text", "sh"}
CHECKER = doctest.OutputChecker()
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


class Block(NamedTuple):
    """Fenced text, and the line of the page on which it begins."""

    kind: str
    code: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    for found in FENCED.finditer(text):
        yield Block(found["kind"], textwrap.dedent(found["code"]), text.count("\n", 0, found.start("code")) + 1)


class Statement(NamedTuple):
    """One statement of a block, and what the page says it gives; None if it says nothing."""

    node: ast.stmt
    expected: str | None


def statements(block: Block, page: str) -> Iterator[Statement]:
    tokens = tokenize.generate_tokens(io.StringIO(block.code).readline)
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    said = {token.start[0]: token.string.removeprefix("# ->") for token in comments if token.string.startswith("# ->")}
    nodes = ast.parse(block.code, page).body
    for node, following in zip(nodes, [*nodes[1:], None], strict=True):
        end = block.code.count("\n") + 2 if following is None else following.lineno
        lines = [said[line] for line in range(node.lineno, end) if line in said]
        ast.increment_lineno(node, block.line - 1)
        yield Statement(node, "\n".join(lines) if lines else None)


def result_of(node: ast.stmt, page: str, namespace: dict[str, Any]) -> str:
    """What a statement prints, and its repr if it is an expression that is not None."""
    printed = io.StringIO()
    with redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        if isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), page, "eval"), namespace)
            return printed.getvalue() + ("" if value is None else f"{value!r}\n")
        exec(compile(ast.Module([node], []), page, "exec"), namespace)
    return printed.getvalue()


def run(block: Block, page: str, namespace: dict[str, Any]) -> None:
    needs = NEEDS.match(block.code)
    if needs and importlib.util.find_spec(needs["name"]) is None:
        return
    for node, expected in statements(block, page):
        if expected is None:
            result_of(node, page, namespace)
            continue
        try:
            got = result_of(node, page, namespace)
        except Exception as error:
            got = f"{type(error).__name__}: {error}\n"
        assert CHECKER.check_output(expected.strip() + "\n", got.strip() + "\n", LENIENT), (
            f"{page}:{node.lineno}: the page says\n{expected}\nbut it is\n{got}"
        )


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_examples_of_a_page_run_and_give_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reset_default_graph()
    namespace: dict[str, Any] = {"__name__": "example"}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.kind == "python":
            run(block, str(page), namespace)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_python_to_be_run_or_says_that_it_is_not(page: Path) -> None:
    assert {block.kind for block in blocks(page.read_text(encoding="utf-8"))} <= KINDS


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_within_the_documentation_lead_somewhere(page: Path) -> None:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    broken = [found["target"] for found in LINK.finditer(text) if not leads_somewhere(page, found["target"])]
    assert broken == []


def leads_somewhere(page: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):
        return True
    path, _, anchor = target.partition("#")
    other = (page.parent / path).resolve() if path else page
    return other.exists() and (not anchor or anchor in anchors(other))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the site makes them."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    plain = (re.sub(r"[^\w\s-]", "", found["text"]).strip().lower() for found in HEADING.finditer(text))
    return {re.sub(r"[-\s]+", "-", heading) for heading in plain}


def test_the_decisions_are_listed_once_each_in_their_order_by_their_titles() -> None:
    pages = sorted((DOCS / "decisions").glob("0*.md"))
    titles = [page.read_text(encoding="utf-8").partition("\n")[0].split(" ", 2)[2] for page in pages]
    rows = [f"| [{page.name[:4]}]({page.name}) | {title} |" for page, title in zip(pages, titles, strict=True)]
    index = (DOCS / "decisions" / "index.md").read_text(encoding="utf-8")
    assert [line for line in index.splitlines() if line.startswith("| [")] == rows


def test_every_page_is_in_the_navigation_of_the_site_once() -> None:
    listed = re.findall(r"\S+\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == [page.relative_to(DOCS).as_posix() for page in PAGES if DOCS in page.parents]


@pytest.mark.parametrize("name", [name for name in tensorkeep.__all__ if not name.startswith("_")])
def test_every_public_name_is_in_the_guide_or_the_reference(name: str) -> None:
    assert re.search(rf"\b{name}\b", GUIDE + REFERENCE)


SIGNATURES = re.findall(r"^\* \*\*`(\w+)\((.*)\)`\*\*", REFERENCE, re.MULTILINE)


@pytest.mark.parametrize(("name", "written"), SIGNATURES, ids=[name for name, _ in SIGNATURES])
def test_a_signature_in_the_reference_is_the_real_one(name: str, written: str) -> None:
    parameters = inspect.signature(getattr(tensorkeep, name)).parameters.values()
    real: list[str] = []
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in real:
            real.append("*")
        real.append(parameter.name + ("" if parameter.default is parameter.empty else "=…"))
    # A class without a constructor of its own seems to take anything.
    assert ", ".join(item for item in real if item not in ("args", "kwargs")).removeprefix("*") == written


@pytest.mark.parametrize("name", tensorkeep.__all__)
def test_every_function_has_its_signature_in_the_reference(name: str) -> None:
    if inspect.isfunction(getattr(tensorkeep, name)):
        assert name in dict(SIGNATURES)


def test_the_first_page_names_the_extras_that_users_need() -> None:
    project = (DOCS.parent / "pyproject.toml").read_text()
    section = project.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    extras = set(re.findall(r"^(\w+) = \[", section, re.MULTILINE))
    for_work_on_it = {"lint", "protos", "quick", "test", "bench", "docs", "fuzz"}
    rows = re.findall(r"^(\| `(\w+)` \| .*)$", (DOCS / "index.md").read_text(), re.MULTILINE)
    assert {name for _, name in rows} == extras - for_work_on_it
    readme = ROOT / "README.md"
    assert not readme.exists() or [row for row, _ in rows if row not in readme.read_text()] == []


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_the_table_of_types_has_a_row_for_each(dtype: tensorkeep.DType) -> None:
    rows = re.findall(rf"^\| {dtype.number} \| `{dtype.name}` \| (.*?) \| (.*?) \| (.*?) \|", GUIDE, re.MULTILINE)
    [(array_type, size, in_v1)] = rows
    assert size == str(dtype.itemsize or "–")
    assert dtype.is_object or array_type.strip("`").removeprefix("ml_dtypes.") == dtype.array_dtype.name
    assert in_v1 == ("yes" if can_be_stored_in_v1(dtype) else "no")


def can_be_stored_in_v1(dtype: tensorkeep.DType) -> bool:
    try:
        source = tensorkeep.ArraySource(dtype, (0,), ())
        tensorkeep.SliceFileWriter("unused", fs=tensorkeep.MemoryFileSystem()).add("x", source)
    except (tensorkeep.UnimplementedError, tensorkeep.InvalidArgumentError):
        return False
    return True


@pytest.mark.parametrize(
    "code",
    [
        "1 + 1  # -> 2",
        "print('a')\nprint('b')\n# -> b",
        "print('a\\nb')\n# -> a\n# -> b",
        "for item in 'ab':\n    print(item)\n# -> a\n# -> b",
        "int('x')\n# -> ValueError: invalid literal ...",
        "# needs no_such_package\nimport no_such_package",
    ],
)
def test_an_example_that_keeps_its_word_passes(code: str) -> None:
    run(Block("python", code, 1), "page.md", {})


@pytest.mark.parametrize(
    "code",
    [
        "1 + 1  # -> 3",
        "print('a')\n# -> a\n# -> b",
        "x = 1  # -> 1",
        "int('1')\n# -> ValueError: ...",
        "int('x')\n# -> KeyError: ...",
    ],
)
def test_an_example_that_does_not_keep_its_word_fails(code: str) -> None:
    with pytest.raises(AssertionError, match=r"page\.md:1: the page says"):
        run(Block("python", code, 1), "page.md", {})


@pytest.mark.parametrize("code", ["int('x')", "import warnings\nwarnings.warn('old')"])
def test_an_error_or_a_warning_that_the_page_does_not_speak_of_fails(code: str) -> None:
    with pytest.raises((ValueError, UserWarning)):
        run(Block("python", code, 1), "page.md", {})


def test_what_the_guide_says_is_not_there_is_not_there() -> None:
    page = (DOCS / "guide" / "moving-from-tensorflow-1.md").read_text("utf-8")
    section = page.partition("## What is not there")[2].partition("\n## ")[0]
    rows = [row.split("|") for row in section.splitlines() if row.startswith("| ")]
    assert len(rows) > 5, "the table is not found"
    named = [name for row in rows if row[1].startswith(" `tf.") for name in re.findall(r"`tf\.(\w+)`", row[1])]
    assert [name for name in named if hasattr(tensorkeep.v1, name)] == []
