"""Parts of tensors: the boxes that they are stored in, how these fit together, and V1 checkpoints.

regions           reading part of an array that lies in a file, row-major, from only the bytes that are needed
slice_files       V1 checkpoints: slice files, each one table
stitched_reading  putting a tensor, or a part of one, together from the slices it is stored in
tensor_slice      slices: boxes within a tensor
tiling            how boxes within a tensor fit together: whether they overlap, and whether they leave a gap
"""
