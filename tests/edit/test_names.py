"""Which tensors are meant, and what they shall be called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.edit.names import AddScope, RenameExactly, RenamePattern, Selection, StripScope, renamed_tensors
from tensorkeep.errors import InvalidArgumentError, NotFoundError

NAMES = ["bert/encoder/kernel", "bert/encoder/bias", "head/kernel", "global_step"]


def test_rules_are_applied_one_after_the_other() -> None:
    rules = [StripScope("bert"), RenamePattern(r"(kernel|bias)$", r"\1_0"), AddScope("mine/")]
    assert list(renamed_tensors(NAMES, rules).values()) == [
        "mine/encoder/kernel_0",
        "mine/encoder/bias_0",
        "mine/head/kernel_0",
        "mine/global_step",
    ]


def test_names_may_change_places() -> None:
    swap = RenameExactly({"head/kernel": "global_step", "global_step": "head/kernel"})
    assert renamed_tensors(NAMES, [swap])["head/kernel"] == "global_step"


def test_a_scope_is_stripped_only_where_it_is_one() -> None:
    assert StripScope("be")("bert/x") == "bert/x"
    assert StripScope("bert/")("bert/x") == "x"


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        renamed_tensors(NAMES, [RenameExactly({"nowhere": "x", "head/kernel": "global_step"}), StripScope("absent")])
    message = str(caught.value)
    assert 'there is no tensor "nowhere"' in message
    assert 'would all be called "global_step"' in message
    assert "StripScope(scope='absent') changes no name" in message


def test_a_tensor_needs_a_name() -> None:
    with pytest.raises(InvalidArgumentError, match='"global_step" would have no name'):
        renamed_tensors(NAMES, [RenamePattern("^global_step$", "")])


@pytest.mark.parametrize(("pattern", "replacement"), [("(", "x"), ("a", r"\1"), ("a", r"\g<b>")])
def test_a_pattern_that_cannot_work_is_refused_before_anything_is_done(pattern: str, replacement: str) -> None:
    with pytest.raises(InvalidArgumentError):
        RenamePattern(pattern, replacement)


def test_a_selection_takes_globs_and_regular_expressions() -> None:
    assert Selection(["bert/*"], ["step$"]).of(NAMES) == [NAMES[0], NAMES[1], NAMES[3]]
    assert Selection(["*kernel"], unless=Selection(["head/*"])).of(NAMES) == [NAMES[0]]
    assert Selection().of(NAMES) == NAMES


def test_a_selection_that_fits_nothing_is_an_error_that_lists_what_there_is() -> None:
    with pytest.raises(NotFoundError, match=r'no tensor fits "Bert\*", "xyz"; there are "bert/encoder/kernel"'):
        Selection(["Bert*", "head/*"], ["xyz"]).of(NAMES)


@given(st.lists(st.text(min_size=1), unique=True, min_size=1), st.text("abc", min_size=1))
def test_a_scope_that_is_added_can_be_stripped_again(names: list[str], scope: str) -> None:
    there = renamed_tensors(names, [AddScope(scope)])
    back = renamed_tensors(list(there.values()), [StripScope(scope)])
    assert [back[there[name]] for name in names] == names
