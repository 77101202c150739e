"""Where the inputs of a graph come from: datasets, queues, readers.

passes/           passes through datasets: what gives their elements one after the other
_accumulator_values  accumulators: sums of gradients of several runs, as values of their handles
accumulators      accumulators: gradients that several runs bring for another that takes their mean
_barrier_values   barriers: elements that are put together by key, as values of their handles
barriers          barriers: what several runs put together by key for another that takes it whole
_buffer_values    buffers of records, as values of their names
buffers           buffers of records: what some threads compute ahead of those who use it
_dataset_ops      what ops that give datasets have in common
dataset_files     datasets of files: their records, lines, pieces and fields, and caches
dataset_groups    datasets whose elements are made of several: windows, groups, batches
dataset_orders    datasets in other orders: at random, several at a time, one chosen by another
dataset_parquet   datasets of Parquet files
datasets          datasets inside graphs: sources, functions of elements, batches, parts
_iterator_values  iterators as values of their handles
iterators         iterators: where a session stands in a dataset, from run to run
_mutex_values     locks, as values of their handles
_queue_values     queues of tuples of tensors, as values of their handles
mutexes           locks between runs: what critical sections are made of
queues            queues: what one thread's runs leave for another's
_reader_values    readers: what takes names of files from a queue and gives their records, one after the other
readers           readers as ops
_stage_values     stages of tensors, as values of their names
stages            stages: what a run puts in for a later one, in order or by key
work_queues       work queues: names of files that workers take one after the other
"""
