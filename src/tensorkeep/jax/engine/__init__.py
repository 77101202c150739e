"""The engine of JAX: parts of a plan, with the variables that they read and change, run on a device as one call each.

checks          what our kernels would refuse by its values, as a truth value that the device computes
device_values   values of variables in the memory of a device, and how they come there and back
engine          the engine itself: asked for the parts of a plan, it finds what JAX can run
options         how it is asked for: by name, or as a value with a device and a precision
parts           a part on the device: compiled for the shapes that come, with the memory of variables used again
step_tracing    a part as JAX traces it: checks are noted, and random numbers are those of the host's streams
"""
