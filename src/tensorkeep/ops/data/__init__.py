"""Where the inputs of a graph come from: datasets, queues, readers.

datasets        datasets inside graphs: those that models make of their inputs
_queue_values   queues of tuples of tensors, as values of their handles
queues          queues: what one thread's runs leave for another's
_reader_values  readers: what takes names of files from a queue and gives their records, one after the other
readers         readers as ops
"""
