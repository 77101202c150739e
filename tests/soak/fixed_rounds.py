"""A few rounds of the soak with a schedule that is always the same, told as JSON.

    python -m tests.soak.fixed_rounds FOLDER

They have a process of their own, since rounds fork: in a child there are no threads but one, and it would wait for ever
for a lock that another thread of its parent held, such as JAX's or TensorFlow's, which other tests start.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest import mock

from tests.soak.__main__ import Round, Tally, main, run
from tests.soak.scenarios import SCENARIOS, Scenario, Steps


def run_rounds(folder: Path, name: str, calls: tuple[int, ...], fail_every: int | None = None) -> dict[str, Any]:
    """What came of rounds of a scenario whose children die at those calls, each in a folder of its own."""
    tally = Tally()
    wrong: list[str] = []
    for call in calls:
        place = folder / str(call)
        place.mkdir(parents=True)
        wrong += run(Round(name, call, kill_after=0, fail_every=fail_every, is_busy=False), place, tally)
    return {"found": wrong, **asdict(tally)}


def run_with_a_wrong_survivor() -> dict[str, Any]:
    """What `make soak` says, and its exit code, where the survivors of a scenario are always found to be wrong."""
    honest = SCENARIOS["edit, cast"]

    def check(folder: Path, steps: Steps) -> list[str]:
        return ["a third state"]

    said = io.StringIO()
    dishonest = {"edit, cast": Scenario(honest.work, check, honest.prepare)}
    with mock.patch.dict(SCENARIOS, dishonest), redirect_stdout(said):
        code = main(["--minutes", "1", "--seed", "3", "--rounds", "1", "--only", "cast"])
    return {"code": code, "said": said.getvalue()}


def tell_all(folder: Path) -> dict[str, Any]:
    scenarios = {name: run_rounds(folder / str(at), name, (9, 40)) for at, name in enumerate(SCENARIOS)}
    faults = run_rounds(folder / "faults", "saver, V2", (150,), fail_every=11)
    return {"scenarios": scenarios, "faults": faults, "a wrong survivor": run_with_a_wrong_survivor()}


if __name__ == "__main__":
    print(json.dumps(tell_all(Path(sys.argv[1]))))
