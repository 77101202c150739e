"""Measurements, side by side with TensorFlow, safetensors and NumPy in one run. `make bench` prints them.

Contenders take turns, so that whatever else the machine does befalls all of them alike; figures are medians.

What the environment says of the processor to OpenBLAS, which multiplies NumPy's matrices, is left out, and told: it was
meant for another machine (Haswell's instructions halve the speed of a processor with AVX-512), and TensorFlow and ONNX
Runtime do not listen to it. OpenBLAS reads it when NumPy is imported, so that this stands here, before everything;
where NumPy is imported already nothing is changed, since only processes that are started later would notice. So is a
setting by which Python keeps nothing of what it compiled: `import tensorkeep.v1` took twice its time.
"""

import os
import sys

_LEFT_OUT = {
    "OPENBLAS_CORETYPE": "NumPy chooses for this processor",
    "OPENBLAS_L2_SIZE": "NumPy chooses for this processor",
    "PYTHONDONTWRITEBYTECODE": "programs are compiled once, and not anew in every process",
}
for _name, _reason in _LEFT_OUT.items():
    if "numpy" not in sys.modules and (_value := os.environ.pop(_name, None)) is not None:
        print(f"benchmarks: {_name}={_value} is left out, so that {_reason}", file=sys.stderr)
