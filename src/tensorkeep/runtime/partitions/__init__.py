"""Parts of plans that another engine runs: what engines are asked, which items go together, and their borders.

engine_groups  which items of a plan an engine runs together, and what goes in and out of each group
engines        engines that run parts of a plan in the place of our kernels: what they are asked and answer
part_graphs    parts of plans as graphs of their own
partition      which of the steps that could run elsewhere do so together, so that no part waits for itself
"""
