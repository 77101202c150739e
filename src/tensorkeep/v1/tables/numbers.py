"""Namespaces of numbers and text: `tf.math`, `tf.linalg`, `tf.random`, `tf.sparse`, `tf.strings` and the like."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_DISTRIBUTIONS: Final[Table] = {
    "tensorkeep.tf1.distributions.base": """
        Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED ReparameterizationType
    """,
    "tensorkeep.tf1.distributions.continuous": "Beta Exponential Gamma Laplace Normal StudentT Uniform",
    "tensorkeep.tf1.distributions.counts": "DirichletMultinomial Multinomial",
    "tensorkeep.tf1.distributions.discrete": "Bernoulli Categorical",
    "tensorkeep.tf1.distributions.divergences": "RegisterKL kl_divergence",
    "tensorkeep.tf1.distributions.vectors": "Dirichlet",
}

_OPERATORS: Final = "tensorkeep.tf1.functions.linear_algebra.linear_operators"

NUMBERS: Final[dict[str, Table]] = {
    "contrib.distributions": {
        **_DISTRIBUTIONS,
        "tensorkeep.tf1.distributions.affine_vectors": """
            MultivariateNormalDiag MultivariateNormalDiagPlusLowRank MultivariateNormalDiagWithSoftplusScale
            MultivariateNormalFullCovariance MultivariateNormalLinearOperator MultivariateNormalTriL
            VectorExponentialDiag VectorLaplaceDiag VectorSinhArcsinhDiag
        """,
        "tensorkeep.tf1.distributions.autoregressive": "Autoregressive",
        "tensorkeep.tf1.distributions.compounds": """
            PoissonLogNormalQuadratureCompound quadrature_scheme_lognormal_gauss_hermite
            quadrature_scheme_lognormal_quantiles quadrature_scheme_softmaxnormal_gauss_hermite
            quadrature_scheme_softmaxnormal_quantiles
        """,
        "tensorkeep.tf1.distributions.conjugates": """
            normal_conjugates_known_scale_posterior normal_conjugates_known_scale_predictive
        """,
        "tensorkeep.tf1.distributions.continuous": """
            Beta Exponential Gamma Laplace Normal NormalWithSoftplusScale StudentT Uniform
        """,
        "tensorkeep.tf1.distributions.diffeomixture": "VectorDiffeomixture",
        "tensorkeep.tf1.distributions.discrete": "Bernoulli Categorical OneHotCategorical Poisson",
        "tensorkeep.tf1.distributions.locations": "Cauchy Gumbel Logistic",
        "tensorkeep.tf1.distributions.mixtures": "Mixture MixtureSameFamily",
        "tensorkeep.tf1.distributions.numbers": "reduce_weighted_logsumexp softplus_inverse",
        "tensorkeep.tf1.distributions.points": "Deterministic VectorDeterministic",
        "tensorkeep.tf1.distributions.positive": "Chi2 HalfNormal InverseGamma Kumaraswamy",
        "tensorkeep.tf1.distributions.quantized": "QuantizedDistribution",
        "tensorkeep.tf1.distributions.rearranged": "BatchReshape Independent",
        "tensorkeep.tf1.distributions.relaxed": """
            ExpRelaxedOneHotCategorical RelaxedBernoulli RelaxedOneHotCategorical
        """,
        "tensorkeep.tf1.distributions.seeds": "SeedStream",
        "tensorkeep.tf1.distributions.skewed": "SinhArcsinh",
        "tensorkeep.tf1.distributions.softened": """
            BetaWithSoftplusConcentration Chi2WithAbsDf ExponentialWithSoftplusRate GammaWithSoftplusConcentrationRate
            InverseGammaWithSoftplusConcentrationRate LaplaceWithSoftplusScale StudentTWithAbsDfSoftplusScale
        """,
        "tensorkeep.tf1.distributions.statistics": """
            assign_log_moving_mean_exp assign_moving_mean_variance auto_correlation moving_mean_variance percentile
        """,
        "tensorkeep.tf1.distributions.transformed": """
            ConditionalDistribution ConditionalTransformedDistribution TransformedDistribution
        """,
        "tensorkeep.tf1.distributions.trials": "Binomial Geometric NegativeBinomial",
        "tensorkeep.tf1.distributions.triangles": """
            fill_triangular fill_triangular_inverse matrix_diag_transform tridiag
        """,
        "tensorkeep.tf1.distributions.wishart": "WishartCholesky WishartFull",
    },
    "contrib.distributions.bijectors": {
        "tensorkeep.tf1.distributions.bijectors.affine": "Affine AffineLinearOperator AffineScalar",
        "tensorkeep.tf1.distributions.bijectors.autoregressive": """
            MaskedAutoregressiveFlow masked_autoregressive_default_template masked_dense
        """,
        "tensorkeep.tf1.distributions.bijectors.base": "Bijector ConditionalBijector",
        "tensorkeep.tf1.distributions.bijectors.batch_normalization": "BatchNormalization",
        "tensorkeep.tf1.distributions.bijectors.combining": "Chain Inline Invert TransformDiagonal",
        "tensorkeep.tf1.distributions.bijectors.elementwise": """
            AbsoluteValue Exp Identity PowerTransform Sigmoid Softplus Softsign Square
        """,
        "tensorkeep.tf1.distributions.bijectors.families": "Gumbel Kumaraswamy SinhArcsinh Weibull",
        "tensorkeep.tf1.distributions.bijectors.matrices": """
            CholeskyOuterProduct FillTriangular MatrixInverseTriL MatvecLU ScaleTriL
        """,
        "tensorkeep.tf1.distributions.bijectors.real_nvp": "RealNVP real_nvp_default_template",
        "tensorkeep.tf1.distributions.bijectors.vectors": "Ordered Permute Reshape SoftmaxCentered",
    },
    "distributions": _DISTRIBUTIONS,
    "bitwise": {
        "tensorkeep.tf1.functions.ragged.dispatch": """
            bitwise_and bitwise_or bitwise_xor invert=bitwise_invert left_shift right_shift
        """,
    },
    "dtypes": {
        "tensorkeep.dtypes": """
            DType bfloat16=BFLOAT16 bool=BOOL complex128=COMPLEX128 complex64=COMPLEX64 double=FLOAT64 float16=FLOAT16
            float32=FLOAT32 float64=FLOAT64 half=FLOAT16 int16=INT16 int32=INT32 int64=INT64 int8=INT8 qint16=QINT16
            qint32=QINT32 qint8=QINT8 quint16=QUINT16 quint8=QUINT8 resource=RESOURCE string=STRING uint16=UINT16
            uint32=UINT32 uint64=UINT64 uint8=UINT8 variant=VARIANT
        """,
        "tensorkeep.tf1.functions.ragged.dispatch": "as_string cast complex saturate_cast",
        "tensorkeep.v1.framework": "QUANTIZED_DTYPES as_dtype",
    },
    "linalg": {
        "tensorkeep.tf1.functions.arrays.shapes": "matrix_transpose transpose=matrix_transpose",
        "tensorkeep.tf1.functions.linear_algebra.exponentials": "expm=matrix_exponential",
        "tensorkeep.tf1.functions.linear_algebra.matrices": """
            adjoint band_part=matrix_band_part cholesky cholesky_solve det=matrix_determinant diag=matrix_diag
            diag_part=matrix_diag_part eigh=self_adjoint_eig eigvalsh=self_adjoint_eigvals eye inv=matrix_inverse logdet
            logm=matrix_logarithm lstsq=matrix_solve_ls lu lu_matrix_inverse lu_reconstruct lu_solve matrix_rank norm
            normalize pinv qr set_diag=matrix_set_diag slogdet=log_matrix_determinant solve=matrix_solve
            sqrtm=matrix_square_root svd tensor_diag=diag tensor_diag_part=diag_part trace
            triangular_solve=matrix_triangular_solve tridiagonal_matmul tridiagonal_solve
        """,
        "tensorkeep.tf1.functions.linear_algebra.products": "einsum matvec tensordot",
        f"{_OPERATORS}.blocks": "LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular",
        f"{_OPERATORS}.circulants": "LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D",
        f"{_OPERATORS}.derived": """
            LinearOperator LinearOperatorAdjoint LinearOperatorComposition LinearOperatorInversion
            LinearOperatorLowerTriangular
        """,
        f"{_OPERATORS}.diagonals": "LinearOperatorDiag LinearOperatorScaledIdentity",
        f"{_OPERATORS}.identities": "LinearOperatorIdentity LinearOperatorZeros",
        f"{_OPERATORS}.products": "LinearOperatorKronecker LinearOperatorLowRankUpdate",
        f"{_OPERATORS}.structured": """
            LinearOperatorFullMatrix LinearOperatorHouseholder LinearOperatorPermutation LinearOperatorToeplitz
            LinearOperatorTridiag
        """,
        "tensorkeep.tf1.functions.nn.normalization": "l2_normalize",
        "tensorkeep.tf1.functions.numbers.clipping": "global_norm",
        "tensorkeep.tf1.functions.numbers.elementwise": "cross",
        "tensorkeep.tf1.functions.ragged.dispatch": "matmul",
    },
    "manip": {
        "tensorkeep.tf1.functions.arrays.patches": "batch_to_space_nd space_to_batch_nd",
        "tensorkeep.tf1.functions.arrays.shapes": "reshape roll",
        "tensorkeep.tf1.functions.arrays.slicing": "scatter_nd",
        "tensorkeep.tf1.functions.ragged.dispatch": "gather_nd reverse tile",
    },
    "math": {
        "tensorkeep.tf1.functions.arrays.counting": "bincount confusion_matrix",
        "tensorkeep.tf1.functions.arrays.shapes": "invert_permutation",
        "tensorkeep.tf1.functions.control.assertions": "is_non_decreasing is_strictly_increasing",
        "tensorkeep.tf1.functions.nn.activations": "in_top_k softmax top_k zero_fraction",
        "tensorkeep.tf1.functions.nn.normalization": "l2_normalize",
        "tensorkeep.tf1.functions.numbers.elementwise": """
            accumulate_n cumprod cumulative_logsumexp divide_no_nan mod polyval
        """,
        "tensorkeep.tf1.functions.numbers.reductions": """
            argmax argmin count_nonzero reduce_euclidean_norm reduce_logsumexp
        """,
        "tensorkeep.tf1.functions.numbers.segments": "segment_max segment_mean segment_min segment_prod segment_sum",
        "tensorkeep.tf1.functions.numbers.special": "betainc igamma igammac lbeta polygamma",
        "tensorkeep.tf1.functions.ragged.dispatch": """
            abs acos acosh add add_n angle asin asinh atan atan2 atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e ceil
            conj cos cosh cumsum digamma divide equal erf erfc erfcinv erfinv exp expm1 floor floordiv floormod greater
            greater_equal imag is_finite is_inf is_nan less less_equal lgamma log log1p log_sigmoid log_softmax
            logical_and logical_not logical_or logical_xor maximum minimum multiply multiply_no_nan ndtri negative
            nextafter not_equal pow real reciprocal reciprocal_no_nan reduce_all reduce_any reduce_max reduce_mean
            reduce_min reduce_prod reduce_std reduce_sum reduce_variance rint round rsqrt scalar_mul sigmoid sign sin
            sinh softplus softsign sqrt square squared_difference subtract tan tanh truediv unsorted_segment_max
            unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
            unsorted_segment_sum xdivy xlog1py xlogy zeta
        """,
    },
    "math.special": {
        "tensorkeep.tf1.functions.ragged.dispatch": """
            bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e
            bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin spence
        """,
    },
    "nest": {
        "tensorkeep.tf1.functions.structures": "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    },
    "quantization": {
        "tensorkeep.tf1.functions.numbers.quantization": """
            dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
            fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
            fake_quant_with_min_max_vars_per_channel_gradient quantize quantize_and_dequantize
            quantize_and_dequantize_v2
        """,
    },
    "ragged": {
        "tensorkeep.runtime.composite_values": "RaggedTensorValue",
        "tensorkeep.tf1.functions.ragged.arrays": "boolean_mask stack",
        "tensorkeep.tf1.functions.ragged.crosses": "cross cross_hashed stack_dynamic_partitions",
        "tensorkeep.tf1.functions.ragged.factories": "constant constant_value map_flat_values placeholder range",
        "tensorkeep.tf1.functions.ragged.row_partition": "row_splits_to_segment_ids segment_ids_to_row_splits",
    },
    "random": {
        "tensorkeep.tf1.functions.nn.candidate_sampling": """
            all_candidate_sampler fixed_unigram_candidate_sampler log_uniform_candidate_sampler
            uniform_candidate_sampler
        """,
        "tensorkeep.tf1.functions.random.numbers": """
            Algorithm categorical fold_in=stateless_fold_in gamma=random_gamma get_seed multinomial normal=random_normal
            poisson=random_poisson set_random_seed shuffle=random_shuffle split=stateless_split
            stateless_binomial=stateless_random_binomial stateless_categorical stateless_gamma=stateless_random_gamma
            stateless_multinomial stateless_normal=stateless_random_normal stateless_poisson=stateless_random_poisson
            stateless_truncated_normal stateless_uniform=stateless_random_uniform truncated_normal
            uniform=random_uniform
        """,
        "tensorkeep.tf1.variables.random_generators": """
            Generator create_rng_state get_global_generator set_global_generator
        """,
    },
    "random.experimental": {
        "tensorkeep.tf1.functions.random.numbers": "Algorithm",
        "tensorkeep.tf1.variables.random_generators": """
            Generator create_rng_state get_global_generator set_global_generator
        """,
    },
    "sets": {
        "tensorkeep.tf1.functions.numbers.sets": """
            difference=set_difference intersection=set_intersection set_difference set_intersection set_size set_union
            size=set_size union=set_union
        """,
    },
    "signal": {
        "tensorkeep.tf1.functions.numbers.signal": """
            fft fft2d fft3d fftshift frame hamming_window hann_window ifft ifft2d ifft3d ifftshift irfft irfft2d irfft3d
            rfft rfft2d rfft3d stft
        """,
        "tensorkeep.tf1.functions.numbers.spectra": """
            dct idct inverse_mdct inverse_stft inverse_stft_window_fn kaiser_bessel_derived_window kaiser_window
            linear_to_mel_weight_matrix mdct mfccs_from_log_mel_spectrograms overlap_and_add vorbis_window
        """,
    },
    "sparse": {
        "tensorkeep.tf1.functions.data.accumulators": "SparseConditionalAccumulator",
        "tensorkeep.graph.composites": "SparseTensor",
        "tensorkeep.tf1.functions.arrays.shapes": "placeholder=sparse_placeholder",
        "tensorkeep.tf1.functions.arrays.slicing": "mask=sparse_mask",
        "tensorkeep.tf1.functions.numbers.segments": """
            segment_mean=sparse_segment_mean segment_sqrt_n=sparse_segment_sqrt_n segment_sum=sparse_segment_sum
        """,
        "tensorkeep.tf1.functions.sparse.tensors": """
            add=sparse_add concat=sparse_concat cross=sparse_cross cross_hashed=sparse_cross_hashed
            expand_dims=sparse_expand_dims eye=sparse_eye fill_empty_rows=sparse_fill_empty_rows from_dense
            matmul=sparse_tensor_dense_matmul maximum=sparse_maximum merge=sparse_merge minimum=sparse_minimum
            reduce_max=sparse_reduce_max reduce_max_sparse=sparse_reduce_max_sparse reduce_sum=sparse_reduce_sum
            reduce_sum_sparse=sparse_reduce_sum_sparse reorder=sparse_reorder reset_shape=sparse_reset_shape
            reshape=sparse_reshape retain=sparse_retain slice=sparse_slice softmax=sparse_softmax
            sparse_dense_matmul=sparse_tensor_dense_matmul split=sparse_split to_dense=sparse_tensor_to_dense
            to_indicator=sparse_to_indicator transpose=sparse_transpose
        """,
    },
    "spectral": {
        "tensorkeep.tf1.functions.numbers.signal": """
            fft fft2d fft3d ifft ifft2d ifft3d irfft irfft2d irfft3d rfft rfft2d rfft3d
        """,
        "tensorkeep.tf1.functions.numbers.spectra": "dct idct",
    },
    "strings": {
        "tensorkeep.tf1.functions.parsing.strings": "format=string_format unsorted_segment_join",
        "tensorkeep.tf1.functions.ragged.dispatch": """
            as_string join=string_join length=string_length lower=string_lower reduce_join regex_full_match
            regex_replace strip=string_strip substr to_hash_bucket=string_to_hash_bucket
            to_hash_bucket_fast=string_to_hash_bucket_fast to_hash_bucket_strong=string_to_hash_bucket_strong
            to_number=string_to_number unicode_script unicode_transcode upper=string_upper
        """,
        "tensorkeep.tf1.functions.ragged.ragged_strings": """
            bytes_split ngrams split=strings_split unicode_decode unicode_decode_with_offsets unicode_encode
            unicode_split unicode_split_with_offsets
        """,
    },
}
