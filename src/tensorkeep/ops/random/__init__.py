"""Random numbers, the same as TensorFlow's for the same seeds.

candidate_sampling  samples of classes for losses over many of them
distributions       TensorFlow's random distributions over the words of a Philox generator
_gamma              how a sample of a gamma distribution moves with its parameter
generators          random numbers whose state is a variable
philox              Philox 4x32-10, the generator behind TensorFlow's random operations
sampling            what the random ops share
stateful            random numbers of ops with a state
stateless           random numbers of ops without state
"""
