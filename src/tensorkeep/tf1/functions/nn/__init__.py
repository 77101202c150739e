"""`tf.nn` and `tf.losses`: activations, convolutions, pools, normalization, losses.

activations         what layers are made of, under the names of `tf.nn`
candidate_sampling  samples of classes, for losses that look at a few of many
convolution         convolutions, under the names of TensorFlow 1's `tf.nn`
cross_entropies     losses of logits, element by element or row by row
ctc                 connectionist temporal classification, under the names of TensorFlow 1's `tf.nn`
losses              losses of a whole batch, under the names of TensorFlow 1's `tf.losses`
normalization       norms, moments and normalization, under the names of TensorFlow 1's `tf.nn`
pooling             pools, fractional ones too, under the names of TensorFlow 1's `tf.nn`
replica_losses      losses of one part of a batch
sampled_losses      losses over many classes that look at the true ones and at a sample of the others
windows             windows as programs ask for them
"""
