"""Input by queues: producers, batches, and the threads that keep them filled.

batching         batches from queues: single examples of one input or of several
input_producers  where queues of input begin
mnist_files      the handwritten digits of MNIST, read from their files
ptb_files        the text of the Penn Treebank as numbers, read from its files
queue_runner     queue runners: threads that keep the queues of a graph filled while it is run
sparse_batching  sparse tensors in batches
staging          `tf.staged`: a part of the graph that threads compute ahead
work_queue       work queues: names of files that workers take, and what is left of them in checkpoints
"""
