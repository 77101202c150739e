"""Running a graph: plans, kernels' surroundings, sessions.

allocation        a limit on what kernels make whose results are as large as their inputs say rather than as
                  their inputs are
attending         attention, which is written as two products and a softmax, as one call
blocks            the branches and loops of a graph, found again in its Switch, Merge, Enter and Exit nodes
calling           calls of a graph's functions: each is compiled once per session and per set of attributes
cell_calls        recurrent cells as one call of the library: the instructions, and what their operands are
cells             recurrent cells in small batches: which operations of a plan are computed together
compiler          plans as Python functions: one line per operation
composite_values  values made of several arrays
context           what a kernel may use besides its inputs
deferred          values that are not there yet
dilating          convolutions by filters with gaps, which are written as four operations, as one call
elements          tensors and operations of a graph, by name, by themselves, or by what stands for them
engine_groups     which items of a plan an engine runs together, and what goes in and out of each group
engines           engines that run parts of a plan in the place of our kernels: what they are asked and answer
fetches           fetches of any structure: what to compute for them
finishing         products and the element-wise operations that follow them, computed together
flattening        reshapes that keep some sizes of their input, as one call
frames            the executor for any control flow: values move as tokens through frames and their rounds
fused_lines       the lines of operations that are computed together, and beside them those that do it one by one
fusing            element-wise operations that can be computed together, by the compiled library
kernels           the kernels of operations as one session runs them: permitted, and with their surroundings
lifetimes         where values die: after which item of which block a name is not used any more
limits            how much a run may take: seconds, bytes and steps
liveness          under which condition each operation of a plan runs, and in which loop
lookups           rows of many tables side by side, as one call
makers            which operations of a block make which values
micro_batches     plans whose step is made of several batches, and sums their gradients
names             names for all values of a plan: those it makes, those it is given, those that never change
normalizing       the mean and the variance along the last axis, as one call
operation_lines   the lines of a function as it is written, and those that operations become: a call or an operator
part_graphs       parts of plans as graphs of their own
partial_runs      runs whose feeds are given, and whose fetches are asked for, in several steps
partition         which of the steps that could run elsewhere do so together, so that no part waits for itself
placement         whether operations can be placed where their graph wants them
plan              what to run, and in which order, for some fetches and feeds
program           compiled plans, the functions that they use by name, and errors that name the operation that failed
programs          the programs that a session has compiled so far, and what their kernels find around them
resources         what outlives a run: variables, tables, and whatever else kernels keep by name
session           sessions: a graph, the resources its operations keep, and the plans made so far
session_tensors   tensors that a session keeps between runs, and the handles by which later runs find them
splitting         a plan in three: what comes before a part that something else runs, that part, and what comes after
summing           sums of products, as one product of what stands below each other
timing            how long each operation of a run takes
"""
