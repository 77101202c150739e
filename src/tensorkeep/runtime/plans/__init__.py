"""Plans: what to run, in which order, and the Python function that a plan becomes.

blocks           the branches and loops of a graph, found again in its Switch, Merge, Enter and Exit nodes
calling          calls of a graph's functions: each is compiled once per session and per set of attributes
compiler         plans as Python functions: one line per operation
frames           the executor for any control flow: values move as tokens through frames and their rounds
lifetimes        where values die: after which item of which block a name is not used any more
liveness         under which condition each operation of a plan runs, and in which loop
makers           which operations of a block make which values
micro_batches    plans whose step is made of several batches, and sums their gradients
names            names for all values of a plan: those it makes, those it is given, those that never change
operation_lines  the lines of a function as it is written, and those that operations become: a call or an operator
plan             what to run, and in which order, for some fetches and feeds
program          compiled plans, the functions that they use by name, errors that name operations, how long each takes
programs         the programs that a session has compiled so far, and what their kernels find around them
splitting        a plan in three: what comes before a part that something else runs, that part, and what comes after
turns            in which order a run takes a lock that it takes several times
"""
