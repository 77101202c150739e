"""Names of TensorFlow 1 that are not here, and what does their work: for the error of a program that asks for them.

A module that is added takes its row away.
"""

from __future__ import annotations

from typing import Final

from tensorkeep.graph.registry.opspec import find_op

_LITE: Final = "graphs are frozen by tf.graph_util and `tensorkeep saved-model freeze`, for a converter of your choice"
_LOAD: Final = "tensorkeep.load_saved_model runs what it exported"
_ONE_PROCESS: Final = "sessions run in this process, on one machine"

_AVERAGES: Final = "tf.contrib.opt.MovingAverageOptimizer averages over steps; tensorkeep.cluster trains in processes"
_CANNED: Final = "tf.estimator has it under the same name, with columns of tf.feature_column"
_CELLS: Final = "use LSTMCell, or PhasedLSTMCell and others of tf.contrib.rnn"
_COLUMNS: Final = "tf.feature_column has these columns; input_layer and linear_model take them"
_DISTRIBUTIONS: Final = (
    "write log probabilities by tf.math (lgamma, log_softmax, square), and draw by tf.random_normal, tf.multinomial, "
    "tf.random_gamma and others of tf.random"
)
_STATES: Final = "feed the state from run to run, or keep it in a variable, and cut sequences by Dataset.window"
_TREES: Final = "scikit-learn, XGBoost and LightGBM grow trees"

# By name below `tf`: what to use instead.
INSTEAD: Final[dict[str, str]] = {
    "LMDBReader": "other readers are tf.TFRecordReader, tf.TextLineReader, tf.WholeFileReader",
    "autograph": "write tf.cond and tf.while_loop",
    "config.optimizer": "graphs run as they are, and runs are compiled without asking",
    "contrib.all_reduce": _ONE_PROCESS,
    "contrib.autograph": "write tf.cond and tf.while_loop",
    "contrib.batching": "`tensorkeep serve` batches requests",
    "contrib.bayesflow": _DISTRIBUTIONS,
    "contrib.boosted_trees": f"{_TREES}; {_LOAD}",
    "contrib.checkpoint": "tf.train.Checkpoint and its like do this",
    "contrib.copy_graph": "tf.train.export_meta_graph and import_meta_graph copy graphs",
    "contrib.cudnn_rnn": "cuDNN needs a GPU: tf.contrib.rnn.LSTMBlockFusedCell and GRUBlockCellV2 do the same on any",
    "contrib.decision_trees": _TREES,
    "contrib.distribute": _ONE_PROCESS,
    "contrib.distributions": _DISTRIBUTIONS,
    "contrib.eager": "there is no eager mode: build a graph and run it in a session",
    "contrib.factorization": "scikit-learn has k-means, mixtures and matrix factorization",
    "contrib.ffmpeg": "tf.audio.decode_wav reads sounds",
    "contrib.fused_conv": "tf.nn.conv2d, bias_add and relu run as one where they follow each other",
    "contrib.gan": "write both losses, and one optimizer with var_list for each",
    "contrib.graph_editor": "tf.graph_util.extract_sub_graph and tf.import_graph_def(input_map=) change graphs",
    "contrib.grid_rnn": "use the cells of tf.contrib.rnn",
    "contrib.hadoop": "sequence files are read by other programs: write record files",
    "contrib.hooks": "tf.train.ProfilerHook profiles",
    "contrib.integrate": "SciPy's scipy.integrate, by tf.py_func",
    "contrib.kafka": "write a generator for tf.data.Dataset.from_generator",
    "contrib.keras": "tf.keras has it under the same names",
    "contrib.kfac": "ShampooOptimizer and GGTOptimizer of tf.contrib.opt condition gradients",
    "contrib.labeled_tensor": "name the axes by comments",
    "contrib.layers.crossed_column": _COLUMNS,
    "contrib.layers.bucketized_column": _COLUMNS,
    "contrib.layers.embedding_column": _COLUMNS,
    "contrib.layers.input_from_feature_columns": _COLUMNS,
    "contrib.layers.one_hot_column": _COLUMNS,
    "contrib.layers.real_valued_column": _COLUMNS,
    "contrib.layers.sparse_column_with_hash_bucket": _COLUMNS,
    "contrib.layers.sparse_column_with_integerized_feature": _COLUMNS,
    "contrib.layers.sparse_column_with_keys": _COLUMNS,
    "contrib.layers.weighted_sum_from_feature_columns": _COLUMNS,
    "contrib.learn.DNNClassifier": _CANNED,
    "contrib.learn.DNNLinearCombinedClassifier": _CANNED,
    "contrib.learn.DNNLinearCombinedRegressor": _CANNED,
    "contrib.learn.DNNRegressor": _CANNED,
    "contrib.learn.KMeansClustering": "scikit-learn has k-means",
    "contrib.learn.LinearClassifier": _CANNED,
    "contrib.learn.LinearRegressor": _CANNED,
    "contrib.learn.LogisticRegressor": _CANNED,
    "contrib.learn.SVM": "scikit-learn has support vector machines",
    "contrib.learn.monitors": "hooks of tf.train take their place",
    "contrib.learn.utils": "exporters of tf.estimator, given to tf.estimator.EvalSpec, export models",
    "contrib.linear_optimizer": "tf.train.FtrlOptimizer trains linear models",
    "contrib.lite": _LITE,
    "contrib.memory_stats": "Python's resource.getrusage tells what this process uses",
    "contrib.mixed_precision": "cast by tf.cast",
    "contrib.model_pruning": "multiply weights by a variable of zeros and ones",
    "contrib.mpi": _ONE_PROCESS,
    "contrib.opt.ElasticAverageCustomGetter": _AVERAGES,
    "contrib.opt.ElasticAverageOptimizer": _AVERAGES,
    "contrib.opt.ModelAverageCustomGetter": _AVERAGES,
    "contrib.opt.ModelAverageOptimizer": _AVERAGES,
    "contrib.optimizer_v2": "the optimizers of tf.train do the same",
    "contrib.predictor": "tensorkeep.load_saved_model(path).signatures[key](**inputs) predicts",
    "contrib.quantization": "tf.quantization has its functions",
    "contrib.quantize": "tf.quantization.fake_quant_with_min_max_vars in your layers trains quantized models",
    "contrib.recurrent": "tf.nn.dynamic_rnn runs cells",
    "contrib.resampler": "tf.raw_ops.Resampler, or tf.contrib.image.interpolate_bilinear",
    "contrib.rnn.BidirectionalGridLSTMCell": _CELLS,
    "contrib.rnn.GridLSTMCell": _CELLS,
    "contrib.rnn.TimeFreqLSTMCell": _CELLS,
    "contrib.rpc": _ONE_PROCESS,
    "contrib.saved_model": "tf.saved_model has its functions",
    "contrib.session_bundle": "tf.saved_model loads models; bundles are meta graphs, for tf.train.import_meta_graph",
    "contrib.signal": "tf.signal has its functions",
    "contrib.solvers": "SciPy's scipy.sparse.linalg, by tf.py_func",
    "contrib.staging": "Dataset.prefetch fills ahead",
    "contrib.stateless": "tf.random.stateless_uniform and its like",
    "contrib.tensor_forest": _TREES,
    "contrib.tensorboard": "write projector_config.pbtxt beside the checkpoint, as text",
    "contrib.tensorrt": "tensorkeep.export_onnx writes what TensorRT reads",
    "contrib.text": "tf.strings.split and tf.contrib.lookup make words numbers",
    "contrib.tfprof": "tf.RunOptions(trace_level=FULL_TRACE) and timeline.Timeline show where time goes",
    "contrib.timeseries": "write the model with tf.nn.dynamic_rnn",
    "contrib.training.NextQueuedSequenceBatch": _STATES,
    "contrib.training.SequenceQueueingStateSaver": _STATES,
    "contrib.training.batch_sequences_with_states": _STATES,
    "contrib.training.bucket": "Dataset.apply(tf.data.experimental.group_by_window(...)) groups elements",
    "contrib.training.bucket_by_sequence_length": "tf.data.experimental.bucket_by_sequence_length does it for datasets",
    "contrib.training.rejection_sample": "tf.data.experimental.rejection_resample does it for datasets",
    "contrib.training.resample_at_rate": "tf.data.experimental.rejection_resample does it for datasets",
    "contrib.training.stratified_sample": "tf.data.experimental.rejection_resample does it for datasets",
    "contrib.training.weighted_resample": "tf.data.experimental.rejection_resample does it for datasets",
    "distribute.MirroredStrategy": _ONE_PROCESS,
    "distribute.Strategy": _ONE_PROCESS,
    "distribute.cluster_resolver": _ONE_PROCESS,
    "distribute.experimental": _ONE_PROCESS,
    "distributions": _DISTRIBUTIONS,
    "experimental": "what is not experimental any more is in tf itself",
    "keras.applications": "build the network of tf.keras.layers, and load_weights; tf.contrib.slim.nets has others",
    "keras.estimator": "write a function for tf.estimator.Estimator that calls the model",
    "keras.experimental": "what is not experimental any more is in tf.keras itself",
    "keras.mixed_precision": "cast by tf.cast",
    "keras.wrappers": "write a class with fit and predict around a model",
    "lite": _LITE,
    "mixed_precision": "cast by tf.cast",
    "mlir": "graphs run as they are",
    "profiler": "use a profiler of Python: a compiled run is a Python function",
    "train.experimental": "cast by tf.cast",
    "wrap_function": "use tf.function",
    "xla": "runs are compiled without asking",
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
    names = path.removeprefix("python.").split(".")
    starts = (".".join(names[:length]) for length in range(len(names), 0, -1))
    return next((INSTEAD[start] for start in starts if start in INSTEAD), None) or _as_op(path)


def _as_op(path: str) -> str | None:
    """What to use for a function that is an op and no more, such as DeepRec has many of in `tf`."""
    op = "".join(word.capitalize() for word in path.split("_"))
    if op.startswith("_") or not op.isidentifier() or find_op(op) is None:
        return None
    return f"it is an op, tf.raw_ops.{op}, which takes its arguments by keyword"
