"""Training: optimizers, metrics, loops, input queues, savers and objects.

gradient_checks  gradients of a graph beside finite differences
inputs/      input by queues: producers, batches, and the threads that keep them filled
loops/       training loops: monitored sessions and their hooks, supervisors, threads that stop together
metrics/     `tf.metrics`: measures of a model over a stream of batches
mnist_network  the network of two hidden layers of TensorFlow's first tutorial
objects/     object-based checkpoints: what they follow, how they are saved and restored
optimizers/  optimizers, their slots and learning rates, moving averages
savers/      operations of savers added to a graph, and variables that begin with values of a checkpoint
"""
