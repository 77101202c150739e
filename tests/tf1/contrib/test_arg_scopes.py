"""`arg_scope`: default arguments of functions for a stretch of a program."""

from __future__ import annotations

from typing import Any

import pytest

import tensorkeep.v1 as tf

slim = tf.contrib.slim


@slim.add_arg_scope
def first(a: int, b: int = 1, c: int = 2) -> tuple[int, int, int]:
    return a, b, c


@slim.add_arg_scope
def second(a: int, c: int = 3) -> tuple[int, int]:
    return a, c


def test_a_scope_gives_defaults_to_the_functions_that_it_names() -> None:
    with slim.arg_scope([first], b=10):
        assert first(0) == (0, 10, 2)
        assert second(0) == (0, 3)
    assert first(0) == (0, 1, 2)


def test_what_is_passed_comes_before_the_scope_and_inner_scopes_before_outer_ones() -> None:
    with slim.arg_scope([first, second], c=10):
        assert (first(0), second(0)) == ((0, 1, 10), (0, 10))
        with slim.arg_scope([first], c=20, b=5):
            assert (first(0), second(0)) == ((0, 5, 20), (0, 10))
            assert first(0, c=7) == (0, 5, 7)
        assert first(0) == (0, 1, 10)


def test_a_scope_can_be_opened_again_in_the_place_of_others() -> None:
    with slim.arg_scope([first], b=10) as kept:
        pass
    with slim.arg_scope([first], c=5), slim.arg_scope(kept):
        assert first(0) == (0, 10, 2)
    with pytest.raises(ValueError, match="kwargs must be empty"), slim.arg_scope(kept, b=1):
        pass


def test_functions_that_take_no_part_and_what_is_no_list_are_refused() -> None:
    def plain(a: int = 1) -> int:
        return a

    with pytest.raises(ValueError, match="not decorated"), slim.arg_scope([plain], a=1):
        pass
    wrong: Any = first
    with pytest.raises(TypeError, match="list/tuple"), slim.arg_scope(wrong, b=1):
        pass
    assert not slim.has_arg_scope(plain)
    assert slim.arg_scoped_arguments(first) == ("b", "c")


def test_the_scope_in_force_can_be_read_by_the_key_of_a_function() -> None:
    key = tf.contrib.framework.arg_scope_func_key(first)
    with slim.arg_scope([first], b=10):
        assert slim.current_arg_scope()[key] == {"b": 10}
    assert slim.current_arg_scope() == {}
