"""Models as computations of JAX: the operations of a graph become calls of JAX, lowering by lowering.

`functions` makes a pure function of some of a graph. It needs the package `jax`, the extra of that name; nothing below
this folder knows of it.

    engine/             the engine of JAX: parts of plans on a device, with the variables that they change
    lowerings/          what each op is in JAX: one function per op, or per family of ops
    bodies              what does not change from trace to trace: plans, bodies of functions, facts about operations
    branches_and_loops  JAX's cond, scan and while_loop, made of pieces of a graph that others know how to compute
    compiled_modules    modules of StableHLO, which models exported from JAX contain: read, made to fit shapes, called
    forms               values taken apart into arrays, as branches and loops carry them, and put together again
    functions           a model as a function: parameters and inputs in, outputs out
    host_parts          what of a plan stays on the host: before and after the part that JAX runs
    philox              TensorFlow's generator of random numbers, on the device
    registry            which op has which lowering, and functions that say themselves what their derivative is
    survey              what a plan does, found before it is traced: variables, random numbers, what JAX cannot do
    tracing             a graph as a computation: operation by operation, with functions in their places
    values              values while a function is traced: known arrays, arrays on a device, lists, handles
"""
