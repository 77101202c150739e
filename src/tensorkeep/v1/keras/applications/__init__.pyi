# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.applications.dense_nets import DenseNet121, DenseNet169, DenseNet201
from tensorkeep.tf1.keras.applications.inception import InceptionV3
from tensorkeep.tf1.keras.applications.inception_resnet import InceptionResNetV2
from tensorkeep.tf1.keras.applications.mobile import MobileNet, MobileNetV2
from tensorkeep.tf1.keras.applications.nasnet import NASNetLarge, NASNetMobile
from tensorkeep.tf1.keras.applications.residual import (
    ResNet101, ResNet101V2, ResNet152, ResNet152V2, ResNet50, ResNet50V2,
)
from tensorkeep.tf1.keras.applications.vgg import VGG16, VGG19
from tensorkeep.tf1.keras.applications.xception import Xception
from tensorkeep.v1.keras.applications import (
    densenet, imagenet_utils, inception_resnet_v2, inception_v3, mobilenet, mobilenet_v2, nasnet, resnet, resnet50,
    resnet_v2, vgg16, vgg19, xception,
)

__all__ = [
    "DenseNet121", "DenseNet169", "DenseNet201", "InceptionResNetV2", "InceptionV3", "MobileNet", "MobileNetV2",
    "NASNetLarge", "NASNetMobile", "ResNet101", "ResNet101V2", "ResNet152", "ResNet152V2", "ResNet50", "ResNet50V2",
    "VGG16", "VGG19", "Xception", "densenet", "imagenet_utils", "inception_resnet_v2", "inception_v3", "mobilenet",
    "mobilenet_v2", "nasnet", "resnet", "resnet50", "resnet_v2", "vgg16", "vgg19", "xception",
]
