"""The restore doctor: every wanted name accounted for, what was meant suggested, what is allowed done."""

from __future__ import annotations

import ast
import json
import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorkeep import (
    Adapt,
    CheckpointReader,
    DType,
    InvalidArgumentError,
    MemoryFileSystem,
    NotFoundError,
    OnMismatch,
    PartitionedArray,
    Remedy,
    RestorePlan,
    TensorInfo,
    TensorSlice,
    Wanted,
    open_checkpoint,
    plan_restore,
    restore_arrays,
    save_checkpoint,
)
from tensorkeep.checkpoint.restore.name_rules import Cause
from tests.support.golden import golden

FLOAT = np.float32
SHAPES = [(), (2,), (3,), (2, 3), (3, 2), (1, 2)]
DTYPES = [np.float32, np.float64, np.int32, np.int64]

names = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12),
    st.lists(
        st.sampled_from(["net", "Net", "dense", "dense_1", "kernel", "weights", "part_0", "Adam", "w", "w:0", "v"]),
        min_size=1,
        max_size=4,
    ).map("/".join),
)
arrays = st.builds(lambda shape, dtype: np.ones(shape, dtype), st.sampled_from(SHAPES), st.sampled_from(DTYPES))
tensors = st.dictionaries(names, arrays, min_size=1, max_size=8)
policies = st.one_of(
    st.sampled_from(OnMismatch),
    st.builds(
        Adapt,
        st.sampled_from([(), "skip"]),
        st.sets(st.sampled_from(["skip", "crop", "grow", "reshape"])),
        st.sets(st.sampled_from(["skip", "widen", "cast"])),
    ),
)


def saved(tensors: Mapping[str, Any], path: str = "c") -> CheckpointReader:
    fs = MemoryFileSystem()
    save_checkpoint(path, tensors, fs=fs)
    return open_checkpoint(path, fs=fs)


def zeros(*shape: int, dtype: Any = FLOAT) -> np.ndarray[Any, Any]:
    return np.zeros(shape, dtype)


def suggestion(plan: RestorePlan, name: str) -> tuple[str | None, Cause] | None:
    [item] = [item for item in plan.items if item.wanted.key == name]
    return (item.suggestions[0].key, item.suggestions[0].cause) if item.suggestions else None


# ---------------------------------------------------------------------------------------------------- Accounting


@given(tensors, tensors, policies)
def test_every_wanted_and_every_stored_name_is_accounted_for_once(
    wanted: dict[str, Any], stored: dict[str, Any], policy: OnMismatch | Adapt
) -> None:
    plan = plan_restore(wanted, saved(stored), on_mismatch=policy)
    groups = [plan.exact, plan.renamed, plan.missing, plan.mismatched]
    assert sorted(item.wanted.key for group in groups for item in group) == sorted(wanted)
    used = {item.key for item in plan.items if item.key is not None}
    assert used | set(plan.unused) == set(stored)
    assert not used & set(plan.unused)
    outcome = plan.outcome()
    parts = [outcome.restored, outcome.adapted, outcome.not_restored]
    assert sorted(item.wanted.key for part in parts for item in part) == sorted(wanted)


@given(tensors, tensors, policies)
def test_a_plan_can_always_be_told_in_words_and_as_json(
    wanted: dict[str, Any], stored: dict[str, Any], policy: OnMismatch | Adapt
) -> None:
    plan = plan_restore(wanted, saved(stored), on_mismatch=policy)
    told = plan.message()
    error = plan.error()
    assert error is None or str(error) == told
    assert str(plan) in told
    assert str(plan.outcome())
    described = json.loads(json.dumps(plan.to_dict()))
    assert [item["key"] for item in described["items"]] == list(wanted)


@given(tensors, tensors)
def test_the_suggested_mapping_leads_to_stored_tensors_that_fit(wanted: dict[str, Any], stored: dict[str, Any]) -> None:
    reader = saved(stored)
    plan = plan_restore(wanted, reader)
    mapping = plan.suggested_mapping
    assert all(Wanted(name, DType.of(wanted[name].dtype), wanted[name].shape).fits(reader[key])
               for name, key in mapping.items())  # fmt: skip
    better = plan_restore(wanted, reader, mapping=mapping)
    solved = {item.wanted.key for item in (*better.exact, *better.renamed)}
    assert solved >= {item.wanted.key for item in (*plan.exact, *plan.renamed)} | set(mapping)


@given(tensors, tensors)
def test_the_suggested_policy_and_mapping_leave_nothing_to_refuse(
    wanted: dict[str, Any], stored: dict[str, Any]
) -> None:
    """And the policy is printed as Python that means the same."""
    reader = saved(stored)
    plan = plan_restore(wanted, reader)
    policy = plan.suggested_policy
    if policy is None:
        left = plan_restore(wanted, reader, mapping=plan.suggested_mapping)
        assert "Adapt(" not in plan.message()
        assert all(item.stored is None or not item.remedies for item in left.items)
        return
    assert plan_restore(wanted, reader, mapping=plan.suggested_mapping, on_mismatch=policy).error() is None
    [printed] = [line for line in plan.message().splitlines() if "Adapt(" in line]
    assert eval(printed.partition("on_mismatch=")[2], {"Adapt": Adapt}) == policy


@given(tensors, tensors)
def test_the_printed_mapping_is_python_that_means_the_same(wanted: dict[str, Any], stored: dict[str, Any]) -> None:
    reader = saved(stored)
    plan = plan_restore(wanted, reader)
    printed = ast.literal_eval(plan.mapping_literal)
    first = plan_restore(wanted, reader, mapping=plan.suggested_mapping)
    second = plan_restore(wanted, reader, mapping=printed)
    assert [(item.key, item.status) for item in first.items] == [(item.key, item.status) for item in second.items]


@given(tensors, st.sampled_from(["net/", "a/b/", "Net/"]))
def test_a_scope_that_was_added_or_removed_is_suggested_away(variables: dict[str, Any], scope: str) -> None:
    variables = {f"{name.replace('/', '_')}/{at}x": zeros(at + 1) for at, name in enumerate(variables)}
    scoped = {scope + name: array for name, array in variables.items()}
    assert plan_restore(scoped, saved(variables)).suggested_mapping == dict(zip(scoped, variables, strict=True))
    assert plan_restore(variables, saved(scoped)).suggested_mapping == dict(zip(variables, scoped, strict=True))


def test_the_same_plan_is_made_every_time() -> None:
    wanted = {f"net_{at}/kernel": zeros(2) for at in range(30)} | {"z": zeros(3)}
    stored = {f"old/net_{at + 5}/weights": zeros(2) for at in range(40)} | {"zz": zeros(3)}
    plans = [plan_restore(order, saved(stored)) for order in (wanted, dict(reversed(wanted.items())))]
    assert plans[0].suggested_mapping == plans[1].suggested_mapping


# ---------------------------------------------------------------------------------------------------- Suggestions


@pytest.mark.parametrize(
    ("wanted", "stored", "cause"),
    [
        ("net/w", "w", Cause.SCOPE),
        ("w", "net/w", Cause.SCOPE),
        ("new/dense/w", "old/net/dense/w", Cause.SCOPE),
        ("w:0", "w", Cause.TENSOR_NAME),
        ("w", "w:0", Cause.TENSOR_NAME),
        ("net/w:0", "w", Cause.SCOPE),
        ("v", "v/ExponentialMovingAverage", Cause.MOVING_AVERAGE),
        ("v/ExponentialMovingAverage", "v", Cause.MOVING_AVERAGE),
        ("v", "net/v/ExponentialMovingAverage", Cause.SCOPE),
        ("net/w", "net/w/.ATTRIBUTES/VARIABLE_VALUE", Cause.OBJECT_PATH),
        ("net/w/.ATTRIBUTES/VARIABLE_VALUE", "net/w", Cause.OBJECT_PATH),
        ("dense_1/kernel", "dense/kernel", Cause.NUMBERING),
        ("dense_7/kernel/Adam_1", "dense_2/kernel/Adam_1", Cause.NUMBERING),
        ("Dense/kernel", "dense/kernel", Cause.CASE),
        ("conv/kernel", "conv/weights", Cause.WORDING),
        ("encoder/atention/q", "encoder/attention/q", Cause.SPELLING),
        ("one", "quite/another", Cause.ONLY_CANDIDATE),
    ],
)
def test_one_renamed_variable_is_found_with_its_reason(wanted: str, stored: str, cause: Cause) -> None:
    plan = plan_restore(
        {wanted: zeros(2, 3), "b": zeros(4)}, saved({stored: zeros(2, 3), "b": zeros(4), "c": zeros(5)})
    )
    assert suggestion(plan, wanted) == (stored, cause)
    assert plan.suggested_mapping == {wanted: stored}


def test_layers_that_are_numbered_otherwise_are_matched_in_order_and_by_shape() -> None:
    wanted = {"dense_9/kernel": zeros(4, 2), "dense_10/kernel": zeros(2, 2), "dense_11/kernel": zeros(2, 2)}
    stored = {"dense/kernel": zeros(2, 2), "dense_1/kernel": zeros(4, 2), "dense_2/kernel": zeros(2, 2)}
    assert plan_restore(wanted, saved(stored)).suggested_mapping == {
        "dense_9/kernel": "dense_1/kernel",
        "dense_10/kernel": "dense/kernel",
        "dense_11/kernel": "dense_2/kernel",
    }


def test_tensors_that_changed_places_are_told_apart_by_shape() -> None:
    wanted = {"dense/kernel": zeros(2), "dense_1/kernel": zeros(3)}
    stored = {"dense/kernel": zeros(3), "dense_1/kernel": zeros(2)}
    plan = plan_restore(wanted, saved(stored))
    assert plan.suggested_mapping == {"dense/kernel": "dense_1/kernel", "dense_1/kernel": "dense/kernel"}
    assert plan_restore(wanted, saved(stored), mapping=plan.suggested_mapping).error() is None


def test_the_scope_that_explains_most_is_named_and_printed_as_one_line() -> None:
    wanted = {f"new/{at}/kernel": zeros(at) for at in range(50)} | {"one/x": zeros(2), "one/y": zeros(2)}
    stored = {f"old/all/{at}/kernel": zeros(at) for at in range(50)} | {"two/x": zeros(2), "two/y": zeros(2)}
    plan = plan_restore(wanted, saved(stored))
    assert plan.scope_change is not None
    assert (plan.scope_change.wanted, plan.scope_change.stored, plan.scope_change.count) == ("new/", "old/all/", 50)
    assert ast.literal_eval(plan.mapping_literal) == {"new/": "old/all/", "one/": "two/"}
    assert "One change explains 50" in plan.message()


def test_a_layer_too_many_is_not_filled_with_one_that_another_has() -> None:
    wanted = {f"layer_{at}/w": zeros(2) for at in range(16)}
    plan = plan_restore(wanted, saved({f"layer_{at}/w": zeros(2) for at in range(12)}))
    assert plan.suggested_mapping == {}
    assert len(plan.missing) == 4


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["v1"], ["v1_1"]),
        (["v1"], ["v1_1", "v1_2"]),
        (["scope/v1"], ["scope_1/v1"]),
        (["dense/kernel", "dense/bias"], ["dense_1/kernel", "dense_1/bias"]),
        (["dense/kernel", "dense_1/kernel"], ["dense_2/kernel", "dense_3/kernel"]),
        (["Variable", "Variable_1", "Variable_2"], ["Variable_3", "Variable_4", "Variable_5"]),
        (["net/layer_1/w", "net/layer_2/w"], ["net_1/layer_1/w", "net_1/layer_2/w"]),
        (["layer_1/w", "layer_2/w"], ["layer_1_1/w", "layer_2_1/w"]),
        (["v1", "v1/Adam", "v1/Adam_1", "beta1_power"], ["v1_1", "v1_1/Adam", "v1_1/Adam_1", "beta1_power_1"]),
    ],
)
def test_a_graph_that_was_built_twice_is_recognised_and_what_to_do_is_told(first: list[str], second: list[str]) -> None:
    stored = {name: zeros(2) for name in first} | {"global_step": np.int64(3)}
    plan = plan_restore({name: zeros(2) for name in second} | stored, saved(stored))
    assert plan.suggested_mapping == {name: first[at % len(first)] for at, name in enumerate(second)}
    assert {item.suggestions[0].cause for item in plan.missing} == {Cause.SECOND_COPY}
    assert "graph may have been built twice" in plan.message()
    assert "call tf.reset_default_graph() before you build it again" in plan.message()
    assert plan_restore(plan_wanted(plan), saved(stored), mapping=plan.suggested_mapping).error() is None


def plan_wanted(plan: RestorePlan) -> list[Wanted]:
    return [item.wanted for item in plan.items]


def test_what_may_be_a_new_layer_is_not_mapped_to_the_one_that_it_is_named_after() -> None:
    stored = {"dense/kernel": zeros(2, 2), "out/kernel": zeros(2, 1)}
    plan = plan_restore(stored | {"dense_1/kernel": zeros(2, 2)}, saved(stored))
    assert plan.suggested_mapping == {}
    assert 'may be a second "dense/kernel" of one graph, if it is not new' in plan.message()
    assert "tf.reset_default_graph()" in plan.message()


@pytest.mark.parametrize(
    ("stored", "missing"),
    [
        ({"v1": zeros(2)}, {"v1_1": zeros(3)}),
        ({"v1": zeros(2)}, {"v1_1": zeros(2, dtype=np.float64)}),
        ({"v2": zeros(2)}, {"v1_1": zeros(2)}),
        ({"v1_1": zeros(2)}, {"v1": zeros(2)}),
    ],
)
def test_what_is_no_second_one_of_anything_there_is_not_taken_for_one(
    stored: dict[str, Any], missing: dict[str, Any]
) -> None:
    plan = plan_restore(stored | missing, saved(stored))
    assert plan.suggested_mapping == {}
    assert "reset_default_graph" not in plan.message()


def test_a_moving_average_may_start_as_the_variable_that_is_restored_too() -> None:
    wanted = {"v": zeros(2), "v/ExponentialMovingAverage": zeros(2)}
    plan = plan_restore(wanted, saved({"v": zeros(2)}))
    assert plan.suggested_mapping == {"v/ExponentialMovingAverage": "v"}


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ({}, "no optimizer's values"),
        ({"w/Momentum": zeros(2)}, "another optimizer: Momentum"),
        ({"b/Adam": zeros(3)}, "for other variables"),
    ],
)
def test_it_is_told_why_what_an_optimizer_keeps_is_missing(stored: dict[str, Any], words: str) -> None:
    plan = plan_restore(
        {name: zeros(2) for name in ("w", "w/Adam", "w/Adam_1", "beta1_power")}, saved({"w": zeros(2), **stored})
    )
    for item in plan.missing:
        assert [(found.key, found.cause) for found in item.suggestions] == [(None, Cause.SLOT)]
        assert words in item.suggestions[0].reason
    assert len(plan.missing) == 3
    assert plan.suggested_mapping == {}


def test_what_an_optimizer_keeps_follows_its_variable() -> None:
    wanted = {"encoder/w": zeros(2), "encoder/w/Adam": zeros(2), "encoder/w/Adam_1": zeros(2)}
    stored = {"encodr/w": zeros(2), "encodr/w/Adam": zeros(2), "encodr/w/Adam_1": zeros(2)}
    assert plan_restore(wanted, saved(stored)).suggested_mapping == dict(zip(wanted, stored, strict=True))


def test_parts_and_wholes_are_recognised_and_not_mistaken_for_each_other() -> None:
    reader = saved({"w": PartitionedArray.split(np.ones((4, 2), FLOAT), 2), "u/part_0": zeros(3), "u/part_1": zeros(2)})
    plan = plan_restore({"w/part_0": None, "u": zeros(5)}, reader)
    assert suggestion(plan, "w/part_0") == ("w", Cause.PARTITION)
    assert suggestion(plan, "u") == ("u/part_0", Cause.PARTITION)
    assert "in 2 slices" in plan.message()
    assert "2 tensors of their own" in plan.message()
    assert plan.suggested_mapping == {}


@pytest.mark.parametrize(
    ("wanted", "stored", "word"),
    [
        ((2, 3), (3, 2), "transposed"),
        ((2, 1), (2,), "sizes of 1"),
        ((1, 2, 3), (2, 3), "sizes of 1"),
        ((4,), (2, 2), "as many elements"),
        ((2, 2), (3, 2), "larger;"),
        ((3, 2), (2, 2), "smaller;"),
        ((3, 2), (2, 3, 2), None),
        ((3, 2, 5), (2, 5, 4), "in one direction"),
    ],
)
def test_it_is_told_how_another_shape_relates_to_the_wanted_one(
    wanted: tuple[int, ...], stored: tuple[int, ...], word: str | None
) -> None:
    [item] = plan_restore({"w": zeros(*wanted)}, saved({"w": zeros(*stored)})).mismatched
    assert [found.key for found in item.suggestions] == (["w"] if word else [])
    assert word is None or word in item.suggestions[0].reason


def test_a_name_that_agrees_but_whose_tensor_does_not_fit_is_mentioned_and_not_mapped() -> None:
    plan = plan_restore({"net/w": zeros(2)}, saved({"w": zeros(3)}))
    [item] = plan.missing
    assert [(found.key, found.fits) for found in item.suggestions] == [("w", False)]
    assert "its type or shape differs" in plan.message()
    assert plan.suggested_mapping == {}


# ---------------------------------------------------------------------------------------------------- The mapping


def test_names_and_scopes_are_mapped_the_innermost_first() -> None:
    stored = {"old/a/w": zeros(1), "old/b": zeros(2), "c": zeros(3), "d": zeros(4), "x/e": zeros(5)}
    wanted = {"new/in/w": zeros(1), "new/b": zeros(2), "c2": zeros(3), "new/d": zeros(4), "e": zeros(5)}
    mapping = {"new/": "old/", "new/in/": "old/a/", "c2": "c", "new/d": "d", "/": "x/"}
    plan = plan_restore(wanted, saved(stored), mapping=mapping)
    assert [item.key for item in plan.items] == ["old/a/w", "old/b", "c", "d", "x/e"]
    assert plan.error() is None
    assert plan.unused == ()


def test_a_name_that_a_mapped_scope_does_not_have_stands_for_itself() -> None:
    plan = plan_restore(["a/x", "a/y"], saved({"a/x": zeros(1), "b/y": zeros(1)}), mapping={"a/": "b/"})
    assert [item.key for item in plan.items] == ["a/x", "b/y"]


def test_a_mapping_that_leads_nowhere_is_missing_and_noted() -> None:
    plan = plan_restore(["w"], saved({"w": zeros(1)}), mapping={"w": "none", "other": "w"})
    assert [item.wanted.key for item in plan.missing] == ["w"]
    assert "names that are not wanted: other." in plan.message()
    assert "names that are not stored: none." in plan.message()


def test_entries_of_a_mapping_that_nothing_uses_are_told_even_if_all_is_well(caplog: pytest.LogCaptureFixture) -> None:
    mapping = {"v": "v", "weight": "w", "scope/": "other/", "/": "outer/"}
    plan = plan_restore(["v", "w"], saved({"v": zeros(1), "w": zeros(1)}), mapping=mapping)
    outcome = plan.outcome()
    outcome.log()
    assert outcome.is_complete
    assert "2 names that are not wanted: weight, scope/." in str(outcome)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_the_suggested_mapping_keeps_what_was_given() -> None:
    plan = plan_restore({"a": zeros(1), "net/b": zeros(2)}, saved({"A0": zeros(1), "b": zeros(2)}), mapping={"a": "A0"})
    assert plan.suggested_mapping == {"a": "A0", "net/b": "b"}


@pytest.mark.parametrize("mapping", [["a"], {"a/": "b"}, {"a": "b/"}, {1: "b"}, {"a": None}])
def test_what_is_no_mapping_is_refused(mapping: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="mapping"):
        plan_restore(["a"], saved({"a": zeros(1)}), mapping=mapping)


@pytest.mark.parametrize("wanted", ["abc", {"a": 3.5}, {"a": ["x"]}, [3], {"a": {}}])
def test_what_cannot_be_wanted_is_refused(wanted: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        plan_restore(wanted, saved({"a": zeros(1)}))


def test_wanted_tensors_are_described_in_many_ways() -> None:
    info = TensorInfo(DType.of("float32"), (2,))
    wanted = {"a": zeros(2), "b": info, "c": (2,), "d": [None], "e": None, "f": DType.of("float32").ref and (2,)}
    plan = plan_restore(wanted, saved({name: zeros(2) for name in wanted}))
    assert len(plan.exact) == 6
    assert Wanted("a", DType.of("float32").ref).dtype is DType.of("float32")


def test_a_slice_outside_its_tensor_cannot_be_wanted() -> None:
    with pytest.raises(InvalidArgumentError, match="does not lie within"):
        Wanted("w", None, (4, 2), TensorSlice.parse("3,2:-"))
    assert Wanted("w", None, (None, 2), TensorSlice.parse("3,2:-")).part is not None


# ---------------------------------------------------------------------------------------------------- The message


def test_a_missing_key_is_reported_in_tensorflows_words_first() -> None:
    error = plan_restore({"zzz": zeros(2), "w": zeros(3)}, saved({"w": zeros(2)}, "run/m-1")).error()
    assert isinstance(error, NotFoundError)
    first, second = str(error).split("\n\n")[:2]
    assert first == (
        "Restoring from checkpoint failed. This is most likely due to a Variable name or other graph key that is "
        "missing from the checkpoint. Please ensure that you have not altered the graph expected based on the "
        "checkpoint. Original error:"
    )
    assert second == "Key zzz not found in checkpoint"
    assert '"run/m-1"' in str(error)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (zeros(3), "Assign requires shapes of both tensors to match. lhs shape= [3] rhs shape= [2]"),
        (zeros(2, dtype=np.float64), "tensor_name = v; expected dtype double does not equal original dtype float"),
    ],
)
def test_a_mismatch_is_reported_in_tensorflows_words_first(wanted: Any, words: str) -> None:
    error = plan_restore({"v": wanted}, saved({"v": zeros(2)})).error()
    assert isinstance(error, InvalidArgumentError)
    assert "a mismatch between the current graph and the graph from the checkpoint" in str(error)
    assert str(error).split("\n\n")[1].startswith(words)


def test_a_message_about_ten_thousand_problems_is_still_readable() -> None:
    wanted = {f"{'long' * 500}/net/{at}": zeros(1) for at in range(10_000)}
    plan = plan_restore(wanted, saved({f"w{at}": zeros(2) for at in range(1000)}))
    message = plan.message()
    assert len(message) < 20_000
    assert max(map(len, message.splitlines())) < 600
    assert "Not in the checkpoint (10000)" in message
    assert "... and 9980 more" in message
    assert "... and 980 more" in message


def test_names_that_would_break_a_line_are_escaped() -> None:
    message = plan_restore(["a\nb\ud800"], saved({"c\x00": zeros(1)})).message()
    assert "Key a\\nb\\ud800 not found" in message
    message.encode()


def test_only_what_would_help_is_advised() -> None:
    plan = plan_restore({"a": zeros(2, dtype=np.int32), "b": zeros(2)}, saved({"a": zeros(2), "b": zeros(2, 2)}))
    assert "Adapt" not in plan.message()
    plan = plan_restore({"a": zeros(2, dtype=np.float64), "b": zeros(2)}, saved({"a": zeros(2), "b": zeros(3)}))
    assert 'Adapt(shape=["crop"], dtype=["widen"])' in plan.message()


# ---------------------------------------------------------------------------------------------------- Policies


def test_a_strict_restore_of_something_missing_reads_nothing() -> None:
    reader = saved({"w": zeros(2)})
    plan = plan_restore({"w": zeros(2), "b": zeros(2)}, reader)
    for carry_out in (plan.read, plan.reader):
        with pytest.raises(NotFoundError, match="Key b not found"):
            carry_out(reader)
    with pytest.raises(NotFoundError, match="Key b not found"):
        restore_arrays(reader, {"w": zeros(2), "b": zeros(2)})


def test_a_report_restores_what_matches_and_logs_what_does_not(caplog: pytest.LogCaptureFixture) -> None:
    given_arrays = {"w": zeros(2), "b": zeros(2), "c": zeros(3), "d": zeros(2)}
    reader = saved({"w": np.ones(2, FLOAT), "c": np.ones(2, FLOAT), "d": np.ones(2)})
    with caplog.at_level(logging.INFO, "tensorkeep"):
        found, outcome = restore_arrays(reader, given_arrays, on_mismatch="report")
    assert [found[name].tolist() for name in given_arrays] == [[1, 1], [0, 0], [0, 0, 0], [0, 0]]
    assert [item.wanted.key for item in outcome.not_restored] == ["b", "c", "d"]
    assert not outcome.is_complete
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert all(f"not restored: {name}" in record.getMessage() for name in "bcd")


def test_a_complete_restore_is_logged_as_a_note(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tensorkeep"):
        _, outcome = restore_arrays(saved({"w": np.ones(2, FLOAT)}), {"w": zeros(2)})
    assert outcome.is_complete
    assert [record.levelno for record in caplog.records] == [logging.INFO]


@given(tensors, tensors, policies)
@example({"w": np.ones((2, 3), FLOAT)}, {"w": np.ones((3, 2), FLOAT)}, Adapt(shape=("crop", "grow")))
def test_a_policy_is_kept_for_every_tensor(
    wanted: dict[str, Any], stored: dict[str, Any], policy: OnMismatch | Adapt
) -> None:
    reader = saved(stored)
    plan = plan_restore(wanted, reader, on_mismatch=policy)
    if plan.error() is not None:
        with pytest.raises((NotFoundError, InvalidArgumentError)):
            plan.read(reader, lambda item: wanted[item.key])
        return
    found, outcome = restore_arrays(reader, wanted, on_mismatch=policy)
    assert {name: (array.dtype, array.shape) for name, array in found.items()} == {
        name: (array.dtype, array.shape) for name, array in wanted.items()
    }
    seen = plan.reader(reader, lambda item: wanted[item.key])
    assert sorted(seen) == sorted(item.wanted.key for item in (*outcome.restored, *outcome.adapted))
    for name, array in seen.read_many().items():
        assert np.array_equal(array, found[name])
        assert (array.dtype, array.shape) == (seen[name].dtype.array_dtype, seen[name].shape)


@pytest.mark.parametrize(
    ("stored", "wanted", "remedies", "works"),
    [
        (np.float16, np.float32, "widen", True),
        (np.float32, np.float16, "widen", False),
        (np.float32, np.float16, "cast", True),
        (np.int32, np.int64, "widen", True),
        (np.int64, np.int32, "widen", False),
        (np.int64, np.int32, "cast", True),
        (np.int32, np.float32, "cast", False),
        (np.float32, np.int32, "cast", False),
        (np.bool_, np.int32, "cast", False),
        (np.complex64, np.complex128, "widen", True),
    ],
)
def test_numbers_are_converted_within_their_kind_and_only_when_asked(
    stored: Any, wanted: Any, remedies: str, works: bool
) -> None:
    reader = saved({"v": np.ones(3, stored)})
    assert plan_restore({"v": np.zeros(3, wanted)}, reader).error() is not None
    plan = plan_restore({"v": np.zeros(3, wanted)}, reader, on_mismatch=Adapt(dtype=remedies))
    assert (plan.error() is None) == works
    if works:
        [(_, array)] = plan.read(reader)
        assert array.dtype == wanted
        assert array.tolist() == [1, 1, 1]
        assert plan.outcome().adapted[0].remedies <= {Remedy.WIDEN, Remedy.CAST}


@pytest.mark.parametrize(
    ("value", "wanted"), [(np.int64(1 << 40), np.int32), (np.float64(1e300), np.float32), (np.int64(-1), np.uint8)]
)
def test_a_number_that_is_too_large_for_the_wanted_type_is_an_error(value: Any, wanted: Any) -> None:
    reader = saved({"v": value})
    plan = plan_restore({"v": np.zeros((), wanted)}, reader, on_mismatch=Adapt(dtype="cast"))
    with pytest.raises(InvalidArgumentError, match="too large"):
        list(plan.read(reader))
    with pytest.raises(InvalidArgumentError, match="too large"):
        plan.reader(reader).verify("v")


def test_growth_needs_initial_values() -> None:
    reader = saved({"v": zeros(2)})
    plan = plan_restore({"v": zeros(3)}, reader, on_mismatch=Adapt(shape="grow"))
    with pytest.raises(InvalidArgumentError, match="initial"):
        plan.read(reader)


@pytest.mark.parametrize(
    "arguments", [{"missing": "crop"}, {"shape": "cast"}, {"dtype": "grow"}, {"shape": "shrink"}, {"shape": 3}]
)
def test_a_remedy_that_is_none_for_the_problem_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match="takes any of"):
        Adapt(**arguments)


@pytest.mark.parametrize("policy", ["lenient", None, True, Remedy.SKIP])
def test_what_is_no_policy_is_refused(policy: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="on_mismatch"):
        plan_restore(["a"], saved({"a": zeros(1)}), on_mismatch=policy)


def test_skipping_is_the_last_resort() -> None:
    policy = Adapt(shape=("crop", "skip"), dtype=("widen", "skip"))
    wanted = {"a": zeros(2), "b": zeros(4), "c": zeros(2, dtype=np.float64), "d": zeros(4, dtype=np.float64)}
    plan = plan_restore(wanted, saved({name: zeros(3 if name != "c" else 2) for name in wanted}), on_mismatch=policy)
    assert [item.action.value for item in plan.items] == ["adapt", "skip", "adapt", "skip"]


def test_what_cannot_be_skipped_is_refused_even_if_something_else_about_it_can() -> None:
    plan = plan_restore({"a": zeros(2)}, saved({"a": zeros(3, dtype=np.int32)}), on_mismatch=Adapt(shape="skip"))
    assert isinstance(plan.error(), InvalidArgumentError)


# ---------------------------------------------------------------------------------------------------- Golden files


def test_a_saver_that_renamed_variables_is_seen_through() -> None:
    """g15: the same variables saved as they are, and under other names."""
    plan = plan_restore({"v1": (3,), "v2": (2, 2)}, golden("g15_saver_subset_rename") / "rename")
    assert plan.suggested_mapping == {"v1": "renamed/first", "v2": "my_v2"}
    plan = plan_restore({"v1": (3,), "v2": (2, 2), "scope/v3": (4,)}, golden("g15_saver_subset_rename") / "subset")
    assert [item.wanted.key for item in plan.missing] == ["v2"]
    assert plan.suggested_mapping == {}


def test_moving_averages_that_tensorflow_saved_are_found() -> None:
    """g16: `v`, `layer/w` and their averages; a program that knows only the other of the two."""
    path = golden("g16_saver_ema") / "ema.ckpt"
    mapping = {"v": "v/ExponentialMovingAverage", "layer/w": "layer/w/ExponentialMovingAverage"}
    plan = plan_restore({"v": (), "layer/w": (2, 3), "num": ()}, path, mapping=mapping)
    assert plan.error() is None
    assert [item.wanted.key for item in plan.renamed] == ["v", "layer/w"]
    plan = plan_restore({"num/ExponentialMovingAverage": ()}, path)
    assert plan.suggested_mapping == {"num/ExponentialMovingAverage": "num"}


def test_an_object_based_checkpoint_is_restored_by_the_names_of_its_variables() -> None:
    """g34: saved by tf.train.Checkpoint."""
    [path] = (golden("g34_tf2_checkpoint") / "obj").glob("ckpt-1.index")
    with open_checkpoint(path.with_suffix("")) as reader:
        plan = plan_restore(["sequential/d1/kernel", "net/sequential/d1/bias", "root_dir/dct/x..y"], reader)
        [kernel] = plan.renamed
        assert kernel.key == "optimizer/_trainable_variables/0/.ATTRIBUTES/VARIABLE_VALUE"
        assert plan.suggested_mapping["root_dir/dct/x..y"] == "root_dir/dct/x..y/.ATTRIBUTES/VARIABLE_VALUE"
        assert suggestion(plan, "root_dir/dct/x..y") == (plan.suggested_mapping["root_dir/dct/x..y"], Cause.OBJECT_PATH)
        bias = "optimizer/_trainable_variables/1/.ATTRIBUTES/VARIABLE_VALUE"
        assert plan.suggested_mapping["net/sequential/d1/bias"] == bias
        complete = plan_restore(
            ["sequential/d1/kernel", "net/sequential/d1/bias"], reader, mapping=plan.suggested_mapping
        )
        found = {wanted.key: array for wanted, array in complete.read(reader)}
        assert np.array_equal(found["sequential/d1/kernel"], reader.read(str(kernel.key)))
        assert np.array_equal(found["net/sequential/d1/bias"], reader.read(bias))


def test_a_partitioned_variable_of_tensorflow_is_restored_in_other_parts() -> None:
    """g04: `emb/w`, 10 rows in 4 slices; wanted in 3, and grown to 12 rows."""
    path = golden("g04_v2_partitioned") / "part.ckpt"
    float32 = DType.of("float32")
    with open_checkpoint(path) as reader:
        whole = reader.read("emb/w")
        parts = [TensorSlice.parse(text) for text in ("0,4:-", "4,3:-", "7,3:-")]
        plan = plan_restore([Wanted("emb/w", float32, (10, 3), part) for part in parts], reader)
        assert [item.name for item in plan.exact] == ["emb/w [0,4:-]", "emb/w [4,3:-]", "emb/w [7,3:-]"]
        assert np.array_equal(np.concatenate([array for _, array in plan.read(reader)]), whole)
        assert "emb/w" not in plan.unused

        parts = [TensorSlice.parse(text) for text in ("0,6:-", "6,5:-", "11,1:-")]
        wanted = [Wanted("emb/w", float32, (12, 3), part, f"emb/w/part_{at}") for at, part in enumerate(parts)]
        plan = plan_restore(wanted, reader, on_mismatch=Adapt(shape="grow"))
        fresh = {"emb/w/part_0": zeros(6, 3) - 1, "emb/w/part_1": zeros(5, 3) - 1, "emb/w/part_2": zeros(1, 3) - 1}
        pieces = [array for _, array in plan.read(reader, lambda item: fresh[str(item.variable)])]
        assert np.array_equal(np.concatenate(pieces), np.concatenate([whole, zeros(2, 3) - 1]))
        seen = plan.reader(reader, lambda item: fresh[str(item.variable)])
        assert seen["emb/w"].shape == (12, 3)
        assert all(np.array_equal(seen.read("emb/w", part), piece) for part, piece in zip(parts, pieces, strict=True))
        plan = plan_restore(["emb/w/part_0"], reader)
        assert suggestion(plan, "emb/w/part_0") == ("emb/w", Cause.PARTITION)


def test_a_path_is_opened_and_closed_again() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("c", {"w": zeros(2)}, fs=fs)
    assert plan_restore(["w"], "c", fs=fs).error() is None
    found, _ = restore_arrays("c", {"w": np.ones(2, FLOAT)}, fs=fs)
    assert found["w"].tolist() == [0, 0]


def test_an_outcome_of_ten_thousand_is_cut_where_it_is_told_and_whole_where_it_is_kept() -> None:
    plan = plan_restore([f"w{at}\n" for at in range(10_000)], saved({"b": zeros(1)}), on_mismatch="report")
    assert len(plan.outcome().not_restored) == 10_000
    assert len(str(plan.outcome()).splitlines()) < 60


def test_a_trained_model_of_tensorflow_is_found_in_another_scope_with_its_optimizers_values() -> None:
    """g21: a network trained by Adam; a program that builds it in a scope, and one that trains it by Momentum."""
    with open_checkpoint(golden("g21_meta_mlp_adam") / "mlp-4") as reader:
        wanted = {f"tower/{name}": info for name, info in reader.items()}
        plan = plan_restore(wanted, reader)
        assert plan.suggested_mapping == {f"tower/{name}": name for name in reader}
        assert ast.literal_eval(plan.mapping_literal) == {"tower/": "/"}
        variables = {name: info for name, info in reader.items() if f"{name}/Adam" in reader}
        assert variables
        plan = plan_restore({f"{name}/Momentum": info for name, info in variables.items()}, reader)
        assert {item.suggestions[0].cause for item in plan.missing} == {Cause.SLOT}
        assert "written with another optimizer: Adam" in plan.message()
        assert plan.suggested_mapping == {}
