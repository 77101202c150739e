"""Operations: what each computes, from arrays to arrays.

A paragraph states an op: its signature, the shapes it gives, its kernel, its gradient. Each room holds the families of
one subject; a module whose name begins with an underscore has no paragraphs and serves its own room.

    arrays/          tensors as such: where they come from, their shapes and types
    codecs/          images and sounds as files: decoded and encoded, pixel for pixel as TensorFlow does it
    control/         what runs, how often, and what the rounds of a loop leave for each other
    data/            where the inputs of a graph come from: datasets, queues, readers
    embedding/       embedding variables, which DeepRec has: tables of rows by 64-bit keys, behind handles
    files/           what a graph reads and writes: whole files, checkpoints, summaries
    images/          images as tensors: their colors and sizes, parts of them, and what is found in them
    linear_algebra/  products, systems and factors of matrices, and of batches of them
    nn/              what neural networks are made of
    numbers/         arithmetic: element by element, along axes, by groups
    parsing/         bytes that hold structure
    quantized/       numbers as whole numbers of few bits
    ragged/          ragged tensors: values, and the numbers that part them into rows
    random/          random numbers, the same as TensorFlow's for the same seeds
    shared/          what families of ops share
    sparse/          sparse tensors: places and values, and the shape of the whole
    state/           what lasts from run to run: variables, lookup tables, kept tensors
    text/            strings: any bytes, and text in some encoding
    training/        what training updates: variables by the rules of optimizers, ensembles of trees
    every            every op: importing this makes each family be imported when a graph has an op of it
"""
