"""`tf.contrib`: what TensorFlow 1 had beside its core, and what programs for it stand on.

agreement       covariance, correlation and agreement over a stream
areas           areas under curves of all that was seen, with confidence, and by histograms
crf             conditional random fields over chains of tags
framework/      arguments by scope, variables by name, checks of tensors
image           images turned, shifted and warped
image_values    colors turned in YIQ, and connected parts
layers/         layers as functions, with regularizers, initializers, summaries and training steps
learn/          estimators as they were before `tf.estimator`, vocabularies, data in files
legacy_seq2seq  decoders unrolled over lists of steps
lookup          tables of a vector of texts
metrics         measures over a stream of batches, with predictions first
mixed_precision  loss scaling, by managers of scales
opt/            optimizers
predictors      models that answer calls with dictionaries of arrays
projector       which embeddings TensorBoard shows, in the file that it reads
quantize/       graphs rewritten so that they compute as they will with few bits
rnn/            cells of recurrent networks, and wrappers around them
seq2seq/        decoders with attention and beam search
small_spaces    what `data`, `nn`, `compiler`, `memory_stats` and some others have of their own
slim/           models in few lines, with networks, and the data that they read
sparsemax       probabilities of which most are zero, and the loss that goes with them
summary         summaries that operations write themselves
threshold_metrics  curves, rates and the best F1 at many thresholds
training/       hyperparameters, training steps and evaluation
"""
