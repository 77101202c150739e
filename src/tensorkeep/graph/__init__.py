"""A graph as data: operations, tensors, and the ops they are instances of. Knows no kernels and no disk.

messages/       graphs as messages: GraphDef in and out, without loss
registry/       what is known of ops: signatures, how many tensors each gives
rewriting/      graphs made from graphs: pure functions of GraphDef messages
arguments       what may be passed for tensors, shapes, axes and data types; `emit`, which adds an operation
building        adding operations to a graph: which graph, under which name, on which device, after what
collections     collections: lists of things of a graph under names
composites      values made of several tensors: sparse gradients and sparse tensors
constants       values that are known before a graph runs
conversion      making tensors of what programs pass as inputs: numbers, arrays, lists, variables
creating        operations made of an op's name, tensors and attributes as messages
devices         device names: "/job:worker/replica:0/task:1/device:CPU:0", in full or in part
flattening      copies of graphs: with other shapes of what goes in, and with the calls of functions written out
function_graph  graphs of functions while they are built
functions       functions of a graph's library: FunctionDef messages and the graphs that are their bodies
graph           graphs, operations, tensors: plain data
ordering        orders in which the operations of a graph can be made or run
saveable        what a saver saves: named tensors, and how they are put back
scopes          what is in force while a graph is being built; names under a scope and without it
tensor_shape    shapes as TensorFlow 1 programs see them
undoing         adding to a graph all or nothing
wrapping        functions that only call another one: the body of the other one
"""
