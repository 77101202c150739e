"""Tensors as such: where they come from, their shapes and types, and tensors made of parts of others.

casting    conversions between element types
constants  where values come from and go through unchanged: constants, placeholders, identities
gathering  elements found by index or by value
joining    several tensors as one and one as several
ordering   tensors in another order: transposed, reversed, rolled
padding    tensors with something around them: Pad, PadV2, MirrorPad
patches    images cut into blocks and patches
scatter    values put in places given by index
shapes     shapes of tensors and tensors of other shapes
slicing    parts of tensors: Slice, XLA's slices, and StridedSlice with its masks
"""
