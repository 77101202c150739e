"""Gradients: the operations that compute them, added to the graph.

derivatives         gradients of one's own making, and second derivatives
function_gradients  gradients of what calls functions of the graph's library: branches, loops, plain calls
gradient_loops      the loops that undo loops
graph_edits         graphs changed where they are: operations copied, and led elsewhere
graph_walks         what leads to operations, and what they lead to
reverse_walk        gradients: the reverse walk, which adds to the graph the operations that compute them
"""
