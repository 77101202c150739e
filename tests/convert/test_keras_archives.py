"""Models of Keras 3 as sources of tensors: their names, and archives that are not as they should be."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tensorkeep.convert import ConvertOptions, convert, open_tensors
from tensorkeep.errors import DataLossError, TensorKeepError, UnimplementedError
from tensorkeep.io.files.memory import MemoryFileSystem

KERNEL = np.arange(6, dtype=np.float32).reshape(2, 3)
BIAS = np.float32([1, 2, 3])


def layer(kind: str, name: str, module: str | None = "keras.layers", **config: Any) -> dict[str, Any]:
    """What config.json says of a layer."""
    return {"module": module, "class_name": kind, "config": {"name": name, **config}, "registered_name": None}


def model(*layers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**layer("Sequential", "model", "keras", layers=list(layers)), **more}


def archive(
    config: object,
    objects: Mapping[str, str | None],
    variables: Mapping[str, Any],
    packing: int = zipfile.ZIP_STORED,
) -> bytes:
    """A model: objects with their names, and variables, by their paths."""
    weights = io.BytesIO()
    with h5py.File(weights, "w") as file:
        for path, name in {"": "model", **objects}.items():
            group = file.create_group(f"{path}/vars")
            if name is not None:
                group.attrs["name"] = name
        for path, value in variables.items():
            file[path] = value
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packing) as file:
        file.writestr("metadata.json", '{"keras_version": "3.15.1"}')
        file.writestr("config.json", json.dumps(config))
        file.writestr("model.weights.h5", weights.getvalue())
    return made.getvalue()


def dense(packing: int = zipfile.ZIP_STORED) -> bytes:
    """A layer called "first"."""
    variables = {"layers/dense/vars/0": KERNEL, "layers/dense/vars/1": BIAS}
    return archive(model(layer("Dense", "first")), {"layers/dense": "first"}, variables, packing)


def names_of(data: bytes) -> list[str]:
    fs = MemoryFileSystem({"m.keras": data})
    with open_tensors("m.keras", fs=fs) as tensors:
        return sorted(tensors)


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_variables_go_by_the_names_of_their_layers_and_by_their_own(tmp_path: Path, packing: int) -> None:
    (tmp_path / "m.keras").write_bytes(dense(packing))
    with open_tensors(tmp_path / "m.keras") as tensors:
        assert tensors.format == "keras"
        assert sorted(tensors) == ["first/bias", "first/kernel"]
        np.testing.assert_array_equal(tensors.read("first/kernel"), KERNEL)
        np.testing.assert_array_equal(tensors.read("first/kernel", np.s_[1:, :2]), KERNEL[1:, :2])
    convert(tmp_path / "m.keras", tmp_path / "m.npz", ["tensorflow-to-torch"], ConvertOptions(prove=True))
    with np.load(tmp_path / "m.npz") as found:
        np.testing.assert_array_equal(found["first.weight"], KERNEL.T)


def test_layers_that_are_not_of_keras_number_their_variables() -> None:
    for module in ("mine", None, "kerasish.layers"):
        variables = {"layers/dense/vars/0": KERNEL, "layers/dense/vars/1": BIAS}
        config = model(layer("Dense", "first", module))
        assert names_of(archive(config, {"layers/dense": "first"}, variables)) == ["first/0", "first/1"]


def test_layers_with_another_number_of_variables_than_their_class_has_number_them() -> None:
    variables = {"layers/dense/vars/0": KERNEL, "layers/dense/vars/1": BIAS}
    config = model(layer("Dense", "first", use_bias=False))
    data = archive(config, {"layers/dense": "first"}, variables)
    assert names_of(data) == ["first/0", "first/1"]
    fs = MemoryFileSystem({"m.keras": data})
    with open_tensors("m.keras", fs=fs) as tensors:
        assert "2 variables go by number" in tensors.remarks[0]  # type: ignore[attr-defined]


def test_a_normalization_that_scales_only_has_gamma_whatever_else_it_says() -> None:
    config = model(layer("LayerNormalization", "norm", rms_scaling=True, scale=False, center=True))
    data = archive(config, {"layers/layer_normalization": "norm"}, {"layers/layer_normalization/vars/0": BIAS})
    assert names_of(data) == ["norm/gamma"]


def test_objects_without_a_stored_name_go_by_their_place() -> None:
    data = archive(model(layer("Dense", "dense")), {"layers/dense": None}, {"layers/dense/vars/0": KERNEL})
    assert names_of(data) == ["dense/0"]


def test_what_an_optimizer_keeps_is_told_from_layers() -> None:
    optimizer = layer("Adam", "adam", "keras.optimizers", learning_rate=0.1)
    variables = {f"optimizer/vars/{number}": np.float32(number) for number in range(4)}
    config = model(compile_config={"optimizer": optimizer})
    expected = ["optimizer/adam/2", "optimizer/adam/3", "optimizer/adam/iteration", "optimizer/adam/learning_rate"]
    assert names_of(archive(config, {"optimizer": "adam"}, variables)) == expected


def test_a_rate_that_is_computed_is_not_taken_for_one_that_is_stored() -> None:
    schedule = layer("ExponentialDecay", "decay", "keras.optimizers.schedules")
    optimizer = layer("Adam", "adam", "keras.optimizers", learning_rate=schedule)
    variables = {f"optimizer/vars/{number}": np.float32(number) for number in range(2)}
    config = model(compile_config={"optimizer": optimizer})
    assert names_of(archive(config, {"optimizer": "adam"}, variables)) == [
        "optimizer/adam/1",
        "optimizer/adam/iteration",
    ]


def test_variables_that_would_be_called_alike_go_by_their_paths() -> None:
    objects = {"layers/dense": "same", "layers/dense_1": "same", "layers/dense_2": "other"}
    variables = {f"{path}/vars/0": KERNEL for path in objects}
    assert names_of(archive(model(), objects, variables)) == [
        "layers/dense/vars/0",
        "layers/dense_1/vars/0",
        "other/0",
    ]


def test_weights_that_were_damaged_in_the_archive_are_not_given() -> None:
    data = bytearray(dense())
    at = data.index(KERNEL.tobytes())
    data[at + 4] ^= 1
    fs = MemoryFileSystem({"m.keras": bytes(data)})
    with open_tensors("m.keras", fs=fs) as tensors, pytest.raises(DataLossError, match="CRC"):
        tensors.read("first/bias")


def test_an_archive_that_unpacks_to_far_more_than_weights_do_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorkeep.convert.keras_archives._SLACK", 1000)
    zeros = {"layers/dense/vars/0": np.zeros((1000, 1000), np.float32)}
    data = archive(model(layer("Dense", "first")), {"layers/dense": "first"}, zeros, zipfile.ZIP_DEFLATED)
    with pytest.raises(DataLossError, match=r"bytes unpack to 4,\d+,\d+, more than .* unpack it yourself"):
        names_of(data)


def test_an_archive_that_lies_about_its_size_is_refused() -> None:
    data = dense(zipfile.ZIP_DEFLATED)
    weights = zipfile.ZipFile(io.BytesIO(data)).getinfo("model.weights.h5").file_size
    lying = data.replace(weights.to_bytes(4, "little"), (weights - 100).to_bytes(4, "little"))
    with pytest.raises(DataLossError):
        names_of(lying)


@pytest.mark.parametrize("missing", ["config.json", "model.weights.h5"])
def test_what_an_archive_lacks_is_said(missing: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(dense())) as whole, zipfile.ZipFile(tmp_path / "m.keras", "w") as file:
        for name in whole.namelist():
            if name != missing:
                file.writestr(name, whole.read(name))
    with pytest.raises(DataLossError, match=f'no "{missing}"; it has .*metadata.json'):
        open_tensors(tmp_path / "m.keras")


@pytest.mark.parametrize(
    "config", [[], {}, {"config": 3}, {"config": {"layers": [3, {}, {"config": []}]}}, {"compile_config": []}]
)
def test_a_strange_configuration_gives_numbers(config: Any) -> None:
    assert names_of(archive(config, {"layers/dense": "first"}, {"layers/dense/vars/0": KERNEL})) == ["first/0"]


def test_weights_that_are_links_to_elsewhere_are_refused() -> None:
    data = archive(model(), {}, {"a": h5py.ExternalLink("/etc/passwd", "x")})
    with pytest.raises(DataLossError, match="link to elsewhere"):
        names_of(data)


def test_cut_off_archives_are_told(tmp_path: Path) -> None:
    whole = dense()
    for length in range(0, len(whole), 97):
        (tmp_path / "m.keras").write_bytes(whole[:length])
        with pytest.raises(DataLossError):
            open_tensors(tmp_path / "m.keras")


def test_keras_archives_are_read_and_not_written(tmp_path: Path) -> None:
    (tmp_path / "m.keras").write_bytes(dense())
    with pytest.raises(UnimplementedError, match="keras can be read, and not be written"):
        convert(tmp_path / "m.keras", tmp_path / "n.keras")


def test_without_h5py_the_error_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "m.keras").write_bytes(dense())
    program = (
        "import sys; sys.modules['h5py'] = None\n"
        "import tensorkeep\n"
        "try: tensorkeep.convert.open_tensors(sys.argv[1])\n"
        "except tensorkeep.errors.UnimplementedError as error: print(error)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "m.keras")], capture_output=True, text=True, check=True
    )
    assert 'pip install "tensorkeep[convert]"' in found.stdout


# -------------------------------------------------------------------------------- weights files by themselves


def weights(objects: Mapping[str, str | None], variables: Mapping[str, Any]) -> bytes:
    """A weights file: objects with their names, and variables, by their paths."""
    made = io.BytesIO()
    with h5py.File(made, "w") as file:
        for path, name in objects.items():
            group = file.create_group(f"{path}/vars")
            if name is not None:
                group.attrs["name"] = name
        for path, value in variables.items():
            file[path] = value
    return made.getvalue()


def test_variables_of_a_weights_file_go_by_the_names_of_their_layers_and_by_number() -> None:
    objects = {"": "model", "layers/dense": "first", "layers/rnn": "gates", "layers/rnn/cell": "gru_cell"}
    variables = {"layers/dense/vars/0": KERNEL, "layers/dense/vars/1": BIAS, "layers/rnn/cell/vars/0": BIAS}
    fs = MemoryFileSystem({"m.weights.h5": weights(objects, variables)})
    with open_tensors("m.weights.h5", fs=fs) as tensors:
        assert sorted(tensors) == ["first/0", "first/1", "gates/gru_cell/0"]
        np.testing.assert_array_equal(tensors.read("first/0"), KERNEL)
        assert "3 variables go by number" in tensors.remarks[0]  # type: ignore[attr-defined]


def test_layers_of_a_weights_file_that_are_called_alike_go_by_their_paths() -> None:
    objects = {"layers/dense": "same", "layers/dense_1": "same"}
    variables = {"layers/dense/vars/0": KERNEL, "layers/dense_1/vars/0": KERNEL}
    fs = MemoryFileSystem({"m.weights.h5": weights(objects, variables)})
    with open_tensors("m.weights.h5", fs=fs) as tensors:
        assert sorted(tensors) == ["layers/dense/vars/0", "layers/dense_1/vars/0"]


def sharded(index: object | None = None, **files: bytes) -> MemoryFileSystem:
    """Weights of two layers in two files, the first of which has the kernel of the second layer too."""
    first = weights(
        {"layers/dense": "first", "layers/dense_1": "second"},
        {"layers/dense/vars/0": KERNEL, "layers/dense/vars/1": BIAS, "layers/dense_1/vars/0": 2 * KERNEL},
    )
    second = weights({"layers/dense_1": None}, {"layers/dense_1/vars/1": 2 * BIAS})  # Keras says the name once
    named = {"m_00000.weights.h5": first, "m_00001.weights.h5": second}
    weight_map = {"/layers/dense/vars": "m_00000.weights.h5", "/layers/dense_1/vars": list(named)}
    written = {"metadata": {"total_size": 72}, "weight_map": weight_map} if index is None else index
    named |= {name.replace("__", "."): data for name, data in files.items()}
    inside = {"run/m.weights.json": json.dumps(written).encode()}
    return MemoryFileSystem({**inside, **{f"run/{name}": data for name, data in named.items() if data}})


def test_weights_in_several_files_are_read_by_their_index() -> None:
    with open_tensors("run/m.weights.json", fs=sharded()) as tensors:
        assert tensors.format == "keras-weights"
        assert sorted(tensors) == ["first/0", "first/1", "second/0", "second/1"]
        np.testing.assert_array_equal(tensors.read("second/0"), 2 * KERNEL)
        np.testing.assert_array_equal(tensors.read("second/1"), 2 * BIAS)


def test_weights_in_several_files_are_converted(tmp_path: Path) -> None:
    fs = sharded()
    convert("run/m.weights.json", "out.npz", options=ConvertOptions(prove=True), fs=fs)
    with open_tensors("out.npz", fs=fs) as tensors:
        assert sorted(tensors) == ["first/0", "first/1", "second/0", "second/1"]


@pytest.mark.parametrize(
    ("fs", "message"),
    [
        (sharded(m_00001__weights__h5=b""), "m_00001.weights.h5"),
        (sharded(m_00001__weights__h5=b"no HDF5"), "cannot be read as HDF5"),
        (
            sharded(m_00001__weights__h5=weights({"layers/dense": "x"}, {"layers/other/vars/0": BIAS})),
            'm_00001.weights.h5" has no variables in "/layers/dense_1/vars"',
        ),
        (
            sharded(m_00001__weights__h5=weights({"layers/dense_1": "x"}, {"layers/dense_1/vars/0": BIAS})),
            'both "m_00000.weights.h5" and "m_00001.weights.h5" have "layers/dense_1/vars/0"',
        ),
        (sharded({"weight_map": {"/vars": "../m_00000.weights.h5"}}), "does not lie beside it"),
        (sharded({"weight_map": {"/vars": 7}}), 'expected a "weight_map" of file names'),
        (sharded({"weight_map": [1]}), 'expected a "weight_map" of file names'),
    ],
)
def test_what_is_wrong_with_weights_in_several_files_is_said(fs: MemoryFileSystem, message: str) -> None:
    with pytest.raises(TensorKeepError, match=re.escape(message)):
        open_tensors("run/m.weights.json", fs=fs)
