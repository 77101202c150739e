"""Rules for ops that move values about: shapes, indices, parts, joins, types.

diagonals   diagonals and bands of matrices: taken out, put in, made into matrices
gathering   elements found by index: Gather and its like
joining     values put together and taken apart along an axis: Pack, Concat, Split and their like
passing     what only passes values on, or as another type, and where values come from
scattering  values put in places given by index: ScatterNd and its like
selecting   elements chosen by what they are: Where, Select, Unique, ArgMax, TopK, and the counting of values
sequences   numbers in a row, and running totals: Range, LinSpace, Cumsum and its like
shapes      shapes of values and values of other shapes: Reshape, Transpose, Tile, Fill, Pad and their like
slicing     parts of values, cut out and replaced: Slice, StridedSlice and their like
"""
