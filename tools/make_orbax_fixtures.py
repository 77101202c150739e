"""Writes the checkpoints in tests/checkpoint/orbax/fixtures, by Orbax itself, and what is in them.

    pip install orbax-checkpoint jax
    python tools/make_orbax_fixtures.py tests/checkpoint/orbax/fixtures

Tests read them, and need neither Orbax nor JAX. They were written by orbax-checkpoint 0.12.8, jax 0.10.2 and
tensorstore 0.1.86.
"""

from __future__ import annotations

import base64
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", 8)
jax.config.update("jax_enable_x64", True)

TYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "bfloat16", "complex64", "complex128"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz"),
    *("int4", "uint4", "int2", "uint2"),
]


def main(target: Path) -> None:
    expected: dict[str, dict[str, Any]] = {}
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for is_ocdbt in (True, False):
        for is_zarr3 in (True, False):
            name = f"tree_{'ocdbt' if is_ocdbt else 'files'}_zarr{3 if is_zarr3 else 2}"
            ocp.PyTreeCheckpointer(use_ocdbt=is_ocdbt, use_zarr3=is_zarr3).save(target.absolute() / name, tree())
            expected[name] = flat(tree())
    for is_zarr3 in (True, False):
        name = f"types_zarr{3 if is_zarr3 else 2}"
        kinds = types(target.absolute() / "tried", is_zarr3)
        ocp.PyTreeCheckpointer(use_ocdbt=False, use_zarr3=is_zarr3).save(target.absolute() / name, kinds)
        expected[name] = flat(kinds)
    for name, options in (("sharded", {"use_zarr3": False}), ("sharded_in_chunks", {"use_zarr3": True})):
        arrays = sharded()
        saving = ocp.SaveArgs(chunk_byte_size=64 if options["use_zarr3"] else None)
        ocp.PyTreeCheckpointer(use_ocdbt=True, **options).save(
            target.absolute() / name, arrays, save_args=dict.fromkeys(arrays, saving)
        )
        expected[name] = flat(arrays)
    expected["steps"] = flat(steps(target.absolute() / "steps"))
    expected["items"] = flat(items(target.absolute() / "items"))
    shutil.rmtree(target / "tried", ignore_errors=True)
    (target / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


def tree() -> dict[str, Any]:
    """Leaves of every kind, in containers of every kind."""
    return {
        "params": {
            "dense": {
                "kernel": np.arange(12, dtype=np.float32).reshape(3, 4),
                "bias": jnp.asarray([1, -2, 0.5, 3], jnp.bfloat16),
            }
        },
        "optimizer": [np.int32(5), (np.float64(1.5), {"mu": np.arange(6, dtype=np.int8).reshape(2, 3)})],
        "step": 7,
        "rate": 0.5,
        "name": "adam, größer",
        "nothing": None,
        "empty": {},
        "no_items": [],
        "zeros": np.zeros((5, 2), np.float32),
    }


def types(tried: Path, is_zarr3: bool) -> dict[str, Any]:
    """An array of each type that Orbax saves."""
    found = {}
    for number, name in enumerate(TYPES):
        dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
        values = np.array([0, 1, 0, 1, 1]) if name == "bool" or "2" in name[-1:] else np.arange(5)
        array = values.astype(dtype)
        try:
            folder = tried / f"{number}_{is_zarr3}"
            ocp.PyTreeCheckpointer(use_ocdbt=False, use_zarr3=is_zarr3).save(folder, {name: array})
        except Exception as error:
            print(f"not saved: {name} in zarr {3 if is_zarr3 else 2}: {str(error)[:100]}", file=sys.stderr)
            continue
        found[name] = array
    return found


def sharded() -> dict[str, Any]:
    """Arrays that are spread over devices, each of which writes chunks of its own."""
    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("rows", "columns"))

    def placed(array: Any, *axes: str | None) -> Any:
        return jax.device_put(array, NamedSharding(mesh, PartitionSpec(*axes)))

    return {
        "both": placed(np.arange(16 * 6, dtype=np.float32).reshape(16, 6), "rows", "columns"),
        "rows": placed(np.arange(32, dtype=np.int64).reshape(8, 4), "rows", None),
        "columns": placed(np.arange(24, dtype=np.int16).reshape(3, 8), None, "columns"),
        "replicated": placed(np.arange(5, dtype=np.uint8)),
    }


def steps(folder: Path) -> dict[str, Any]:
    """A folder of steps."""
    with ocp.CheckpointManager(folder) as manager:
        for step in (0, 9, 10):
            manager.save(step, args=ocp.args.StandardSave({"w": np.full(4, step, np.float32)}))
    return {"w": np.full(4, 10, np.float32)}


def items(folder: Path) -> dict[str, Any]:
    """A step of several items."""
    state, params = {"count": np.int64(3)}, {"w": np.arange(3, dtype=np.float32)}
    with ocp.CheckpointManager(folder, options=ocp.CheckpointManagerOptions(step_prefix="run")) as manager:
        manager.save(
            3,
            args=ocp.args.Composite(
                state=ocp.args.StandardSave(state),
                params=ocp.args.StandardSave(params),
                notes=ocp.args.JsonSave({"note": 1}),
            ),
        )
    return {"state": state, "params": params}


def flat(tree: Any, prefix: str = "") -> dict[str, Any]:
    """The leaves by name: type, shape, and bytes; text as it is."""
    if tree is None or (isinstance(tree, dict | list | tuple) and not tree):
        return {}
    if isinstance(tree, dict | list | tuple):
        inside = tree.items() if isinstance(tree, dict) else enumerate(tree)
        return {name: value for key, item in inside for name, value in flat(item, f"{prefix}/{key}").items()}
    name = prefix.removeprefix("/")
    if isinstance(tree, str):
        return {name: {"text": tree}}
    array = np.asarray(tree)
    data = base64.b64encode(array.tobytes()).decode()
    return {name: {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
