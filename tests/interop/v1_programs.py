"""What TensorFlow makes of whole programs: run as a process of its own, since its Keras 2 must be chosen at the start.

    python -m tests.interop.v1_programs FILE

writes to the file, pickled, what each program returned.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from pathlib import Path

from tests.v1.programs import PROGRAMS, outcome

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # read when TensorFlow is imported


def main(file: Path) -> None:
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    warnings.simplefilter("ignore")
    file.write_bytes(pickle.dumps({name: outcome(program, tf) for name, program in PROGRAMS.items()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
