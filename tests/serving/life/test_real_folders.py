"""Models on disk under a running server: copied bit by bit, damaged, deleted, switched while requests run."""

from __future__ import annotations

import gc
import shutil
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import NotFoundError
from tensorkeep.serving.life.configuration import one_model
from tensorkeep.serving.life.loading import LoadOptions, ends_of, load_servable
from tensorkeep.serving.life.options import LifeOptions
from tensorkeep.serving.life.served_models import ServedModels
from tensorkeep.serving.life.versions import Retries
from tensorkeep.serving.models import ModelAsked, State
from tensorkeep.serving.servables import Servable
from tests.support.golden import golden

MODEL = golden("g26_tf1_simple_save") / "model"
FEATURES = np.ones((1, 6), np.float32)


class Runner:
    async def run(self, ends: Any, arrays: Any, deadline: float | None) -> Any:
        raise NotImplementedError


@pytest.fixture
def base(tmp_path: Path) -> Path:
    shutil.copytree(MODEL, tmp_path / "m" / "1")
    return tmp_path / "m"


@pytest.fixture
def models(base: Path) -> Iterator[ServedModels]:
    options = LoadOptions(lambda servable: Runner(), mapped=True)
    served = ServedModels(
        lambda name, version, path, extras: load_servable(name, version, path, options, extras),
        LifeOptions(poll_seconds=0.02, retries=Retries(3, 0.02)),
    )
    served.configure(one_model("m", str(base)))
    served.start()
    served.wait_until_ready(10)
    yield served
    served.close(10)


def eventually(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def newest(models: ServedModels) -> int:
    with models.hold(ModelAsked("m")) as servable:
        return servable.version


def asked(models: ServedModels) -> int:
    """Which version answers a real request."""
    with models.hold(ModelAsked("m")) as servable:
        ends = ends_of(servable.signature_defs["serving_default"])
        assert ends is not None
        servable.compute(ends, [FEATURES])
        return servable.version


def state(models: ServedModels, version: int) -> State:
    try:
        return models.statuses(ModelAsked("m", version))[0].state
    except NotFoundError:
        return State.START


def test_a_version_that_is_copied_file_by_file_is_loaded_when_it_is_whole(models: ServedModels, base: Path) -> None:
    files = sorted(path for path in MODEL.rglob("*") if path.is_file())
    assert len(files) > 2
    for path in files:
        target = base / "2" / path.relative_to(MODEL)
        target.parent.mkdir(parents=True, exist_ok=True)
        data = path.read_bytes()
        for end in (len(data) // 2, len(data)):  # not even whole files at a time
            target.write_bytes(data[:end])
            time.sleep(0.03)
            assert asked(models) in (1, 2)
    eventually(lambda: asked(models) == 2)


def test_a_damaged_version_is_told_and_the_old_one_stays(models: ServedModels, base: Path) -> None:
    shutil.copytree(MODEL, base / "copy")
    data = base / "copy" / "variables" / "variables.data-00000-of-00001"
    right = data.read_bytes()
    data.write_bytes(bytes(len(right)))
    (base / "copy").rename(base / "2")
    eventually(lambda: state(models, 2) is State.END)
    (status,) = models.statuses(ModelAsked("m", 2))
    assert (status.code, "checksum" in status.message) == (15, True)
    assert asked(models) == 1
    (base / "2" / "variables" / "variables.data-00000-of-00001").write_bytes(right)
    eventually(lambda: asked(models) == 2)


def test_a_version_that_vanishes_makes_room_for_the_one_before(models: ServedModels, base: Path) -> None:
    shutil.copytree(MODEL, base / "2")
    eventually(lambda: newest(models) == 2)
    with models.hold(ModelAsked("m", 2)) as servable:
        shutil.rmtree(base / "2")
        eventually(lambda: newest(models) == 1)
        ends = ends_of(servable.signature_defs["serving_default"])
        assert ends is not None
        servable.compute(ends, [FEATURES])  # its files are gone, its values are not
    eventually(lambda: state(models, 2) is State.END)


def test_no_request_fails_while_versions_change(models: ServedModels, base: Path) -> None:
    problems: list[BaseException] = []
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.wait(0.001):  # who never pauses keeps the thread that loads from Python's lock
            try:
                asked(models)
            except BaseException as error:
                problems.append(error)
                return

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for version in range(2, 6):
        shutil.copytree(MODEL, base / f".{version}")
        (base / f".{version}").rename(base / str(version))
        eventually(lambda wanted=version: newest(models) == wanted)  # type: ignore[misc]
        shutil.rmtree(base / str(version - 1))
    is_over.set()
    for thread in threads:
        thread.join()
    assert not problems


def test_memory_comes_back_when_a_version_is_unloaded(models: ServedModels, base: Path) -> None:
    with models.hold(ModelAsked("m")) as servable:
        model = weakref.ref(servable.model)
    del servable
    shutil.copytree(MODEL, base / "2")
    eventually(lambda: state(models, 1) is State.END)
    eventually(lambda: _is_gone(model))  # the thread that unloads it has told so, and is about to let go of it


def _is_gone(model: weakref.ref[Any]) -> bool:
    gc.collect()
    return model() is None


def test_threads_end_with_the_server(base: Path) -> None:
    before = threading.active_count()
    options = LoadOptions(lambda servable: Runner())
    served = ServedModels(
        lambda name, version, path, extras: load_servable(name, version, path, options, extras),
        LifeOptions(poll_seconds=0.02),
    )
    served.configure(one_model("m", str(base)))
    served.start()
    served.wait_until_ready(10)
    served.close(10)
    eventually(lambda: threading.active_count() <= before)
    assert served.statuses(ModelAsked("m"))[0].state is State.END


def test_a_servable_is_a_servable(models: ServedModels) -> None:
    with models.hold(ModelAsked("m", 1)) as servable:
        assert isinstance(servable, Servable)
        assert isinstance(servable.runner, Runner)
