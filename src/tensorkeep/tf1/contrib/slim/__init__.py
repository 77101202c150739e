"""`tf.contrib.slim`: models in few lines, with the loops that train and evaluate them.

analysis     how large the variables and the operations of a graph are
decoders     records that become tensors: `tfexample_decoder`
image_items  images, boxes and points of a record
learning     training: a step, and a loop of steps under a supervisor
losses       losses of predictions, as slim had them before `tf.losses`
nets/        networks that came with slim
providers    datasets as files with a decoder, read by several readers at once
queues       queues that are filled ahead, and threads around a session
summaries    summaries of tensors by their names
"""
