"""Rules for branches and loops, and for what loops fill.

control_flow   branches and loops: those that call functions, the nodes of TensorFlow 1's, and loops of rules' own
tensor_arrays  arrays of tensors of TensorFlow 1
tensor_lists   TensorFlow 2's lists of tensors
"""
