"""Networks that came with slim. Each gives its outputs, and by name what is on the way to them: its end points.

alexnet       AlexNet
blocks        what Inception networks are made of, written as text
inception_v1  Inception, the first
inception_v2  Inception with batch normalization
inception_v3  Inception with factored convolutions
overfeat      OverFeat
plain         networks of convolutions and pools after one another, with convolutions for dense layers
resnet_units  blocks of residual networks
resnet_v1     residual networks
resnet_v2     residual networks that normalize first
vgg           networks of the Visual Geometry Group
"""
