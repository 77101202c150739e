"""Rules for what layers of networks do, and for what lies around them: embeddings, losses, gradients.

activations      what a layer does with its sums: activations and softmax
addons           what decoders and clusters compute: beams read back, the nearest centers
convolutions     convolutions, and those that enlarge
dilations        convolutions between SpaceToBatchND and BatchToSpaceND: those with dilations
embeddings       rows of embedding tables by keys, one by one and combined line by line
fused            ops into which TensorFlow's optimizer has put their neighbours
gradients        gradients, in models that give them
losses           losses that begin with a softmax, and the decoding of sequences of classes
normalisation    normalisation of batches and of neighbouring channels
patches          images cut into blocks and patches: SpaceToDepth, SpaceToBatch, ExtractImagePatches
pooling          the maximum or the average of what is under windows
recurrent_cells  steps and sequences of LSTM and GRU as one op
windows          windows that slide over images: the order of axes, strides and paddings, as ONNX says them
"""
