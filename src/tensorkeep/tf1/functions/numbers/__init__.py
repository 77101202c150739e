"""Mathematics: element by element, along axes, by groups.

clipping      clipping: values and gradients held to a range or a norm
elementwise   element-wise mathematics: arithmetic, functions of one number, conversions, sequences
quantization  numbers as quantisation would leave them
reductions    reductions along axes, as TensorFlow 1 spells them
segments      reductions of rows that belong together
sets          sets along the last dimension, under the names of TensorFlow 1's `tf.sets`
signal        fourier transforms, windows and frames of signals
special       special functions: of the gamma, beta, zeta and Bessel families
spectra       cosine transforms, mel spectra, and signals put together again
"""
