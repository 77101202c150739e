"""What the machine has, and what the user has set."""

from __future__ import annotations

import pytest

from tensorkeep.io.machine.resources import available_memory, is_switched_on, quotas_of_groups, rooms_of_groups


@pytest.mark.parametrize("default", [True, False])
@pytest.mark.parametrize(("text", "on"), [("1", True), ("true", True), ("TRUE", True), ("0", False), ("False", False)])
def test_a_switch_is_on_or_off(monkeypatch: pytest.MonkeyPatch, text: str, on: bool, default: bool) -> None:
    monkeypatch.setenv("TENSORKEEP_SWITCH", text)
    assert is_switched_on("TENSORKEEP_SWITCH", default) is on


@pytest.mark.parametrize("default", [True, False])
def test_what_is_not_set_or_makes_no_sense_is_the_default(monkeypatch: pytest.MonkeyPatch, default: bool) -> None:
    monkeypatch.delenv("TENSORKEEP_SWITCH", raising=False)
    assert is_switched_on("TENSORKEEP_SWITCH", default) is default
    for text in ("", "maybe"):
        monkeypatch.setenv("TENSORKEEP_SWITCH", text)
        assert is_switched_on("TENSORKEEP_SWITCH", default) is default


# ---------------------------------------------------------------------------------------------------- Memory

MACHINE = "/sys/fs/cgroup"
OLDER = "/sys/fs/cgroup/memory"


def rooms(files: dict[str, str]) -> list[int]:
    return list(rooms_of_groups(lambda path: files.get(path, "")))


def test_a_group_has_room_up_to_its_limit_and_what_is_idle_counts_as_free() -> None:
    files = {
        "/proc/self/cgroup": "0::/box\n",
        f"{MACHINE}/box/memory.max": "1000\n",
        f"{MACHINE}/box/memory.current": "700\n",
        f"{MACHINE}/box/memory.stat": "anon 500\ninactive_file 150\nactive_file 50\n",
    }
    assert rooms(files) == [450]


def test_groups_around_a_group_have_limits_too() -> None:
    files = {"/proc/self/cgroup": "0::/outer/inner\n"}
    for group, limit in (("", "max"), ("/outer", "900"), ("/outer/inner", "1000")):
        files |= {f"{MACHINE}{group}/memory.max": limit, f"{MACHINE}{group}/memory.current": "100"}
    assert rooms(files) == [800, 900]


def test_groups_of_the_first_version_are_found_by_what_they_control() -> None:
    files = {
        "/proc/self/cgroup": "3:cpu,cpuacct:/box\n2:hugetlb,memory:/elsewhere\n0::/\n",
        f"{OLDER}/memory.limit_in_bytes": "1000",
        f"{OLDER}/memory.usage_in_bytes": "400",
        f"{OLDER}/memory.stat": "inactive_file 7\ntotal_inactive_file 30\n",
    }
    assert rooms(files) == [630]


def test_a_group_over_its_limit_has_no_room() -> None:
    files = {"/proc/self/cgroup": "0::/\n", f"{MACHINE}/memory.max": "5", f"{MACHINE}/memory.current": "9"}
    assert rooms(files) == [0]


@pytest.mark.parametrize("groups", ["", "nonsense\n", "0::/\n", "1:memory:/a\n"])
def test_what_the_system_does_not_tell_is_no_limit(groups: str) -> None:
    assert (
        rooms({"/proc/self/cgroup": groups, f"{MACHINE}/memory.max": "x", f"{OLDER}/memory.limit_in_bytes": "1"}) == []
    )


def test_the_smallest_room_is_what_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 << 20 < available_memory() < 1 << 60
    monkeypatch.setattr("tensorkeep.io.machine.resources.rooms_of_groups", lambda text: iter((1 << 50, 12345)))
    assert available_memory() == 12345


# ---------------------------------------------------------------------------------------------------- Processors


def quotas(files: dict[str, str]) -> list[float]:
    return list(quotas_of_groups(lambda path: files.get(path, "")))


def test_the_quota_of_a_container_is_in_the_outermost_group_that_it_sees() -> None:
    assert quotas({"/proc/self/cgroup": "0::/\n", f"{MACHINE}/cpu.max": "150000 100000\n"}) == [1.5]


def test_groups_around_a_group_have_quotas_too() -> None:
    files = {"/proc/self/cgroup": "0::/outer/inner\n"}
    for group, quota in (("", "max 100000"), ("/outer", "400000 100000"), ("/outer/inner", "50000 20000")):
        files[f"{MACHINE}{group}/cpu.max"] = quota
    assert quotas(files) == [4.0, 2.5]


@pytest.mark.parametrize("folder", ["cpu", "cpu,cpuacct"])
def test_quotas_of_the_first_version_are_found_by_what_they_control(folder: str) -> None:
    files = {
        "/proc/self/cgroup": "2:memory:/elsewhere\n3:cpu,cpuacct:/box\n0::/\n",
        f"{MACHINE}/{folder}/cpu.cfs_quota_us": "-1",
        f"{MACHINE}/{folder}/cpu.cfs_period_us": "100000",
        f"{MACHINE}/{folder}/box/cpu.cfs_quota_us": "300000\n",
        f"{MACHINE}/{folder}/box/cpu.cfs_period_us": "100000\n",
    }
    assert quotas(files) == [3.0]


@pytest.mark.parametrize("text", ["", "max", "max 100000", "nonsense", "1 2 3", "0 100000", "5 0"])
def test_what_is_no_quota_is_no_limit(text: str) -> None:
    assert quotas({"/proc/self/cgroup": "0::/\n", f"{MACHINE}/cpu.max": text}) == []
