"""What every implementation of a protocol has to do, as tests to inherit.

A file system or a checkpoint format of yours is tested by a subclass of a few lines:

    class TestMyFileSystem(FileSystemConformance):
        @pytest.fixture
        def fs(self): return MyFileSystem()

    class TestMyFormat(CheckpointFormatConformance):
        def save(self, fs, path, tensors): ...
        def open(self, fs, path): ...

    class TestMyFileOfTensors(TensorFormatConformance):
        format, path, held = MY_FORMAT, "out/x.mine", (FLOAT32, FLOAT64)

    checkpoint_format  what every checkpoint format has to do
    file_system        what every file system has to do
    object_store       what every object store has to do: what a file system does, and what stores do instead
    tensor_format      what every format has to do that tensors are converted to and from
"""

from tensorkeep.testing.conformance.checkpoint_format import CheckpointFormatConformance
from tensorkeep.testing.conformance.file_system import FileSystemConformance
from tensorkeep.testing.conformance.object_store import ObjectStoreConformance
from tensorkeep.testing.conformance.tensor_format import TensorFormatConformance

__all__ = ["CheckpointFormatConformance", "FileSystemConformance", "ObjectStoreConformance", "TensorFormatConformance"]
