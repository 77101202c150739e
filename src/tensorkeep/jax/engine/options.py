"""How the engine is asked for: by name, or as a value with a device and a precision."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class JaxDevice:
    """The engine of JAX, in the place of the name "jax" where more is to be said.

    `device` is one that JAX has: text such as "gpu:1", or a device of JAX; by default JAX's own default. `precision` is
    that of products and convolutions: "highest", the default, computes float32 as TensorFlow does on a CPU; "high" and
    "default" leave more to the device.
    """

    device: object = None
    precision: str = "highest"
