from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from tools.size_report import (
    count_body_lines,
    count_parameters,
    count_participles,
    count_public_methods,
    depth,
    main,
    measure,
)


def function(source: str) -> ast.FunctionDef:
    (node,) = ast.parse(dedent(source)).body
    assert isinstance(node, ast.FunctionDef)
    return node


def test_a_docstring_is_not_part_of_the_body() -> None:
    source = '''
        def f():
            """One
            two."""
            x = (
                1
            )
            return x
        '''
    assert count_body_lines(function(source)) == 4


def test_a_function_may_be_nothing_but_a_docstring() -> None:
    assert count_body_lines(function('def f():\n    "what"')) == 0


def test_every_kind_of_parameter_counts_but_not_self() -> None:
    assert count_parameters(function("def f(self, a, /, b, *args, c=1, **kwargs): ...")) == 5


def test_public_methods_are_those_without_an_underscore() -> None:
    source = """
        class C:
            x = 1
            def __init__(self): ...
            def _hidden(self): ...
            def shown(self): ...
            async def also(self): ...
        """
    (node,) = ast.parse(dedent(source)).body
    assert isinstance(node, ast.ClassDef)
    assert count_public_methods(node) == 2


def test_a_participle_is_a_name_by_itself_only() -> None:
    module = ast.parse(
        "def _joined(): ...\ndef joined_rows(): ...\ndef told(): ...\ndef seed(): ...\nclass C:\n def made(self): ..."
    )
    assert count_participles(module) == 2


def test_nesting_is_counted_along_the_deepest_path() -> None:
    source = """
        def f():
            for x in y:
                with z:
                    pass
            if a:
                pass
        """
    assert depth(function(source)) == 2


def test_an_elif_is_no_deeper_than_its_if() -> None:
    source = """
        def f():
            if a:
                pass
            elif b:
                pass
            elif c:
                for x in y:
                    pass
        """
    assert depth(function(source)) == 2


def test_an_inner_function_is_measured_on_its_own(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f():\n    def g(a):\n        if a:\n            pass\n    return g\n")
    tables = measure(tmp_path)
    assert [(row.name, row.amount) for row in tables["Deepest nesting (3)"]] == [("f", 0), ("f.g", 1)]


def test_the_largest_come_first_without_generated_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "_generated").mkdir()
    (tmp_path / "_generated" / "huge.py").write_text("x = 1\n" * 100)
    (tmp_path / "small.py").write_text("x = 1\n")
    (tmp_path / "large.py").write_text("x = 1\n" * 5)
    main([str(tmp_path), "--top", "1"])
    assert capsys.readouterr().out.splitlines()[:3] == [
        "Largest files, in lines (400; families of ops 800)",
        "     5  large.py",
        "",
    ]
