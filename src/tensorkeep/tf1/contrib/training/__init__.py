"""`tf.contrib.training`: hyperparameters, training steps, evaluation, and examples in groups and segments.

bucketing        batches of examples that are alike, such as sequences of about one length
evaluation       hooks of evaluations, and the step that counts them
gradient_steps   a training step of a loss: gradients multiplied, clipped, summarized and applied
hparam_texts     texts that set hyperparameters: `a=1,b=[2,3],c[1]=4`
hparams          hyperparameters, given by name and set from texts
resampling       examples of a batch more often than once, by rates or weights
sampling         examples kept at random, as a function says or to give classes their shares
sequence_inputs  what sequences and states are given as, checked and filled up
sequence_states  batches of segments of sequences, with states that go from one segment to the next
session_loops    loops that evaluate checkpoints, slim's too, with the kinds of sessions and savers that they are given
"""
