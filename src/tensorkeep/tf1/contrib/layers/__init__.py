"""`tf.contrib.layers`: layers as functions, with `arg_scope`, regularizers, initializers and summaries.

batch_norms      batch normalization
collecting       outputs in collections under names, collections of variables, and sizes of tensors
column_inputs    first layers and linear models of columns of features
convolutions     convolutions of one, two and three dimensions, transposed, separable, in each plane
dense            fully connected layers, biases, dropout, and layers after one another
divisive         generalized divisive normalization
embeddings       rows of tables for sequences and bags of words
feature_columns  columns of features, by their old names
initializers     initial values that keep the scale of what goes through a layer
model_layers     what layers here share: scopes whose variables are model variables, then a normalizer and an activation
normalizations   normalization within an example: of layers, instances, groups; and of lengths
optimizers       `optimize_loss`: a training step with decay, noise, clipping and summaries
pools            maxima and means of windows
regularizers     losses of weights: the sum of sizes, of squares, and of other regularizers
reshaping        layers without variables: flattening, one-hot encodings, sequences of images
reversing        functions whose gradients need not keep what they computed
sparse_values    sparse tensors of dense ones
summaries        summaries of tensors, of activations and of whole collections
"""
