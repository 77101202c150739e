"""Measurements, side by side with TensorFlow, safetensors and NumPy in one run. `make bench` prints them.

Contenders take turns, so that whatever else the machine does befalls all of them alike; figures are medians.
"""
