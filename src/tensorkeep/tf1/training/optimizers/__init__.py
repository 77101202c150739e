"""Optimizers, their slots and learning rates, moving averages.

base             optimizers: gradients, slots, and the update of each variable
decaying         DeepRec's optimizers: Adagrad with a decaying accumulator, Adam with weight decay
loss_scaling     loss scaling: gradients of a loss made larger, steps without those that are not finite
moving_averages  moving averages of variables: shadows that follow them, named and saved as TensorFlow does
replicas         the optimizer for several replicas, of which there is one
schedules        learning rates that change with the step
slots            slots: variables that an optimizer or a moving average keeps for each variable
standard         TensorFlow 1's optimizers, each the sum of its rule, slots and numbers
"""
