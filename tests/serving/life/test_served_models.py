"""The models of a server over folders that come and go, by a clock that the test moves."""

from __future__ import annotations

import asyncio
import logging
from threading import Thread

import pytest

from tensorkeep.errors import (
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnknownError,
)
from tensorkeep.proto.serving import ModelServerConfig
from tensorkeep.proto.text import parse_configuration
from tensorkeep.serving.life.lifecycle import Transition
from tensorkeep.serving.life.loading import run_in_a_thread
from tensorkeep.serving.life.options import LifeOptions, ModelExtras
from tensorkeep.serving.life.versions import Retries
from tensorkeep.serving.models import ModelAsked, State, VersionStatus
from tests.serving.life.fakes import World, config

BROKEN = DataLossError("damaged")


def served(*versions: int, options: LifeOptions | None = None) -> World:
    world = World(options)
    for version in versions:
        world.version("m", version)
    world.configure("m")
    world.tick()
    return world


# --------------------------------------------------------------------------------------------------------- versions


def test_a_version_that_appears_is_loaded_and_answers() -> None:
    world = served(1)
    assert world.answers("m") == 1
    assert world.told == [("m", 1, State.START), ("m", 1, State.LOADING), ("m", 1, State.AVAILABLE)]


def test_a_load_is_logged_as_scripts_expect_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tensorkeep.serving"):
        served(1)
    assert "Successfully loaded servable version {name: m version: 1}" in caplog.messages


def test_a_new_version_takes_over_when_it_is_loaded() -> None:
    world = served(1)
    world.version("m", 2)
    world.tick(finish=False)
    assert world.answers("m") == 1
    assert world.states("m") == {2: State.LOADING, 1: State.AVAILABLE}
    world.finish()
    assert world.answers("m") == 2
    assert world.states("m") == {2: State.AVAILABLE, 1: State.END}
    assert world.loaded[0].is_closed


def test_to_save_memory_the_old_version_goes_first() -> None:
    world = World(extras={"m": ModelExtras(transition=Transition.PRESERVE_RESOURCES)})
    world.version("m", 1)
    world.configure("m")
    world.tick()
    world.version("m", 2)
    world.tick(finish=False)
    assert world.states("m") == {2: State.START, 1: State.UNLOADING}
    with pytest.raises(NotFoundError):
        world.answers("m")
    world.finish()
    assert world.answers("m") == 2


def test_a_request_keeps_its_version_until_it_is_answered() -> None:
    world = served(1)
    with world.models.hold(ModelAsked("m")) as servable:
        world.version("m", 2)
        world.tick()
        assert world.answers("m") == 2
        assert world.states("m")[1] is State.UNLOADING
        assert not world.loaded[0].is_closed
        assert servable is world.loaded[0]
    world.finish()
    assert world.loaded[0].is_closed
    assert world.states("m")[1] is State.END


def test_a_version_that_cannot_be_loaded_leaves_the_old_one_and_is_told() -> None:
    world = served(1, options=LifeOptions(retries=Retries(1, 10.0)))
    world.broken["m", 2] = BROKEN
    world.version("m", 2)
    world.tick()
    assert world.states("m") == {2: State.LOADING, 1: State.AVAILABLE}
    world.tick(10)
    assert world.models.statuses(ModelAsked("m", 2)) == [VersionStatus(2, State.END, 15, "damaged")]
    assert world.answers("m") == 1
    world.tick(100)
    assert world.tries.count(("m", 2)) == 2


def test_a_deleted_broken_version_gives_the_stop_gap_its_place_back() -> None:
    world = served(1, options=LifeOptions(retries=Retries(0, 1.0)))
    world.broken["m", 2] = BROKEN
    world.version("m", 2)
    world.tick()
    world.vanish("m", 2)
    world.tick()
    assert world.states("m") == {2: State.END, 1: State.AVAILABLE}
    del world.broken["m", 2]
    world.version("m", 2)
    world.tick()
    assert world.answers("m") == 2


def test_a_half_copied_version_waits_until_it_is_whole() -> None:
    world = served(1, options=LifeOptions(retries=Retries(2, 60.0)))
    world.put("/models/m/2/variables/variables.index")
    for step in range(10):
        world.put(f"/models/m/2/variables/part-{step}")
        world.tick()
        assert world.states("m")[2] is State.LOADING
    world.version("m", 2)
    world.tick()
    world.tick()
    assert world.answers("m") == 2
    assert world.tries.count(("m", 2)) == 2  # not while it was being copied


def test_a_version_that_was_given_up_is_tried_again_when_its_files_change() -> None:
    world = served(1, options=LifeOptions(retries=Retries(0, 1.0)))
    world.put("/models/m/2/assets/words")
    world.tick()
    assert world.states("m")[2] is State.END
    world.version("m", 2)
    world.tick()
    world.tick()
    assert world.answers("m") == 2


def test_a_version_whose_files_change_while_it_is_loaded_is_loaded_anew() -> None:
    world = World()
    world.version("m", 1)
    late = iter(["/models/m/1/assets.extra/late"])
    world.while_loading = lambda: [world.put(path) for path in late] and None
    world.configure("m")
    world.tick()
    assert world.states("m")[1] is State.LOADING
    assert world.loaded[0].is_closed
    world.tick()
    assert world.answers("m") == 1
    assert len(world.loaded) == 2


def test_a_folder_that_never_comes_to_rest_is_served_in_the_end() -> None:
    world = World(LifeOptions(retries=Retries(3, 1.0)))
    world.version("m", 1)
    count = iter(range(1000))
    world.while_loading = lambda: world.put(f"/models/m/1/log-{next(count)}")
    world.configure("m")
    for _ in range(10):
        world.tick()
    assert world.answers("m") == 1
    assert [servable.is_closed for servable in world.loaded] == [True, True, True, False]


def test_a_load_that_ends_after_its_folder_is_gone_is_dropped() -> None:
    world = served(1)
    world.version("m", 2)
    world.tick(finish=False)
    world.vanish("m", 2)
    world.tick(finish=False)
    world.while_loading = lambda: world.version("m", 2)  # it is read, all the same
    world.finish()
    assert world.states("m")[2] is not State.AVAILABLE
    assert world.loaded[-1].is_closed


def test_a_version_that_comes_back_is_loaded_again() -> None:
    world = served(1, 2)
    world.vanish("m", 2)
    world.tick()
    assert world.answers("m") == 1
    world.version("m", 2)
    world.tick()
    assert world.answers("m") == 2
    assert world.states("m") == {2: State.AVAILABLE, 1: State.END}


def test_an_empty_base_path_unloads_and_a_missing_one_does_not() -> None:
    world = served(1)
    world.vanish("m", 1)
    world.fs.remove_directory("/models/m")
    world.tick()
    assert world.answers("m") == 1
    world.base("m")
    world.tick()
    assert world.states("m") == {1: State.END}


def test_a_missing_base_path_holds_up_no_other_model(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.version("good", 1)
    world.configure("absent", "good")
    world.tick()
    world.tick()
    assert world.answers("good") == 1
    told = [message for message in caplog.messages if "Could not find base path /models/absent" in message]
    assert len(told) == 1  # not at every look


def test_broken_models_hold_up_no_other_model() -> None:
    world = World()
    for name in ("a", "b", "c"):
        world.version(name, 1)
        world.broken[name, 1] = BROKEN
    world.version("z", 1)
    world.configure("a", "b", "c", "z")
    world.tick()
    assert world.answers("z") == 1


def test_several_versions_of_a_model_are_served_side_by_side() -> None:
    world = World()
    for version in (1, 2, 3):
        world.version("m", version)
    world.configure("m", more="model_version_policy { specific { versions: 1 versions: 3 } }")
    world.tick()
    assert world.answers("m") == 3
    assert world.answers("m", 1) == 1
    with pytest.raises(NotFoundError) as caught:
        world.answers("m", 2)
    assert str(caught.value) == "Servable not found for request: Specific(m, 2)"


def test_loads_run_side_by_side_at_the_start_and_one_by_one_afterwards() -> None:
    world = served(1)
    for name in ("a", "b"):
        world.version(name, 1)
    world.configure("m", "a", "b")
    world.tick(finish=False)
    assert len(world.jobs) == 1
    world.finish()
    other = World()
    for name in ("a", "b"):
        other.version(name, 1)
    other.configure("a", "b")
    other.tick(finish=False)
    assert len(other.jobs) == 2


def test_with_no_polling_there_is_one_look_and_one_after_each_configuration() -> None:
    world = served(1, options=LifeOptions(poll_seconds=0))
    world.version("m", 2)
    world.tick(100)
    assert world.answers("m") == 1
    world.version("n", 1)
    world.configure("m", "n")
    world.tick()
    assert world.answers("n") == 1


def test_a_negative_interval_means_no_look_at_all() -> None:
    world = served(1, options=LifeOptions(poll_seconds=-1))
    world.tick(100)
    assert world.states("m") == {}


def test_dead_versions_are_not_listed_for_ever() -> None:
    world = served(0, options=LifeOptions(most_ended=5))
    for version in range(1, 30):
        world.version("m", version)
        world.tick()
        world.vanish("m", version - 1)
        world.tick()
    assert sorted(world.states("m")) == [24, 25, 26, 27, 28, 29]


# --------------------------------------------------------------------------------------------------------- requests


def test_what_is_not_there_is_said_as_clients_look_for_it() -> None:
    world = served(1)
    for asked, kind, text in [
        (ModelAsked("x"), NotFoundError, "Servable not found for request: Latest(x)"),
        (ModelAsked("m", 7), NotFoundError, "Servable not found for request: Specific(m, 7)"),
        (ModelAsked("m", label="l"), InvalidArgumentError, "Unrecognized servable version label: l"),
        (ModelAsked("x", label="l"), InvalidArgumentError, "Unrecognized servable version label: l"),
    ]:
        with pytest.raises(kind) as caught, world.models.hold(asked):
            pass
        assert str(caught.value) == text
    for asked, text in [
        (ModelAsked("m", 9), "Could not find version 9 of model m"),
        (ModelAsked("x"), "Could not find any versions of model x"),
    ]:
        with pytest.raises(NotFoundError) as missing:
            world.models.statuses(asked)
        assert str(missing.value) == text


def test_statuses_are_listed_highest_first_and_whatever_the_label() -> None:
    world = served(3, 20, 100)
    world.version("m", 101)
    world.tick()
    asked = ModelAsked("m", label="whatever")
    assert [(item.version, item.state) for item in world.models.statuses(asked)] == [
        (101, State.AVAILABLE),
        (100, State.END),
    ]


def test_labels_lead_to_versions_from_the_start() -> None:
    world = World()
    world.version("m", 1)
    world.version("m", 2)
    policy = "model_version_policy { all { } }"
    world.configure("m", more=f'{policy} version_labels {{ key: "stable" value: 1 }}')
    world.tick()
    assert world.answers("m", label="stable") == 1
    world.configure("m", more=f'{policy} version_labels {{ key: "canary" value: 2 }}')
    assert world.answers("m", label="canary") == 2
    with pytest.raises(InvalidArgumentError, match="Unrecognized servable version label: stable"):
        world.answers("m", label="stable")
    with pytest.raises(FailedPreconditionError, match="version 9 of model m"):
        world.configure("m", more=f'{policy} version_labels {{ key: "canary" value: 9 }}')
    assert world.answers("m", label="canary") == 2


def test_the_overview_has_what_is_configured_or_still_loaded() -> None:
    world = served(1)
    world.configure("n")
    assert [model.name for model in world.models.overview()] == ["m", "n"]
    world.base("n")
    world.tick()
    assert [(model.name, model.versions) for model in world.models.overview()] == [("n", ())]


# ------------------------------------------------------------------------------------------------------ readiness


def test_a_server_is_ready_when_every_model_serves() -> None:
    world = World()
    world.version("a", 1)
    world.base("b")
    world.configure("a", "b")
    world.tick()
    with pytest.raises(DeadlineExceededError, match="b"):
        world.models.wait_until_ready(0)
    world.models.wait_until_ready(0, lenient=True)
    world.version("b", 1)
    world.tick()
    world.models.wait_until_ready(0)


def test_a_model_that_failed_keeps_the_server_from_starting() -> None:
    world = World(LifeOptions(retries=Retries(1, 5.0)))
    world.version("good", 1)
    world.version("bad", 3)
    world.broken["bad", 3] = BROKEN
    world.configure("good", "bad")
    world.tick()
    with pytest.raises(DeadlineExceededError):
        world.models.wait_until_ready(0)
    world.tick(5)
    with pytest.raises(UnknownError) as caught:
        world.models.wait_until_ready(0)
    assert str(caught.value) == (
        "1 servable(s) did not become available: {{{name: bad version: 3} due to error: DATA_LOSS: damaged}, }"
    )
    world.models.wait_until_ready(0, lenient=True)


def test_reload_comes_back_when_new_models_serve() -> None:
    async def scenario() -> list[str]:
        world = served(1)
        world.version("n", 4)
        told = []
        task = asyncio.ensure_future(world.models.reload(config("m", "n")))
        await asyncio.sleep(0)
        assert not task.done()
        told.append("waits")
        world.tick()
        await asyncio.wait_for(task, 5)
        assert world.answers("n") == 4
        world.version("m", 2)
        await asyncio.wait_for(world.models.reload(config("m")), 5)  # nothing new: it does not wait
        world.tick()
        assert world.states("n") == {4: State.END}
        return told

    assert asyncio.run(scenario()) == ["waits"]


def test_reload_says_which_new_models_failed() -> None:
    async def scenario() -> None:
        world = served(1, options=LifeOptions(retries=Retries(0, 1.0)))
        world.version("n", 4)
        world.broken["n", 4] = BROKEN
        task = asyncio.ensure_future(world.models.reload(config("m", "n")))
        await asyncio.sleep(0)
        world.tick()
        with pytest.raises(UnknownError) as caught:
            await asyncio.wait_for(task, 5)
        assert str(caught.value) == (
            "1 model(s) did not become available: {{{name: n version: 4} due to error: DATA_LOSS: damaged}, }"
        )

    asyncio.run(scenario())


def test_reload_takes_only_lists_of_models() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        asyncio.run(World().models.reload(ModelServerConfig()))
    assert str(caught.value) == (
        "ServerModelConfig type not supported by HandleReloadConfigRequest. Only ModelConfigList is currently supported"
    )


def test_a_configuration_that_is_refused_changes_nothing() -> None:
    world = served(1)
    bad = parse_configuration(ModelServerConfig, b'model_config_list { config { name: "x" base_path: "rel" } }')
    with pytest.raises(InvalidArgumentError):
        world.models.configure(bad)
    world.tick()
    assert world.answers("m") == 1


# ----------------------------------------------------------------------------------------------------- config file

FILE = 'model_config_list {{ config {{ name: "{0}" base_path: "/models/{0}" model_platform: "tensorflow" }} }}'


def test_the_configuration_file_is_looked_into_again(caplog: pytest.LogCaptureFixture) -> None:
    world = World(LifeOptions(config_file="/models.config", config_poll_seconds=5))
    world.put("/models.config", FILE.format("m").encode())
    for name in ("m", "n"):
        world.version(name, 1)
    world.configure("m")
    world.tick()
    world.put("/models.config", b"model_config_list { nonsense")
    world.tick(5)
    world.tick(5)
    told = [message for message in caplog.messages if message.startswith("Failed to read ModelServerConfig file: ")]
    assert len(told) == 1
    assert "Error parsing text-format tensorflow.serving.ModelServerConfig: 1:21: " in told[0]
    assert world.answers("m") == 1
    world.put("/models.config", FILE.format("n").encode())
    world.tick(5)
    assert world.answers("n") == 1
    assert world.states("m") == {1: State.END}


def test_a_system_that_gives_no_more_threads_leaves_no_version_half_loaded(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(thread: Thread) -> None:
        raise RuntimeError("can't start new thread")

    world = World()
    world.models._run = run_in_a_thread
    world.version("m", 1)
    world.configure("m")
    with monkeypatch.context() as patched:
        patched.setattr(Thread, "start", refuse)
        world.tick()
        world.version("m", 2)
        with world.models.hold(ModelAsked("m")):
            world.tick()  # 2 is loaded
            world.tick()  # 1 is to go
            assert world.states("m") == {1: State.UNLOADING, 2: State.AVAILABLE}
        assert world.states("m") == {1: State.END, 2: State.AVAILABLE}
    assert "can't start new thread" in caplog.text


# ------------------------------------------------------------------------------------------------------------- end


def test_everything_is_closed_at_the_end() -> None:
    world = served(1)
    world.version("m", 2)
    world.tick(finish=False)  # 2 is being loaded
    world.runs_at_once = True
    world.jobs[0]()
    world.models.close(0)
    assert [servable.is_closed for servable in world.loaded] == [True, True]


def test_a_held_model_is_closed_when_it_is_given_back_after_the_end(caplog: pytest.LogCaptureFixture) -> None:
    world = served(1)
    world.runs_at_once = True
    with world.models.hold(ModelAsked("m")):
        world.models.close(0)
        assert not world.loaded[0].is_closed
    assert world.loaded[0].is_closed
    assert "still in use" in caplog.text
