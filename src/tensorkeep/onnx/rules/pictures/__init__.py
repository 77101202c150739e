"""Rules for ops on images.

colors     colors of images: contrast, hue, saturation
detection  objects in images: which of many boxes are kept
images     images of other sizes, and parts of images
warping    images sampled elsewhere: at places that are given, and as a transformation says
"""
