"""Operations that are computed together: how they are found in a plan, and the lines that take their place.

attending    attention, which is written as two products and a softmax, as one call
cell_calls   recurrent cells as one call of the library: the instructions, and what their operands are
cells        recurrent cells in small batches: which operations of a plan are computed together
dilating     convolutions by filters with gaps, which are written as four operations, as one call
finishing    products and the element-wise operations that follow them, computed together
flattening   reshapes that keep some sizes of their input, as one call
fused_lines  the lines of operations that are computed together, and beside them those that do it one by one
fusing       element-wise operations that can be computed together, by the compiled library
lookups      rows of many tables side by side, as one call
masks        random numbers that are only compared, as truths that are drawn
normalizing  the mean and the variance along the last axis, as one call
row_sums     sums of rows of what element-wise operations make, as one call
summing      sums of products, as one product of what stands below each other
"""
