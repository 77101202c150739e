"""`tf.contrib.training`: hyperparameters, training steps, and evaluation.

evaluation       hooks of evaluations, and the step that counts them
gradient_steps   a training step of a loss: gradients multiplied, clipped, summarized and applied
hparam_texts     texts that set hyperparameters: `a=1,b=[2,3],c[1]=4`
hparams          hyperparameters, given by name and set from texts
session_loops    loops that evaluate checkpoints, with the kinds of sessions and savers that they are given
"""
