"""Rules of what is kept, as pure functions of what was saved when."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.checkpoint.finding.state_file import CheckpointState
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.saving.retention import (
    AllOf,
    AnyOf,
    History,
    KeepActive,
    KeepAll,
    KeepBest,
    KeepBytes,
    KeepEvery,
    KeepLatest,
    KeepRecent,
    KeepSteps,
    Record,
    RetentionPolicy,
    Rule,
    checked_metrics,
    checked_policy,
    unmeasured_checkpoints,
)
from tests.support.golden import golden

HOUR = 3600.0


def played(policy: RetentionPolicy, records: list[Record], history: History) -> tuple[History, list[str]]:
    """The history after all these saves, and what is then on disk, in order of saving."""
    disk: dict[str, None] = {}
    for record in records:
        disk.pop(record.path, None)
        disk[record.path] = None
        history, doomed = policy.advance(history, record)
        for item in doomed:
            del disk[item.path]
    return history, list(disk)


def paths(records: tuple[Record, ...]) -> list[str]:
    return [item.path for item in records]


def run(steps: range, **fields: Any) -> list[Record]:
    return [Record(f"m-{step}", 1000.0 * step, step, **fields) for step in steps]


class TestKeepRecent:
    def test_lists_and_deletes_as_the_golden_saver_did(self):
        log = json.loads((golden("g17_retention") / "expected.json").read_text())["log"]
        policy = KeepRecent(3)
        history = policy.start(0.0)
        disk: set[str] = set()
        for entry in log:
            history, doomed = policy.advance(history, Record(entry["returned"], entry["step"]))
            disk = (disk | {entry["returned"]}) - {item.path for item in doomed}
            assert paths(history.kept) == entry["last_checkpoints"]
            indexes = {f"run/{name.removesuffix('.index')}" for name in entry["files"] if name.endswith(".index")}
            assert disk == indexes

    def test_spares_one_every_so_many_hours_as_the_golden_saver_did(self):
        expected = json.loads((golden("g18_retention_hours") / "expected.json").read_text())
        policy = KeepRecent(2, hours=1)
        history = policy.start(expected["built_at"])
        disk: set[int] = set()
        for entry in expected["hours_log"]:
            record = Record(f"h/m-{entry['step']}", entry["now"], entry["step"])
            history, doomed = policy.advance(history, record)
            disk = (disk | {entry["step"]}) - {item.step for item in doomed if item.step is not None}
            assert paths(history.kept) == entry["last"]
            assert history.mark == entry["next_checkpoint_time"]
            assert sorted(disk) == entry["survivors"]

    def test_a_name_saved_again_moves_to_the_end_and_deletes_nothing(self):
        expected = json.loads((golden("g18_retention_hours") / "expected.json").read_text())
        policy = KeepRecent(2)
        history = policy.start(0.0)
        disk: set[str] = set()
        for at, entry in enumerate(expected["repeat_log"]):
            path = f"same/m-{entry['step']}"
            history, doomed = policy.advance(history, Record(path, at))
            disk = (disk | {path}) - {item.path for item in doomed}
            assert paths(history.kept) == entry["last"]
            assert sorted(disk) == [f"same/{name.removesuffix('.index')}" for name in entry["index_files"]]

    def test_records_of_infinite_time_are_never_deleted(self):
        policy = KeepRecent(1)
        history = policy.start(0.0).with_records([Record("old", math.inf)])
        history, doomed = policy.advance(history, Record("new", 1.0))
        assert (paths(history.kept), doomed) == (["new"], ())

    def test_a_backlog_goes_one_with_each_save_as_in_tensorflow(self):
        policy = KeepRecent(2)
        history = policy.start(0.0).with_records(run(range(8)))
        history, doomed = policy.advance(history, Record("m-8", 8.0))
        assert paths(doomed) == ["m-0"]
        assert len(history.kept) == 8

    @pytest.mark.parametrize("count", [None, 0])
    def test_without_a_count_nothing_is_deleted_and_nothing_listed(self, count):
        history, disk = played(KeepRecent(count), run(range(9)), KeepRecent(count).start(0.0))
        assert history.kept == ()
        assert len(disk) == 9

    def test_hours_are_in_single_precision_as_in_a_saver_def(self):
        assert KeepRecent(hours=0.1).start(0.0).mark == 0.10000000149011612 * 3600

    def test_a_negative_count_would_delete_what_was_just_saved_and_is_refused(self):
        with pytest.raises(InvalidArgumentError, match="-1 checkpoints to keep"):
            KeepRecent(-1)


class TestKeepActive:
    def test_deletes_all_that_drop_out(self):
        policy = KeepActive(2)
        history = policy.start(0.0).with_records(run(range(6)))
        history, doomed = policy.advance(history, Record("m-6", 6.0))
        assert paths(history.kept) == ["m-5", "m-6"]
        assert paths(doomed) == ["m-0", "m-1", "m-2", "m-3", "m-4"]

    def test_spares_one_every_so_many_hours(self):
        policy = KeepActive(1, hours=1)
        records = [Record(f"m-{at}", at * HOUR / 2) for at in range(1, 8)]
        history, disk = played(policy, records, History(mark=0.0))
        assert disk == ["m-2", "m-4", "m-6", "m-7"]
        assert history.mark == 3 * HOUR

    def test_without_a_count_everything_is_listed(self):
        history, disk = played(KeepActive(None), run(range(9)), History())
        assert len(history.kept) == len(disk) == 9

    def test_resumes_what_a_state_file_says(self):
        state = CheckpointState("d/c-3", ("d/c-1", "d/c-2", "d/c-3"), (10.0, 20.0, 99.0), 10.0)
        assert KeepActive(3).resume(state, 50.0) == History((Record("d/c-2", 20.0), Record("d/c-3", 50.0)), 10.0)

    def test_manages_nothing_of_a_state_file_without_times(self):
        assert KeepActive(3).resume(CheckpointState("d/c-1", ("d/c-1",)), 50.0) == History((), 0.0)

    @pytest.mark.parametrize("count", [0, -2])
    def test_a_count_below_one_is_refused_in_tensorflows_words(self, count):
        with pytest.raises(InvalidArgumentError, match="Expected a positive integer or `None` for `max_to_keep`"):
            KeepActive(count)


class TestRules:
    def kept(self, rule: Rule, records: list[Record]) -> list[str]:
        return paths(rule.plan(records)[0])

    def test_latest(self):
        assert self.kept(KeepLatest(2), run(range(5))) == ["m-3", "m-4"]

    def test_a_lowered_limit_purges_the_backlog_at_once(self):
        history, doomed = KeepLatest(2).advance(History(tuple(run(range(8)))), Record("m-8", 9000.0, 8))
        assert paths(history.kept) == ["m-7", "m-8"]
        assert len(doomed) == 7

    def test_all_are_listed_when_nothing_is_deleted(self):
        history, disk = played(KeepAll(), run(range(7)), KeepAll().start(0.0))
        assert paths(history.kept) == disk == [f"m-{step}" for step in range(7)]

    def test_the_first_of_every_stretch_of_steps(self):
        records = [Record(f"m-{step}", step, step) for step in (3, 7, 12, 19, 20, 29, 41, 42)]
        assert self.kept(KeepEvery(steps=10), records) == ["m-3", "m-12", "m-20", "m-41", "m-42"]

    def test_one_every_so_many_hours(self):
        records = [Record(f"m-{at}", at * HOUR / 2) for at in range(7)]
        assert self.kept(KeepEvery(hours=1), records) == ["m-0", "m-2", "m-4", "m-6"]

    @pytest.mark.parametrize(("mode", "best"), [("min", ["m-1", "m-4"]), ("max", ["m-0", "m-3"])])
    def test_the_best_by_a_metric_the_newer_of_equal_ones(self, mode, best):
        values = (5.0, 1.0, math.nan, 5.0, 1.0, 3.0)
        records = [Record(f"m-{at}", at, metrics={"loss": value}) for at, value in enumerate(values)]
        kept = self.kept(KeepBest("loss", 2, mode), records)
        assert kept == sorted({*best, "m-5"})

    def test_checkpoints_without_the_metric_are_kept_and_do_not_count(self):
        given = (None, 9.0, None, 8.0, math.nan, 7.0)
        records = [
            Record(f"m-{at}", at, metrics={} if value is None else {"loss": value}) for at, value in enumerate(given)
        ]
        assert self.kept(KeepBest("loss", 2) & KeepAll(), records) == ["m-0", "m-2", "m-3", "m-5"]
        assert self.kept(KeepLatest(1) | KeepBest("loss", 1), records) == ["m-0", "m-2", "m-5"]

    def test_another_rule_may_delete_what_is_without_the_metric(self):
        records = [Record(f"m-{at}", at, nbytes=10) for at in range(4)]
        assert self.kept(KeepBest("loss") & KeepLatest(2), records) == ["m-2", "m-3"]
        assert self.kept(KeepBytes(10, of=KeepBest("loss")), records) == ["m-3"]

    def test_what_a_policy_lacks_is_named(self):
        records = [
            Record("m-0", 0, metrics={"loss": 1.0}),
            Record("m-1", 1, metrics={"accuracy": 1.0}),
            Record("m-2", 2),
        ]
        policy = KeepBytes(99, of=KeepLatest(1) | (KeepBest("loss") & KeepBest("accuracy")))
        lacking = {
            name: [item.path for item in items] for name, items in unmeasured_checkpoints(policy, records).items()
        }
        assert lacking == {"accuracy": ["m-0", "m-2"], "loss": ["m-1", "m-2"]}
        assert unmeasured_checkpoints(KeepLatest(2), records) == unmeasured_checkpoints(KeepRecent(2), records) == {}

    def test_a_byte_budget_goes_to_the_newest(self):
        assert self.kept(KeepBytes(250), run(range(6), nbytes=100)) == ["m-4", "m-5"]

    def test_a_byte_budget_over_what_another_rule_wants(self):
        rule = KeepBytes(300, of=KeepSteps({0, 1}) | KeepLatest(1))
        assert self.kept(rule, run(range(6), nbytes=100)) == ["m-0", "m-1", "m-5"]

    def test_the_newest_stays_even_if_it_is_larger_than_the_budget(self):
        assert self.kept(KeepBytes(1), run(range(3), nbytes=100)) == ["m-2"]

    def test_pinned_ones_stay(self):
        records = [Record("m-0", 0, 0, pinned=True), *run(range(1, 5))]
        assert self.kept(KeepLatest(1), records) == ["m-0", "m-4"]

    def test_combinations(self):
        records = run(range(10))
        assert self.kept(AnyOf(KeepLatest(2), KeepSteps([3])), records) == ["m-3", "m-8", "m-9"]
        assert self.kept(AllOf(KeepLatest(5), KeepEvery(steps=2)), records) == ["m-6", "m-8", "m-9"]
        assert self.kept(KeepLatest(5) & KeepEvery(steps=2) | KeepSteps([0]), records) == ["m-0", "m-6", "m-8", "m-9"]

    def test_mistakes_are_refused_when_the_rule_is_made(self):
        for make in (
            lambda: KeepLatest(0),
            lambda: KeepEvery(),
            lambda: KeepEvery(steps=1, hours=1),
            lambda: KeepEvery(steps=0),
            lambda: KeepEvery(hours=-1),
            lambda: KeepBest("loss", 0),
            lambda: KeepBest("loss", 1, "least"),
            lambda: KeepBytes(0),
        ):
            with pytest.raises(InvalidArgumentError):
                make()


RECORDS = st.lists(
    st.builds(
        lambda step, gap, loss, nbytes, pinned: (step, gap, loss, nbytes, pinned),
        st.integers(0, 60),
        st.floats(0, 3),
        st.one_of(st.just(math.nan), st.floats(-2, 2)),
        st.integers(0, 100),
        st.booleans(),
    ),
    max_size=25,
).map(
    lambda items: [
        Record(f"m-{at}", HOUR * sum(item[1] for item in items[: at + 1]), step, {"loss": loss}, nbytes, pinned)
        for at, (step, _, loss, nbytes, pinned) in enumerate(items)
    ]
)
LEAVES = st.one_of(
    st.just(KeepAll()),
    st.integers(1, 6).map(KeepLatest),
    st.integers(1, 20).map(lambda steps: KeepEvery(steps=steps)),
    st.floats(0.1, 5).map(lambda hours: KeepEvery(hours=hours)),
    st.builds(KeepBest, st.just("loss"), st.integers(1, 4), st.sampled_from(["min", "max"])),
    st.integers(1, 500).map(KeepBytes),
    st.sets(st.integers(0, 60), max_size=3).map(KeepSteps),
)
RULES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda rules: AnyOf(*rules)),
        st.lists(inner, min_size=1, max_size=3).map(lambda rules: AllOf(*rules)),
        st.builds(KeepBytes, st.integers(1, 500), inner),
    ),
    max_leaves=5,
)


class TestMistakes:
    @pytest.mark.parametrize("policy", [5, "latest", KeepLatest, None])
    def test_what_is_no_policy_is_refused(self, policy):
        with pytest.raises(TypeError, match="expected a policy such as"):
            checked_policy(policy)

    def test_only_rules_are_combined(self):
        with pytest.raises(TypeError, match=r"can be combined, got 5"):
            KeepLatest(1) | 5
        with pytest.raises(TypeError, match=r"can be combined, got KeepRecent"):
            KeepLatest(1) & KeepRecent(2)

    @pytest.mark.parametrize("metrics", [0.25, ["loss"], {"loss": "low"}, {"loss": None}, {"loss": [0.5]}])
    def test_metrics_are_numbers_by_name(self, metrics):
        with pytest.raises(TypeError, match="metrics: "):
            checked_metrics(metrics)


class TestEveryRule:
    @given(RULES, RECORDS)
    def test_splits_what_there_is_in_order(self, rule, records):
        kept, doomed = rule.plan(records)
        assert sorted(map(id, kept + doomed)) == sorted(map(id, records))
        assert [item for item in records if item in kept] == list(kept)

    @given(RULES, RECORDS)
    def test_keeps_the_newest_and_the_pinned(self, rule, records):
        kept, _ = rule.plan(records)
        assert all(item in kept for item in records if item.pinned)
        assert not records or records[-1] in kept

    @given(RULES, RECORDS)
    def test_wants_what_it_kept_when_asked_again(self, rule, records):
        kept, _ = rule.plan(records)
        assert rule.plan(kept) == (kept, ())

    @given(st.integers(1, 6), RECORDS)
    def test_latest_agrees_with_tensorflows_rule_where_both_can_say_it(self, count, records):
        plain = [Record(item.path, item.time) for item in records]
        ours, disk = played(KeepLatest(count), plain, KeepLatest(count).start(0.0))
        theirs, their_disk = played(KeepRecent(count), plain, KeepRecent(count).start(0.0))
        assert (ours.kept, disk) == (theirs.kept, their_disk)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KeepLatest("3"), "checkpoints to keep: expected a whole number, got '3'"),  # type: ignore[arg-type]
        (lambda: KeepBest("loss", 2.5), "expected a whole number, got 2.5"),  # type: ignore[arg-type]
        (lambda: KeepEvery(hours="1"), "hours: expected a number, got '1'"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_number_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(WrongTypeError, match=message):
        make()
