"""`tf.keras.applications`: networks that are known by name, with the layers, names and weights of Keras.

building          what all of them are told, their inputs and ends, and the files of their weights
dense_nets        DenseNet
images            images made ready for them, and their predictions in words
inception         InceptionV3
inception_resnet  InceptionResNetV2
mobile            MobileNet, MobileNetV2
nasnet            NASNetMobile, NASNetLarge
residual          ResNet, ResNetV2
vgg               VGG16, VGG19
xception          Xception
"""
