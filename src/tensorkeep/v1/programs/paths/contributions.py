"""Paths inside `tensorflow.contrib`, where each package has its names in modules below `python`.

A module of these offers all names of its package's namespace, as far as that is here; so do packages of modules whose
names TensorFlow takes together.
"""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table
from tensorkeep.v1.tables import SPACES

_MODULES: Final = {
    "cluster_resolver": "python.training.cluster_resolver python.training.tpu_cluster_resolver",
    "crf": "python.ops.crf",
    "data": """
        python.ops.batching python.ops.enumerate_ops python.ops.error_ops python.ops.get_single_element
        python.ops.grouping python.ops.interleave_ops python.ops.iterator_ops python.ops.prefetching_ops
        python.ops.readers python.ops.resampling python.ops.scan_ops python.ops.shuffle_ops python.ops.sliding
        python.ops.threadpool python.ops.unique python.ops.writers
    """,
    "distributions": """
        python.ops.autoregressive python.ops.batch_reshape python.ops.binomial python.ops.cauchy python.ops.chi2
        python.ops.conditional_distribution python.ops.conditional_transformed_distribution python.ops.deterministic
        python.ops.distribution_util python.ops.geometric python.ops.gumbel python.ops.half_normal
        python.ops.independent python.ops.inverse_gamma python.ops.kumaraswamy python.ops.logistic python.ops.mixture
        python.ops.mixture_same_family python.ops.moving_stats python.ops.mvn_diag
        python.ops.mvn_diag_plus_low_rank python.ops.mvn_full_covariance python.ops.mvn_linear_operator
        python.ops.mvn_tril python.ops.negative_binomial python.ops.normal_conjugate_posteriors
        python.ops.onehot_categorical python.ops.poisson python.ops.poisson_lognormal
        python.ops.quantized_distribution python.ops.relaxed_bernoulli python.ops.relaxed_onehot_categorical
        python.ops.sample_stats python.ops.seed_stream python.ops.sinh_arcsinh python.ops.vector_diffeomixture
        python.ops.vector_exponential_diag
        python.ops.vector_laplace_diag python.ops.vector_sinh_arcsinh_diag python.ops.wishart
    """,
    "distributions.bijectors": """
        absolute_value affine affine_linear_operator affine_scalar batch_normalization chain cholesky_outer_product
        conditional_bijector exp fill_triangular gumbel inline invert kumaraswamy masked_autoregressive
        matrix_inverse_tril ordered permute power_transform real_nvp reshape scale_tril sigmoid sinh_arcsinh
        softmax_centered softplus softsign square transform_diagonal weibull
    """,
    "framework": """
        python.framework.checkpoint_utils python.framework.experimental python.framework.graph_util
        python.framework.tensor_util python.ops.arg_scope python.ops.checkpoint_ops python.ops.ops python.ops.sort_ops
        python.ops.variables
    """,
    "image": "python.ops.image_ops",
    "layers": """
        python.layers.embedding_ops python.layers.encoders python.layers.feature_column python.layers.feature_column_ops
        python.layers.initializers python.layers.layers python.layers.normalization python.layers.optimizers
        python.layers.regularizers python.layers.rev_block_lib python.layers.summaries python.layers.target_column
        python.ops.bucketization_op python.ops.sparse_ops
    """,
    "learn": """
        python.learn.estimators python.learn.estimators.estimator python.learn.estimators.model_fn
        python.learn.estimators.run_config python.learn.experiment python.learn.metric_spec
    """,
    "legacy_seq2seq": "python.ops.seq2seq",
    "lookup": "lookup_ops",
    "memory_stats": "python.ops.memory_stats_ops",
    "metrics": "python.ops.histogram_ops python.ops.metric_ops python.ops.set_ops",
    "opt": """
        python.training.adam_gs_optimizer python.training.adamax python.training.addsign
        python.training.drop_stale_gradient_optimizer python.training.elastic_average_optimizer
        python.training.external_optimizer python.training.ggt python.training.lazy_adam_optimizer
        python.training.lazy_adam_gs_optimizer python.training.lars_optimizer
        python.training.shampoo python.training.model_average_optimizer
        python.training.moving_average_optimizer python.training.multitask_optimizer_wrapper
        python.training.nadam_optimizer python.training.powersign python.training.reg_adagrad_optimizer
        python.training.variable_clipping_optimizer
        python.training.weight_decay_optimizers
    """,
    "quantize": "python.quantize_graph",
    "recurrent": "python.ops.functional_rnn",
    "resampler": "python.ops.resampler_ops",
    "rnn": """
        python.ops.core_rnn python.ops.core_rnn_cell python.ops.core_rnn_cell_impl python.ops.fused_rnn_cell
        python.ops.gru_ops python.ops.lstm_ops python.ops.rnn python.ops.rnn_cell
    """,
    "seq2seq": """
        python.ops.attention_wrapper python.ops.basic_decoder python.ops.beam_search_decoder
        python.ops.beam_search_ops python.ops.decoder python.ops.helper python.ops.loss
    """,
    "signal": """
        python.ops.mel_ops python.ops.mfcc_ops python.ops.reconstruction_ops python.ops.shape_ops
        python.ops.spectral_ops python.ops.window_ops
    """,
    "sparsemax": "python.ops.sparsemax python.ops.sparsemax_loss",
    "stateless": "python.stateless_ops",
    "summary": "summary summary_ops",
    "tpu": """
        python.ops.tpu_ops python.tpu.bfloat16 python.tpu.feature_column python.tpu.tpu python.tpu.tpu_config
        python.tpu.tpu_context python.tpu.tpu_estimator python.tpu.tpu_function python.tpu.tpu_optimizer
    """,
    "training": """
        python.training.bucket_ops python.training.evaluation python.training.hparam python.training.resample
        python.training.sampling_ops python.training.sequence_queueing_state_saver python.training.training
    """,
    "util": "python.util",
}

_GRAPH_EDITOR: Final = {
    "tensorkeep.tf1.functions.gradients.graph_edits": """
        SubGraphView TransformerInfo add_control_inputs copy copy_with_input_replacements filter_ops
        filter_ops_from_regex filter_ts filter_ts_from_regex get_walks_intersection_ops graph_replace make_list_of_op
        make_list_of_t make_view make_view_from_scope remove_control_inputs reroute_ts select_ops select_ops_and_ts
        select_ts sgv=make_view sgv_scope=make_view_from_scope swap_ts
    """,
    "tensorkeep.tf1.functions.gradients.graph_walks": "get_backward_walk_ops get_forward_walk_ops",
}

_EAGER: Final = {
    "tensorkeep.tf1.variables.resource": "Variable=ResourceVariable",
    "tensorkeep.v1.framework": "defun=function enable_eager_execution executing_eagerly",
    "tensorkeep.v1.internals.execution": "GradientTape in_eager_mode in_graph_mode num_gpus",
    "tensorkeep.v1.internals.test_helpers": """
        run_all_tests_in_graph_and_eager_modes=run_in_graph_and_eager_modes
        run_test_in_graph_and_eager_modes=run_in_graph_and_eager_modes
    """,
}
"""What programs of both modes ask, which is answered; the rest of eager execution is lacking."""

_PACKAGES: Final[dict[str, Table]] = {
    "contrib.distributions.python.ops": {"tensorkeep.v1.contrib.distributions": "*"},
    "contrib.distributions.python.ops.bijectors": {"tensorkeep.v1.contrib.distributions.bijectors": "*"},
    "contrib.eager": _EAGER,
    "contrib.eager.python.tfe": _EAGER,
    "contrib.framework.nest": {"tensorkeep.v1.internals.nesting": "*", "tensorkeep.v1.nest": "*"},
    "contrib.framework.python.framework": {"tensorkeep.v1.contrib.framework": "*"},
    "contrib.framework.python.ops": {
        "tensorkeep.tf1.contrib.framework.arg_scopes": "arg_scope",  # the function, although a module has that name
        "tensorkeep.v1.contrib.framework": "*",
    },
    "contrib.graph_editor": _GRAPH_EDITOR,
    "contrib.graph_editor.reroute": _GRAPH_EDITOR,
    "contrib.graph_editor.select": _GRAPH_EDITOR,
    "contrib.graph_editor.subgraph": _GRAPH_EDITOR,
    "contrib.graph_editor.transform": _GRAPH_EDITOR,
    "contrib.graph_editor.util": _GRAPH_EDITOR,
    "contrib.layers.python.layers": {"tensorkeep.v1.contrib.layers": "*"},
    "contrib.learn.python.learn": {"tensorkeep.v1.contrib.learn": "*"},
    "contrib.learn.python.learn.datasets": {"tensorkeep.v1.contrib.learn.datasets": "*"},
    "contrib.learn.python.learn.datasets.base": {"tensorkeep.v1.contrib.learn.datasets.base": "*"},
    "contrib.learn.python.learn.datasets.mnist": {"tensorkeep.tf1.training.inputs.mnist_files": "*"},
    "contrib.learn.python.learn.learn_runner": {"tensorkeep.v1.contrib.learn.learn_runner": "*"},
    "contrib.learn.python.learn.monitors": {"tensorkeep.v1.contrib.learn.monitors": "*"},
    "contrib.learn.python.learn.preprocessing": {"tensorkeep.v1.contrib.learn.preprocessing": "*"},
    "contrib.learn.python.learn.preprocessing.categorical_vocabulary": {
        "tensorkeep.v1.contrib.learn.preprocessing": "*"
    },
    "contrib.learn.python.learn.preprocessing.text": {"tensorkeep.v1.contrib.learn.preprocessing": "*"},
    "contrib.opt.python.training.sign_decay": {
        "tensorkeep.tf1.contrib.opt.signs": "get_cosine_decay_fn get_linear_decay_fn get_restart_decay_fn"
    },
    "contrib.layers.python.layers.utils": {"tensorkeep.v1.contrib.layers.utils": "*"},
    "contrib.quantize.python.graph_matcher": {
        "tensorkeep.tf1.contrib.quantize.graph_matcher": """
            GraphMatcher MatchResult OneofPattern OpTypePattern Pattern
        """,
    },
    "contrib.slim.python": {"tensorkeep.v1.contrib": "slim"},
}

_PLACES: Final = {"distributions.bijectors": "contrib.distributions.python.ops.bijectors"}
"""Where modules are of spaces that have them elsewhere than below themselves."""

_LINEAR: Final = {"tensorkeep.v1.internals.recurrent": "_Linear=Linear _linear=linear"}
_DECODING: Final = "tensorkeep.tf1.contrib.seq2seq"

_MORE: Final[dict[str, Table]] = {
    "contrib.rnn.python.ops.core_rnn_cell": _LINEAR,
    "contrib.rnn.python.ops.core_rnn_cell_impl": {**_LINEAR, "tensorkeep.v1.nn.rnn_cell": "*"},
    "contrib.rnn.python.ops.rnn_cell": _LINEAR,
    "contrib.seq2seq.python.ops.attention_wrapper": {
        f"{_DECODING}.attention": "_BaseAttentionMechanism=BaseAttentionMechanism",
        f"{_DECODING}.attention_wrapper": "_compute_attention=compute_attention",
        "tensorkeep.v1.internals.decoding": """
            _bahdanau_score=bahdanau_score _luong_score=luong_score _maybe_mask_score=maybe_mask_score
            _monotonic_probability_fn=monotonic_probability_fn _prepare_memory=prepare_memory
        """,
        "tensorkeep.v1.internals.recurrent": "_zero_state_tensors=zero_state_tensors",
    },
    "contrib.seq2seq.python.ops.beam_search_decoder": {
        f"{_DECODING}.beam_choices": "_length_penalty=length_penalty _mask_probs=masked_probs",
    },
    "contrib.seq2seq.python.ops.decoder": {
        f"{_DECODING}.decoders": "_create_zero_outputs=zero_outputs",
        "tensorkeep.tf1.layers.recurrent": "_transpose_batch_time=with_batch_and_time_exchanged",
    },
    "contrib.seq2seq.python.ops.helper": {f"{_DECODING}.helpers": "_unstack_ta=unstacked_array"},
}
"""What modules have besides the names of their package."""

CONTRIBUTIONS: Final[dict[str, Table]] = _PACKAGES | {
    path: {**_MORE.get(path, {}), f"tensorkeep.v1.contrib.{space}": "*"}
    for space, modules in _MODULES.items()
    if f"contrib.{space}" in SPACES
    for path in (f"{_PLACES.get(space, f'contrib.{space}')}.{module}" for module in modules.split())
    if path not in SPACES
}
