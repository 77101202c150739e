"""Networks that came with slim. Each gives its outputs, and by name what is on the way to them: its end points.

blocks        what Inception networks are made of, written as text
inception_v1  Inception, the first
inception_v2  Inception with batch normalization
inception_v3  Inception with factored convolutions
plain         AlexNet, OverFeat, and what other plain chains of convolutions and pools have in common with them
resnet_units  blocks of residual networks
resnet_v1     residual networks
resnet_v2     residual networks that normalize first
vgg           networks of the Visual Geometry Group
"""
