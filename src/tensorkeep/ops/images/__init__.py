"""Images as tensors: their colors and sizes, parts of them, and what is found in them.

addons       ops that TensorFlow 1 had in `tf.contrib` and that TensorFlow Addons has since
_boxes       boxes on images: how much two overlap, and which of many are kept
colors       colors of images: contrast, hue, saturation, and the other way of writing colors (hue
detection    objects in images: which of many boxes are kept, and boxes drawn
distortion   parts of images taken at random, or where attention is
resampling   how images are sampled at other places
resizing     images made larger or smaller: nearest pixel, bilinear, bicubic, area, and the gradients
warping      images cropped, scaled, moved and projected
"""
