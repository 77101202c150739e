"""`tf.keras.optimizers`: optimizers whose numbers are variables, with the schedules of learning rates.

by_name    optimizers by name and configuration
optimizer  what all optimizers share: hyperparameters, slots, gradients
rules      gradient descent, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam, Ftrl
schedules  learning rates that change with the step, as objects
"""
