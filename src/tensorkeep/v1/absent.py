"""Names of TensorFlow 1 that are not here, and what does their work: for the error of a program that asks for them.

A module that is added takes its row away.
"""

from __future__ import annotations

from typing import Final

from tensorkeep.graph.registry.opspec import find_op

_EXPORTS: Final = "exporters of tf.estimator, given to tf.estimator.EvalSpec; or export_savedmodel of the estimator"
_JXL: Final = "JPEG XL is read by other packages: tf.image.decode_image has JPEG, PNG, GIF, BMP and WebP"
_NUMERICS: Final = "tf.add_check_numerics_ops, or tf.debugging.check_numerics of the tensors in question"
_QUANTIZED: Final = "compute in fractions between tf.quantization.dequantize and quantize, or by tf.raw_ops"
_TRACEBACKS: Final = "tracebacks are whole"
_TRANSFORMS: Final = "tf.signal.fft, fft2d and fft3d along the last axes, after tf.transpose"
_LITE: Final = "graphs are frozen by tf.graph_util and `tensorkeep saved-model freeze`, for a converter of your choice"
_LOAD: Final = "tensorkeep.load_saved_model runs what it exported"
_ONE_REPLICA: Final = (
    "sessions run in this process: MirroredStrategy and OneDeviceStrategy have one replica; tensorkeep.cluster trains "
    "in several processes"
)
_ONE_PROCESS: Final = "sessions run in this process, on one machine"

_BRANCHES: Final = "write tf.cond and tf.while_loop"
_CANNED: Final = "tf.estimator has it under the same name, with columns of tf.feature_column"
_DISTRIBUTIONS: Final = (
    "tf.contrib.distributions has the families of TensorFlow 1.15, and TransformedDistribution makes others; or write "
    "log probabilities by tf.math (lgamma, log_softmax, square), and draw by functions of tf.random"
)
_COMPILED: Final = "compiled ops are not loaded: write the op by tf.py_func, or register it with tensorkeep.ops"
_EAGER: Final = "there is no eager mode: build a graph and run it in a session"
_EXAMPLE: Final = "it was an example in TensorFlow's repository: put a copy beside the program, and import that"
_EVENTS: Final = (
    "tf.train.summary_iterator reads files of events, which TensorBoard shows when it is installed by itself"
)
_NO_SPEC: Final = "tf.TensorSpec, SparseTensorSpec and RaggedTensorSpec say what elements are"
_RECORDS: Final = "read by it in tf.data.Dataset.from_generator, or write record files by tf.python_io.TFRecordWriter"
_SAMPLERS: Final = "tf.nn.fixed_unigram_candidate_sampler and log_uniform_candidate_sampler draw classes"
_SDCA: Final = "tf.train.FtrlOptimizer trains linear models"
_TREES: Final = "scikit-learn, XGBoost and LightGBM grow trees"

# By name below `tf`: what to use instead.
INSTEAD: Final[dict[str, str]] = {
    "compat.v2": "this is TensorFlow 1: `import tensorflow.compat.v1 as tf`, or write the program for TensorFlow 2",
    "contrib.all_reduce": _ONE_PROCESS,
    "contrib.batching": "`tensorkeep serve` batches requests",
    "contrib.bayesflow": _DISTRIBUTIONS,
    "contrib.boosted_trees": f"{_TREES}; {_LOAD}",
    "contrib.checkpoint": "tf.train.Checkpoint and its like do this",
    "contrib.copy_graph": "tf.train.export_meta_graph and import_meta_graph copy graphs",
    "contrib.cudnn_rnn": "cuDNN needs a GPU: tf.contrib.rnn.LSTMBlockFusedCell and GRUBlockCellV2 do the same on any",
    "contrib.data.LMDBDataset": f"LMDB files are read by the package lmdb: {_RECORDS}",
    "contrib.data.SqlDataset": f"SQLite is read by Python's sqlite3: {_RECORDS}",
    "contrib.decision_trees": _TREES,
    "contrib.distributions.estimator_head_distribution_regression": (
        "write a model_fn for tf.estimator.Estimator, whose loss is the mean of -distribution.log_prob(labels)"
    ),
    "contrib.factorization": "scikit-learn has k-means, mixtures and matrix factorization",
    "contrib.ffmpeg": "tf.audio.decode_wav reads sounds",
    "contrib.fused_conv": "tf.nn.conv2d, bias_add and relu run as one where they follow each other",
    "contrib.gan": "write both losses, and one optimizer with var_list for each",
    "contrib.grid_rnn": "use the cells of tf.contrib.rnn",
    "contrib.hadoop": "sequence files are read by other programs: write record files",
    "contrib.hooks": "tf.train.ProfilerHook profiles",
    "contrib.integrate": "SciPy's scipy.integrate, by tf.py_func",
    "contrib.kafka": "write a generator for tf.data.Dataset.from_generator",
    "contrib.kfac": "ShampooOptimizer and GGTOptimizer of tf.contrib.opt condition gradients",
    "contrib.labeled_tensor": "name the axes by comments",
    "contrib.learn.ExportStrategy": _EXPORTS,
    "contrib.learn.KMeansClustering": "scikit-learn has k-means",
    "contrib.learn.LogisticRegressor": _CANNED,
    "contrib.learn.make_export_strategy": _EXPORTS,
    "contrib.learn.monitors.ExportMonitor": "call export_savedmodel of the estimator after fit",
    "contrib.learn.SVM": "scikit-learn has support vector machines",
    "contrib.learn.utils": "exporters of tf.estimator, given to tf.estimator.EvalSpec, export models",
    "contrib.linear_optimizer": "tf.train.FtrlOptimizer trains linear models",
    "contrib.lite": _LITE,
    "contrib.model_pruning": "multiply weights by a variable of zeros and ones",
    "contrib.mpi": _ONE_PROCESS,
    "contrib.nccl": "tf.add_n adds gradients of towers; sessions run in this process",
    "contrib.optimizer_v2": "the optimizers of tf.train do the same",
    "contrib.quantization": "tf.quantization has its functions",
    "contrib.recurrent.Recurrent": "tf.nn.dynamic_rnn runs cells",
    "contrib.rpc": _ONE_PROCESS,
    "contrib.session_bundle": "tf.saved_model loads models; bundles are meta graphs, for tf.train.import_meta_graph",
    "contrib.solvers": "SciPy's scipy.sparse.linalg, by tf.py_func",
    "contrib.tensor_forest": _TREES,
    "contrib.tensorrt": "tensorkeep.export_onnx writes what TensorRT reads",
    "contrib.text": "tf.strings.split and tf.contrib.lookup make words numbers",
    "contrib.timeseries": "write the model with tf.nn.dynamic_rnn",
    "conv2d_backprop_filter_v2": "tf.nn.conv2d_backprop_filter does the same",
    "conv2d_backprop_input_v2": "tf.nn.conv2d_transpose and tf.nn.conv2d_backprop_input do the same",
    "CXX11_ABI_FLAG": _COMPILED,
    "CXX_VERSION": _COMPILED,
    "data.experimental.SqlDataset": f"SQLite is read by Python's sqlite3: {_RECORDS}",
    "debug": "tf.Print, tf.py_func and tf.add_check_numerics_ops show values while a session runs",
    "debugging.disable_check_numerics": _NUMERICS,
    "debugging.disable_traceback_filtering": _TRACEBACKS,
    "debugging.enable_check_numerics": _NUMERICS,
    "debugging.enable_traceback_filtering": _TRACEBACKS,
    "debugging.is_traceback_filtering_enabled": _TRACEBACKS,
    "distribute.cluster_resolver": _ONE_PROCESS,
    "distribute.experimental": _ONE_REPLICA,
    "distribute.Strategy": _ONE_REPLICA,
    "estimator.BoostedTreesClassifier": f"{_TREES}; {_LOAD}",
    "estimator.BoostedTreesEstimator": f"{_TREES}; {_LOAD}",
    "estimator.BoostedTreesRegressor": f"{_TREES}; {_LOAD}",
    "estimator.experimental.KMeans": "scikit-learn has k-means",
    "estimator.experimental.LinearSDCA": "tf.estimator.LinearClassifier and LinearRegressor train by FTRL",
    "experimental": "what is not experimental any more is in tf itself",
    "fftnd": _TRANSFORMS,
    "ifftnd": _TRANSFORMS,
    "image.decode_jxl": _JXL,
    "io.decode_jxl": _JXL,
    "irfftnd": _TRANSFORMS,
    "keras.callbacks.SidecarEvaluatorModelExport": "tf.keras.callbacks.ModelCheckpoint saves the best model",
    "keras.export": "tf.saved_model.simple_save and model.save export models",
    "keras.layers.Conv1DTranspose": "tf.keras.layers.Conv2DTranspose with a size of 1, or tf.nn.conv1d_transpose",
    "keras.layers.MultiHeadAttention": "tf.keras.layers.Attention of each head, and Dense before and behind it",
    "keras.mixed_precision": "layers compute in the type that dtype= says; tf.mixed_precision scales losses",
    "keras.models.model_from_yaml": "YAML can make any object of Python: use to_json, and model_from_json",
    "linalg.eigh_tridiagonal": "SciPy's scipy.linalg.eigh_tridiagonal, by tf.py_func, or tf.linalg.eigh",
    "lite": _LITE,
    "LMDBReader": f"LMDB files are read by the package lmdb: {_RECORDS}",
    "math.approx_max_k": "tf.nn.top_k finds the greatest exactly",
    "math.approx_min_k": "tf.nn.top_k of the negated finds the least exactly",
    "math.sobol_sample": "SciPy's scipy.stats.qmc.Sobol draws such numbers",
    "mlir": "graphs run as they are",
    "models.embedding": _EXAMPLE,
    "models.image": _EXAMPLE,
    "models.rnn.translate": _EXAMPLE,
    "MONOLITHIC_BUILD": _COMPILED,
    "nn.approx_max_k": "tf.nn.top_k finds the greatest exactly",
    "nn.approx_min_k": "tf.nn.top_k of the negated finds the least exactly",
    "nn.learned_unigram_candidate_sampler": _SAMPLERS,
    "nn.quantized_avg_pool": _QUANTIZED,
    "nn.quantized_conv2d": _QUANTIZED,
    "nn.quantized_max_pool": _QUANTIZED,
    "nn.quantized_relu_x": _QUANTIZED,
    "nondifferentiable_batch_function": "`tensorkeep serve` batches requests",
    "NoneTensorSpec": _NO_SPEC,
    "OptionalSpec": _NO_SPEC,
    "profiler.advise": "use a profiler of Python: a compiled run is a Python function",
    "profiler.write_op_log": "tf.profiler.profile returns its numbers as a message, which can be written",
    "quantization.quantized_concat": _QUANTIZED,
    "random.learned_unigram_candidate_sampler": _SAMPLERS,
    "random.stateless_parameterized_truncated_normal": "tf.random.stateless_truncated_normal draws such numbers",
    "rfftnd": _TRANSFORMS,
    "signal.fftnd": _TRANSFORMS,
    "signal.ifftnd": _TRANSFORMS,
    "signal.irfftnd": _TRANSFORMS,
    "signal.rfftnd": _TRANSFORMS,
    "sparse.bincount": "tf.math.bincount counts dense values, and tf.sparse.reduce_sum adds up sparse ones",
    "summary.event_accumulator": _EVENTS,
    "summary.event_file_inspector": _EVENTS,
    "summary.event_multiplexer": _EVENTS,
    "summary.get_summary_description": "tf.SummaryMetadata has what tf.summary.tensor_summary tells of a tensor",
    "TensorArraySpec": _NO_SPEC,
    "tensorboard": _EVENTS,
    "test.disable_with_predicate": "unittest.skipIf leaves tests out",
    "test.is_cpu_target_available": "tf.test.is_gpu_available says what devices there are; the CPU is always there",
    "test.with_eager_op_as_function": _EAGER,
    "tools": "tf.graph_util, and optimize_for_inference_lib of tensorflow.python.tools, change graphs",
    "train.do_quantize_training_on_graphdef": "tf.contrib.quantize.create_training_graph quantizes graphs",
    "train.sdca_fprint": _SDCA,
    "train.sdca_optimizer": _SDCA,
    "train.sdca_shrink_l1": _SDCA,
    "train.ServerDef": _ONE_PROCESS,
    "vectorized_map": "tf.map_fn does the same, element by element",
    "wrap_function": "use tf.function",
}


REFUSED: Final[dict[str, str]] = {
    "GradientTape": f"tf.gradients(loss, variables); {_EAGER}",
    "contrib.eager.GradientTape": f"tf.gradients(loss, variables); {_EAGER}",
    "contrib.eager.enable_eager_execution": _EAGER,
    "enable_eager_execution": _EAGER,
    "load_file_system_library": _COMPILED,
    "load_library": _COMPILED,
    "load_op_library": _COMPILED,
    "python.eager.backprop.GradientTape": f"tf.gradients(loss, variables); {_EAGER}",
    "python.eager.context.eager_mode": _EAGER,
}
"""Names that are here only to say, when they are called, that what they do is not."""


# By namespace that is here: what to use instead of the names that it lacks, and that have no row above.
IN_PLACE_OF_OTHERS: Final[dict[str, str]] = {
    "autograph": _BRANCHES,
    "autograph.experimental": _BRANCHES,
    "contrib.autograph": _BRANCHES,
    "contrib.cluster_resolver": _ONE_PROCESS,
    "contrib.distribute": _ONE_REPLICA,
    "contrib.data": "tf.data and tf.data.experimental have datasets, readers and transformations",
    "contrib.distributions": _DISTRIBUTIONS,
    "contrib.eager": _EAGER,
    "contrib.estimator": "tf.estimator and the hooks of tf.train have the usual ones",
    "contrib.framework": "tf and tf.train have variables, checks and checkpoints",
    "contrib.graph_editor": "copy_with_input_replacements, graph_replace and reroute_ts of it change graphs",
    "contrib.image": "tf.image has functions of images; SciPy's scipy.ndimage, by tf.py_func, others",
    "contrib.layers": "tf.layers and tf.feature_column have layers and columns",
    "contrib.learn": "tf.estimator and tf.data have taken its place",
    "contrib.legacy_seq2seq": "tf.contrib.seq2seq decodes",
    "contrib.lookup": "index_table_from_tensor, index_table_from_file and their inverses make tables",
    "contrib.metrics": "tf.metrics has measures over a stream of batches",
    "contrib.nn": "tf.nn has these functions, and losses of sampled classes",
    "contrib.opt": "tf.train and the other optimizers of tf.contrib.opt",
    "contrib.summary": "tf.summary and tf.summary.FileWriter write summaries and graphs",
    "contrib.tpu": _ONE_PROCESS,
    "contrib.training": "tf.train.batch and tf.data group elements",
    "contrib.util": "tf.graph_util and tensorkeep's inspecting functions look into graphs",
    "distributions": _DISTRIBUTIONS,
    "keras.activations": "write it by tf.nn, as a function",
    "keras.backend": "tf.nn and tf.math have such functions, and tf.random draws",
    "keras.layers": "it is newer than TensorFlow 1: tf.keras.layers.Lambda, or a layer of your own, around functions",
    "keras.losses": "it is newer than TensorFlow 1: a function of labels and predictions is a loss",
    "keras.metrics": "it is newer than TensorFlow 1: tf.metrics, or a function of labels and predictions",
    "keras.models": "tf.estimator has linear models, and those of them with networks",
    "keras.regularizers": "tf.keras.regularizers.l1, l2 and l1_l2",
    "keras.saving": "tf.keras.utils has custom_object_scope, get_custom_objects, serialize_keras_object and their like",
    "keras.utils": "it is newer than TensorFlow 1: custom_object_scope and get_custom_objects name objects of your own",
    "keras.applications": "the network is newer than TensorFlow 1: tensorkeep.load_saved_model runs it, exported",
}


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that a module of ours does not have: what to use instead, where that is known."""
    path = ".".join(
        [*module.removeprefix("tensorkeep.v1").removeprefix("tensorflow").strip(".").split("."), name]
    ).strip(".")
    instead = advice(path)
    said = f" (tf.{path}): {instead}" if instead else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{said}", name=name)


def advice(path: str) -> str | None:
    """What to use for a name below `tf` that is not here, or whose module is not; None if nothing is known."""
    if path in REFUSED:
        return REFUSED[path]
    names = path.removeprefix("python.").split(".")
    starts = (".".join(names[:length]) for length in range(len(names), 0, -1))
    found = next((INSTEAD[start] for start in starts if start in INSTEAD), None)
    return found or IN_PLACE_OF_OTHERS.get(".".join(names[:-1])) or _as_op(path)


def _as_op(path: str) -> str | None:
    """What to use for a function that is an op and no more, such as DeepRec has many of in `tf`."""
    op = "".join(word.capitalize() for word in path.split("_"))
    if op.startswith("_") or not op.isidentifier() or find_op(op) is None:
        return None
    return f"it is an op, tf.raw_ops.{op}, which takes its arguments by keyword"
