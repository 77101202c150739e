"""Checkpoints: arrays by name in files, in TensorFlow's two formats, and Orbax's.

Reading begins with `finding`, which gives a `reader` for what lies under a name; writing begins with `saving`.

    bundle/     V2 checkpoints, the tensor bundle: an index, which is a table, and data files
    finding/    from what a person types to an open checkpoint
    layouts/    how checkpoints lie on disk: one file each, and a table of them
    objects/    object-based checkpoints (TensorFlow 2)
    orbax/      checkpoints of Orbax, which JAX programs save
    restore/    the restore doctor: what a program wants beside what a checkpoint holds
    slices/     parts of tensors: the boxes that they are stored in, how these fit together
    background  saves that go on in the background
    casting     numbers in another type, and a count of what is lost on the way
    checking    checking a checkpoint from end to end, and saying everything that is wrong with it
    describing  what TensorFlow's own reader says of a checkpoint, in its words and in its order
    reader      what every checkpoint looks like when it is read
    saving      saving a set of arrays as a checkpoint, in either format, in one file or several
    sources     what can be written: arrays of all kinds, given whole or in chunks
    storage     how tensors lie in the files: what a reader tells those who want more than arrays
    stretches   stored tensors read in stretches, with one checksum for all of each; several in step
    views       checkpoints seen in another way
"""
