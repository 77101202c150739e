"""The second engine: parts of a plan that translate to ONNX run in ONNX Runtime, in the place of our kernels.

choosing      which way of running a part is the fastest
empty_arrays  where arrays without elements may come up, which end the process in some of ONNX Runtime's operators
engine        the engine itself: asked for the parts of a plan, it translates them and has ONNX Runtime run them
options       how it is asked for: by name, or as a value with threads, providers and options of ONNX Runtime
parts         a part that ONNX Runtime runs: for the variables as they are, for all sizes, by our kernels if it fails
row_by_row    whether a model computes each row of a batch by itself, so that it can be given some at a time
sessions      ONNX models in ONNX Runtime
trial         what of a plan translates to ONNX, and why the rest does not
"""
