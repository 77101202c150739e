"""Numbers as whole numbers of few bits: over a range, as TensorFlow 1 has them, and with a scale and a zero point.

networks             networks of quantised numbers
ranges               numbers as whole numbers of few bits over a range, and back: QuantizeV2, Dequantize
rounding             numbers as quantisation would leave them
uniform              uniformly quantised numbers
uniform_convolution  convolutions of uniformly quantised numbers, over any number of spatial dimensions
"""
