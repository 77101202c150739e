"""Recurrent layers, found in loops: ONNX's LSTM, GRU and RNN in the place of a Loop.

A loop is looked at once its round has been written in ONNX's words, so that it does not matter by which of
TensorFlow's layers, cells and ops it was made.

gates      what a round computes, as products with known weights, and activations of them
cells      one step of an LSTM, a GRU or a plain recurrence, in the words of `gates`
steps      which steps of a sequence count: those below a length, or those of a mask
lengths    which numbers that a graph computes are the length of a sequence
layers     a loop whose variables are the states of cells, as nodes over whole sequences
"""
