"""Tensors of checkpoints as arrays of other libraries, on their devices.

`loading` and `saving` have the public functions. A framework (JAX, PyTorch, CuPy) knows its devices, its types and how
bytes get there; none of them is imported before it is asked for.

    cupy_arrays   CuPy: pinned memory and streams
    frameworks    what every framework does, which there are, and the pieces of tensors that they are given
    jax_arrays    JAX: devices, shardings over several of them, and arrays copied off them piece by piece
    loading       which tensors go where, and the arrays that come of it
    saving        arrays of other libraries as tensors of a checkpoint
    torch_arrays  PyTorch: pinned memory and streams
    transfers     reading, checking and copying at the same time, through a few buffers
"""
