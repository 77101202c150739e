"""What is beside models: arrays, sequences of batches, files by URL, HDF5, datasets by path, images of folders."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import DataLossError, InvalidArgumentError, MissingFileError, OutOfRangeError, UnimplementedError
from tensorkeep.io.files import places
from tensorkeep.tf1.keras.utils import downloads

keras = tf.keras


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of whoever runs the program, with that of kept files in it."""
    monkeypatch.setattr(downloads, "home_directory", lambda: str(tmp_path))
    (tmp_path / ".keras/datasets").mkdir(parents=True)
    return tmp_path / ".keras/datasets"


def test_there_is_a_home() -> None:
    assert Path(places.home_directory()).is_absolute()


def test_classes_become_rows() -> None:
    np.testing.assert_array_equal(keras.utils.to_categorical([[1], [0]], 3), [[0, 1, 0], [1, 0, 0]])
    assert keras.utils.to_categorical(np.zeros((2, 5))).shape == (2, 5, 1)
    with pytest.raises(InvalidArgumentError, match="class 3 of 3 classes"):
        keras.utils.to_categorical([3], 3)
    np.testing.assert_allclose(keras.utils.normalize([[3.0, 4.0], [0.0, 0.0]]), [[0.6, 0.8], [0.0, 0.0]])


class _Squares(keras.utils.Sequence):  # type: ignore[misc]
    def __init__(self, count: int, fails_at: int = -1) -> None:
        self.count = count
        self.fails_at = fails_at
        self.epochs = 0

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        if index == self.fails_at:
            raise ValueError(f"batch {index} is broken")
        return index * index

    def on_epoch_end(self) -> None:
        self.epochs += 1


def test_batches_come_in_order_from_several_threads() -> None:
    before = threading.active_count()
    sequence = _Squares(5)
    queue = keras.utils.OrderedEnqueuer(sequence)
    queue.start(workers=3, max_queue_size=4)
    items = queue.get()
    assert [next(items) for _ in range(12)] == [0, 1, 4, 9, 16, 0, 1, 4, 9, 16, 0, 1]
    assert sequence.epochs >= 2
    queue.stop()
    assert threading.active_count() == before
    assert list(_Squares(3)) == [0, 1, 4]


def test_an_error_of_the_data_is_raised_where_it_is_asked_for() -> None:
    before = threading.active_count()
    queue = keras.utils.OrderedEnqueuer(_Squares(5, fails_at=2))
    queue.start(workers=2)
    items = queue.get()
    assert [next(items), next(items)] == [0, 1]
    with pytest.raises(ValueError, match="batch 2 is broken"):
        next(items)
    assert threading.active_count() == before
    generated = keras.utils.GeneratorEnqueuer(number for number in range(4))
    generated.start(workers=2)
    assert list(generated.get()) == [0, 1, 2, 3]
    generated.stop()
    assert threading.active_count() == before
    with pytest.raises(UnimplementedError, match="threads"):
        keras.utils.OrderedEnqueuer(_Squares(1), use_multiprocessing=True)


def test_a_file_is_copied_checked_and_unpacked(home: Path, tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    source.write_text("contents")
    digest = "98bf7d8c15784f0a3d63204441e1e2aa"
    path = keras.utils.get_file("kept.txt", f"file://{source}", md5_hash=digest)
    assert Path(path) == home / "kept.txt"
    source.unlink()
    assert Path(keras.utils.get_file("kept.txt", f"file://{source}")).read_text() == "contents"
    with pytest.raises(DataLossError, match=r"its md5 is 98bf.*expected 00"):
        keras.utils.get_file("kept.txt", "file:///nowhere", md5_hash="00" * 16)
    with pytest.raises(MissingFileError, match=r"get https://example.org/x by other means, and put it there"):
        keras.utils.get_file("x", "https://example.org/x")
    archive = tmp_path / "a.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.addfile(_member("things/one.txt", 3), io.BytesIO(b"one"))
    folder = keras.utils.get_file("things", f"file://{archive}", untar=True)
    assert (Path(folder) / "one.txt").read_text() == "one"


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size
    return member


def test_an_archive_does_not_leave_its_folder(home: Path, tmp_path: Path) -> None:
    archive = tmp_path / "bad.tar"
    with tarfile.open(archive, "w") as file:
        file.addfile(_member("../outside.txt", 3), io.BytesIO(b"one"))
    with pytest.raises(DataLossError, match="outside of its folder"):
        keras.utils.get_file("bad.tar", f"file://{archive}", extract=True)
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    with tarfile.open(tmp_path / "link.tar", "w") as file:
        file.addfile(link)
    with pytest.raises(DataLossError, match="neither file nor folder"):
        keras.utils.get_file("link.tar", f"file://{tmp_path / 'link.tar'}", extract=True)


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_damaged_archive_leaves_nothing_behind(kind: str, home: Path, tmp_path: Path) -> None:
    archive = tmp_path / f"bad.{kind}"
    data = np.random.default_rng(0).bytes(5000)
    if kind == "zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("things/one.txt", b"one")
            packed.writestr("things/two.bin", data)
    else:
        with tarfile.open(archive, "w:gz") as file:
            file.addfile(_member("things/one.txt", 3), io.BytesIO(b"one"))
            file.addfile(_member("things/two.bin", len(data)), io.BytesIO(data))
    whole = archive.read_bytes()
    archive.write_bytes(whole[:3000] + (bytes(16) + whole[3016:] if kind == "zip" else b""))
    with pytest.raises(DataLossError, match="cannot be unpacked"):
        keras.utils.get_file("bad", f"file://{archive}", extract=True)
    assert [path.name for path in home.iterdir()] == ["bad"]


def test_an_archive_is_unpacked_over_what_is_there(home: Path, tmp_path: Path) -> None:
    (home / "things").mkdir(parents=True)
    (home / "things" / "one.txt").write_text("old")
    (home / "things" / "other.txt").write_text("kept")
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("things/one.txt", b"new")
    keras.utils.get_file("a.zip", f"file://{archive}", extract=True)
    found = {path.name: path.read_text() for path in (home / "things").iterdir()}
    assert found == {"one.txt": "new", "other.txt": "kept"}


def test_kept_files_that_hold_something_else_are_told_of(home: Path) -> None:
    (home / "imdb_word_index.json").write_text("{")
    with pytest.raises(DataLossError, match=r"imdb_word_index.json. does not hold what is expected"):
        keras.datasets.imdb.get_word_index()
    clothes = home / "fashion-mnist"
    clothes.mkdir()
    packed = gzip.compress(bytes(16) + bytes(3 * 784))
    for name in ("train-labels-idx1", "train-images-idx3", "t10k-labels-idx1", "t10k-images-idx3"):
        (clothes / f"{name}-ubyte.gz").write_bytes(packed)
    (clothes / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(17)))
    with pytest.raises(DataLossError, match=r"train-images-idx3-ubyte.gz. does not hold"):
        keras.datasets.fashion_mnist.load_data()
    (clothes / "train-images-idx3-ubyte.gz").write_bytes(packed[:30] + b"\xff" * 9 + packed[39:])
    with pytest.raises(DataLossError, match=r"train-images-idx3-ubyte.gz. does not hold"):
        keras.datasets.fashion_mnist.load_data()
    folder = home / "cifar-100-python"
    folder.mkdir()
    (folder / "train").write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(DataLossError, match=r"train. does not hold"):
        keras.datasets.cifar100.load_data()


def test_texts_of_equal_lengths_are_lists_all_the_same(home: Path) -> None:
    texts = np.fromiter([[1, 2], [3, 4], [5, 6], [7, 8]], object, 4)
    np.savez(home / "reuters.npz", x=texts, y=np.arange(4))
    (train, _), (test, _) = keras.datasets.reuters.load_data(test_split=0.5)
    assert [len(text) for text in (*train, *test)] == [3] * 4


def test_datasets_are_read_from_kept_files(home: Path) -> None:
    with pytest.raises(MissingFileError, match=r'mnist.npz" does not exist.*put it there'):
        keras.datasets.mnist.load_data()
    parts = {"x_train": np.arange(8).reshape(2, 2, 2), "y_train": [1, 2], "x_test": np.zeros((1, 2, 2)), "y_test": [3]}
    np.savez(home / "mnist.npz", **parts)
    (images, labels), (_, tested) = keras.datasets.mnist.load_data()
    np.testing.assert_array_equal(images, parts["x_train"])
    assert labels.tolist() == [1, 2]
    assert tested.tolist() == [3]
    np.savez(home / "boston_housing.npz", x=np.arange(20).reshape(10, 2), y=np.arange(10))
    (x, y), (x_test, _) = keras.datasets.boston_housing.load_data()
    assert (len(x), len(x_test)) == (8, 2)
    np.testing.assert_array_equal(x[:, 0], y * 2)
    clothes = home / "fashion-mnist"
    clothes.mkdir()
    for name, offset, size in (("train-labels-idx1", 8, 2), ("train-images-idx3", 16, 2 * 784)):
        for part in (name, name.replace("train", "t10k")):
            (clothes / f"{part}-ubyte.gz").write_bytes(gzip.compress(bytes(offset) + bytes([7]) * size))
    (pictures, kinds), _ = keras.datasets.fashion_mnist.load_data()
    assert pictures.shape == (2, 28, 28)
    assert kinds.tolist() == [7, 7]


def test_texts_are_limited_to_common_words(home: Path) -> None:
    texts = np.array([[1, 2, 3], [4, 5], [1, 9]], dtype=object)
    arrays: dict[str, Any] = {"x_train": texts, "y_train": np.array([0, 1, 1]), "x_test": texts[:1], "y_test": [0]}
    np.savez(home / "imdb.npz", **arrays)
    (x, _), (tested, _) = keras.datasets.imdb.load_data(num_words=8)
    assert sorted(x.tolist()) == [[1, 2, 2], [1, 4, 2], [1, 4, 5, 6], [1, 7, 2]][1:]
    assert tested.tolist() == [[1, 4, 5, 6]]
    (x, _), _ = keras.datasets.imdb.load_data(num_words=8, oov_char=None, skip_top=2)
    assert sorted(x.tolist()) == [[4], [4, 5, 6], [7]]


class _Harmful:
    def __reduce__(self) -> Any:
        return (print, ("harm",))


def test_a_pickle_of_anything_but_arrays_is_refused(home: Path) -> None:
    folder = home / "cifar-100-python"
    folder.mkdir()
    batch = {b"data": np.zeros((2, 3072), np.uint8), b"fine_labels": [3, 4], b"coarse_labels": [1, 2]}
    for part in ("train", "test"):
        (folder / part).write_bytes(pickle.dumps(batch, protocol=2))
    (images, labels), _ = keras.datasets.cifar100.load_data("coarse")
    assert images.shape == (2, 32, 32, 3)
    assert labels.tolist() == [[1], [2]]
    (folder / "test").write_bytes(pickle.dumps(_Harmful()))
    with pytest.raises(DataLossError, match=r"names builtins.print, which is no array"):
        keras.datasets.cifar100.load_data()
    with pytest.raises(InvalidArgumentError, match="label_mode"):
        keras.datasets.cifar100.load_data("rough")


def test_rows_of_hdf5_files_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["x"] = np.arange(20).reshape(10, 2)
    matrix = keras.utils.HDF5Matrix(str(tmp_path / "data.h5"), "x", start=2, end=8, normalizer=lambda rows: rows * 10)
    assert (len(matrix), matrix.shape, matrix.ndim) == (6, (6, 2), 2)
    assert matrix[0].tolist() == [40, 50]
    assert matrix[-1].tolist() == [140, 150]
    assert matrix[1:3].tolist() == [[60, 70], [80, 90]]
    assert matrix[[3, 0, 3]].tolist() == [[100, 110], [40, 50], [100, 110]]
    with pytest.raises(OutOfRangeError, match="row 6 of 6"):
        matrix[6]


def test_images_of_folders_have_the_classes_of_their_folders(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    for number, name in enumerate(("cats", "dogs")):
        (tmp_path / name).mkdir()
        for at in range(3):
            keras.preprocessing.image.save_img(
                tmp_path / name / f"{at}.png", np.full((4, 6, 3), 50.0 * number), scale=False
            )
    generator = keras.preprocessing.image.ImageDataGenerator(rescale=1 / 50, validation_split=0.34)
    flow = generator.flow_from_directory(
        tmp_path, target_size=(8, 8), class_mode="binary", batch_size=4, shuffle=False, subset="training"
    )
    assert flow.class_indices == {"cats": 0, "dogs": 1}
    images, labels = flow[0]
    assert images.shape == (4, 8, 8, 3)
    np.testing.assert_allclose(images[:, 0, 0, 0], labels)
    assert len(generator.flow_from_directory(tmp_path, class_mode=None, subset="validation").filenames) == 2


def test_one_device_stands_for_several_and_pictures_of_models_are_refused() -> None:
    model = object()
    with pytest.warns(UserWarning, match="there is one device, not 2"):
        assert keras.utils.multi_gpu_model(model, 2) is model
    with pytest.raises(InvalidArgumentError, match="gpus >= 2"):
        keras.utils.multi_gpu_model(model, 1)
    with pytest.raises(UnimplementedError, match=r"model.summary\(\)"):
        keras.utils.plot_model(model)
