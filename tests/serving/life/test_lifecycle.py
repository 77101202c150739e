"""What is to be done next with the versions of a model: decisions over values."""

from __future__ import annotations

from tensorkeep.serving.life.lifecycle import (
    Lives,
    Load,
    Transition,
    Unload,
    is_settled,
    next_action,
    with_wishes,
    without_forgotten,
)
from tensorkeep.serving.life.versions import Problem, Retries, VersionLife
from tensorkeep.serving.models import State

KEEP = Transition.PRESERVE_AVAILABILITY
FREE = Transition.PRESERVE_RESOURCES
A = (("/a", 1, 1.0),)
B = (("/a", 2, 2.0),)
BROKEN = Problem(15, "damaged")
RETRIES = Retries(most=2, seconds=60)


def lives(*versions: VersionLife) -> Lives:
    return {life.version: life for life in versions}


def life(version: int, state: State = State.START, *, wished: bool = True) -> VersionLife:
    return VersionLife(version, f"/m/{version}", state, wished, is_busy=False)


def given_up(version: int) -> VersionLife:
    return VersionLife(version, f"/m/{version}", State.END, problem=BROKEN)


def next_of(*versions: VersionLife, transition: Transition = KEEP, now: float = 0.0) -> object:
    return next_action(lives(*versions), transition, now)


def test_the_highest_new_version_is_loaded_first() -> None:
    assert next_of(life(1), life(3), life(2)) == Load(3)


def test_nothing_is_to_be_done_when_all_is_well() -> None:
    assert next_of() is None
    assert next_of(life(1, State.AVAILABLE), life(0, State.END, wished=False)) is None


def test_the_old_version_stays_until_the_new_one_is_available() -> None:
    old = life(1, State.AVAILABLE, wished=False)
    assert next_of(old, life(2)) == Load(2)
    assert next_of(old, life(2).loading()) is None
    assert next_of(old, life(2, State.AVAILABLE)) == Unload(1)


def test_a_version_that_failed_leaves_the_old_one_serving() -> None:
    assert next_of(life(1, State.AVAILABLE, wished=False), given_up(2)) is None


def test_only_one_old_version_stands_in() -> None:
    old = [life(version, State.AVAILABLE, wished=False) for version in (1, 2)]
    assert next_of(*old, life(3)) == Unload(1)


def test_a_model_without_wishes_is_unloaded_lowest_first() -> None:
    assert next_of(life(1, State.AVAILABLE, wished=False), life(2, State.AVAILABLE, wished=False)) == Unload(1)
    assert next_of(life(2, State.AVAILABLE, wished=False)) == Unload(2)


def test_to_save_memory_old_versions_go_first_and_to_their_end() -> None:
    new = life(2)
    assert next_of(life(1, State.AVAILABLE, wished=False), new, transition=FREE) == Unload(1)
    assert next_of(life(1, State.UNLOADING, wished=False), new, transition=FREE) is None
    assert next_of(life(1).loading().unwished(), new, transition=FREE) is None
    assert next_of(life(1, State.END, wished=False), new, transition=FREE) == Load(2)


def test_a_stop_gap_that_is_wished_again_just_serves_on() -> None:
    """In TensorFlow Serving such a wish stays pending for ever."""
    stands_in = lives(life(1, State.AVAILABLE, wished=False), given_up(2))
    again = with_wishes(stands_in, {1: "/m/1"})
    assert again[1].is_wished
    assert again[1].state is State.AVAILABLE
    assert next_action(again, KEEP, 0.0) is None


def test_a_version_wished_while_it_is_unloaded_begins_anew_afterwards() -> None:
    back = with_wishes(lives(life(1, State.UNLOADING, wished=False)), {1: "/m/1"})
    assert next_action(back, KEEP, 0.0) is None
    assert back[1].ended().state is State.START


def test_a_version_that_ended_and_comes_back_begins_anew() -> None:
    gone = with_wishes(lives(given_up(1)), {})
    assert gone[1].state is State.END
    assert with_wishes(gone, {1: "/m/1"})[1] == VersionLife(1, "/m/1")


def test_a_version_that_was_given_up_is_not_tried_again_by_itself() -> None:
    same = with_wishes(lives(given_up(1)), {1: "/m/1"})
    assert next_action(same, KEEP, 1e9) is None


def test_a_load_that_is_not_wanted_any_more_is_dropped_whatever_is_wished_then() -> None:
    loading = life(1).loading()
    doomed = loading.unwished().wished("/m/1")
    assert doomed.is_doomed
    assert doomed.dropped() == VersionLife(1, "/m/1")
    assert loading.unwished().dropped().status.message == "Loading of servable cancelled"
    assert loading.unwished().dropped().status.code == 1


def test_a_version_that_moved_before_it_was_loaded_is_loaded_from_there() -> None:
    assert life(1).wished("/n/1").path == "/n/1"
    assert life(1).loading().wished("/n/1").is_doomed
    assert life(1, State.AVAILABLE).wished("/n/1").path == "/m/1"


# ---------------------------------------------------------------------------------------------------------- retries


def test_the_same_files_are_tried_so_many_times_more() -> None:
    tried = life(1)
    for count in range(RETRIES.most):
        tried = tried.loading().failed(BROKEN, A, RETRIES, now=count * 100.0)
        assert tried.status.state is State.LOADING
        assert tried.status.code == 0
        assert not tried.may_load(count * 100.0 + 59)
        assert tried.may_load(count * 100.0 + 60)
    ended = tried.loading().failed(BROKEN, A, RETRIES, now=500.0)
    assert ended.status == VersionLife(1, "/m/1", State.END, problem=BROKEN).status
    assert ended.status.message == "damaged"
    assert ended.has_failed


def test_files_that_changed_and_came_to_rest_are_tried_at_once_and_anew() -> None:
    waiting = life(1).loading().failed(BROKEN, A, RETRIES, now=0.0)
    changing = waiting.looked_at(B, RETRIES, now=1.0)
    assert not changing.may_load(1.0)
    still = changing.looked_at(B, RETRIES, now=2.0)
    assert still.may_load(2.0)
    assert still.tries == 0


def test_files_that_do_not_change_are_left_alone() -> None:
    waiting = life(1).loading().failed(BROKEN, A, RETRIES, now=0.0)
    assert waiting.looked_at(A, RETRIES, now=30.0) is waiting


def test_a_version_that_was_given_up_is_tried_again_when_its_files_change() -> None:
    ended = life(1).loading().failed(BROKEN, A, Retries(0, 60.0), now=0.0)
    assert ended.state is State.END
    changed = ended.looked_at(B, RETRIES, now=1.0)
    assert changed.state is State.END
    assert changed.looked_at(B, RETRIES, now=2.0).may_load(2.0)


def test_a_try_during_which_files_changed_does_not_count() -> None:
    tried = life(1).loading().changed(A, B, Retries(0, 60.0), now=0.0)
    assert tried.state is State.LOADING
    assert tried.tries == 0
    assert tried.looked_at(B, RETRIES, now=1.0).may_load(1.0)


def test_deleting_a_version_ends_its_retries() -> None:
    ended = life(1).loading().failed(BROKEN, A, RETRIES, now=0.0).unwished()
    assert ended.status.state is State.END
    assert not ended.may_load(1e9)


# --------------------------------------------------------------------------------------------------------- settling


def test_a_model_is_settled_when_it_serves_or_cannot() -> None:
    assert not is_settled({})
    assert not is_settled(lives(life(1)))
    assert not is_settled(lives(life(2).loading(), given_up(1)))
    assert is_settled(lives(given_up(1), given_up(2)))
    assert is_settled(lives(life(1, State.AVAILABLE), life(2).loading()))


def test_versions_that_ended_are_forgotten_lowest_first() -> None:
    many = lives(*(life(version, State.END, wished=False) for version in range(10)), given_up(0), life(20))
    assert sorted(without_forgotten(many, 3)) == [0, 7, 8, 9, 20]
    assert without_forgotten(many, 100) is many
