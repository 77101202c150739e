"""Running a graph: plans, kernels' surroundings, sessions.

Three rooms, and beside them what a session and its kernels have around them:

plans/            what to run, in which order, and the Python function that a plan becomes
fusions/          operations that are computed together: how they are found in a plan, and the lines that take
                  their place
partitions/       parts of plans that another engine runs: what engines are asked, which items go together
composite_values  values made of several arrays
context           what a kernel may use besides its inputs, and calls of what is outside of graphs
elements          tensors and operations of a graph, by name, by themselves, or by what stands for them
fetches           fetches of any structure: what to compute for them
keeping           what operations of functions keep from call to call, by who has the functions called
kernels           the kernels of operations as one session runs them: permitted, and with their surroundings
limits            how much a run may take: seconds, bytes and steps
partial_runs      runs whose feeds are given, and whose fetches are asked for, in several steps
locks             locks that a run holds, given back when it ends
placement         whether operations can be placed where their graph wants them
resources         what outlives a run: variables, tables, whatever else kernels keep by name; values that are promises
session           sessions: a graph, the resources its operations keep, and the plans made so far
session_tensors   tensors that a session keeps between runs, and the handles by which later runs find them
"""
