"""What runs after what, branches, loops, and functions traced into graphs.

assertions        assertions about tensors: checked at once where values or shapes are known
cases             several branches, of which one runs: case, switch_case
context_messages  branches and loops as messages of a meta graph
contexts          the branches and loops that a graph is built in
control_flow      control flow for programs: group and tuple, cond, while_loop, assertions
critical_sections  parts of graphs of which one at a time runs, in all runs and threads
flow_gradients    gradients of branches and loops
grouping          what runs after what, stated as operations: group, tuple, and values that wait
higher_order      functions applied along the first axis of tensors: map_fn, scan, foldl, foldr
logging           printing, asserting, and looking for numbers that are none
script            Python functions in graphs
tensor_array      TensorArray: tensors by index, written and read by the rounds of a loop
tracing           Python functions as functions of a graph: `tf.function` where graphs are built
"""
