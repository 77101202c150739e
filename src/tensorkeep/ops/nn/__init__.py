"""What neural networks are made of: activations, convolutions, pools, normalization, recurrent cells, their losses.

activations               activations and biases: what a layer does with its sums
_beam_search              the beam search for the most probable label sequences of connectionist temporal
                          classification
_compiled_convolution     convolutions by the compiled library: of float32, over two spatial axes, channels last
convolution               convolutions of images in two and three dimensions, plain, grouped
convolution_kernels       convolutions, plain, grouped, depthwise and morphological, and their gradients, in NumPy
ctc                       connectionist temporal classification: labels for sequences whose timing is not known
fractional_pooling        fractional pooling: the maximum or the average of windows whose sizes are drawn anew for
                          every run
_fractional_windows       where the windows of fractional pooling begin and end
fused_convolution         convolutions of images that are enlarged and mirrored at their edges first
normalization             normalization over a batch, and over neighbouring channels
_normalization_gradients  gradients of the gradients of fused batch normalization, as pieces of graph
_normalization_kernels    batch normalization, local response normalization, and their gradients, in NumPy
pooling                   pools: the maximum or the average of each window of an image, and their gradients
pooling_kernels           pooling: the maximum or the average of each window, and their gradients, in NumPy
recurrent                 fused recurrent cells: a step of an LSTM or GRU as one op
softmax                   softmax, the losses that begin with one, and half the sum of squares
_window_shapes            static shapes of what slides windows over images: convolutions, pools and their
                          gradients
windows                   sliding windows: how many fit along a dimension, where they stand
"""
