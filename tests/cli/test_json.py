"""The JSON documents of every command: their schemas, which change only together with their numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.cli import catalog
from tests.cli.conftest import Program

# A schema: a type, several, a list of one schema, a mapping of any keys to one schema (under ...), or fixed keys.
NUMBER = (int, float)
TENSOR = {
    "name": str,
    "key": str,
    "dtype": str,
    "shape": [int],
    "elements": int,
    "bytes": (int, type(None)),
    "shards": [int],
    "slices": int,
}
LISTING = {
    "path": str,
    "format": str,
    "files": [{"path": str, "bytes": (int, type(None))}],
    "tensors": [TENSOR],
    "remarks": [str],
    "totals": {"tensors": int, "elements": int, "bytes": int},
}
STATISTICS = {
    "name": str,
    "dtype": str,
    "shape": [int],
    "elements": int,
    **dict.fromkeys(("min", "max", "mean", "std", "norm"), (int, float, type(None))),
    **dict.fromkeys(("zeros", "nan", "inf", "absurd"), int),
    "histogram": object,
}
TABLE = {
    "name": str,
    "shards": int,
    "dim": int,
    "dtype": str,
    "key_dtype": str,
    "slots": [str],
    **dict.fromkeys(("admitted", "filtered", "bytes"), int),
    **dict.fromkeys(("keys_from", "keys_to", "versions_from", "versions_to"), (int, type(None))),
    **dict.fromkeys(("zero_rows", "not_finite"), int),
    **dict.fromkeys(("frequencies", "norms"), object),
}
LOSS = {
    **dict.fromkeys(
        ("elements", "zero", "infinite", "undefined", "out_of_range", "inexact", "imaginary", "rounded"), int
    ),
    "example": str,
}
CHANGE = {
    "target": str,
    "is_dry_run": bool,
    "tensors": int,
    "linked_bytes": int,
    "written_bytes": int,
    "renamed": {...: str},
    "dropped": [str],
    "losses": {...: LOSS},
}
END = {"dtype": str, "shape": [int], "name": str}
SIGNATURE = {"method_name": str, "inputs": {...: END}, "outputs": {...: END}}
META_GRAPH = {
    "tags": [str],
    "tensorflow_version": str,
    "signatures": {...: SIGNATURE},
    "ops": [str],
    "functions": {...: [str]},
}
FINDING = {...: (str, bool, list)}
NAMED = {"name": str, "dtype": str, "shape": [int]}
GRAPH_END = {"name": str, "tensor": str, "dtype": str, "shape": str}
RECORD = {
    "path": str,
    "step": (int, type(None)),
    "time": (int, float),
    "bytes": (int, type(None)),
    "metrics": {...: (int, float)},
    "is_pinned": bool,
}
SCAN = {
    "version": int,
    "tool": {"name": str, "version": str},
    "path": str,
    "clean": bool,
    "complete": bool,
    "counts": {...: int},
    "findings": [FINDING],
    "accounted": [FINDING],
    "ops": {...: int},
    "files": [str],
}
IDENTIFICATION = {
    "path": str,
    "kind": str,
    "writer": (str, type(None)),
    "format_of": (str, type(None)),
    "facts": {...: object},
}
SCHEMAS: dict[str, Any] = {
    "error/1": {"error": str, "message": str},
    "what/1": {"paths": [IDENTIFICATION]},
    "list/1": LISTING,
    "show/1": {
        **LISTING,
        "types": {...: int},
        "scopes": [{"name": str, "tensors": int, "elements": int, "bytes": int}],
    },
    "print/1": {
        "path": str,
        "name": str,
        "dtype": str,
        "shape": [int],
        "part": (str, type(None)),
        "values": object,
    },
    "checkpoints/1": {
        "directory": str,
        "checkpoints": [
            {
                "path": str,
                "step": (int, type(None)),
                "time": (int, float),
                "bytes": int,
                "metrics": {...: (int, float)},
                "is_latest": bool,
                "is_pinned": bool,
                "problems": [str],
                "is_healthy": (bool, type(None)),
            }
        ],
    },
    "verify/1": {
        "checkpoints": [
            {
                "path": str,
                "intact": int,
                "is_intact": bool,
                "problems": [{"tensor": (str, type(None)), "error": str, "message": str}],
            }
        ]
    },
    "stats/1": {"path": str, "tensors": [STATISTICS]},
    "health/1": {
        "checkpoints": [
            {
                "path": str,
                "is_healthy": bool,
                "tensors": int,
                "findings": [{"ailment": str, "is_error": bool, "tensor": (str, type(None)), "detail": str}],
            }
        ]
    },
    "diff/1": {
        "paths": [str],
        "is_same": bool,
        "removed": [NAMED],
        "added": [NAMED],
        "reshaped": [{"name": str, "before": {...: object}, "after": {...: object}}],
        "changed": [
            {**NAMED, "differing": int, **dict.fromkeys(("max", "mean", "relative", "cosine"), (float, type(None)))}
        ],
        "same": [str],
        "graphs": [
            {
                "label": str,
                "is_same": bool,
                "removed": {...: str},
                "added": {...: str},
                "changed": {...: [str]},
                "signatures": {...: str},
                "same": int,
            }
        ],
    },
    "drift/1": {
        "paths": [str],
        "tensors": [{"name": str, "steps": [(float, type(None))], "total": (float, type(None))}],
    },
    "graph/1": {
        "path": str,
        "graphs": [
            {
                "label": str,
                "nodes": int,
                "functions": int,
                "bytes": int,
                "operations": (int, type(None)),
                "ops": [{"op": str, "count": int, "bytes": int, "operations": (int, type(None))}],
                "unknown_shapes": {...: int},
                "placeholders": [GRAPH_END],
                "outputs": [str],
                "signatures": {...: {"inputs": [GRAPH_END], "outputs": [GRAPH_END]}},
            }
        ],
        "files": [str],
    },
    "report/2": {
        "paths": [str],
        "target": str,
        "is_dry_run": bool,
        **dict.fromkeys(("bytes", "tensors", "graphs", "findings"), int),
        "left_out": [str],
    },
    "view/1": {"sources": [{"path": str, "kind": str}]},
    "retain/2": {
        "directory": str,
        "is_dry_run": bool,
        "kept": [RECORD],
        "deleted": [RECORD],
        "unmeasured": {...: [str]},
    },
    "scan/1": {"models": [dict(sorted(SCAN.items()))]},
    "change/2": CHANGE,
    "salvage/1": {**CHANGE, "lost": [{"tensor": (str, type(None)), "message": str}]},
    "dedupe/1": {"is_dry_run": bool, "shared": {...: [str]}, "saved_bytes": int},
    "copy/1": {"target": str, "bytes": int, "files": [str], "resumed": [str]},
    "repair-state/1": {
        "directory": str,
        "is_dry_run": bool,
        "latest": str,
        "checkpoints": [str],
        "dropped": [{"path": str, "reason": str}],
        "added": [str],
        "problem": (str, type(None)),
    },
    "gc/1": {"directory": str, "garbage": [{"path": str, "bytes": int, "reason": str, "is_removed": bool}]},
    "sign/1": {
        "model": str,
        "is_dry_run": bool,
        "is_signed": bool,
        "manifest": str,
        "digest": str,
        "files": {...: str},
    },
    "check/1": {
        "model": str,
        "is_same": bool,
        "is_verified": bool,
        "same": int,
        "changed": [str],
        "missing": [str],
        "extra": [str],
    },
    "convert/2": {
        "source": str,
        "target": str,
        "source_format": str,
        "target_format": str,
        "is_dry_run": bool,
        "files": [str],
        "tensors": int,
        "bytes": int,
        "is_proven": bool,
        "losses": {...: LOSS},
    },
    "convert.explain/1": {
        "tensors": [{"origins": [str], "name": str, "dtype": str, "shape": [int], "history": [str]}],
        "left_out": {...: str},
        "idle": [str],
    },
    "presets/1": {"presets": [{"name": str, "summary": str}]},
    "ev.stats/1": {"path": str, "tables": [TABLE]},
    "ev.lookup/1": {
        "path": str,
        "name": str,
        "slot": str,
        "rows": [{"key": int, "state": str, **dict.fromkeys(("freq", "version"), (int, type(None))), "row": object}],
    },
    "ev.compare/1": {
        "path": str,
        "tables": [
            {
                "name": str,
                "keys": int,
                "is_consistent": bool,
                "slots": [{"slot": str, "keys": int, "missing": int, "surplus": int}],
            }
        ],
    },
    "ev.change/1": {"source": str, "target": str, "is_dry_run": bool, "reports": {...: str}},
    "man/1": {"page": str},
    "completion/1": {"shell": str, "script": str},
    "saved-model.show/1": {"saved_model_schema_version": int, "meta_graphs": [META_GRAPH]},
    "saved-model.run/1": {"outputs": {...: object}, "files": {...: str}, "seconds": object},
    "saved-model.scan/1": SCAN,
    "saved-model.change/1": {
        "source": str,
        "target": str,
        "is_dry_run": bool,
        "meta_graphs": [{"tags": [str], "signatures": [str], "nodes": int, "functions": int}],
    },
    "saved-model.files/1": {"source": str, "is_dry_run": bool, "files": [str]},
    "run/1": {"program": str, "names": [{"name": str, "line": int, "is_there": bool, "instead": (str, type(None))}]},
    "serve/1": {"models": [{"name": str, "version": int, "state": str, "error": str}]},
    "saved-model.warmup/1": {"source": str, "requests": [{"kind": str, "signature": str, "inputs": [str]}]},
}
COMMANDS: dict[str, tuple[str, str]] = {
    "what": ("what/1", "run export/1 run/model-1000"),
    "list": ("list/1", "run"),
    "show": ("show/1", "run"),
    "print": ("print/1", "run dense/kernel"),
    "checkpoints": ("checkpoints/1", "train --health"),
    "verify": ("verify/1", "run export/1"),
    "stats": ("stats/1", "run --bins 3"),
    "health": ("health/1", "run train/model-1"),
    "diff": ("diff/1", "run run"),
    "graph": ("graph/1", "export/1"),
    "report": ("report/2", "run out.html"),
    "view": ("view/1", "run --dry-run"),
    "retain": ("retain/2", "train --latest 1"),
    "scan": ("scan/1", "export run"),
    "rename": ("change/2", "run r/m --strip-scope dense"),
    "keep": ("change/2", "run r/m --match dense/*"),
    "drop": ("change/2", "run r/m --match dense/*"),
    "strip-optimizer": ("change/2", "train/model-2 r/m"),
    "ema-swap": ("change/2", "train/model-2 r/m"),
    "cast": ("change/2", "run r/m --dtype float16"),
    "set": ("change/2", "run r/m --values global_step=1"),
    "merge": ("change/2", "run train/model-1 r/m --conflict last"),
    "average": ("change/2", "train/model-1 train/model-2 r/m"),
    "interpolate": ("change/2", "train/model-1 train/model-2 0.5 r/m"),
    "split": ("change/2", "run r/m --max-shard-size 50"),
    "convert-format": ("change/2", "run r/m --to V1"),
    "objects-to-names": ("change/2", "objects/ckpt-1 r/m"),
    "names-to-objects": ("change/2", "run r/m"),
    "dedupe": ("dedupe/1", "train/model-1 train/model-2 --force"),
    "salvage": ("salvage/1", "run r/m"),
    "repair-state": ("repair-state/1", "run"),
    "copy": ("copy/1", "run/model-1000 backup/model-1000"),
    "gc": ("gc/1", "run --older-than 0"),
    "sign": ("sign/1", "export/1 e.json"),
    "check": ("check/1", "export/1 signed/export-1.json"),
    "convert": ("convert/2", "run m.safetensors"),
    "presets": ("presets/1", ""),
    "ev stats": ("ev.stats/1", "recommender/model"),
    "ev lookup": ("ev.lookup/1", "recommender/model users 7 1003"),
    "ev compare": ("ev.compare/1", "recommender/model"),
    "ev repartition": ("ev.change/1", "recommender/model r/m --shards 3"),
    "ev prune": ("ev.change/1", "recommender/model r/m --min-norm 0.1"),
    "ev quantise": ("ev.change/1", "recommender/model r/m --to bfloat16"),
    "ev repair": ("ev.change/1", "recommender/model r/m"),
    "ev compact": ("ev.change/1", "recommender/model r/m --dry-run"),
    "ev export": ("ev.change/1", "recommender/model users u.csv"),
    "ev import": ("ev.change/1", "users-table.csv r/m users"),
    "man": ("man/1", ""),
    "completion": ("completion/1", "bash"),
    "saved-model show": ("saved-model.show/1", "export/1 --all"),
    "saved-model run": ("saved-model.run/1", "export/1 --inputs x=x.npy --timing"),
    "saved-model scan": ("saved-model.scan/1", "export/1"),
    "saved-model add-signature": ("saved-model.change/1", "export/1 a --outputs y=logits:0 --inputs x=x:0 --force"),
    "saved-model rename-signature": ("saved-model.change/1", "export/1 serving_default a --force"),
    "saved-model drop-signature": ("saved-model.change/1", "export/1 serving_default --force"),
    "saved-model add-input": ("saved-model.change/1", "export/1 serving_default k keep_prob:0 --force"),
    "saved-model add-output": ("saved-model.change/1", "export/1 serving_default l logits:0 --force"),
    "saved-model rename-input": ("saved-model.change/1", "export/1 serving_default x y --force"),
    "saved-model rename-output": ("saved-model.change/1", "export/1 serving_default prob p --force"),
    "saved-model drop-input": ("saved-model.change/1", "export/1 with_rate rate --force"),
    "saved-model drop-output": ("saved-model.change/1", "export/1 serving_default prob --force"),
    "saved-model retag": ("saved-model.change/1", "export/1 serve a,b --force"),
    "saved-model drop-tags": ("saved-model.change/1", "export/many train --force"),
    "saved-model prune": ("saved-model.change/1", "export/1 serving_default --force"),
    "saved-model strip": ("saved-model.change/1", "export/1 --devices --force --dry-run"),
    "saved-model freeze": ("saved-model.change/1", "export/1 --output export/2"),
    "saved-model set-variables": ("saved-model.change/1", "export/1 --files dense/kernel=kernel.npy --output export/2"),
    "saved-model extract-assets": ("saved-model.files/1", "export/words out"),
    "saved-model replace-asset": ("saved-model.files/1", "export/words vocab.txt new.txt --dry-run"),
    "saved-model warmup": ("saved-model.files/1", "export/1 --inputs x=x.npy"),
    "serve": ("serve/1", "--model m=export --dry-run"),
    "run": ("run/1", "--json train.py"),
}


def fits(schema: Any, value: Any, where: str = "$") -> None:
    """Asserts that a value is what a schema says, no key more and none less."""
    if isinstance(schema, list):
        assert isinstance(value, list), where
        for at, item in enumerate(value):
            fits(schema[0], item, f"{where}[{at}]")
    elif isinstance(schema, Mapping):
        assert isinstance(value, dict), where
        if set(schema) == {...}:
            for key, item in value.items():
                fits(schema[...], item, f"{where}.{key}")
            return
        assert list(value) == list(schema), where
        for key, item in value.items():
            fits(schema[key], item, f"{where}.{key}")
    else:
        kinds = schema if isinstance(schema, tuple) else (schema,)
        assert isinstance(value, kinds), f"{where}: {value!r}"
        assert not isinstance(value, bool) or bool in kinds or object in kinds, where


def document(text: str) -> tuple[str, dict[str, Any]]:
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    schema = found.pop("schema")
    assert schema.startswith("tensorkeep.")
    return schema.removeprefix("tensorkeep."), found


def test_every_command_is_here() -> None:
    assert set(COMMANDS) == set(catalog.COMMANDS)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_a_document_of_its_schema(program: Program, name: str) -> None:
    schema, arguments = COMMANDS[name]
    found = program(*name.split(), *arguments.split(), "--json")
    assert found.code == 0, found.err
    said, data = document(found.out)
    assert said == schema
    if name == "saved-model scan":  # whose report has its keys sorted
        data = {key: data[key] for key in SCHEMAS[schema]} | data
    fits(SCHEMAS[schema], data)


def test_what_differs_has_a_document(program: Program) -> None:
    found = program("diff", "export/1", "export/many", "--json")
    said, data = document(found.out)
    assert (found.code, said) == (3, "diff/1")
    fits(SCHEMAS[said], data)
    assert [graph["label"] for graph in data["graphs"]] == ["serve", "train"]
    found = program("diff", "train/model-1", "train/model-2", "--json")
    fits(SCHEMAS["diff/1"], document(found.out)[1])
    assert document(found.out)[1]["changed"][0]["name"] == "dense/kernel"


def test_a_run_has_a_document(program: Program) -> None:
    said, data = document(program("diff", "moving/model-1", "moving/model-2", "moving/model-3", "--json").out)
    assert said == "drift/1"
    fits(SCHEMAS[said], data)
    assert data["tensors"][0] == {"name": "fast", "steps": [1.0, 1.0], "total": 3.0}


def test_requests_that_are_there_have_a_document(program: Program) -> None:
    program("saved-model", "warmup", "export/1", "--inputs", "x=x.npy")
    said, data = document(program("saved-model", "warmup", "export/1", "--list", "--json").out)
    assert said == "saved-model.warmup/1"
    fits(SCHEMAS[said], data)
    assert data["requests"] == [{"kind": "predict_log", "signature": "serving_default", "inputs": ["x"]}]


def test_an_error_has_a_document_too(program: Program) -> None:
    found = program("list", "nothing", "--json")
    said, data = document(found.out)
    assert (found.code, said) == (1, "error/1")
    fits(SCHEMAS[said], data)
    assert data["error"] == "MissingFileError"
    assert found.err == f"error: {data['message']}\n"


def test_a_listing_says_what_the_library_says(program: Program) -> None:
    _, data = document(program("list", "run", "--json").out)
    infos = tk.list_tensors("run")
    assert [item["name"] for item in data["tensors"]] == list(infos)
    for item in data["tensors"]:
        info = infos[item["name"]]
        assert (item["dtype"], tuple(item["shape"]), item["bytes"]) == (info.dtype.name, info.shape, info.nbytes)


def test_values_are_those_of_the_tensor(program: Program) -> None:
    _, data = document(program("print", "run", "dense/kernel", "1:3,:", "--json").out)
    assert data["values"] == [[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]
    assert data["part"] == "1:3,:"


def test_what_json_has_no_numbers_for_is_text(program: Program, world: Path) -> None:
    values = {"a": np.array([math.nan, math.inf, -math.inf, 1.5]), "b": np.array([b"\xff", "ä".encode()], object)}
    tk.save_checkpoint(str(world / "odd"), values)
    assert document(program("print", "odd", "a", "--json").out)[1]["values"] == ["NaN", "Infinity", "-Infinity", 1.5]
    assert document(program("print", "odd", "b", "--json").out)[1]["values"] == ["\\xff", "ä"]


def test_damage_is_in_the_document_of_verify(program: Program, world: Path) -> None:
    (world / "run" / "model-1000.data-00000-of-00001").unlink()
    found = program("verify", "run/model-1000", "--json")
    said, data = document(found.out)
    fits(SCHEMAS[said], data)
    assert found.code == 3
    assert len(data["checkpoints"][0]["problems"]) == 3
