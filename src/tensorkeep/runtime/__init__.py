"""Running a graph: plans, kernels' surroundings, sessions."""
