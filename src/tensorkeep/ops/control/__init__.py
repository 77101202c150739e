"""What runs, how often, and what the rounds of a loop leave for each other: branches, loops, calls, lists of tensors.

batching             calls that a server gathers into batches
control_flow         branches and loops as nodes
functional           ops that call functions of the graph's library: branches, loops, and plain calls
logging              ops that tell a person something: prints, assertions, the time
memory               how much memory there is, as contrib.memory_stats of TensorFlow 1 asks
_round_finding       loops over small matrices, found in the functions of a While and written out as instructions
_round_running       such loops, run by the compiled library: many rounds in one call
script               calling Python functions from a graph
tensor_array_values  the arrays of tensors and the stacks that operations of a loop write to and read from
tensor_arrays        stacks, and arrays of tensors
_tensor_list_values  lists of tensors as values, and what kernels do with them
tensor_lists         lists of tensors: the values of variant tensors that TensorFlow 2 writes its loops with
"""
