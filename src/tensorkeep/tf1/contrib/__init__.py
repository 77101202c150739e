"""`tf.contrib`: what TensorFlow 1 had beside its core, and what programs for it stand on.

crf             conditional random fields over chains of tags
framework/      arguments by scope, variables by name, checks of tensors
layers/         layers as functions, with regularizers, initializers, summaries and training steps
legacy_seq2seq  decoders unrolled over lists of steps
metrics         measures over a stream of batches, with predictions first
opt             optimizers that leave rows alone, shrink weights or average variables
rnn/            cells of recurrent networks, and wrappers around them
seq2seq/        decoders with attention and beam search
slim/           models in few lines, with networks, and the data that they read
training/       hyperparameters, training steps and evaluation
"""
