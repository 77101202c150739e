"""Namespaces of `tf.keras` besides layers and models: backend, losses, metrics, optimizers, callbacks and the like,
and `tf.keras.applications`, the networks that are known by name.
"""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_FROM_LOSSES: Final = """
    KLD MAE MAPE MSE MSLE binary_crossentropy categorical_crossentropy hinge kld kullback_leibler_divergence mae mape
    mean_absolute_error mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error mse msle
    poisson sparse_categorical_crossentropy squared_hinge
"""
_NAMED_OBJECTS: Final = """
    CustomObjectScope custom_object_scope deserialize_keras_object get_custom_objects serialize_keras_object
"""

_NETWORKS: Final = "tensorkeep.tf1.keras.applications"


def _of(module: str, names: str, mode: str) -> Table:
    """Some networks, with what makes images ready for them and their predictions words."""
    return {
        f"{_NETWORKS}.{module}": names,
        f"{_NETWORKS}.images": f"decode_predictions preprocess_input=prepare_{mode}_input",
    }


_APPLICATIONS: Final[dict[str, Table]] = {
    "keras.applications": {
        f"{_NETWORKS}.dense_nets": "DenseNet121 DenseNet169 DenseNet201",
        f"{_NETWORKS}.inception": "InceptionV3",
        f"{_NETWORKS}.inception_resnet": "InceptionResNetV2",
        f"{_NETWORKS}.mobile": "MobileNet MobileNetV2",
        f"{_NETWORKS}.nasnet": "NASNetLarge NASNetMobile",
        f"{_NETWORKS}.residual": "ResNet101 ResNet101V2 ResNet152 ResNet152V2 ResNet50 ResNet50V2",
        f"{_NETWORKS}.vgg": "VGG16 VGG19",
        f"{_NETWORKS}.xception": "Xception",
    },
    "keras.applications.densenet": _of("dense_nets", "DenseNet121 DenseNet169 DenseNet201", "torch"),
    "keras.applications.imagenet_utils": {f"{_NETWORKS}.images": "decode_predictions preprocess_input"},
    "keras.applications.inception_resnet_v2": _of("inception_resnet", "InceptionResNetV2", "tf"),
    "keras.applications.inception_v3": _of("inception", "InceptionV3", "tf"),
    "keras.applications.mobilenet": _of("mobile", "MobileNet", "tf"),
    "keras.applications.mobilenet_v2": _of("mobile", "MobileNetV2", "tf"),
    "keras.applications.nasnet": _of("nasnet", "NASNetLarge NASNetMobile", "tf"),
    "keras.applications.resnet": _of("residual", "ResNet101 ResNet152 ResNet50", "caffe"),
    "keras.applications.resnet50": _of("residual", "ResNet50", "caffe"),
    "keras.applications.resnet_v2": _of("residual", "ResNet101V2 ResNet152V2 ResNet50V2", "tf"),
    "keras.applications.vgg16": _of("vgg", "VGG16", "caffe"),
    "keras.applications.vgg19": _of("vgg", "VGG19", "caffe"),
    "keras.applications.xception": _of("xception", "Xception", "tf"),
}

KERAS_PARTS: Final[dict[str, Table]] = {
    **_APPLICATIONS,
    "keras.activations": {
        "tensorkeep.tf1.keras.activations": "deserialize exponential get linear selu serialize softmax swish",
        "tensorkeep.tf1.keras.backend.activating": "elu hard_sigmoid relu sigmoid softplus softsign tanh",
    },
    "keras.backend": {
        "tensorkeep.tf1.keras.backend.activating": """
            dropout elu hard_sigmoid in_top_k l2_normalize relu sigmoid softmax softplus softsign tanh
        """,
        "tensorkeep.tf1.keras.backend.arrays": """
            arange batch_flatten cast concatenate constant dtype expand_dims eye flatten gather identity int_shape ndim
            one_hot ones ones_like permute_dimensions repeat repeat_elements reshape resize_images resize_volumes
            reverse shape spatial_2d_padding spatial_3d_padding squeeze stack stop_gradient temporal_padding tile
            transpose zeros zeros_like
        """,
        "tensorkeep.tf1.keras.backend.control": """
            foldl foldr in_test_phase in_train_phase map_fn print_tensor switch
        """,
        "tensorkeep.tf1.keras.backend.cross_entropies": """
            binary_crossentropy categorical_crossentropy sparse_categorical_crossentropy
        """,
        "tensorkeep.tf1.keras.backend.networks": """
            bias_add conv1d conv2d conv2d_transpose conv3d ctc_batch_cost ctc_decode ctc_label_dense_to_sparse
            depthwise_conv2d local_conv1d local_conv2d pool2d pool3d separable_conv2d
        """,
        "tensorkeep.tf1.keras.backend.numbers": """
            abs all any argmax argmin batch_dot batch_normalization clip cos cumprod cumsum dot equal exp greater
            greater_equal less less_equal log logsumexp max maximum mean min minimum normalize_batch_in_training
            not_equal pow prod random_binomial random_normal random_uniform round sign sin sqrt square std sum
            truncated_normal var
        """,
        "tensorkeep.tf1.keras.backend.recurrence": "rnn",
        "tensorkeep.tf1.keras.backend.sessions": """
            backend clear_session count_params eval function get_graph get_session get_uid get_value gradients
            is_keras_tensor is_placeholder is_sparse learning_phase_scope manual_variable_initialization
            moving_average_update
            name_scope placeholder random_normal_variable random_uniform_variable reset_uids set_session set_value
            to_dense update update_add update_sub variable
        """,
        "tensorkeep.tf1.keras.backend.settings": """
            cast_to_floatx epsilon floatx image_data_format set_epsilon set_floatx set_image_data_format
        """,
        "tensorkeep.tf1.keras.engine.session_values": "batch_get_value batch_set_value",
        "tensorkeep.tf1.layers.base": "learning_phase set_learning_phase",
    },
    "keras.callbacks": {
        "tensorkeep.tf1.keras.callbacks.base": "BaseLogger Callback CallbackList History LambdaCallback",
        "tensorkeep.tf1.keras.callbacks.progress": "ProgbarLogger",
        "tensorkeep.tf1.keras.callbacks.recording": "CSVLogger RemoteMonitor TensorBoard",
        "tensorkeep.tf1.keras.callbacks.steering": """
            EarlyStopping LearningRateScheduler ModelCheckpoint ReduceLROnPlateau TerminateOnNaN
        """,
    },
    "keras.constraints": {
        "tensorkeep.tf1.keras.constraints": """
            Constraint MaxNorm MinMaxNorm NonNeg RadialConstraint UnitNorm deserialize get max_norm min_max_norm non_neg
            radial_constraint serialize unit_norm
        """,
    },
    "keras.datasets": {},
    "keras.datasets.boston_housing": {"tensorkeep.tf1.keras.datasets.arrays": "load_data=load_houses"},
    "keras.datasets.cifar10": {"tensorkeep.tf1.keras.datasets.arrays": "load_data=load_ten_things"},
    "keras.datasets.cifar100": {"tensorkeep.tf1.keras.datasets.arrays": "load_data=load_hundred_things"},
    "keras.datasets.fashion_mnist": {"tensorkeep.tf1.keras.datasets.arrays": "load_data=load_clothes"},
    "keras.datasets.imdb": {
        "tensorkeep.tf1.keras.datasets.texts": "get_word_index=review_word_index load_data=load_reviews"
    },
    "keras.datasets.mnist": {"tensorkeep.tf1.keras.datasets.arrays": "load_data=load_digits"},
    "keras.datasets.reuters": {
        "tensorkeep.tf1.keras.datasets.texts": "get_word_index=news_word_index load_data=load_news"
    },
    "keras.initializers": {
        "tensorkeep.tf1.keras.initializers": """
            RandomNormal RandomUniform TruncatedNormal constant deserialize get glorot_normal glorot_uniform identity
            normal ones orthogonal random_normal random_uniform serialize truncated_normal uniform zeros
        """,
        "tensorkeep.tf1.variables.initializers": """
            Constant GlorotNormal GlorotUniform Identity Initializer Ones Orthogonal VarianceScaling Zeros he_normal
            he_uniform lecun_normal lecun_uniform
        """,
    },
    "keras.losses": {
        "tensorkeep.tf1.keras.losses": f"""
            BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge Huber KLDivergence
            LogCosh Loss MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError
            Poisson SparseCategoricalCrossentropy SquaredHinge categorical_hinge cosine cosine_proximity
            cosine_similarity deserialize get kl_divergence log_cosh=logcosh logcosh serialize {_FROM_LOSSES}
        """,
        "tensorkeep.tf1.keras.weighting": "Reduction",
    },
    "keras.metrics": {
        "tensorkeep.tf1.keras.losses": f"{_FROM_LOSSES} kl_divergence log_cosh=logcosh logcosh",
        "tensorkeep.tf1.keras.metrics.accuracies": """
            Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy SparseTopKCategoricalAccuracy
            TopKCategoricalAccuracy binary_accuracy categorical_accuracy sparse_categorical_accuracy
            sparse_top_k_categorical_accuracy top_k_categorical_accuracy
        """,
        "tensorkeep.tf1.keras.metrics.base": "Mean MeanTensor Metric Sum",
        "tensorkeep.tf1.keras.metrics.by_name": "deserialize get serialize",
        "tensorkeep.tf1.keras.metrics.confusion": """
            AUC FalseNegatives FalsePositives MeanIoU Precision Recall SensitivityAtSpecificity SpecificityAtSensitivity
            TrueNegatives TruePositives
        """,
        "tensorkeep.tf1.keras.metrics.errors": """
            BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge KLDivergence LogCoshError
            MeanAbsoluteError MeanAbsolutePercentageError MeanRelativeError MeanSquaredError MeanSquaredLogarithmicError
            Poisson RootMeanSquaredError SparseCategoricalCrossentropy SquaredHinge cosine=cosine_proximity
            cosine_proximity
        """,
    },
    "keras.optimizers": {
        "tensorkeep.tf1.keras.optimizers.by_name": "deserialize get serialize",
        "tensorkeep.tf1.keras.optimizers.optimizer": "Optimizer",
        "tensorkeep.tf1.keras.optimizers.rules": "Adadelta Adagrad Adam Adamax Ftrl Nadam RMSprop SGD",
    },
    "keras.optimizers.schedules": {
        "tensorkeep.tf1.keras.optimizers.schedules": """
            ExponentialDecay InverseTimeDecay LearningRateSchedule PiecewiseConstantDecay PolynomialDecay deserialize
            serialize
        """,
    },
    "keras.preprocessing": {},
    "keras.preprocessing.image": {
        "tensorkeep.tf1.keras.preprocessing.image_generators": """
            DirectoryIterator ImageDataGenerator Iterator NumpyArrayIterator
        """,
        "tensorkeep.tf1.keras.preprocessing.images": """
            apply_affine_transform apply_brightness_shift apply_channel_shift array_to_img img_to_array load_img
            random_brightness random_channel_shift random_rotation random_shear random_shift random_zoom save_img
        """,
    },
    "keras.preprocessing.sequence": {
        "tensorkeep.tf1.keras.preprocessing.sequences": """
            TimeseriesGenerator make_sampling_table pad_sequences skipgrams
        """,
    },
    "keras.preprocessing.text": {
        "tensorkeep.tf1.keras.preprocessing.text": """
            Tokenizer hashing_trick one_hot text_to_word_sequence tokenizer_from_json
        """,
    },
    "keras.regularizers": {
        "tensorkeep.tf1.keras.regularizers": "L1L2 Regularizer deserialize get l1 l1_l2 l2 serialize",
    },
    "keras.utils": {
        "tensorkeep.tf1.keras.engine.nodes": "get_source_inputs",
        "tensorkeep.tf1.keras.named_objects": _NAMED_OBJECTS,
        "tensorkeep.tf1.keras.preprocessing.images": "array_to_img img_to_array load_img save_img",
        "tensorkeep.tf1.keras.preprocessing.sequences": "pad_sequences",
        "tensorkeep.tf1.keras.utils.arrays": "HDF5Matrix normalize to_categorical",
        "tensorkeep.tf1.keras.utils.downloads": "get_file",
        "tensorkeep.tf1.keras.utils.models": "model_to_dot multi_gpu_model plot_model",
        "tensorkeep.tf1.keras.utils.progress": "Progbar",
        "tensorkeep.tf1.keras.utils.sequences": "GeneratorEnqueuer OrderedEnqueuer Sequence SequenceEnqueuer",
    },
}

ABOUT_KERAS_PARTS: Final = {
    "keras.applications": "networks that are known by name",
    "keras.applications.imagenet_utils": "images made ready for networks, and predictions in words",
    **{
        name: f"{name.rsplit('.', 1)[1]}, and images made ready for it"
        for name in _APPLICATIONS
        if name.count(".") == 2 and not name.endswith("utils")
    },
    "keras.activations": "functions between layers, by name",
    "keras.backend": "functions of tensors, variables, settings and the session in force",
    "keras.callbacks": "what is called before and after epochs and batches",
    "keras.constraints": "what weights are held to",
    "keras.datasets": "data by the files that Keras keeps of them",
    "keras.datasets.boston_housing": "prices of houses",
    "keras.datasets.cifar10": "small pictures of ten kinds of things",
    "keras.datasets.cifar100": "small pictures of a hundred kinds of things",
    "keras.datasets.fashion_mnist": "small pictures of clothes",
    "keras.datasets.imdb": "reviews of films",
    "keras.datasets.mnist": "handwritten digits",
    "keras.datasets.reuters": "news",
    "keras.initializers": "first values of weights",
    "keras.losses": "losses as functions and as objects",
    "keras.metrics": "measures over the batches of an epoch",
    "keras.optimizers": "optimizers whose numbers are variables",
    "keras.optimizers.schedules": "learning rates that change with the step",
    "keras.preprocessing": "sequences, text and images made ready for models",
    "keras.preprocessing.image": "images, changed at random",
    "keras.preprocessing.sequence": "lists of numbers as arrays",
    "keras.preprocessing.text": "text as numbers of words",
    "keras.regularizers": "losses of weights",
    "keras.utils": "what is beside models",
}
"""What the namespaces are for, for `help`."""
