"""Compiled code, for what takes NumPy many passes over memory. All of it has an implementation in NumPy too.

blocks        blocks of tables, put together and taken apart in one call
chains        chains of element-wise operations of float32, a piece of the arrays at a time
checksums     checksums of thousands of small stretches in one call, and records found by them
embedding     the compiled functions of embedding tables
examples      features of many examples in one pass over their bytes
finishing     chains of element-wise operations that go over a product's rows as soon as these are computed
jpeg          windows of JPEG files, decoded in one call
json_tape     JSON read into flat buffers, so that nothing of Python's is made for a number
_json_reader  the same in Python
layers        products, convolutions, softmax and chains of element-wise operations of float32
library       the compiled library: found and loaded when it is first asked for
lookups       rows of several tables side by side in one call
means         means of arrays in one pass, where NumPy takes one for every array, and more for its sums
moves         copies between arrays that lie apart in memory, in short stretches
networks      steps of networks in one call: attention, and losses of small batches
normalizing   batch normalization and its gradient, in few passes
rounds        the rounds of a loop over small matrices in one call: recurrent layers
rules         steps of optimizers in NumPy, which dense variables and tables of rows share
streams       streams of random words, draws from a ring by them, and products of sparse matrices with dense ones
sums          sums of large arrays along their rows or columns, by threads
texts         strings looked up among words, and hashed, many in one call
updates       steps of optimizers in one pass over a variable, its slots and the gradient
"""
