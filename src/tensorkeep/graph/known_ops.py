"""The signatures of TensorFlow's ops that have no paragraph in `ops/`, one a line: written by a tool, not by hand.

They let any graph be imported with types; running such an op is an error that names it.
"""

KNOWN_OPS = r"""
A() -> out: float
Abort(); error_msg: string = ''; exit_without_error: bool = false
Abs(x: T) -> y: T; T: {bfloat16, half, float, double, int8, int16, int32, int64}
AccumulateNV2(inputs: N * T) -> sum: T; N: int >= 1; T: numbertype; shape: shape; commutative; aggregate
AccumulatorApplyGradient(handle: Ref(string), local_step: int64, gradient: dtype); dtype: numbertype
AccumulatorNumAccumulated(handle: Ref(string)) -> num_accumulated: int32
AccumulatorSetGlobalStep(handle: Ref(string), new_global_step: int64)
AccumulatorTakeGradient(handle: Ref(string), num_required: int32) -> average: dtype; dtype: numbertype
Acos(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
Acosh(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
Add(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, string}
AddManySparseToTensorsMap(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> sparse_handles: int64; T: type; container: string = ''; shared_name: string = ''; stateful
AddN(inputs: N * T) -> sum: T; N: int >= 1; T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, variant}; commutative; aggregate
AddSparseToTensorsMap(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> sparse_handle: int64; T: type; container: string = ''; shared_name: string = ''; stateful
AddV2(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, complex64, complex128}; commutative; aggregate
AdjustContrast(images: T, contrast_factor: float, min_value: float, max_value: float) -> output: float; T: {uint8, int8, int16, int32, int64, float, double}; deprecated 2 'Use AdjustContrastv2 instead'
AdjustContrastv2(images: T, contrast_factor: float) -> output: T; T: {half, float} = float
AdjustHue(images: T, delta: float) -> output: T; T: {half, float} = float
AdjustSaturation(images: T, scale: float) -> output: T; T: {half, float} = float
All(input: bool, reduction_indices: Tidx) -> output: bool; keep_dims: bool = false; Tidx: {int32, int64} = int32
AllCandidateSampler(true_classes: int64) -> sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float; num_true: int >= 1; num_sampled: int >= 1; unique: bool; seed: int = 0; seed2: int = 0; stateful
AllToAll(input: T, group_assignment: int32) -> output: T; T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}; concat_dimension: int; split_dimension: int; split_count: int; stateful
Angle(input: T) -> output: Tout; T: {complex64, complex128} = complex64; Tout: {float, double} = float
AnonymousHashTable() -> table_handle: resource; key_dtype: type; value_dtype: type; stateful
AnonymousIterator() -> handle: resource; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
AnonymousIteratorV2() -> handle: resource, deleter: variant; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
AnonymousIteratorV3() -> handle: resource; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
AnonymousMemoryCache() -> handle: resource, deleter: variant; stateful
AnonymousMultiDeviceIterator() -> handle: resource, deleter: variant; devices: list(string) >= 1; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
AnonymousMultiDeviceIteratorV3() -> handle: resource; devices: list(string) >= 1; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
AnonymousMutableDenseHashTable(empty_key: key_dtype, deleted_key: key_dtype) -> table_handle: resource; key_dtype: type; value_dtype: type; value_shape: shape = []; initial_num_buckets: int = 131072; max_load_factor: float = 0.8; stateful
AnonymousMutableHashTable() -> table_handle: resource; key_dtype: type; value_dtype: type; stateful
AnonymousMutableHashTableOfTensors() -> table_handle: resource; key_dtype: type; value_dtype: type; value_shape: shape = []; stateful
AnonymousRandomSeedGenerator(seed: int64, seed2: int64) -> handle: resource, deleter: variant; stateful
AnonymousSeedGenerator(seed: int64, seed2: int64, reshuffle: bool) -> handle: resource, deleter: variant; stateful
Any(input: bool, reduction_indices: Tidx) -> output: bool; keep_dims: bool = false; Tidx: {int32, int64} = int32
ApplyAdaMax(var: Ref(T), m: Ref(T), v: Ref(T), beta1_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T) -> out: Ref(T); T: numbertype; use_locking: bool = false
ApplyAdadelta(var: Ref(T), accum: Ref(T), accum_update: Ref(T), lr: T, rho: T, epsilon: T, grad: T) -> out: Ref(T); T: numbertype; use_locking: bool = false
ApplyAdagrad(var: Ref(T), accum: Ref(T), lr: T, grad: T) -> out: Ref(T); T: numbertype; use_locking: bool = false; update_slots: bool = true
ApplyAdagradDA(var: Ref(T), gradient_accumulator: Ref(T), gradient_squared_accumulator: Ref(T), grad: T, lr: T, l1: T, l2: T, global_step: int64) -> out: Ref(T); T: numbertype; use_locking: bool = false
ApplyAdagradV2(var: Ref(T), accum: Ref(T), lr: T, epsilon: T, grad: T) -> out: Ref(T); T: numbertype; use_locking: bool = false; update_slots: bool = true
ApplyAdam(var: Ref(T), m: Ref(T), v: Ref(T), beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T) -> out: Ref(T); T: numbertype; use_locking: bool = false; use_nesterov: bool = false
ApplyAddSign(var: Ref(T), m: Ref(T), lr: T, alpha: T, sign_decay: T, beta: T, grad: T) -> out: Ref(T); T: numbertype; use_locking: bool = false
ApplyCenteredRMSProp(var: Ref(T), mg: Ref(T), ms: Ref(T), mom: Ref(T), lr: T, rho: T, momentum: T, epsilon: T, grad: T) -> out: Ref(T); T: numbertype; use_locking: bool = false
ApplyFtrl(var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, lr: T, l1: T, l2: T, lr_power: T) -> out: Ref(T); T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false
ApplyFtrlV2(var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T) -> out: Ref(T); T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false
ApplyGradientDescent(var: Ref(T), alpha: T, delta: T) -> out: Ref(T); T: numbertype; use_locking: bool = false
ApplyMomentum(var: Ref(T), accum: Ref(T), lr: T, grad: T, momentum: T) -> out: Ref(T); T: numbertype; use_locking: bool = false; use_nesterov: bool = false
ApplyPowerSign(var: Ref(T), m: Ref(T), lr: T, logbase: T, sign_decay: T, beta: T, grad: T) -> out: Ref(T); T: numbertype; use_locking: bool = false
ApplyProximalAdagrad(var: Ref(T), accum: Ref(T), lr: T, l1: T, l2: T, grad: T) -> out: Ref(T); T: numbertype; use_locking: bool = false
ApplyProximalGradientDescent(var: Ref(T), alpha: T, l1: T, l2: T, delta: T) -> out: Ref(T); T: numbertype; use_locking: bool = false
ApplyRMSProp(var: Ref(T), ms: Ref(T), mom: Ref(T), lr: T, rho: T, momentum: T, epsilon: T, grad: T) -> out: Ref(T); T: numbertype; use_locking: bool = false
ApproxTopK(input: T) -> values: T, indices: int32; k: int >= 0; reduction_dimension: int = -1; recall_target: float = 0.95; is_max_k: bool = true; reduction_input_size_override: int = -1; aggregate_to_topk: bool = true; T: {half, bfloat16, float}
ApproximateEqual(x: T, y: T) -> z: bool; T: numbertype; tolerance: float = 1e-05; commutative
ArgMax(input: T, dimension: Tidx) -> output: output_type; T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16, bool}; Tidx: {int16, int32, int64} = int32; output_type: {int16, uint16, int32, int64} = int64
ArgMin(input: T, dimension: Tidx) -> output: output_type; T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16, bool}; Tidx: {int32, int64} = int32; output_type: {int32, int64} = int64
AsString(input: T) -> output: string; T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, complex64, complex128, bool, variant, string}; precision: int = -1; scientific: bool = false; shortest: bool = false; width: int = -1; fill: string = ''
Asin(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
Asinh(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
Assert(condition: bool, data: T); T: list(type) >= 1; summarize: int = 3; stateful
AssertCardinalityDataset(input_dataset: variant, cardinality: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
AssertNextDataset(input_dataset: variant, transformations: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
AssertPrevDataset(input_dataset: variant, transformations: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
Assign(ref: Ref(T), value: T) -> output_ref: Ref(T); T: type; validate_shape: bool = true; use_locking: bool = true; allows_uninitialized_input
AssignAdd(ref: Ref(T), value: T) -> output_ref: Ref(T); T: numbertype; use_locking: bool = false
AssignAddVariableOp(resource: resource, value: dtype); dtype: type; stateful
AssignSub(ref: Ref(T), value: T) -> output_ref: Ref(T); T: numbertype; use_locking: bool = false
AssignSubVariableOp(resource: resource, value: dtype); dtype: type; stateful
AssignVariableOp(resource: resource, value: dtype); dtype: type; validate_shape: bool = false; stateful
AssignVariableXlaConcatND(resource: resource, inputs: N * T); T: type; N: int >= 1; num_concats: list(int); paddings: list(int) = []; stateful
Atan(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
Atan2(y: T, x: T) -> z: T; T: {bfloat16, half, float, double}
Atanh(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
Attr(); a: int
AttrBool(); a: bool
AttrBoolList(); a: list(bool)
AttrDefault(); a: string = 'banana'
AttrEmptyListDefault(); a: list(float) = []
AttrEnum(); a: {'apples', 'oranges'}
AttrEnumList(); a: list({'apples', 'oranges'})
AttrFloat(); a: float
AttrListDefault(); a: list(int) = [5, 15]
AttrListMin(); a: list(int) >= 2
AttrListTypeDefault(a: N * T, b: N * T); T: type = int32; N: int >= 1
AttrMin(); a: int >= 5
AttrPartialShape(); a: shape
AttrPartialShapeList(); a: list(shape)
AttrShape(); a: shape
AttrShapeList(); a: list(shape)
AttrTypeDefault(a: T); T: type = int32
AudioMicrofrontend(audio: int16) -> filterbanks: out_type; sample_rate: int = 16000; window_size: int = 25; window_step: int = 10; num_channels: int = 32; upper_band_limit: float = 7500.0; lower_band_limit: float = 125.0; smoothing_bits: int = 10; even_smoothing: float = 0.025; odd_smoothing: float = 0.06; min_signal_remaining: float = 0.05; enable_pcan: bool = false; pcan_strength: float = 0.95; pcan_offset: float = 80.0; gain_bits: int = 21; enable_log: bool = true; scale_shift: int = 6; left_context: int = 0; right_context: int = 0; frame_stride: int = 1; zero_padding: bool = false; out_scale: int = 1; out_type: {uint16, float} = uint16
AudioSpectrogram(input: float) -> spectrogram: float; window_size: int; stride: int; magnitude_squared: bool = false
AudioSummary(tag: string, tensor: float) -> summary: string; sample_rate: float; max_outputs: int >= 1 = 3; deprecated 15 'Use AudioSummaryV2.'
AudioSummaryV2(tag: string, tensor: float, sample_rate: float) -> summary: string; max_outputs: int >= 1 = 3
AutoShardDataset(input_dataset: variant, num_workers: int64, index: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; auto_shard_policy: int = 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; num_replicas: int = 0
AvgPool(value: T) -> output: T; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: {half, bfloat16, float, double}
AvgPool3D(input: T) -> output: T; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float, double}
AvgPool3DGrad(orig_input_shape: int32, grad: T) -> output: T; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float, double}
AvgPoolGrad(orig_input_shape: int32, grad: T) -> output: T; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: {half, bfloat16, float, double}
B() -> out: float
BandedTriangularSolve(matrix: T, rhs: T) -> output: T; lower: bool = true; adjoint: bool = false; T: {double, float, half, complex64, complex128}
Barrier() -> handle: Ref(string); component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1; container: string = ''; shared_name: string = ''; stateful
BarrierClose(handle: Ref(string)); cancel_pending_enqueues: bool = false
BarrierIncompleteSize(handle: Ref(string)) -> size: int32
BarrierInsertMany(handle: Ref(string), keys: string, values: T); T: type; component_index: int
BarrierReadySize(handle: Ref(string)) -> size: int32
BarrierTakeMany(handle: Ref(string), num_elements: int32) -> indices: int64, keys: string, values: component_types; component_types: list(type) >= 1; allow_small_batch: bool = false; wait_for_incomplete: bool = false; timeout_ms: int = -1
Batch(in_tensors: T) -> batched_tensors: T, batch_index: int64, id: int64; num_batch_threads: int; max_batch_size: int; max_enqueued_batches: int = 10; batch_timeout_micros: int; allowed_batch_sizes: list(int) = []; grad_timeout_micros: int; container: string = ''; shared_name: string = ''; batching_queue: string = ''; T: list(type) >= 1; distributed
BatchCholesky(input: T) -> output: T; T: {double, float}; deprecated 13 'Use Cholesky instead.'
BatchCholeskyGrad(l: T, grad: T) -> output: T; T: {float, double}; deprecated 13 'Use CholeskyGrad instead.'
BatchDataset(input_dataset: variant, batch_size: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
BatchDatasetV2(input_dataset: variant, batch_size: int64, drop_remainder: bool) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; parallel_copy: bool = false; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
BatchFFT(input: complex64) -> output: complex64; deprecated 15 'Use FFT'
BatchFFT2D(input: complex64) -> output: complex64; deprecated 15 'Use FFT2D'
BatchFFT3D(input: complex64) -> output: complex64; deprecated 15 'Use FFT3D'
BatchFunction(in_tensors: Tin, captured_tensors: Tcaptured) -> out_tensors: Tout; f: func; num_batch_threads: int; max_batch_size: int; batch_timeout_micros: int; max_enqueued_batches: int = 10; allowed_batch_sizes: list(int) = []; container: string = ''; shared_name: string = ''; batching_queue: string = ''; low_priority_max_batch_size: int = 0; low_priority_batch_timeout_micros: int = 0; low_priority_allowed_batch_sizes: list(int) = []; low_priority_max_enqueued_batches: int = 0; mixed_priority_policy: {'low_priority_padding_with_max_batch_size', 'low_priority_padding_with_next_allowed_batch_size', 'priority_isolation', 'priority_merge'} = 'low_priority_padding_with_max_batch_size'; batch_padding_policy: {'PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'} = 'PAD_UP'; Tin: list(type) >= 1; Tcaptured: list(type) >= 0; Tout: list(type) >= 1; enable_large_batch_splitting: bool = false; distributed
BatchIFFT(input: complex64) -> output: complex64; deprecated 15 'Use IFFT'
BatchIFFT2D(input: complex64) -> output: complex64; deprecated 15 'Use IFFT2D'
BatchIFFT3D(input: complex64) -> output: complex64; deprecated 15 'Use IFFT3D'
BatchMatMul(x: T, y: T) -> output: T; T: {bfloat16, half, float, double, int32, int64, complex64, complex128}; adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false
BatchMatMulV2(x: T, y: T) -> output: T; T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}; adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false
BatchMatMulV3(x: Ta, y: Tb) -> output: Tout; Ta: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}; Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}; Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}; adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false
BatchMatrixBandPart(input: T, num_lower: int64, num_upper: int64) -> band: T; T: type; deprecated 14 'Use MatrixBandPart'
BatchMatrixDeterminant(input: T) -> output: T; T: {float, double, complex64, complex128}; deprecated 13 'Use MatrixDeterminant instead.'
BatchMatrixDiag(diagonal: T) -> output: T; T: type; deprecated 14 'Use MatrixDiag'
BatchMatrixDiagPart(input: T) -> diagonal: T; T: type; deprecated 14 'Use MatrixDiagPart'
BatchMatrixInverse(input: T) -> output: T; adjoint: bool = false; T: {double, float}; deprecated 13 'Use MatrixInverse instead.'
BatchMatrixSetDiag(input: T, diagonal: T) -> output: T; T: type; deprecated 14 'Use MatrixSetDiag'
BatchMatrixSolve(matrix: T, rhs: T) -> output: T; adjoint: bool = false; T: {double, float}; deprecated 13 'Use MatrixSolve instead.'
BatchMatrixSolveLs(matrix: T, rhs: T, l2_regularizer: double) -> output: T; T: {double, float}; fast: bool = true; deprecated 13 'Use MatrixSolveLs instead.'
BatchMatrixTriangularSolve(matrix: T, rhs: T) -> output: T; lower: bool = true; adjoint: bool = false; T: {double, float}; deprecated 13 'Use MatrixTriangularSolve instead.'
BatchNormWithGlobalNormalization(t: T, m: T, v: T, beta: T, gamma: T) -> result: T; T: numbertype; variance_epsilon: float; scale_after_normalization: bool; deprecated 9 'Use tf.nn.batch_normalization()'
BatchNormWithGlobalNormalizationGrad(t: T, m: T, v: T, gamma: T, backprop: T) -> dx: T, dm: T, dv: T, db: T, dg: T; T: numbertype; variance_epsilon: float; scale_after_normalization: bool; deprecated 9 'Use tf.nn.batch_normalization()'
BatchSelfAdjointEig(input: T) -> output: T; T: {double, float}; deprecated 11 'Use SelfAdjointEigV2 instead.'
BatchSelfAdjointEigV2(input: T) -> e: T, v: T; compute_v: bool = true; T: {double, float}; deprecated 13 'Use SelfAdjointEigV2 instead.'
BatchSvd(input: T) -> s: T, u: T, v: T; compute_uv: bool = true; full_matrices: bool = false; T: {double, float, complex64, complex128}; deprecated 13 'Use Svd instead.'
BatchToSpace(input: T, crops: Tidx) -> output: T; T: type; block_size: int >= 2; Tidx: {int32, int64} = int32
BatchToSpaceND(input: T, block_shape: Tblock_shape, crops: Tcrops) -> output: T; T: type; Tblock_shape: {int32, int64} = int32; Tcrops: {int32, int64} = int32
BesselI0(x: T) -> y: T; T: {bfloat16, half, float, double}
BesselI0e(x: T) -> y: T; T: {bfloat16, half, float, double}
BesselI1(x: T) -> y: T; T: {bfloat16, half, float, double}
BesselI1e(x: T) -> y: T; T: {bfloat16, half, float, double}
BesselJ0(x: T) -> y: T; T: {bfloat16, half, float, double}
BesselJ1(x: T) -> y: T; T: {bfloat16, half, float, double}
BesselK0(x: T) -> y: T; T: {bfloat16, half, float, double}
BesselK0e(x: T) -> y: T; T: {bfloat16, half, float, double}
BesselK1(x: T) -> y: T; T: {bfloat16, half, float, double}
BesselK1e(x: T) -> y: T; T: {bfloat16, half, float, double}
BesselY0(x: T) -> y: T; T: {bfloat16, half, float, double}
BesselY1(x: T) -> y: T; T: {bfloat16, half, float, double}
Betainc(a: T, b: T, x: T) -> z: T; T: {float, double}
BiasAdd(value: T, bias: T) -> output: T; T: numbertype; data_format: {'NHWC', 'NCHW'} = 'NHWC'
BiasAddGrad(out_backprop: T) -> output: T; T: numbertype; data_format: {'NHWC', 'NCHW'} = 'NHWC'
BiasAddV1(value: T, bias: T) -> output: T; T: numbertype
Binary(a: T, b: T) -> out: T; T: type
Bincount(arr: int32, size: int32, weights: T) -> bins: T; T: {int32, int64, float, double}
Bitcast(input: T) -> output: type; T: {bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, complex128, qint8, quint8, qint16, quint16, qint32}; type: {bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, complex128, qint8, quint8, qint16, quint16, qint32}
BitwiseAnd(x: T, y: T) -> z: T; T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}; commutative
BitwiseOr(x: T, y: T) -> z: T; T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}; commutative
BitwiseXor(x: T, y: T) -> z: T; T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}; commutative
BlockLSTM(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T) -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T; forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false; T: {half, float}
BlockLSTMGrad(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, h: T, cs_grad: T, h_grad: T) -> x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T; use_peephole: bool; T: {half, float}
BlockLSTMGradV2(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, h: T, cs_grad: T, h_grad: T) -> x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T; use_peephole: bool; T: {half, float}
BlockLSTMV2(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T) -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T; cell_clip: float = 0.0; use_peephole: bool = false; T: {half, float}
BoostedTreesAggregateStats(node_ids: int32, gradients: float, hessians: float, feature: int32) -> stats_summary: float; max_splits: int >= 1; num_buckets: int >= 1
BoostedTreesBucketize(float_values: num_features * float, bucket_boundaries: num_features * float) -> buckets: num_features * int32; num_features: int >= 0
BoostedTreesCalculateBestFeatureSplit(node_id_range: int32, stats_summary: float, l1: float, l2: float, tree_complexity: float, min_node_weight: float) -> node_ids: int32, gains: float, feature_dimensions: int32, thresholds: int32, left_node_contribs: float, right_node_contribs: float, split_with_default_directions: string; logits_dimension: int >= 1; split_type: {'inequality', 'equality'} = 'inequality'
BoostedTreesCalculateBestFeatureSplitV2(node_id_range: int32, stats_summaries_list: num_features * float, split_types: string, candidate_feature_ids: int32, l1: float, l2: float, tree_complexity: float, min_node_weight: float) -> node_ids: int32, gains: float, feature_ids: int32, feature_dimensions: int32, thresholds: int32, left_node_contribs: float, right_node_contribs: float, split_with_default_directions: string; num_features: int >= 1; logits_dimension: int >= 1
BoostedTreesCalculateBestGainsPerFeature(node_id_range: int32, stats_summary_list: num_features * float, l1: float, l2: float, tree_complexity: float, min_node_weight: float) -> node_ids_list: num_features * int32, gains_list: num_features * float, thresholds_list: num_features * int32, left_node_contribs_list: num_features * float, right_node_contribs_list: num_features * float; max_splits: int >= 1; num_features: int >= 1
BoostedTreesCenterBias(tree_ensemble_handle: resource, mean_gradients: float, mean_hessians: float, l1: float, l2: float) -> continue_centering: bool; stateful
BoostedTreesCreateEnsemble(tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string); stateful
BoostedTreesCreateQuantileStreamResource(quantile_stream_resource_handle: resource, epsilon: float, num_streams: int64); max_elements: int = 1099511627776; stateful
BoostedTreesDeserializeEnsemble(tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string); stateful
BoostedTreesEnsembleResourceHandleOp() -> resource: resource; container: string = ''; shared_name: string = ''; stateful
BoostedTreesExampleDebugOutputs(tree_ensemble_handle: resource, bucketized_features: num_bucketized_features * int32) -> examples_debug_outputs_serialized: string; num_bucketized_features: int >= 1; logits_dimension: int; stateful
BoostedTreesFlushQuantileSummaries(quantile_stream_resource_handle: resource) -> summaries: num_features * float; num_features: int >= 0; stateful
BoostedTreesGetEnsembleStates(tree_ensemble_handle: resource) -> stamp_token: int64, num_trees: int32, num_finalized_trees: int32, num_attempted_layers: int32, last_layer_nodes_range: int32; stateful
BoostedTreesMakeQuantileSummaries(float_values: num_features * float, example_weights: float, epsilon: float) -> summaries: num_features * float; num_features: int >= 0
BoostedTreesMakeStatsSummary(node_ids: int32, gradients: float, hessians: float, bucketized_features_list: num_features * int32) -> stats_summary: float; max_splits: int >= 1; num_buckets: int >= 1; num_features: int >= 1
BoostedTreesPredict(tree_ensemble_handle: resource, bucketized_features: num_bucketized_features * int32) -> logits: float; num_bucketized_features: int >= 1; logits_dimension: int; stateful
BoostedTreesQuantileStreamResourceAddSummaries(quantile_stream_resource_handle: resource, summaries: num_features * float); num_features: int >= 0; stateful
BoostedTreesQuantileStreamResourceDeserialize(quantile_stream_resource_handle: resource, bucket_boundaries: num_streams * float); num_streams: int >= 1; stateful
BoostedTreesQuantileStreamResourceFlush(quantile_stream_resource_handle: resource, num_buckets: int64); generate_quantiles: bool = false; stateful
BoostedTreesQuantileStreamResourceGetBucketBoundaries(quantile_stream_resource_handle: resource) -> bucket_boundaries: num_features * float; num_features: int >= 0; stateful
BoostedTreesQuantileStreamResourceHandleOp() -> resource: resource; container: string = ''; shared_name: string = ''; stateful
BoostedTreesSerializeEnsemble(tree_ensemble_handle: resource) -> stamp_token: int64, tree_ensemble_serialized: string; stateful
BoostedTreesSparseAggregateStats(node_ids: int32, gradients: float, hessians: float, feature_indices: int32, feature_values: int32, feature_shape: int32) -> stats_summary_indices: int32, stats_summary_values: float, stats_summary_shape: int32; max_splits: int >= 1; num_buckets: int >= 1
BoostedTreesSparseCalculateBestFeatureSplit(node_id_range: int32, stats_summary_indices: int32, stats_summary_values: float, stats_summary_shape: int32, l1: float, l2: float, tree_complexity: float, min_node_weight: float) -> node_ids: int32, gains: float, feature_dimensions: int32, thresholds: int32, left_node_contribs: float, right_node_contribs: float, split_with_default_directions: string; logits_dimension: int >= 1; split_type: {'inequality'} = 'inequality'
BoostedTreesTrainingPredict(tree_ensemble_handle: resource, cached_tree_ids: int32, cached_node_ids: int32, bucketized_features: num_bucketized_features * int32) -> partial_logits: float, tree_ids: int32, node_ids: int32; num_bucketized_features: int >= 1; logits_dimension: int; stateful
BoostedTreesUpdateEnsemble(tree_ensemble_handle: resource, feature_ids: int32, node_ids: num_features * int32, gains: num_features * float, thresholds: num_features * int32, left_node_contribs: num_features * float, right_node_contribs: num_features * float, max_depth: int32, learning_rate: float); pruning_mode: int >= 0; num_features: int >= 0; stateful
BoostedTreesUpdateEnsembleV2(tree_ensemble_handle: resource, feature_ids: num_groups * int32, dimension_ids: num_features * int32, node_ids: num_features * int32, gains: num_features * float, thresholds: num_features * int32, left_node_contribs: num_features * float, right_node_contribs: num_features * float, split_types: num_features * string, max_depth: int32, learning_rate: float, pruning_mode: int32); num_features: int >= 0; logits_dimension: int = 1; num_groups: int >= 1 = 1; stateful
BroadcastArgs(s0: T, s1: T) -> r0: T; T: {int32, int64} = int32
BroadcastGradientArgs(s0: T, s1: T) -> r0: T, r1: T; T: {int32, int64} = int32
BroadcastTo(input: T, shape: Tidx) -> output: T; T: type; Tidx: {int32, int64} = int32
Bucketize(input: T) -> output: int32; T: {int32, int64, float, double}; boundaries: list(float)
BytesProducedStatsDataset(input_dataset: variant, tag: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
CSRSparseMatrixComponents(csr_sparse_matrix: variant, index: int32) -> row_ptrs: int32, col_inds: int32, values: type; type: {float, double, complex64, complex128}
CSRSparseMatrixToDense(sparse_input: variant) -> dense_output: type; type: {float, double, complex64, complex128}
CSRSparseMatrixToSparseTensor(sparse_matrix: variant) -> indices: int64, values: type, dense_shape: int64; type: {float, double, complex64, complex128}
CSVDataset(filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list({float, double, int32, int64, string}) >= 1; output_shapes: list(shape) >= 1; stateful
CSVDatasetV2(filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types, exclude_cols: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list({float, double, int32, int64, string}) >= 1; output_shapes: list(shape) >= 1; stateful
CTCBeamSearchDecoder(inputs: T, sequence_length: int32) -> decoded_indices: top_paths * int64, decoded_values: top_paths * int64, decoded_shape: top_paths * int64, log_probability: T; beam_width: int >= 1; top_paths: int >= 1; merge_repeated: bool = true; T: {float, double} = float
CTCGreedyDecoder(inputs: T, sequence_length: int32) -> decoded_indices: int64, decoded_values: int64, decoded_shape: int64, log_probability: T; merge_repeated: bool = false; blank_index: int = -1; T: {float, double} = float
CTCLoss(inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32) -> loss: T, gradient: T; preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; ignore_longer_outputs_than_inputs: bool = false; T: {float, double} = float
CTCLossV2(inputs: float, labels_indices: int64, labels_values: int32, sequence_length: int32) -> loss: float, gradient: float; preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; ignore_longer_outputs_than_inputs: bool = false
CacheDataset(input_dataset: variant, filename: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
CacheDatasetV2(input_dataset: variant, filename: string, cache: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; stateful
CalibrationStatisticsSaver(args: Tin); Tin: list(type) >= 0; ids: list(string) >= 1; calibration_methods: list(int) >= 1; output_file_path: string; stateful
Case(branch_index: int32, input: Tin) -> output: Tout; Tin: list(type) >= 0; Tout: list(type) >= 0; branches: list(func) >= 1; output_shapes: list(shape) = []; stateful
Cast(x: SrcT) -> y: DstT; SrcT: type; DstT: type; Truncate: bool = false
Ceil(x: T) -> y: T; T: {bfloat16, half, float, double}
CheckNumerics(tensor: T) -> output: T; T: {bfloat16, half, float, double}; message: string; stateful
CheckNumericsV2(tensor: T) -> output: T; T: {bfloat16, half, float, double}; message: string; stateful
CheckPinned(tensor: T) -> output: T; T: type
Cholesky(input: T) -> output: T; T: {double, float, half, complex64, complex128}
CholeskyGrad(l: T, grad: T) -> output: T; T: {half, float, double}
ChooseFastestBranchDataset(input_dataset: variant, ratio_numerator: int64, ratio_denominator: int64, other_arguments: Targuments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; Targuments: list(type) >= 0; num_elements_per_branch: int >= 1; branches: list(func) >= 1; other_arguments_lengths: list(int) >= 1; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ChooseFastestDataset(input_datasets: N * variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; N: int >= 2; num_experiments: int; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ClipByValue(t: T, clip_value_min: T, clip_value_max: T) -> output: T; T: numbertype
CloseSummaryWriter(writer: resource); stateful
CollateTPUEmbeddingMemory(memory_configs: N * string) -> merged_memory_config: string; N: int >= 1; stateful
CollectiveAllToAllV2(input: T, group_size: int32, group_key: int32, instance_key: int32, ordering_token: Nordering_token * resource) -> data: T; T: {bfloat16, float, half, double, int32, int64}; communication_hint: string = 'auto'; timeout_seconds: float = 0.0; is_stateless: bool = false; Nordering_token: int >= 0 = 0; stateful; distributed
CollectiveAllToAllV3(input: T, communicator: resource, group_assignment: int32) -> data: T; T: {bfloat16, float, half, double, int32, int64}; timeout_seconds: float = 0.0; stateful; distributed
CollectiveAssignGroupV2(group_assignment: int32, device_index: int32, base_key: int32) -> group_size: int32, group_key: int32; stateful; distributed
CollectiveBcastRecv() -> data: T; T: {bool, float, half, double, int32, int64}; group_size: int; group_key: int; instance_key: int; shape: shape; communication_hint: string = 'auto'; timeout_seconds: float = 0.0; stateful; distributed
CollectiveBcastRecvV2(group_size: int32, group_key: int32, instance_key: int32, shape: Tshape) -> data: T; T: {bool, float, half, double, int32, int64}; Tshape: {int32, int64} = int32; communication_hint: string = 'auto'; timeout_seconds: float = 0.0; stateful; distributed
CollectiveBcastSend(input: T) -> data: T; T: {bool, float, half, double, int32, int64}; group_size: int; group_key: int; instance_key: int; shape: shape; communication_hint: string = 'auto'; timeout_seconds: float = 0.0; stateful; distributed
CollectiveBcastSendV2(input: T, group_size: int32, group_key: int32, instance_key: int32) -> data: T; T: {bool, float, half, double, int32, int64}; communication_hint: string = 'auto'; timeout_seconds: float = 0.0; stateful; distributed
CollectiveGather(input: T) -> data: T; T: {float, half, double, int32, int64}; group_size: int; group_key: int; instance_key: int; shape: shape; communication_hint: string = 'auto'; timeout_seconds: float = 0.0; stateful; distributed
CollectiveGatherV2(input: T, group_size: int32, group_key: int32, instance_key: int32, ordering_token: Nordering_token * resource) -> data: T; T: {float, half, double, int32, int64}; communication_hint: string = 'auto'; timeout_seconds: float = 0.0; is_stateless: bool = false; Nordering_token: int >= 0 = 0; stateful; distributed
CollectiveInitializeCommunicator(group_key: int32, rank: int32, group_size: int32) -> communicator: resource; communication_hint: string = 'auto'; timeout_seconds: float = 0.0; stateful; distributed
CollectivePermute(input: T, source_target_pairs: int32) -> output: T; T: numbertype; stateful
CollectiveReduce(input: T) -> data: T; T: {bfloat16, float, half, double, int32, int64}; group_size: int; group_key: int; instance_key: int; merge_op: {'Min', 'Max', 'Mul', 'Add'}; final_op: {'Id', 'Div'}; subdiv_offsets: list(int); wait_for: list(int) = []; communication_hint: string = 'auto'; timeout_seconds: float = 0.0; stateful; distributed
CollectiveReduceScatterV2(input: T, group_size: int32, group_key: int32, instance_key: int32, ordering_token: Nordering_token * resource) -> data: T; T: {bfloat16, float, half, double, int32, int64}; merge_op: {'Min', 'Max', 'Mul', 'Add'}; final_op: {'Id', 'Div'}; communication_hint: string = 'auto'; timeout_seconds: float = 0.0; is_stateless: bool = false; Nordering_token: int >= 0 = 0; max_subdivs_per_device: int = -1; stateful; distributed
CollectiveReduceV2(input: T, group_size: int32, group_key: int32, instance_key: int32, ordering_token: Nordering_token * resource) -> data: T; T: {bfloat16, float, half, double, int32, int64}; merge_op: {'Min', 'Max', 'Mul', 'Add'}; final_op: {'Id', 'Div'}; communication_hint: string = 'auto'; timeout_seconds: float = 0.0; is_stateless: bool = false; Nordering_token: int >= 0 = 0; max_subdivs_per_device: int = -1; stateful; distributed
CollectiveReduceV3(input: T, communicator: resource, group_assignment: int32) -> data: T; T: {bfloat16, float, half, double, int32, int64}; reduction: {'Min', 'Max', 'Mul', 'Add'}; timeout_seconds: float = 0.0; stateful; distributed
CombinedNonMaxSuppression(boxes: float, scores: float, max_output_size_per_class: int32, max_total_size: int32, iou_threshold: float, score_threshold: float) -> nmsed_boxes: float, nmsed_scores: float, nmsed_classes: float, valid_detections: int32; pad_per_class: bool = false; clip_boxes: bool = true
Complex(real: T, imag: T) -> out: Tout; T: {float, double} = float; Tout: {complex64, complex128} = complex64
ComplexAbs(x: T) -> y: Tout; T: {complex64, complex128} = complex64; Tout: {float, double} = float
ComplexStruct() -> a: n_a * int32, b: n_b * int64, c: t_c; n_a: int >= 0; n_b: int >= 0; t_c: list(type) >= 0
CompositeTensorVariantFromComponents(components: Tcomponents) -> encoded: variant; metadata: string; Tcomponents: list(type) >= 0
CompositeTensorVariantToComponents(encoded: variant) -> components: Tcomponents; metadata: string; Tcomponents: list(type) >= 0
CompressElement(components: input_types) -> compressed: variant; input_types: list(type) >= 1
ComputeAccidentalHits(true_classes: int64, sampled_candidates: int64) -> indices: int32, ids: int64, weights: float; num_true: int; seed: int = 0; seed2: int = 0
ComputeBatchSize(input_dataset: variant) -> batch_size: int64
ComputeDedupDataSize() -> num_elements: int32; config: string; stateful
ComputeDedupDataSizeV2() -> num_elements: int32; config: string; embedding_partitions: string; hbm_buffers_config: string; tpu_topology: string; stateful
ComputeDedupDataTupleMask() -> output_shape: int32; config: string; stateful
ComputeDedupDataTupleMaskV2() -> output_shape: int32; config: string; embedding_partitions: string; hbm_buffers_config: string; tpu_topology: string; stateful
Concat(concat_dim: int32, values: N * T) -> output: T; N: int >= 2; T: type
ConcatOffset(concat_dim: int32, shape: N * shape_type) -> offset: N * shape_type; N: int >= 2; shape_type: {int32, int64} = int32
ConcatV2(values: N * T, axis: Tidx) -> output: T; N: int >= 2; T: type; Tidx: {int32, int64} = int32
ConcatenateDataset(input_dataset: variant, another_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
ConditionalAccumulator() -> handle: Ref(string); dtype: numbertype; shape: shape; container: string = ''; shared_name: string = ''; reduction_type: {'MEAN', 'SUM'} = 'MEAN'; stateful
ConfigureAndInitializeGlobalTPU() -> output: int32; use_tfrt_host_runtime: bool = true; stateful
ConfigureDistributedTPU() -> topology: string; embedding_config: string = ''; tpu_embedding_config: string = ''; is_global_init: bool = false; enable_whole_mesh_compilations: bool = false; compilation_failure_closes_chips: bool = true; tpu_cancellation_closes_chips: int = 0; stateful
ConfigureTPUEmbedding(); config: string; stateful
ConfigureTPUEmbeddingHost(common_config: string, memory_config: string) -> network_config: string; config: string; stateful
ConfigureTPUEmbeddingMemory(common_config: string) -> memory_config: string; stateful
Conj(input: T) -> output: T; T: {complex64, complex128, variant} = complex64
ConjugateTranspose(x: T, perm: Tperm) -> y: T; T: type; Tperm: {int32, int64} = int32
ConnectTPUEmbeddingHosts(network_configs: N * string); N: int >= 1; stateful
Const() -> output: dtype; value: tensor; dtype: type
ConstructionFails()
ConsumeMutexLock(mutex_lock: variant); stateful
ControlTrigger()
Conv(input: T, filter: T) -> output: T; T: {half, bfloat16, float, double, int32}; strides: list(int); padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'CHANNELS_FIRST', 'CHANNELS_LAST'} = 'CHANNELS_LAST'; dilations: list(int) = []; batch_dims: int = 1; groups: int = 1
Conv2D(input: T, filter: T) -> output: T; T: {half, bfloat16, float, double, int32}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> output: T; T: {half, bfloat16, float, double}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
Conv2DBackpropFilterV2(input: T, filter: T, out_backprop: T) -> output: T; T: {half, bfloat16, float, double}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> output: T; T: {half, bfloat16, float, double, int32}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
Conv2DBackpropInputV2(input: T, filter: T, out_backprop: T) -> output: T; T: {half, bfloat16, float, double, int32}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
Conv3D(input: T, filter: T) -> output: T; T: {half, bfloat16, float, double}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]
Conv3DBackpropFilter(input: T, filter: T, out_backprop: T) -> output: T; T: {half, float, double}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1, 1]; deprecated 10 'Use Conv3DBackpropFilterV2'
Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T) -> output: T; T: {half, bfloat16, float, double}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]
Conv3DBackpropInput(input: T, filter: T, out_backprop: T) -> output: T; T: {half, float, double}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1, 1]; deprecated 10 'Use Conv3DBackpropInputV2'
Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T) -> output: T; T: {half, bfloat16, float, double}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]; Tshape: {int32, int64} = int32
ConvertToCooTensor(indices_or_row_splits: int32, values: int32, weights: float) -> row_ids: int32, col_ids: int32, gains: float; sample_count: int >= 1; combiner: string; stateful
ConvertToListOfSparseCoreCooTensors(indices_or_row_splits: int32, values: int32, weights: float) -> row_ids_list: num_sc_per_chip * int32, col_ids_list: num_sc_per_chip * int32, gains_list: num_sc_per_chip * float; sample_count: int >= 1; num_sc_per_chip: int >= 1; row_offset: int >= 0; col_offset: int >= 0; col_shift: int >= 0; num_sc_shards: int >= 1; stacked_table_sample_count: int >= 1; combiner: string
ConvertToSparseCoreCsrWrappedCooTensor(sorted_row_ids_list: num_sc_per_chip * int32, sorted_col_ids_list: num_sc_per_chip * int32, sorted_gains_list: num_sc_per_chip * float, id_counts_list: num_sc_per_chip * int32, splits: int64) -> row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, row_pointers_unpadded_size: int32, ids_unpadded_size: int32, num_minibatches_per_sc: int32; sample_count_per_sc: int >= 1; num_replica: int >= 1; max_minibatches_per_sc: int >= 1; max_ids_per_chip_per_sample: int >= 1; table_vocab_size: int >= 1; feature_width: int >= 1; num_sc_per_chip: int >= 1; table_name: string; allow_id_dropping: bool
Copy(input: T) -> output: T; T: type; tensor_name: string = ''; debug_ops_spec: list(string) = []; allows_uninitialized_input
CopyHost(input: T) -> output: T; T: type; tensor_name: string = ''; debug_ops_spec: list(string) = []; allows_uninitialized_input
CopyOp(a: T) -> b: T; T: type
CopyToMesh(input: T) -> output: T; mesh: string; T: type
CopyToMeshGrad(input: T, forward_input: T) -> output: T; T: type
Cos(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
Cosh(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
CountUpTo(ref: Ref(T)) -> output: T; limit: int; T: {int32, int64}
CreateSummaryDbWriter(writer: resource, db_uri: string, experiment_name: string, run_name: string, user_name: string); stateful
CreateSummaryFileWriter(writer: resource, logdir: string, max_queue: int32, flush_millis: int32, filename_suffix: string); stateful
CropAndResize(image: T, boxes: float, box_ind: int32, crop_size: int32) -> crops: float; T: {uint8, uint16, int8, int16, int32, int64, half, float, double}; method: {'bilinear', 'nearest'} = 'bilinear'; extrapolation_value: float = 0.0
CropAndResizeGradBoxes(grads: float, image: T, boxes: float, box_ind: int32) -> output: float; T: {uint8, uint16, int8, int16, int32, int64, half, float, double}; method: {'bilinear'} = 'bilinear'
CropAndResizeGradImage(grads: float, boxes: float, box_ind: int32, image_size: int32) -> output: T; T: {float, half, double}; method: {'bilinear', 'nearest'} = 'bilinear'
Cross(a: T, b: T) -> product: T; T: realnumbertype
CrossReplicaSum(input: T, group_assignment: int32) -> output: T; T: {half, bfloat16, float, double, int32, uint32}; stateful
CudnnRNN(input: T, input_h: T, input_c: T, params: T) -> output: T, output_h: T, output_c: T, reserve_space: T; T: {bfloat16, half, float, double}; rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0.0; seed: int = 0; seed2: int = 0; is_training: bool = true; stateful
CudnnRNNBackprop(input: T, input_h: T, input_c: T, params: T, output: T, output_h: T, output_c: T, output_backprop: T, output_h_backprop: T, output_c_backprop: T, reserve_space: T) -> input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T; T: {bfloat16, half, float, double}; rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0.0; seed: int = 0; seed2: int = 0; stateful
CudnnRNNBackpropV2(input: T, input_h: T, input_c: T, params: T, output: T, output_h: T, output_c: T, output_backprop: T, output_h_backprop: T, output_c_backprop: T, reserve_space: T, host_reserved: int8) -> input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T; T: {bfloat16, half, float, double}; rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0.0; seed: int = 0; seed2: int = 0; stateful
CudnnRNNBackpropV3(input: T, input_h: T, input_c: T, params: T, sequence_lengths: int32, output: T, output_h: T, output_c: T, output_backprop: T, output_h_backprop: T, output_c_backprop: T, reserve_space: T, host_reserved: int8) -> input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T; T: {bfloat16, half, float, double}; rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0.0; seed: int = 0; seed2: int = 0; num_proj: int = 0; time_major: bool = true; stateful
CudnnRNNCanonicalToParams(num_layers: int32, num_units: int32, input_size: int32, weights: num_params * T, biases: num_params * T) -> params: T; T: {bfloat16, half, float, double}; num_params: int >= 1; rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0.0; seed: int = 0; seed2: int = 0
CudnnRNNCanonicalToParamsV2(num_layers: int32, num_units: int32, input_size: int32, weights: num_params_weights * T, biases: num_params_biases * T) -> params: T; T: {bfloat16, half, float, double}; num_params_weights: int >= 1; num_params_biases: int >= 1; rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0.0; seed: int = 0; seed2: int = 0; num_proj: int = 0
CudnnRNNParamsSize(num_layers: int32, num_units: int32, input_size: int32) -> params_size: S; T: {bfloat16, half, float, double}; S: {int32, int64}; rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0.0; seed: int = 0; seed2: int = 0; num_proj: int = 0
CudnnRNNParamsToCanonical(num_layers: int32, num_units: int32, input_size: int32, params: T) -> weights: num_params * T, biases: num_params * T; T: {bfloat16, half, float, double}; num_params: int >= 1; rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0.0; seed: int = 0; seed2: int = 0
CudnnRNNParamsToCanonicalV2(num_layers: int32, num_units: int32, input_size: int32, params: T) -> weights: num_params_weights * T, biases: num_params_biases * T; T: {bfloat16, half, float, double}; num_params_weights: int >= 1; num_params_biases: int >= 1; rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0.0; seed: int = 0; seed2: int = 0; num_proj: int = 0
CudnnRNNV2(input: T, input_h: T, input_c: T, params: T) -> output: T, output_h: T, output_c: T, reserve_space: T, host_reserved: int8; T: {bfloat16, half, float, double}; rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0.0; seed: int = 0; seed2: int = 0; is_training: bool = true; stateful
CudnnRNNV3(input: T, input_h: T, input_c: T, params: T, sequence_lengths: int32) -> output: T, output_h: T, output_c: T, reserve_space: T, host_reserved: int8; T: {bfloat16, half, float, double}; rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0.0; seed: int = 0; seed2: int = 0; num_proj: int = 0; is_training: bool = true; time_major: bool = true; stateful
Cumprod(x: T, axis: Tidx) -> out: T; exclusive: bool = false; reverse: bool = false; T: numbertype; Tidx: {int32, int64} = int32
Cumsum(x: T, axis: Tidx) -> out: T; exclusive: bool = false; reverse: bool = false; T: numbertype; Tidx: {int32, int64} = int32
CumulativeLogsumexp(x: T, axis: Tidx) -> out: T; exclusive: bool = false; reverse: bool = false; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32
CustomAggregator(input: float) -> output: float, min: float, max: float, histogram: int64; id: string; calibration_method: int = 0; num_bins: int = 0; min_percentile: float = 0.0; max_percentile: float = 0.0
DTensorAllGather(input: T) -> output: T; T: {half, bfloat16, float, double, int8, uint8, int32, uint32, int64, uint64, bool}; input_layout: string; output_layout: string
DTensorAllReduce(input: T, group_assignment: int32) -> output: T; T: {half, bfloat16, float, double, int8, uint8, int32, uint32, int64, uint64, bool}; reduce_op: {'Min', 'Max', 'Mul', 'Add', 'Mean', 'Any', 'All'}; device_type: string
DTensorAllScatter(input: T) -> output: T; T: {half, bfloat16, float, double, int8, uint8, int32, uint32, int64, uint64, bool, string}; input_layout: string; output_layout: string
DTensorAllToAll(input: T) -> output: T; T: {half, bfloat16, float, double, int32, uint32, int64, bool}; input_layout: string; output_layout: string
DTensorReduceScatter(input: T, group_assignment: int32, scatter_dimension: int32) -> output: T; T: {half, bfloat16, float, int32, uint32, int64, bool}; reduce_op: {'Min', 'Max', 'Mul', 'Add', 'Mean', 'Any', 'All'}; device_type: string
DTensorRestoreV2(prefix: string, tensor_names: string, shape_and_slices: string) -> tensors: dtypes; input_shapes: list(shape); input_layouts: list(string); dtypes: list(type) >= 1; stateful
DTensorSetGlobalTPUArray(topology: string); stateful
DataFormatDimMap(x: T) -> y: T; T: {int32, int64} = int32; src_format: string = 'NHWC'; dst_format: string = 'NCHW'
DataFormatVecPermute(x: T) -> y: T; T: {int32, int64} = int32; src_format: string = 'NHWC'; dst_format: string = 'NCHW'
DataServiceDataset(dataset_id: int64, processing_mode: string, address: string, protocol: string, job_name: string, max_outstanding_requests: int64, iteration_counter: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; task_refresh_interval_hint_ms: int = -1; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; data_transfer_protocol: string = ''; target_workers: string = 'AUTO'; cross_trainer_cache_options: string = ''; stateful
DataServiceDatasetV2(dataset_id: int64, processing_mode: string, address: string, protocol: string, job_name: string, consumer_index: int64, num_consumers: int64, max_outstanding_requests: int64, iteration_counter: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; task_refresh_interval_hint_ms: int = -1; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; data_transfer_protocol: string = ''; target_workers: string = 'AUTO'; cross_trainer_cache_options: string = ''; stateful
DataServiceDatasetV3(dataset_id: int64, processing_mode: string, address: string, protocol: string, job_name: string, consumer_index: int64, num_consumers: int64, max_outstanding_requests: int64, iteration_counter: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; task_refresh_interval_hint_ms: int = -1; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; data_transfer_protocol: string = ''; target_workers: string = 'AUTO'; uncompress: bool = false; uncompress_fn: func; cross_trainer_cache_options: string = ''; stateful
DataServiceDatasetV4(dataset_id: string, processing_mode: string, address: string, protocol: string, job_name: string, consumer_index: int64, num_consumers: int64, max_outstanding_requests: int64, iteration_counter: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; task_refresh_interval_hint_ms: int = -1; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; data_transfer_protocol: string = ''; target_workers: string = 'AUTO'; uncompress: bool = false; uncompress_fn: func; cross_trainer_cache_options: string = ''; stateful
DatasetCardinality(input_dataset: variant) -> cardinality: int64; cardinality_options: string = ''
DatasetFingerprint(input_dataset: variant) -> fingerprint: uint64
DatasetFromGraph(graph_def: string) -> handle: variant :: DATASET[ANY]
DatasetToGraph(input_dataset: variant) -> graph: string; stateful_whitelist: list(string) >= 0 = []; allow_stateful: bool = false; strip_device_assignment: bool = false
DatasetToGraphV2(input_dataset: variant) -> graph: string; external_state_policy: int = 0; strip_device_assignment: bool = false
DatasetToSingleElement(dataset: variant) -> components: output_types; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; stateful
DatasetToTFRecord(input_dataset: variant, filename: string, compression_type: string); stateful
Dawsn(x: T) -> y: T; T: {bfloat16, half, float, double}
DebugGradientIdentity(input: T) -> output: T; T: type; allows_uninitialized_input
DebugGradientRefIdentity(input: Ref(T)) -> output: Ref(T); T: type; allows_uninitialized_input
DebugIdentity(input: T) -> output: T; T: type; device_name: string = ''; tensor_name: string = ''; debug_urls: list(string) = []; gated_grpc: bool = false; allows_uninitialized_input
DebugIdentityV2(input: T) -> output: T; T: type; tfdbg_context_id: string = ''; op_name: string = ''; output_slot: int = -1; tensor_debug_mode: int = -1; debug_urls: list(string) = []; circular_buffer_size: int = 1000; tfdbg_run_id: string = ''; stateful
DebugIdentityV3(input: T) -> output: T; T: type; device_name: string = ''; tensor_name: string = ''; io_of_node: string = ''; is_input: bool = false; io_index: int = -1; debug_urls: list(string) = []; gated_grpc: bool = false; stateful; allows_uninitialized_input
DebugNanCount(input: T) -> output: int64; T: type; device_name: string = ''; tensor_name: string = ''; debug_urls: list(string) = []; gated_grpc: bool = false; allows_uninitialized_input
DebugNumericSummary(input: T) -> output: double; T: type; device_name: string = ''; tensor_name: string = ''; debug_urls: list(string) = []; lower_bound: float = -inf; upper_bound: float = inf; mute_if_healthy: bool = false; gated_grpc: bool = false; allows_uninitialized_input
DebugNumericSummaryV2(input: T) -> output: output_dtype; output_dtype: {float, double} = float; T: type; tensor_debug_mode: int = -1; tensor_id: int = -1
DecodeAndCropJpeg(contents: string, crop_window: int32) -> image: uint8; channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; try_recover_truncated: bool = false; acceptable_fraction: float = 1.0; dct_method: string = ''
DecodeBase64(input: string) -> output: string
DecodeBmp(contents: string) -> image: uint8; channels: int = 0
DecodeCSV(records: string, record_defaults: OUT_TYPE) -> output: OUT_TYPE; OUT_TYPE: list({float, double, int32, int64, string}) >= 1; field_delim: string = ','; use_quote_delim: bool = true; na_value: string = ''; select_cols: list(int) = []
DecodeCompressed(bytes: string) -> output: string; compression_type: string = ''
DecodeGif(contents: string) -> image: uint8
DecodeImage(contents: string) -> image: dtype; channels: int = 0; dtype: {uint8, uint16, float} = uint8; expand_animations: bool = true
DecodeJSONExample(json_examples: string) -> binary_examples: string
DecodeJpeg(contents: string) -> image: uint8; channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; try_recover_truncated: bool = false; acceptable_fraction: float = 1.0; dct_method: string = ''
DecodeJxl(contents: string) -> image: dtype; channels: int = 0; dtype: {uint8} = uint8
DecodePaddedRaw(input_bytes: string, fixed_length: int32) -> output: out_type; out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}; little_endian: bool = true
DecodePng(contents: string) -> image: dtype; channels: int = 0; dtype: {uint8, uint16} = uint8
DecodeProtoV2(bytes: string) -> sizes: int32, values: output_types; message_type: string; field_names: list(string); output_types: list(type) >= 0; descriptor_source: string = 'local://'; message_format: string = 'binary'; sanitize: bool = false
DecodeRaw(bytes: string) -> output: out_type; out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, complex128, bool, bfloat16}; little_endian: bool = true
DecodeWav(contents: string) -> audio: float, sample_rate: int32; desired_channels: int = -1; desired_samples: int = -1
DecodeWebP(contents: string) -> image: dtype; channels: int = 0; dtype: {uint8} = uint8
DeepCopy(x: T) -> y: T; T: type; stateful
DefaultAttrs(); string_val: string = 'abc'; string_list_val: list(string) = ['abc', '']; int_val: int = 123; int_list_val: list(int) = [1, 2, 3]; float_val: float = 10.0; float_list_val: list(float) = [10.0]; bool_val: bool = true; bool_list_val: list(bool) = [true, false]; type_val: type = int32; type_list_val: list(type) = [int32, float]; shape_val: shape = [2, 1]; shape_list_val: list(shape) = [[], [1]]; tensor_val: tensor = tensor 'dtype: DT_INT32\ntensor_shape {\n}\nint_val: 1\n'; tensor_list_val: list(tensor) = [tensor 'dtype: DT_INT32\ntensor_shape {\n}\nint_val: 1\n']
DeleteIterator(handle: resource, deleter: variant); stateful
DeleteMemoryCache(handle: resource, deleter: variant); stateful
DeleteMultiDeviceIterator(multi_device_iterator: resource, iterators: N * resource, deleter: variant); N: int >= 0; stateful
DeleteRandomSeedGenerator(handle: resource, deleter: variant); stateful
DeleteRpcFutureResource(handle: resource, deleter: variant); stateful
DeleteSeedGenerator(handle: resource, deleter: variant); stateful
DeleteSessionTensor(handle: string); stateful
DenseBincount(input: Tidx, size: Tidx, weights: T) -> output: T; Tidx: {int32, int64}; T: {int32, int64, float, double}; binary_output: bool = false
DenseCountSparseOutput(values: T, weights: output_type) -> output_indices: int64, output_values: output_type, output_dense_shape: int64; T: {int32, int64}; minlength: int >= -1 = -1; maxlength: int >= -1 = -1; binary_output: bool; output_type: {int32, int64, float, double}
DenseToCSRSparseMatrix(dense_input: T, indices: int64) -> sparse_output: variant; T: {float, double, complex64, complex128}
DenseToDenseSetOperation(set1: T, set2: T) -> result_indices: int64, result_values: T, result_shape: int64; set_operation: string; validate_indices: bool = true; T: {int8, int16, int32, int64, uint8, uint16, string}
DenseToSparseBatchDataset(input_dataset: variant, batch_size: int64, row_shape: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
DenseToSparseSetOperation(set1: T, set2_indices: int64, set2_values: T, set2_shape: int64) -> result_indices: int64, result_values: T, result_shape: int64; set_operation: string; validate_indices: bool = true; T: {int8, int16, int32, int64, uint8, uint16, string}
DepthToSpace(input: T) -> output: T; T: type; block_size: int >= 2; data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'
DepthwiseConv2dNative(input: T, filter: T) -> output: T; T: {half, bfloat16, float, double}; strides: list(int); padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> output: T; T: {half, bfloat16, float, double}; strides: list(int); padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> output: T; T: {half, bfloat16, float, double}; strides: list(int); padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
Dequantize(input: T, min_range: float, max_range: float) -> output: dtype; T: quantizedtype; mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'; narrow_range: bool = false; axis: int = -1; dtype: {bfloat16, float} = float
DeserializeIterator(resource_handle: resource, serialized: variant); stateful
DeserializeManySparse(serialized_sparse: string) -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64; dtype: type
DeserializeSparse(serialized_sparse: Tserialized) -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64; dtype: type; Tserialized: {string, variant} = string
DestroyResourceOp(resource: resource); ignore_lookup_error: bool = true; stateful
DestroyTemporaryVariable(ref: Ref(T)) -> value: T; T: type; var_name: string
DeviceIndex() -> index: int32; device_names: list(string); stateful
DevicePlacementOp() -> device: string; stateful
Diag(diagonal: T) -> output: T; T: {bfloat16, half, float, double, int32, int64, complex64, complex128}
DiagPart(input: T) -> diagonal: T; T: {bfloat16, half, float, double, int32, int64, complex64, complex128}
Digamma(x: T) -> y: T; T: {bfloat16, half, float, double}
Dilation2D(input: T, filter: T) -> output: T; T: realnumbertype; strides: list(int) >= 4; rates: list(int) >= 4; padding: {'SAME', 'VALID'}
Dilation2DBackpropFilter(input: T, filter: T, out_backprop: T) -> filter_backprop: T; T: realnumbertype; strides: list(int) >= 4; rates: list(int) >= 4; padding: {'SAME', 'VALID'}
Dilation2DBackpropInput(input: T, filter: T, out_backprop: T) -> in_backprop: T; T: realnumbertype; strides: list(int) >= 4; rates: list(int) >= 4; padding: {'SAME', 'VALID'}
DirectedInterleaveDataset(selector_input_dataset: variant, data_input_datasets: N * variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1; stop_on_empty_dataset: bool = false
DisableCopyOnRead(resource: resource); stateful
DistributedSave(dataset: variant, directory: string, address: string); metadata: string = ''; stateful
Div(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64, complex128}
DivNoNan(x: T, y: T) -> z: T; T: {half, float, bfloat16, double, complex64, complex128}
DrawBoundingBoxes(images: T, boxes: float) -> output: T; T: {float, half} = float
DrawBoundingBoxesV2(images: T, boxes: float, colors: float) -> output: T; T: {float, half} = float
DtypeWithDefaultOp(in: T) -> dtype: string; T: type = uint8; stateful
DummyIterationCounter() -> handle: resource; stateful
DummyMemoryCache() -> handle: resource; stateful
DummySeedGenerator() -> handle: resource; stateful
DumpTensor(tensor_data: T); log_dir_path: string; file_name: string; T: type; enabled: bool; func_name: string; node_name: string; stateful
DynamicEnqueueTPUEmbeddingArbitraryTensorBatch(sample_indices_or_row_splits: N * T1, embedding_indices: N * T2, aggregation_weights: N * T3, mode_override: string, device_ordinal: int32); T1: {int32, int64} = int32; T2: {int32, int64} = int32; T3: {float, double} = float; N: int >= 1; combiners: list(string) = []; stateful
DynamicEnqueueTPUEmbeddingRaggedTensorBatch(sample_splits: N * T1, embedding_indices: N * T2, aggregation_weights: N * T3, mode_override: string, device_ordinal: int32); T1: {int32, int64} = int32; T2: {int32, int64} = int32; T3: {float, double} = float; N: int >= 1; combiners: list(string) = []; table_ids: list(int); max_sequence_lengths: list(int) = []; num_features: list(int) = []; stateful
DynamicPartition(data: T, partitions: int32) -> outputs: num_partitions * T; num_partitions: int >= 1; T: type
DynamicStitch(indices: N * int32, data: N * T) -> merged: T; N: int >= 1; T: type
EagerPyFunc(input: Tin) -> output: Tout; token: string; is_async: bool = false; Tin: list(type) >= 0; Tout: list(type) >= 0; stateful
EditDistance(hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, truth_values: T, truth_shape: int64) -> output: float; normalize: bool = true; T: type
Eig(input: T) -> e: Tout, v: Tout; compute_v: bool = true; T: {float, double, complex64, complex128}; Tout: {complex64, complex128}
Einsum(inputs: N * T) -> output: T; equation: string; N: int >= 1; T: type
Elu(features: T) -> activations: T; T: {half, bfloat16, float, double}
EluGrad(gradients: T, outputs: T) -> backprops: T; T: {half, bfloat16, float, double}
Empty(shape: int32) -> output: dtype; dtype: type; init: bool = false; stateful
EmptyTensorList(element_shape: shape_type, max_num_elements: int32) -> handle: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type; shape_type: {int32, int64}
EmptyTensorMap() -> handle: variant
EncodeBase64(input: string) -> output: string; pad: bool = false
EncodeJpeg(image: uint8) -> contents: string; format: {'', 'grayscale', 'rgb'} = ''; quality: int = 95; progressive: bool = false; optimize_size: bool = false; chroma_downsampling: bool = true; density_unit: {'in', 'cm'} = 'in'; x_density: int = 300; y_density: int = 300; xmp_metadata: string = ''
EncodeJpegVariableQuality(images: uint8, quality: int32) -> contents: string
EncodePng(image: T) -> contents: string; compression: int = -1; T: {uint8, uint16} = uint8
EncodeProto(sizes: int32, values: Tinput_types) -> bytes: string; field_names: list(string); message_type: string; descriptor_source: string = 'local://'; Tinput_types: list(type) >= 1
EncodeWav(audio: float, sample_rate: int32) -> contents: string
EnqueueTPUEmbeddingArbitraryTensorBatch(sample_indices_or_row_splits: N * T1, embedding_indices: N * T2, aggregation_weights: N * T3, mode_override: string); T1: {int32, int64} = int32; T2: {int32, int64} = int32; T3: {float, double} = float; N: int >= 1; device_ordinal: int = -1; combiners: list(string) = []; stateful
EnqueueTPUEmbeddingBatch(batch: N * string, mode_override: string); N: int >= 1; device_ordinal: int = -1; combiners: list(string) = []; stateful
EnqueueTPUEmbeddingIntegerBatch(batch: N * int32, mode_override: string); N: int >= 1; device_ordinal: int = -1; stateful
EnqueueTPUEmbeddingRaggedTensorBatch(sample_splits: N * T1, embedding_indices: N * T2, aggregation_weights: N * T3, mode_override: string); T1: {int32, int64} = int32; T2: {int32, int64} = int32; T3: {float, double} = float; N: int >= 1; device_ordinal: int = -1; combiners: list(string) = []; table_ids: list(int); max_sequence_lengths: list(int) = []; num_features: list(int) = []; stateful
EnqueueTPUEmbeddingSparseBatch(sample_indices: N * T1, embedding_indices: N * T2, aggregation_weights: N * T3, mode_override: string); T1: {int32, int64} = int32; T2: {int32, int64} = int32; T3: {float, double} = float; N: int >= 1; device_ordinal: int = -1; combiners: list(string) = []; stateful
EnqueueTPUEmbeddingSparseTensorBatch(sample_indices: N * T1, embedding_indices: N * T2, aggregation_weights: N * T3, mode_override: string); T1: {int32, int64} = int32; T2: {int32, int64} = int32; T3: {float, double} = float; N: int >= 1; device_ordinal: int = -1; combiners: list(string) = []; table_ids: list(int); max_sequence_lengths: list(int) = []; num_features: list(int) = []; stateful
EnsureShape(input: T) -> output: T; shape: shape; T: type
Enter(data: T) -> output: T; T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10
Equal(x: T, y: T) -> z: bool; T: type; incompatible_shape_error: bool = true; commutative
Erf(x: T) -> y: T; T: {bfloat16, half, float, double}
Erfc(x: T) -> y: T; T: {bfloat16, half, float, double}
Erfinv(x: T) -> y: T; T: {bfloat16, half, float, double}
EuclideanNorm(input: T, reduction_indices: Tidx) -> output: T; keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = int32
ExecuteTPUEmbeddingPartitioner() -> common_config: string; config: string; stateful
Exit(data: T) -> output: T; T: type
Exp(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
ExpandDims(input: T, dim: Tdim) -> output: T; T: type; Tdim: {int32, int64} = int32
ExperimentalAssertNextDataset(input_dataset: variant, transformations: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalAutoShardDataset(input_dataset: variant, num_workers: int64, index: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; auto_shard_policy: int = 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalBytesProducedStatsDataset(input_dataset: variant, tag: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalCSVDataset(filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list({float, double, int32, int64, string}) >= 1; output_shapes: list(shape) >= 1; stateful
ExperimentalChooseFastestDataset(input_datasets: N * variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; N: int >= 2; num_experiments: int; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalDatasetCardinality(input_dataset: variant) -> cardinality: int64
ExperimentalDatasetToTFRecord(input_dataset: variant, filename: string, compression_type: string); stateful
ExperimentalDenseToSparseBatchDataset(input_dataset: variant, batch_size: int64, row_shape: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalDirectedInterleaveDataset(selector_input_dataset: variant, data_input_datasets: N * variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1
ExperimentalGroupByReducerDataset(input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, init_func_other_arguments: Tinit_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, finalize_func_other_arguments: Tfinalize_func_other_arguments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; key_func: func; init_func: func; reduce_func: func; finalize_func: func; Tkey_func_other_arguments: list(type) >= 0; Tinit_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) >= 0; Tfinalize_func_other_arguments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
ExperimentalGroupByWindowDataset(input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, window_size_func_other_arguments: Twindow_size_func_other_arguments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; key_func: func; reduce_func: func; window_size_func: func; Tkey_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) >= 0; Twindow_size_func_other_arguments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalIgnoreErrorsDataset(input_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; log_warning: bool = false
ExperimentalIteratorGetDevice(resource: resource) -> device: string; stateful
ExperimentalLMDBDataset(filenames: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
ExperimentalLatencyStatsDataset(input_dataset: variant, tag: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalMapAndBatchDataset(input_dataset: variant, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; preserve_cardinality: bool = false
ExperimentalMapDataset(input_dataset: variant, other_arguments: Targuments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; use_inter_op_parallelism: bool = true; preserve_cardinality: bool = false; force_synchronous: bool = false
ExperimentalMatchingFilesDataset(patterns: string) -> handle: variant :: DATASET[TENSOR[STRING]]; stateful
ExperimentalMaxIntraOpParallelismDataset(input_dataset: variant, max_intra_op_parallelism: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalNonSerializableDataset(input_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalParallelInterleaveDataset(input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalParseExampleDataset(input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; sparse_types: list({float, int64, string}) >= 0; Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; sloppy: bool = false
ExperimentalPrivateThreadPoolDataset(input_dataset: variant, num_threads: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalRandomDataset(seed: int64, seed2: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
ExperimentalRebatchDataset(input_dataset: variant, num_replicas: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; use_fallback: bool = true
ExperimentalScanDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; preserve_cardinality: bool = false
ExperimentalSetStatsAggregatorDataset(input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
ExperimentalSleepDataset(input_dataset: variant, sleep_microseconds: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalSlidingWindowDataset(input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalSqlDataset(driver_name: string, data_source_name: string, query: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
ExperimentalStatsAggregatorHandle() -> handle: resource; container: string = ''; shared_name: string = ''; stateful
ExperimentalStatsAggregatorSummary(iterator: resource) -> summary: string; stateful
ExperimentalTakeWhileDataset(input_dataset: variant, other_arguments: Targuments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; predicate: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalThreadPoolDataset(input_dataset: variant, thread_pool: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
ExperimentalThreadPoolHandle() -> handle: resource; num_threads: int; max_intra_op_parallelism: int = 1; display_name: string; container: string = ''; shared_name: string = ''; stateful
ExperimentalUnbatchDataset(input_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
ExperimentalUniqueDataset(input_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
Expint(x: T) -> y: T; T: {bfloat16, half, float, double}
Expm1(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
ExtractGlimpse(input: float, size: int32, offsets: float) -> glimpse: float; centered: bool = true; normalized: bool = true; uniform_noise: bool = true; noise: string = 'uniform'
ExtractGlimpseV2(input: float, size: int32, offsets: float) -> glimpse: float; centered: bool = true; normalized: bool = true; uniform_noise: bool = true; noise: string = 'uniform'
ExtractImagePatches(images: T) -> patches: T; ksizes: list(int) >= 4; strides: list(int) >= 4; rates: list(int) >= 4; T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128, bool}; padding: {'SAME', 'VALID'}
ExtractJpegShape(contents: string) -> image_shape: output_type; output_type: {int32, int64} = int32
ExtractVolumePatches(input: T) -> patches: T; ksizes: list(int) >= 5; strides: list(int) >= 5; T: realnumbertype; padding: {'SAME', 'VALID'}
FFT(input: Tcomplex) -> output: Tcomplex; Tcomplex: {complex64, complex128} = complex64
FFT2D(input: Tcomplex) -> output: Tcomplex; Tcomplex: {complex64, complex128} = complex64
FFT3D(input: Tcomplex) -> output: Tcomplex; Tcomplex: {complex64, complex128} = complex64
FFTND(input: Tcomplex, fft_length: int32, axes: int32) -> output: Tcomplex; Tcomplex: {complex64, complex128} = complex64
FIFOQueue() -> handle: Ref(string); component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1; container: string = ''; shared_name: string = ''; stateful
FIFOQueueV2() -> handle: resource; component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1; container: string = ''; shared_name: string = ''; stateful
Fact() -> fact: string
FakeParam() -> output: dtype; dtype: type; shape: shape
FakeQuantWithMinMaxArgs(inputs: float) -> outputs: float; min: float = -6.0; max: float = 6.0; num_bits: int = 8; narrow_range: bool = false
FakeQuantWithMinMaxArgsGradient(gradients: float, inputs: float) -> backprops: float; min: float = -6.0; max: float = 6.0; num_bits: int = 8; narrow_range: bool = false
FakeQuantWithMinMaxVars(inputs: float, min: float, max: float) -> outputs: float; num_bits: int = 8; narrow_range: bool = false
FakeQuantWithMinMaxVarsGradient(gradients: float, inputs: float, min: float, max: float) -> backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float; num_bits: int = 8; narrow_range: bool = false
FakeQuantWithMinMaxVarsPerChannel(inputs: float, min: float, max: float) -> outputs: float; num_bits: int = 8; narrow_range: bool = false
FakeQuantWithMinMaxVarsPerChannelGradient(gradients: float, inputs: float, min: float, max: float) -> backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float; num_bits: int = 8; narrow_range: bool = false
FakeQueue(resource: resource) -> handle: Ref(string); stateful
FileSystemSetConfiguration(scheme: string, key: string, value: string); stateful
Fill(dims: index_type, value: T) -> output: T; T: type; index_type: {int32, int64} = int32
FilterByLastComponentDataset(input_dataset: variant) -> output: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
FilterDataset(input_dataset: variant, other_arguments: Targuments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; predicate: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
FinalizeDataset(input_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; has_captured_ref: bool = false; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
FinalizeTPUEmbedding(common_config: string, memory_config: string); stateful
FinalizeTPUEmbeddingV2(common_config: string, memory_config: string) -> embedding_partitions: string, hbm_buffers_config: string; stateful
Fingerprint(data: T, method: string) -> fingerprint: uint8; T: type
FiveFloatOutputs() -> a: float, b: float, c: float, d: float, e: float
FixedLengthRecordDataset(filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64) -> handle: variant :: DATASET[TENSOR[STRING]]; metadata: string = ''; stateful
FixedLengthRecordDatasetV2(filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64, compression_type: string) -> handle: variant :: DATASET[TENSOR[STRING]]; metadata: string = ''; stateful
FixedLengthRecordReader() -> reader_handle: Ref(string); header_bytes: int = 0; record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0; container: string = ''; shared_name: string = ''; stateful; deprecated 26 'Use FixedLengthRecordReaderV2'
FixedLengthRecordReaderV2() -> reader_handle: resource; header_bytes: int = 0; record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0; container: string = ''; shared_name: string = ''; encoding: string = ''; stateful
FixedUnigramCandidateSampler(true_classes: int64) -> sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float; num_true: int >= 1; num_sampled: int >= 1; unique: bool; range_max: int >= 1; vocab_file: string = ''; distortion: float = 1.0; num_reserved_ids: int = 0; num_shards: int >= 1 = 1; shard: int >= 0 = 0; unigrams: list(float) = []; seed: int = 0; seed2: int = 0; stateful
FlatMapDataset(input_dataset: variant, other_arguments: Targuments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
FloatInput(a: float)
FloatOutput() -> a: float
FloatOutputStringOutput() -> a: float, b: string
Floor(x: T) -> y: T; T: {bfloat16, half, float, double}
FloorDiv(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64, complex128}
FloorMod(x: T, y: T) -> z: T; T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}
FlushSummaryWriter(writer: resource); stateful
Foo1(a: float, b: int32, c: int32) -> d: float, e: int32
Foo2(a: float, b: string, c: string) -> d: float, e: int32
Foo3(a: float, b: string, c: float) -> d: float, e: int32
For(start: int32, limit: int32, delta: int32, input: T) -> output: T; T: list(type) >= 0; body: func
FractionalAvgPool(value: T) -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64; pooling_ratio: list(float) >= 4; pseudo_random: bool = false; overlapping: bool = false; deterministic: bool = false; seed: int = 0; seed2: int = 0; T: {float, double, int32, int64}
FractionalAvgPoolGrad(orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, col_pooling_sequence: int64) -> output: T; overlapping: bool = false; T: {float, double, int32, int64}
FractionalMaxPool(value: T) -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64; pooling_ratio: list(float) >= 4; pseudo_random: bool = false; overlapping: bool = false; deterministic: bool = false; seed: int = 0; seed2: int = 0; T: {float, double, int32, int64}
FractionalMaxPoolGrad(orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, col_pooling_sequence: int64) -> output: T; overlapping: bool = false; T: {float, double, int32, int64}
FresnelCos(x: T) -> y: T; T: {bfloat16, half, float, double}
FresnelSin(x: T) -> y: T; T: {bfloat16, half, float, double}
FuncAttr(); f: func
FuncListAttr(); f: list(func)
FusedBatchNorm(x: T, scale: T, offset: T, mean: T, variance: T) -> y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T; T: {float}; epsilon: float = 1e-04; exponential_avg_factor: float = 1.0; data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true
FusedBatchNormGrad(y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T) -> x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T; T: {float}; epsilon: float = 1e-04; data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true
FusedBatchNormGradV2(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U) -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U; T: {half, bfloat16, float}; U: {float}; epsilon: float = 1e-04; data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true
FusedBatchNormGradV3(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U) -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U; T: {half, bfloat16, float}; U: {float}; epsilon: float = 1e-04; data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'; is_training: bool = true
FusedBatchNormV2(x: T, scale: U, offset: U, mean: U, variance: U) -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U; T: {half, bfloat16, float}; U: {float}; epsilon: float = 1e-04; exponential_avg_factor: float = 1.0; data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true
FusedBatchNormV3(x: T, scale: U, offset: U, mean: U, variance: U) -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U; T: {half, bfloat16, float}; U: {bfloat16, float}; epsilon: float = 1e-04; exponential_avg_factor: float = 1.0; data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'; is_training: bool = true
FusedPadConv2D(input: T, paddings: int32, filter: T) -> output: T; T: {half, bfloat16, float, double}; mode: {'REFLECT', 'SYMMETRIC'}; strides: list(int); padding: {'SAME', 'VALID'}
FusedResizeAndPadConv2D(input: T, size: int32, paddings: int32, filter: T) -> output: T; T: {half, float, double}; resize_align_corners: bool = false; mode: {'REFLECT', 'SYMMETRIC'}; strides: list(int); padding: {'SAME', 'VALID'}
GRUBlockCell(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T) -> r: T, u: T, c: T, h: T; T: {float}
GRUBlockCellGrad(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T) -> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T; T: {float}
Gather(params: Tparams, indices: Tindices) -> output: Tparams; validate_indices: bool = true; Tparams: type; Tindices: {int32, int64}
GatherNd(params: Tparams, indices: Tindices) -> output: Tparams; Tparams: type; Tindices: {int16, int32, int64}; bad_indices_policy: string = ''
GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> output: Tparams; batch_dims: int = 0; Tparams: type; Tindices: {int16, int32, int64}; Taxis: {int32, int64}
GenerateBoundingBoxProposals(scores: float, bbox_deltas: float, image_info: float, anchors: float, nms_threshold: float, pre_nms_topn: int32, min_size: float) -> rois: float, roi_probabilities: float; post_nms_topn: int = 300
GenerateVocabRemapping(new_vocab_file: string, old_vocab_file: string) -> remapping: int64, num_present: int32; new_vocab_offset: int >= 0; num_new_vocab: int >= 0; old_vocab_size: int >= -1 = -1
GeneratorDataset(init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, finalize_func_other_args: Tfinalize_func_args) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; init_func: func; next_func: func; finalize_func: func; Tinit_func_args: list(type) >= 0; Tnext_func_args: list(type) >= 0; Tfinalize_func_args: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; stateful
GetDeadline() -> deadline_from_epoch_micros: int64
GetElementAtIndex(dataset: variant, index: int64) -> components: output_types; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
GetMinibatchSplitsWithPhysicalReplica(program_key: string, row_ids: int32, col_ids: int32, gains: float) -> sorted_row_ids: int32, sorted_col_ids: int32, sorted_gains: float, splits: int64, id_counts: int32, max_ids: int32, max_uniques: int32; sample_count: int >= 1; num_replica: int >= 1; table_vocab_size: int >= 1; feature_width: int >= 1; num_sc_per_chip: int >= 1; table_name: string; mini_batch_splits: string; stateful
GetMinibatchesInCsrWithPhysicalReplica(program_key: string, row_ids: int32, col_ids: int32, gains: float, splits: int64, id_counts: int32) -> row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, row_pointers_unpadded_size: int32, ids_unpadded_size: int32, num_minibatches_per_physical_sparse_core: int32; sample_count: int >= 1; num_replica: int >= 1; max_minibatches_per_sc: int >= 1; max_ids_per_chip_per_sample: int >= 1; table_vocab_size: int >= 1; feature_width: int >= 1; num_sc_per_chip: int >= 1; table_name: string; mini_batch_in_csr: string; stateful
GetOptions(input_dataset: variant) -> serialized_options: string
GetSessionHandle(value: T) -> handle: string; T: type; stateful
GetSessionHandleV2(value: T) -> handle: resource; T: type; stateful
GetSessionTensor(handle: string) -> value: dtype; dtype: type; stateful
GetStatsFromListOfSparseCoreCooTensors(row_ids_list: N * int32, col_ids_list: N * int32, gains_list: N * float) -> max_ids_per_sparse_core: int32, max_unique_ids_per_sparse_core: int32; sample_count_list: list(int); col_offset_list: list(int); num_replica: int >= 1; table_vocab_size: int >= 1; feature_width: int >= 1; num_sc_per_chip: int >= 1; table_name: string; N: int >= 1
GetTpuTaskId() -> tpu_task_id: int32
GlobalIterId() -> iter_id: int64; stateful
GlobalShuffleDataset(input_dataset: variant, seed: int64, seed2: int64, seed_generator: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; reshuffle_each_iteration: bool = true; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; stateful
GraphDefVersion() -> version: int32; stateful
Greater(x: T, y: T) -> z: bool; T: realnumbertype
GreaterEqual(x: T, y: T) -> z: bool; T: realnumbertype
GroupByReducerDataset(input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, init_func_other_arguments: Tinit_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, finalize_func_other_arguments: Tfinalize_func_other_arguments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; key_func: func; init_func: func; reduce_func: func; finalize_func: func; Tkey_func_other_arguments: list(type) >= 0; Tinit_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) >= 0; Tfinalize_func_other_arguments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
GroupByWindowDataset(input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, window_size_func_other_arguments: Twindow_size_func_other_arguments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; key_func: func; reduce_func: func; window_size_func: func; Tkey_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) >= 0; Twindow_size_func_other_arguments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
GuaranteeConst(input: T) -> output: T; T: type; stateful
HSVToRGB(images: T) -> output: T; T: {half, bfloat16, float, double} = float
HashTable() -> table_handle: Ref(string); container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type; stateful
HashTableV2() -> table_handle: resource; container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type; stateful
HistogramFixedWidth(values: T, value_range: T, nbins: int32) -> out: dtype; T: {int32, int64, float, double}; dtype: {int32, int64} = int32
HistogramSummary(tag: string, values: T) -> summary: string; T: realnumbertype = float
HostConst() -> output: dtype; value: tensor; dtype: type
IFFT(input: Tcomplex) -> output: Tcomplex; Tcomplex: {complex64, complex128} = complex64
IFFT2D(input: Tcomplex) -> output: Tcomplex; Tcomplex: {complex64, complex128} = complex64
IFFT3D(input: Tcomplex) -> output: Tcomplex; Tcomplex: {complex64, complex128} = complex64
IFFTND(input: Tcomplex, fft_length: int32, axes: int32) -> output: Tcomplex; Tcomplex: {complex64, complex128} = complex64
IRFFT(input: Tcomplex, fft_length: int32) -> output: Treal; Treal: {float, double} = float; Tcomplex: {complex64, complex128} = complex64
IRFFT2D(input: Tcomplex, fft_length: int32) -> output: Treal; Treal: {float, double} = float; Tcomplex: {complex64, complex128} = complex64
IRFFT3D(input: Tcomplex, fft_length: int32) -> output: Treal; Treal: {float, double} = float; Tcomplex: {complex64, complex128} = complex64
IRFFTND(input: Tcomplex, fft_length: int32, axes: int32) -> output: Treal; Treal: {float, double} = float; Tcomplex: {complex64, complex128} = complex64
Identity(input: T) -> output: T; T: type
IdentityN(input: T) -> output: T; T: list(type) >= 1
IdentityReader() -> reader_handle: Ref(string); container: string = ''; shared_name: string = ''; stateful; deprecated 26 'Use IdentityReaderV2'
IdentityReaderV2() -> reader_handle: resource; container: string = ''; shared_name: string = ''; stateful
If(cond: Tcond, input: Tin) -> output: Tout; Tcond: type; Tin: list(type) >= 0; Tout: list(type) >= 0; then_branch: func; else_branch: func; output_shapes: list(shape) = []; stateful
Igamma(a: T, x: T) -> z: T; T: {bfloat16, half, float, double}
IgammaGradA(a: T, x: T) -> z: T; T: {float, double}
Igammac(a: T, x: T) -> z: T; T: {bfloat16, half, float, double}
IgnoreErrorsDataset(input_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; log_warning: bool = false
Imag(input: T) -> output: Tout; T: {complex64, complex128} = complex64; Tout: {float, double} = float
ImageProjectiveTransformV2(images: dtype, transforms: float, output_shape: int32) -> transformed_images: dtype; dtype: {uint8, int32, int64, half, bfloat16, float, double}; interpolation: string; fill_mode: string = 'CONSTANT'
ImageProjectiveTransformV3(images: dtype, transforms: float, output_shape: int32, fill_value: float) -> transformed_images: dtype; dtype: {uint8, int32, int64, half, bfloat16, float, double}; interpolation: string; fill_mode: string = 'CONSTANT'
ImageSummary(tag: string, tensor: T) -> summary: string; max_images: int >= 1 = 3; T: {uint8, float, half, double} = float; bad_color: tensor = tensor 'dtype: DT_UINT8\ntensor_shape {\n  dim {\n    size: 4\n  }\n}\nint_val: 255\nint_val: 0\nint_val: 0\nint_val: 255\n'
ImmutableConst() -> tensor: dtype; dtype: type; shape: shape; memory_region_name: string
ImportEvent(writer: resource, event: string); stateful
InPolymorphicTwice(a: N * T, b: M * T); T: type = int32; N: int >= 0; M: int >= 0
InTopK(predictions: float, targets: T) -> precision: bool; k: int; T: {int32, int64} = int32
InTopKV2(predictions: float, targets: T, k: T) -> precision: bool; T: {int32, int64} = int32
IndexFlatMapDataset(input_dataset: variant, map_func_other_args: Tmap_func_args, index_map_func_other_args: Tindex_map_func_args, output_cardinality: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; map_func: func; index_map_func: func; Tmap_func_args: list(type) >= 0; Tindex_map_func_args: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
InfeedDequeue() -> output: dtype; dtype: type; shape: shape; stateful
InfeedDequeueTuple() -> outputs: dtypes; dtypes: list(type) >= 1; shapes: list(shape); stateful
InfeedEnqueue(input: dtype); dtype: type; shape: shape = []; layout: list(int) = []; device_ordinal: int = -1; stateful
InfeedEnqueuePrelinearizedBuffer(input: variant); device_ordinal: int = -1
InfeedEnqueueTuple(inputs: dtypes); dtypes: list(type) >= 1; shapes: list(shape); layouts: list(int) = []; device_ordinal: int = -1; stateful
InitializeTable(table_handle: Ref(string), keys: Tkey, values: Tval); Tkey: type; Tval: type
InitializeTableFromDataset(table_handle: resource, dataset: variant); stateful
InitializeTableFromTextFile(table_handle: Ref(string), filename: string); key_index: int >= -2; value_index: int >= -2; vocab_size: int >= -1 = -1; delimiter: string = '\t'; offset: int = 0
InitializeTableFromTextFileV2(table_handle: resource, filename: string); key_index: int >= -2; value_index: int >= -2; vocab_size: int >= -1 = -1; delimiter: string = '\t'; offset: int = 0; stateful
InitializeTableV2(table_handle: resource, keys: Tkey, values: Tval); Tkey: type; Tval: type; stateful
InplaceAdd(x: T, i: int32, v: T) -> y: T; T: type
InplaceSub(x: T, i: int32, v: T) -> y: T; T: type
InplaceUpdate(x: T, i: int32, v: T) -> y: T; T: type
Int64Output() -> out: int64
IntAttr() -> out: int64; foo: int = 1
IntInput(a: int32)
IntInputFloatInput(a: int32, b: float)
IntInputIntOutput(a: int32) -> b: int32
IntOutput() -> a: int32
IntOutputFloatOutput() -> a: int32, b: float
InterleaveDataset(input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
Inv(x: T) -> y: T; T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}
InvGrad(y: T, dy: T) -> z: T; T: {bfloat16, half, float, double, complex64, complex128}
Invert(x: T) -> y: T; T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}
InvertPermutation(x: T) -> y: T; T: {int32, int64} = int32
IsBoostedTreesEnsembleInitialized(tree_ensemble_handle: resource) -> is_initialized: bool; stateful
IsBoostedTreesQuantileStreamResourceInitialized(quantile_stream_resource_handle: resource) -> is_initialized: bool; stateful
IsFinite(x: T) -> y: bool; T: {bfloat16, half, float, double}
IsInf(x: T) -> y: bool; T: {bfloat16, half, float, double}
IsNan(x: T) -> y: bool; T: {bfloat16, half, float, double}
IsResourceHandleRefCounting(handle: resource) -> result: bool; stateful
IsTPUEmbeddingInitialized() -> is_tpu_embedding_initialized: bool; config: string = ''; stateful
IsTensorFloat32Enabled() -> enabled: bool; stateful
IsVariableInitialized(ref: Ref(dtype)) -> is_initialized: bool; dtype: type; allows_uninitialized_input
IsotonicRegression(input: T) -> output: output_dtype, segments: int32; T: realnumbertype; output_dtype: {half, bfloat16, float, double} = float
Iterator() -> handle: resource; shared_name: string; container: string; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
IteratorFromStringHandle(string_handle: string) -> resource_handle: resource; output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []; stateful
IteratorFromStringHandleV2(string_handle: string) -> resource_handle: resource; output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []; stateful
IteratorGetDevice(resource: resource) -> device: string; stateful
IteratorGetModelProto(iterator: resource) -> model_proto: string; stateful
IteratorGetNext(iterator: resource) -> components: output_types; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
IteratorGetNextAsOptional(iterator: resource) -> optional: variant :: OPTIONAL[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
IteratorGetNextSync(iterator: resource) -> components: output_types; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
IteratorToStringHandle(resource_handle: resource) -> string_handle: string; stateful
IteratorV2() -> handle: resource; shared_name: string; container: string; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
KMC2ChainInitialization(distances: float, seed: int64) -> index: int64
KernelLabel() -> result: string
KernelLabelRequired(input: int32) -> result: string
KmeansPlusPlusInitialization(points: float, num_to_sample: int64, seed: int64, num_retries_per_sample: int64) -> samples: float
KthOrderStatistic(input: float) -> output: float; k: int
L2Loss(t: T) -> output: T; T: {half, bfloat16, float, double}
LMDBDataset(filenames: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
LMDBReader() -> reader_handle: Ref(string); container: string = ''; shared_name: string = ''; stateful
LRN(input: T) -> output: T; depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; T: {half, bfloat16, float} = float
LRNGrad(input_grads: T, input_image: T, output_image: T) -> output: T; depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; T: {half, bfloat16, float} = float
LSTMBlockCell(x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T) -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T; forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false; T: {half, float}
LSTMBlockCellGrad(x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, cs_grad: T, h_grad: T) -> cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T; use_peephole: bool; T: {half, float}
LatencyStatsDataset(input_dataset: variant, tag: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
LeakyRelu(features: T) -> activations: T; alpha: float = 0.2; T: {half, bfloat16, float, double} = float
LeakyReluGrad(gradients: T, features: T) -> backprops: T; alpha: float = 0.2; T: {half, bfloat16, float, double} = float
LearnedUnigramCandidateSampler(true_classes: int64) -> sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float; num_true: int >= 1; num_sampled: int >= 1; unique: bool; range_max: int >= 1; seed: int = 0; seed2: int = 0; stateful
LeftShift(x: T, y: T) -> z: T; T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}
LegacyParallelInterleaveDatasetV2(input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, buffer_output_elements: int64, prefetch_input_elements: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; deterministic: string = 'default'; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
Less(x: T, y: T) -> z: bool; T: realnumbertype
LessEqual(x: T, y: T) -> z: bool; T: realnumbertype
Lgamma(x: T) -> y: T; T: {bfloat16, half, float, double}
LinSpace(start: T, stop: T, num: Tidx) -> output: T; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32
ListDataset(tensors: Tinput_types) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; Tinput_types: list(type) >= 1; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; stateful
ListDiff(x: T, y: T) -> out: T, idx: out_idx; T: type; out_idx: {int32, int64} = int32
ListInput(a: N * T); N: int >= 1; T: type
ListOutput() -> a: T; T: list(type) >= 1
ListSnapshotChunksDataset(snapshot_path: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
LoadAllTPUEmbeddingParameters(parameters: NumTables * float, auxiliary1: NumTables * float, auxiliary2: NumTables * float, auxiliary3: NumTables * float, auxiliary4: NumTables * float, auxiliary5: NumTables * float, auxiliary6: NumTables * float, auxiliary7: NumTables * float); NumTables: int >= 1; config: string; num_shards: int; shard_id: int; stateful
LoadAndRemapMatrix(ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64, initializing_values: float) -> output_matrix: float; num_rows: int >= 0; num_cols: int >= 1; max_rows_in_memory: int = -1; stateful
LoadDataset(path: string, reader_func_other_args: Treader_func_args) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; compression: string = ''; reader_func: func; Treader_func_args: list(type) >= 0; stateful
LoadTPUEmbeddingADAMParameters(parameters: float, momenta: float, velocities: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingAdadeltaParameters(parameters: float, accumulators: float, updates: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingAdagradMomentumParameters(parameters: float, accumulators: float, momenta: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingAdagradParameters(parameters: float, accumulators: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingCenteredRMSPropParameters(parameters: float, ms: float, mom: float, mg: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingFTRLParameters(parameters: float, accumulators: float, linears: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingFrequencyEstimatorParameters(parameters: float, last_hit_step: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingMDLAdagradLightParameters(parameters: float, accumulators: float, weights: float, benefits: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingMomentumParameters(parameters: float, momenta: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingProximalAdagradParameters(parameters: float, accumulators: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingProximalYogiParameters(parameters: float, v: float, m: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingRMSPropParameters(parameters: float, ms: float, mom: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
LoadTPUEmbeddingStochasticGradientDescentParameters(parameters: float); table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
Log(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
Log1p(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
LogMatrixDeterminant(input: T) -> sign: T, log_abs_determinant: T; T: {half, float, double, complex64, complex128}
LogSoftmax(logits: T) -> logsoftmax: T; T: {half, bfloat16, float, double}
LogUniformCandidateSampler(true_classes: int64) -> sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float; num_true: int >= 1; num_sampled: int >= 1; unique: bool; range_max: int >= 1; seed: int = 0; seed2: int = 0; stateful
LogicalAnd(x: bool, y: bool) -> z: bool; commutative
LogicalNot(x: bool) -> y: bool
LogicalOr(x: bool, y: bool) -> z: bool; commutative
LookupTableExport(table_handle: Ref(string)) -> keys: Tkeys, values: Tvalues; Tkeys: type; Tvalues: type
LookupTableExportV2(table_handle: resource) -> keys: Tkeys, values: Tvalues; Tkeys: type; Tvalues: type; stateful
LookupTableFind(table_handle: Ref(string), keys: Tin, default_value: Tout) -> values: Tout; Tin: type; Tout: type
LookupTableFindV2(table_handle: resource, keys: Tin, default_value: Tout) -> values: Tout; Tin: type; Tout: type; stateful
LookupTableImport(table_handle: Ref(string), keys: Tin, values: Tout); Tin: type; Tout: type
LookupTableImportV2(table_handle: resource, keys: Tin, values: Tout); Tin: type; Tout: type; stateful
LookupTableInsert(table_handle: Ref(string), keys: Tin, values: Tout); Tin: type; Tout: type
LookupTableInsertV2(table_handle: resource, keys: Tin, values: Tout); Tin: type; Tout: type; stateful
LookupTableRemoveV2(table_handle: resource, keys: Tin); Tin: type; stateful
LookupTableSize(table_handle: Ref(string)) -> size: int64
LookupTableSizeV2(table_handle: resource) -> size: int64; stateful
LoopCond(input: bool) -> output: bool
LowerBound(sorted_inputs: T, values: T) -> output: out_type; T: type; out_type: {int32, int64} = int32
Lu(input: T) -> lu: T, p: output_idx_type; T: {double, float, half, complex64, complex128}; output_idx_type: {int32, int64} = int32
MakeIterator(dataset: variant, iterator: resource); stateful
MakeUnique(input: float) -> output: float
MakeWeakResourceHandle(handle: resource) -> dup: resource; stateful
MapAndBatchDataset(input_dataset: variant, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; preserve_cardinality: bool = false; metadata: string = ''
MapClear(); capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); container: string = ''; shared_name: string = ''; stateful
MapDataset(input_dataset: variant, other_arguments: Targuments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; use_inter_op_parallelism: bool = true; preserve_cardinality: bool = false; force_synchronous: bool = false; metadata: string = ''
MapDefun(arguments: Targuments, captured_inputs: Tcaptured) -> output: output_types; Targuments: list(type) >= 1; Tcaptured: list(type) >= 0 = []; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; f: func; max_intra_op_parallelism: int = 1
MapIncompleteSize() -> size: int32; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); container: string = ''; shared_name: string = ''; stateful
MapPeek(key: int64, indices: int32) -> values: dtypes; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''; stateful
MapSize() -> size: int32; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); container: string = ''; shared_name: string = ''; stateful
MapStage(key: int64, indices: int32, values: fake_dtypes); capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); fake_dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''; stateful
MapUnstage(key: int64, indices: int32) -> values: dtypes; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''; stateful
MapUnstageNoKey(indices: int32) -> key: int64, values: dtypes; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''; stateful
MatMul(a: T, b: T) -> product: T; transpose_a: bool = false; transpose_b: bool = false; T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}; grad_a: bool = false; grad_b: bool = false
MatchingFiles(pattern: string) -> filenames: string
MatchingFilesDataset(patterns: string) -> handle: variant :: DATASET[TENSOR[STRING]]; stateful
MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> band: T; T: type; Tindex: {int32, int64} = int64
MatrixDeterminant(input: T) -> output: T; T: {half, float, double, complex64, complex128}
MatrixDiag(diagonal: T) -> output: T; T: type
MatrixDiagPart(input: T) -> diagonal: T; T: type
MatrixDiagPartV2(input: T, k: int32, padding_value: T) -> diagonal: T; T: type
MatrixDiagPartV3(input: T, k: int32, padding_value: T) -> diagonal: T; T: type; align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'
MatrixDiagV2(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> output: T; T: type
MatrixDiagV3(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> output: T; T: type; align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'
MatrixExponential(input: T) -> output: T; T: {double, float, half, complex64, complex128}; deprecated 27 'Use Python implementation tf.linalg.matrix_exponential instead.'
MatrixInverse(input: T) -> output: T; adjoint: bool = false; T: {double, float, half, complex64, complex128}
MatrixLogarithm(input: T) -> output: T; T: {complex64, complex128}
MatrixSetDiag(input: T, diagonal: T) -> output: T; T: type
MatrixSetDiagV2(input: T, diagonal: T, k: int32) -> output: T; T: type
MatrixSetDiagV3(input: T, diagonal: T, k: int32) -> output: T; T: type; align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'
MatrixSolve(matrix: T, rhs: T) -> output: T; adjoint: bool = false; T: {double, float, half, complex64, complex128}
MatrixSolveLs(matrix: T, rhs: T, l2_regularizer: double) -> output: T; T: {double, float, half, complex64, complex128}; fast: bool = true
MatrixSquareRoot(input: T) -> output: T; T: {double, float, half, complex64, complex128}
MatrixTriangularSolve(matrix: T, rhs: T) -> output: T; lower: bool = true; adjoint: bool = false; T: {bfloat16, double, float, half, complex64, complex128}
Max(input: T, reduction_indices: Tidx) -> output: T; keep_dims: bool = false; T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16}; Tidx: {int32, int64} = int32
MaxIntraOpParallelismDataset(input_dataset: variant, max_intra_op_parallelism: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
MaxPool(input: T) -> output: T; T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = float; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'
MaxPool3D(input: T) -> output: T; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float}
MaxPool3DGrad(orig_input: TInput, orig_output: TInput, grad: T) -> output: T; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float} = float; TInput: {half, bfloat16, float} = float
MaxPool3DGradGrad(orig_input: T, orig_output: T, grad: T) -> output: T; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: realnumbertype
MaxPoolGrad(orig_input: T, orig_output: T, grad: T) -> output: T; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: realnumbertype = float
MaxPoolGradGrad(orig_input: T, orig_output: T, grad: T) -> output: T; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: realnumbertype
MaxPoolGradGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) -> output: T; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: realnumbertype
MaxPoolGradGradWithArgmax(input: T, grad: T, argmax: Targmax) -> output: T; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; include_batch_in_index: bool = false; Targmax: {int32, int64}; T: realnumbertype
MaxPoolGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) -> output: T; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: realnumbertype = float
MaxPoolGradWithArgmax(input: T, grad: T, argmax: Targmax) -> output: T; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; include_batch_in_index: bool = false; Targmax: {int32, int64}; T: realnumbertype
MaxPoolV2(input: T, ksize: int32, strides: int32) -> output: T; T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = float; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'
MaxPoolWithArgmax(input: T) -> output: T, argmax: Targmax; ksize: list(int) >= 4; strides: list(int) >= 4; Targmax: {int32, int64} = int64; padding: {'SAME', 'VALID'}; include_batch_in_index: bool = false; T: realnumbertype
Maximum(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}
Mean(input: T, reduction_indices: Tidx) -> output: T; keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = int32
Merge(inputs: N * T) -> output: T, value_index: int32; T: type; N: int >= 1
MergeDedupData(integer_tensor: integer_type, float_tensor: float_type) -> output: variant; tuple_mask: string; integer_type: {int32, int64, uint32, uint64}; float_type: {half, bfloat16, float}; config: string = ''
MergeSummary(inputs: N * string) -> summary: string; N: int >= 1
MergeV2Checkpoints(checkpoint_prefixes: string, destination_prefix: string); delete_old_dirs: bool = true; allow_missing_files: bool = false; stateful
Mfcc(spectrogram: float, sample_rate: int32) -> output: float; upper_frequency_limit: float = 4000.0; lower_frequency_limit: float = 20.0; filterbank_channel_count: int = 40; dct_coefficient_count: int = 13
Min(input: T, reduction_indices: Tidx) -> output: T; keep_dims: bool = false; T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16}; Tidx: {int32, int64} = int32
Minimum(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}
MirrorPad(input: T, paddings: Tpaddings) -> output: T; T: type; Tpaddings: {int32, int64} = int32; mode: {'REFLECT', 'SYMMETRIC'}
MirrorPadGrad(input: T, paddings: Tpaddings) -> output: T; T: type; Tpaddings: {int32, int64} = int32; mode: {'REFLECT', 'SYMMETRIC'}
MixedStruct() -> a: n_a * int32, b: float; n_a: int >= 0
MlirPassthroughOp(inputs: Tinputs) -> outputs: Toutputs; mlir_module: string; Tinputs: list(type) >= 0; Toutputs: list(type) >= 0
Mod(x: T, y: T) -> z: T; T: {int32, int64, half, half, bfloat16, float, double}
ModelDataset(input_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; algorithm: int = 0; cpu_budget: int = 0; ram_budget: int = 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
Mul(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64, complex128}; commutative
MulNoNan(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, complex64, complex128}
MultiDeviceIterator() -> handle: resource; devices: list(string) >= 1; shared_name: string; container: string; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
MultiDeviceIteratorFromStringHandle(string_handle: string) -> multi_device_iterator: resource; output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []; stateful
MultiDeviceIteratorGetNextFromShard(multi_device_iterator: resource, shard_num: int32, incarnation_id: int64) -> components: output_types; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
MultiDeviceIteratorInit(dataset: variant, multi_device_iterator: resource, max_buffer_size: int64) -> incarnation_id: int64; stateful
MultiDeviceIteratorToStringHandle(multi_device_iterator: resource) -> string_handle: string; stateful
Multinomial(logits: T, num_samples: int32) -> output: output_dtype; seed: int = 0; seed2: int = 0; T: realnumbertype; output_dtype: {int32, int64} = int64; stateful
MutableDenseHashTable(empty_key: key_dtype) -> table_handle: Ref(string); container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type; value_shape: shape = []; initial_num_buckets: int = 131072; max_load_factor: float = 0.8; stateful
MutableDenseHashTableV2(empty_key: key_dtype, deleted_key: key_dtype) -> table_handle: resource; container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type; value_shape: shape = []; initial_num_buckets: int = 131072; max_load_factor: float = 0.8; stateful
MutableHashTable() -> table_handle: Ref(string); container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type; stateful
MutableHashTableOfTensors() -> table_handle: Ref(string); container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type; value_shape: shape = []; stateful
MutableHashTableOfTensorsV2() -> table_handle: resource; container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type; value_shape: shape = []; stateful
MutableHashTableV2() -> table_handle: resource; container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type; stateful
MutexLock(mutex: resource) -> mutex_lock: variant :: MUTEX_LOCK; stateful
MutexV2() -> resource: resource; container: string = ''; shared_name: string = ''; stateful
NInPolymorphicTwice(a: N * T, b: N * T); T: type; N: int >= 0
NInTwice(a: N * int32, b: N * string); N: int >= 0
NInTwoTypeVariables(a: N * S, b: N * T); S: type; T: type; N: int >= 0
NIntsIn(a: N * int32); N: int >= 2
NIntsOut() -> a: N * int32; N: int >= 2
NIntsOutDefault() -> a: N * int32; N: int >= 2 = 3
NPolymorphicIn(a: N * T); T: type; N: int >= 2
NPolymorphicOut() -> a: N * T; T: type; N: int >= 2
NPolymorphicOutDefault() -> a: N * T; T: type = bool; N: int >= 2 = 2
NPolymorphicRestrictIn(a: N * T); T: {string, bool}; N: int >= 2
NPolymorphicRestrictOut() -> a: N * T; T: {string, bool}; N: int >= 2
Namespace>TestStringOutput(input: float) -> output1: float, output2: string
NcclAllReduce(input: T) -> data: T; reduction: {'min', 'max', 'prod', 'sum'}; T: {half, float, double, int32, int64}; num_devices: int; shared_name: string; stateful
NcclBroadcast(input: T) -> output: T; T: {half, float, double, int32, int64}; shape: shape; stateful
NcclReduce(input: num_devices * T) -> data: T; reduction: {'min', 'max', 'prod', 'sum'}; T: {half, float, double, int32, int64}; num_devices: int >= 1; stateful
Ndtri(x: T) -> y: T; T: {bfloat16, half, float, double}
NearestNeighbors(points: float, centers: float, k: int64) -> nearest_center_indices: int64, nearest_center_distances: float
Neg(x: T) -> y: T; T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}
NegTrain(w_in: Ref(float), w_out: Ref(float), examples: int32, labels: int32, lr: float); vocab_count: list(int); num_negative_samples: int; stateful; deprecated 19 'Moving word2vec into tensorflow_models/tutorials and deprecating its ops here as a result'
NextAfter(x1: T, x2: T) -> output: T; T: {double, float} = float
NextIteration(data: T) -> output: T; T: type
NoOp()
NonDeterministicInts(shape: shape_dtype) -> output: dtype; dtype: type = int64; shape_dtype: type = int64; stateful
NonMaxSuppression(boxes: float, scores: float, max_output_size: int32) -> selected_indices: int32; iou_threshold: float = 0.5
NonMaxSuppressionV2(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold) -> selected_indices: int32; T: {half, float} = float; T_threshold: {half, float} = float
NonMaxSuppressionV3(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold) -> selected_indices: int32; T: {half, float} = float; T_threshold: {half, float} = float
NonMaxSuppressionV4(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold) -> selected_indices: int32, valid_outputs: int32; T: {half, float} = float; T_threshold: {half, float} = float; pad_to_max_output_size: bool = false
NonMaxSuppressionV5(boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, soft_nms_sigma: T) -> selected_indices: int32, selected_scores: T, valid_outputs: int32; T: {half, float} = float; pad_to_max_output_size: bool = false
NonMaxSuppressionWithOverlaps(overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float, score_threshold: float) -> selected_indices: int32
NonSerializableDataset(input_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
None()
NotEqual(x: T, y: T) -> z: bool; T: type; incompatible_shape_error: bool = true; commutative
NthElement(input: T, n: int32) -> values: T; reverse: bool = false; T: realnumbertype
Old(); deprecated 8 'For reasons'
OneHot(indices: TI, depth: int32, on_value: T, off_value: T) -> output: T; axis: int = -1; T: type; TI: {uint8, int8, int32, int64} = int64
OneShotIterator() -> handle: resource; dataset_factory: func; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; container: string = ''; shared_name: string = ''; stateful
OnesLike(x: T) -> y: T; T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, complex64, complex128, bool}
OpWithDefaultAttr() -> a: int32; default_float: float = 123.0
OpWithFutureDefaultAttr()
OptimizeDataset(input_dataset: variant, optimizations: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; optimization_configs: list(string) = []
OptimizeDatasetV2(input_dataset: variant, optimizations_enabled: string, optimizations_disabled: string, optimizations_default: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; optimization_configs: list(string) = []
OptionalFromValue(components: Toutput_types) -> optional: variant :: OPTIONAL[FOR_EACH[PRODUCT, TENSOR[$Toutput_types], $Toutput_types]]; Toutput_types: list(type) >= 1
OptionalGetValue(optional: variant) -> components: output_types; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
OptionalHasValue(optional: variant) -> has_value: bool
OptionalNone() -> optional: variant
OptionsDataset(input_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; serialized_options: string; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
OrderedMapClear(); capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); container: string = ''; shared_name: string = ''; stateful
OrderedMapIncompleteSize() -> size: int32; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); container: string = ''; shared_name: string = ''; stateful
OrderedMapPeek(key: int64, indices: int32) -> values: dtypes; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''; stateful
OrderedMapSize() -> size: int32; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); container: string = ''; shared_name: string = ''; stateful
OrderedMapStage(key: int64, indices: int32, values: fake_dtypes); capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); fake_dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''; stateful
OrderedMapUnstage(key: int64, indices: int32) -> values: dtypes; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''; stateful
OrderedMapUnstageNoKey(indices: int32) -> key: int64, values: dtypes; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''; stateful
OutT() -> a: T; T: type
OutTypeList() -> out: T; T: list(type) >= 0
OutTypeListRestrict() -> out: t; t: list({string, bool}) >= 1
OutfeedDequeue() -> output: dtype; dtype: type; shape: shape; device_ordinal: int = -1; stateful
OutfeedDequeueTuple() -> outputs: dtypes; dtypes: list(type) >= 1; shapes: list(shape); device_ordinal: int = -1; stateful
OutfeedDequeueTupleV2(device_ordinal: int32) -> outputs: dtypes; dtypes: list(type) >= 1; shapes: list(shape); stateful
OutfeedDequeueV2(device_ordinal: int32) -> output: dtype; dtype: type; shape: shape; stateful
OutfeedEnqueue(input: dtype); dtype: type; stateful
OutfeedEnqueueTuple(inputs: dtypes); dtypes: list(type) >= 1; stateful
Pack(values: N * T) -> output: T; N: int >= 1; T: type; axis: int = 0
Pad(input: T, paddings: Tpaddings) -> output: T; T: type; Tpaddings: {int32, int64} = int32
PadV2(input: T, paddings: Tpaddings, constant_values: T) -> output: T; T: type; Tpaddings: {int32, int64} = int32
PaddedBatchDataset(input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$Toutput_types], $Toutput_types]]; Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1; metadata: string = ''
PaddedBatchDatasetV2(input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types, drop_remainder: bool) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$Toutput_types], $Toutput_types]]; parallel_copy: bool = false; Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1; metadata: string = ''
PaddingFIFOQueue() -> handle: Ref(string); component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1; container: string = ''; shared_name: string = ''; stateful
PaddingFIFOQueueV2() -> handle: resource; component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1; container: string = ''; shared_name: string = ''; stateful
ParallelBatchDataset(input_dataset: variant, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; parallel_copy: bool = false; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; deterministic: string = 'default'; metadata: string = ''
ParallelConcat(values: N * T) -> output: T; N: int >= 1; T: type; shape: shape
ParallelDynamicStitch(indices: N * int32, data: N * T) -> merged: T; N: int >= 1; T: type
ParallelFilterDataset(input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; predicate: func; deterministic: string = 'default'; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
ParallelInterleaveDataset(input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
ParallelInterleaveDatasetV2(input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, num_parallel_calls: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; sloppy: bool = false; metadata: string = ''
ParallelInterleaveDatasetV3(input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, num_parallel_calls: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; deterministic: string = 'default'; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
ParallelInterleaveDatasetV4(input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, buffer_output_elements: int64, prefetch_input_elements: int64, num_parallel_calls: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; deterministic: string = 'default'; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
ParallelMapDataset(input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int32) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; use_inter_op_parallelism: bool = true; sloppy: bool = false; preserve_cardinality: bool = false; metadata: string = ''
ParallelMapDatasetV2(input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; use_inter_op_parallelism: bool = true; deterministic: string = 'default'; preserve_cardinality: bool = false; use_unbounded_threadpool: bool = false; metadata: string = ''
ParameterizedTruncatedNormal(shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype) -> output: dtype; seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}; stateful
ParseExample(serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense * string, dense_defaults: Tdense) -> sparse_indices: Nsparse * int64, sparse_values: sparse_types, sparse_shapes: Nsparse * int64, dense_values: Tdense; Nsparse: int >= 0; Ndense: int >= 0; sparse_types: list({float, int64, string}) >= 0; Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0
ParseExampleDataset(input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; sparse_types: list({float, int64, string}) >= 0; Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; sloppy: bool = false; ragged_keys: list(string) >= 0 = []; ragged_value_types: list({float, int64, string}) >= 0 = []; ragged_split_types: list({int32, int64}) >= 0 = []
ParseExampleDatasetV2(input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; sparse_types: list({float, int64, string}) >= 0; Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; deterministic: string = 'default'; ragged_keys: list(string) >= 0 = []; ragged_value_types: list({float, int64, string}) >= 0 = []; ragged_split_types: list({int32, int64}) >= 0 = []
ParseExampleV2(serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, dense_defaults: Tdense) -> sparse_indices: num_sparse * int64, sparse_values: sparse_types, sparse_shapes: num_sparse * int64, dense_values: Tdense, ragged_values: ragged_value_types, ragged_row_splits: ragged_split_types; Tdense: list({float, int64, string}) >= 0; num_sparse: int >= 0; sparse_types: list({float, int64, string}) >= 0; ragged_value_types: list({float, int64, string}) >= 0; ragged_split_types: list({int32, int64}) >= 0; dense_shapes: list(shape) >= 0
ParseSequenceExample(serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense) -> context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, feature_list_sparse_indices: Nfeature_list_sparse * int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types, feature_list_dense_lengths: Nfeature_list_dense * int64; feature_list_dense_missing_assumed_empty: list(string) >= 0; context_sparse_keys: list(string) >= 0; context_dense_keys: list(string) >= 0; feature_list_sparse_keys: list(string) >= 0; feature_list_dense_keys: list(string) >= 0; Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0; Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; context_sparse_types: list({float, int64, string}) >= 0 = []; Tcontext_dense: list({float, int64, string}) >= 0 = []; feature_list_dense_types: list({float, int64, string}) >= 0 = []; context_dense_shapes: list(shape) >= 0 = []; feature_list_sparse_types: list({float, int64, string}) >= 0 = []; feature_list_dense_shapes: list(shape) >= 0 = []
ParseSequenceExampleV2(serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys: string, context_ragged_keys: string, feature_list_sparse_keys: string, feature_list_dense_keys: string, feature_list_ragged_keys: string, feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: Tcontext_dense) -> context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, context_ragged_values: context_ragged_value_types, context_ragged_row_splits: context_ragged_split_types, feature_list_sparse_indices: Nfeature_list_sparse * int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types, feature_list_dense_lengths: Nfeature_list_dense * int64, feature_list_ragged_values: feature_list_ragged_value_types, feature_list_ragged_outer_splits: feature_list_ragged_split_types, feature_list_ragged_inner_splits: feature_list_ragged_split_types; Ncontext_sparse: int >= 0 = 0; Tcontext_dense: list({float, int64, string}) >= 0 = []; context_sparse_types: list({float, int64, string}) >= 0 = []; context_ragged_value_types: list({float, int64, string}) >= 0 = []; context_ragged_split_types: list({int32, int64}) >= 0 = []; context_dense_shapes: list(shape) >= 0 = []; Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; feature_list_dense_types: list({float, int64, string}) >= 0 = []; feature_list_sparse_types: list({float, int64, string}) >= 0 = []; feature_list_ragged_value_types: list({float, int64, string}) >= 0 = []; feature_list_ragged_split_types: list({int32, int64}) >= 0 = []; feature_list_dense_shapes: list(shape) >= 0 = []
ParseSingleExample(serialized: string, dense_defaults: Tdense) -> sparse_indices: num_sparse * int64, sparse_values: sparse_types, sparse_shapes: num_sparse * int64, dense_values: Tdense; num_sparse: int >= 0; sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; sparse_types: list({float, int64, string}) >= 0; Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0
ParseSingleSequenceExample(serialized: string, feature_list_dense_missing_assumed_empty: string, context_sparse_keys: Ncontext_sparse * string, context_dense_keys: Ncontext_dense * string, feature_list_sparse_keys: Nfeature_list_sparse * string, feature_list_dense_keys: Nfeature_list_dense * string, context_dense_defaults: Tcontext_dense, debug_name: string) -> context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, feature_list_sparse_indices: Nfeature_list_sparse * int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types; Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0; Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; context_sparse_types: list({float, int64, string}) >= 0 = []; Tcontext_dense: list({float, int64, string}) >= 0 = []; feature_list_dense_types: list({float, int64, string}) >= 0 = []; context_dense_shapes: list(shape) >= 0 = []; feature_list_sparse_types: list({float, int64, string}) >= 0 = []; feature_list_dense_shapes: list(shape) >= 0 = []
ParseTensor(serialized: string) -> output: out_type; out_type: type
PartitionedCall(args: Tin) -> output: Tout; Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; config: string = ''; config_proto: string = ''; executor_type: string = ''
Placeholder() -> output: dtype; dtype: type; shape: shape = shape
PlaceholderV2() -> output: dtype; dtype: type; shape: shape; deprecated 23 'Placeholder now behaves the same as PlaceholderV2.'
PlaceholderWithDefault(input: dtype) -> output: dtype; dtype: type; shape: shape
Polygamma(a: T, x: T) -> z: T; T: {float, double}
Polymorphic(a: T) -> out: T; T: type
PolymorphicDefaultOut() -> out: T; T: type = string
PolymorphicOut() -> out: T; T: type
PopulationCount(x: T) -> y: uint8; T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}
Pow(x: T, y: T) -> z: T; T: {bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}
PrefetchDataset(input_dataset: variant, buffer_size: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; slack_period: int = 0; legacy_autotune: bool = true; buffer_size_min: int = 0; metadata: string = ''
Prelinearize(input: dtype) -> output: variant; dtype: type; shape: shape = []; layout: list(int) = []
PrelinearizeTuple(inputs: dtypes) -> output: variant; dtypes: list(type) >= 1; shapes: list(shape); layouts: list(int) = []
PreventGradient(input: T) -> output: T; T: type; message: string = ''
Print(input: T, data: U) -> output: T; T: type; U: list(type) >= 0; message: string = ''; first_n: int = -1; summarize: int = 3; stateful
PrintV2(input: string); output_stream: string = 'stderr'; end: string = '\n'; stateful
PriorityQueue() -> handle: Ref(string); component_types: list(type) >= 0 = []; shapes: list(shape) >= 0; capacity: int = -1; container: string = ''; shared_name: string = ''; stateful
PriorityQueueV2() -> handle: resource; component_types: list(type) >= 0 = []; shapes: list(shape) >= 0; capacity: int = -1; container: string = ''; shared_name: string = ''; stateful
PrivateThreadPoolDataset(input_dataset: variant, num_threads: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
Prod(input: T, reduction_indices: Tidx) -> output: T; keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = int32
PyFunc(input: Tin) -> output: Tout; token: string; Tin: list(type) >= 0; Tout: list(type) >= 0; stateful
PyFuncStateless(input: Tin) -> output: Tout; token: string; Tin: list(type) >= 0; Tout: list(type) >= 0
Qr(input: T) -> q: T, r: T; full_matrices: bool = false; T: {double, float, half, complex64, complex128}
QuantizeAndDequantize(input: T) -> output: T; signed_input: bool = true; num_bits: int = 8; range_given: bool = false; input_min: float = 0.0; input_max: float = 0.0; T: {bfloat16, half, float, double}; deprecated 22 'Replaced by QuantizeAndDequantizeV2'
QuantizeAndDequantizeV2(input: T, input_min: T, input_max: T) -> output: T; signed_input: bool = true; num_bits: int = 8; range_given: bool = false; T: {bfloat16, half, float, double}; round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'; narrow_range: bool = false; axis: int = -1
QuantizeAndDequantizeV3(input: T, input_min: T, input_max: T, num_bits: int32) -> output: T; signed_input: bool = true; range_given: bool = true; T: {bfloat16, half, float, double}; narrow_range: bool = false; axis: int = -1
QuantizeAndDequantizeV4(input: T, input_min: T, input_max: T) -> output: T; signed_input: bool = true; num_bits: int = 8; range_given: bool = false; T: {bfloat16, half, float, double}; round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'; narrow_range: bool = false; axis: int = -1
QuantizeAndDequantizeV4Grad(gradients: T, input: T, input_min: T, input_max: T) -> input_backprop: T, input_min_backprop: T, input_max_backprop: T; T: {bfloat16, half, float, double}; axis: int = -1
QuantizeDownAndShrinkRange(input: Tinput, input_min: float, input_max: float) -> output: out_type, output_min: float, output_max: float; Tinput: quantizedtype; out_type: quantizedtype
QuantizeV2(input: float, min_range: float, max_range: float) -> output: T, output_min: float, output_max: float; T: quantizedtype; mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'; round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'; narrow_range: bool = false; axis: int = -1; ensure_minimum_range: float = 0.01
QuantizedAdd(x: T1, y: T2, min_x: float, max_x: float, min_y: float, max_y: float) -> z: Toutput, min_z: float, max_z: float; T1: quantizedtype; T2: quantizedtype; Toutput: quantizedtype = qint32
QuantizedAvgPool(input: T, min_input: float, max_input: float) -> output: T, min_output: float, max_output: float; T: quantizedtype; ksize: list(int); strides: list(int); padding: {'SAME', 'VALID'}
QuantizedBatchNormWithGlobalNormalization(t: Tinput, t_min: float, t_max: float, m: Tinput, m_min: float, m_max: float, v: Tinput, v_min: float, v_max: float, beta: Tinput, beta_min: float, beta_max: float, gamma: Tinput, gamma_min: float, gamma_max: float) -> result: out_type, result_min: float, result_max: float; Tinput: quantizedtype; out_type: quantizedtype; variance_epsilon: float; scale_after_normalization: bool
QuantizedBiasAdd(input: T1, bias: T2, min_input: float, max_input: float, min_bias: float, max_bias: float) -> output: out_type, min_out: float, max_out: float; T1: quantizedtype; T2: quantizedtype; out_type: quantizedtype
QuantizedConcat(concat_dim: int32, values: N * T, input_mins: N * float, input_maxes: N * float) -> output: T, output_min: float, output_max: float; N: int >= 2; T: type
QuantizedConcatV2(values: N * T, axis: Tidx, input_mins: N * float, input_maxes: N * float) -> output: T, output_min: float, output_max: float; N: int >= 2; T: type; Tidx: {int32, int64} = int32
QuantizedConv2D(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]
QuantizedConv2DAndRelu(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedConv2DAndReluAndRequantize(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = quint8; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedConv2DAndRequantize(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint8; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedConv2DPerChannel(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]
QuantizedConv2DWithBias(input: Tinput, filter: Tfilter, bias: float, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedConv2DWithBiasAndRelu(input: Tinput, filter: Tfilter, bias: float, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedConv2DWithBiasAndReluAndRequantize(input: Tinput, filter: Tfilter, bias: Tbias, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; out_type: quantizedtype = quint8; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedConv2DWithBiasAndRequantize(input: Tinput, filter: Tfilter, bias: Tbias, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; out_type: quantizedtype = qint8; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedConv2DWithBiasSignedSumAndReluAndRequantize(input: Tinput, filter: Tfilter, bias: Tbias, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float, summand: Tsummand, min_summand: float, max_summand: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; Tsummand: quantizedtype; out_type: quantizedtype = quint8; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedConv2DWithBiasSumAndRelu(input: Tinput, filter: Tfilter, bias: float, min_input: float, max_input: float, min_filter: float, max_filter: float, summand: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedConv2DWithBiasSumAndReluAndRequantize(input: Tinput, filter: Tfilter, bias: Tbias, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float, summand: Tsummand, min_summand: float, max_summand: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; Tsummand: quantizedtype; out_type: quantizedtype = quint8; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedDepthwiseConv2D(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]
QuantizedDepthwiseConv2DWithBias(input: Tinput, filter: Tfilter, bias: float, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]
QuantizedDepthwiseConv2DWithBiasAndRelu(input: Tinput, filter: Tfilter, bias: float, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize(input: Tinput, filter: Tfilter, bias: Tbias, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; out_type: quantizedtype = quint8; strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
QuantizedInstanceNorm(x: T, x_min: float, x_max: float) -> y: T, y_min: float, y_max: float; T: quantizedtype; output_range_given: bool = false; given_y_min: float = 0.0; given_y_max: float = 0.0; variance_epsilon: float = 1e-05; min_separation: float = 0.001
QuantizedMatMul(a: T1, b: T2, min_a: float, max_a: float, min_b: float, max_b: float) -> out: Toutput, min_out: float, max_out: float; T1: quantizedtype; T2: quantizedtype; Toutput: quantizedtype = qint32; transpose_a: bool = false; transpose_b: bool = false; Tactivation: quantizedtype = quint8
QuantizedMatMulWithBias(a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float) -> out: Toutput, min_out: float, max_out: float; T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; Toutput: quantizedtype = qint32; transpose_a: bool = false; transpose_b: bool = false; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'
QuantizedMatMulWithBiasAndDequantize(a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float, min_freezed_output: float, max_freezed_output: float) -> out: Toutput; T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; Toutput: {float}; transpose_a: bool = false; transpose_b: bool = false; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'
QuantizedMatMulWithBiasAndRelu(a: T1, b: T2, bias: float, min_a: float, max_a: float, min_b: float, max_b: float) -> out: Toutput, min_out: float, max_out: float; T1: quantizedtype; T2: quantizedtype; Toutput: quantizedtype = qint32; transpose_a: bool = false; transpose_b: bool = false; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'
QuantizedMatMulWithBiasAndReluAndRequantize(a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float, min_freezed_output: float, max_freezed_output: float) -> out: Toutput, min_out: float, max_out: float; T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; Toutput: quantizedtype = quint8; transpose_a: bool = false; transpose_b: bool = false; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'
QuantizedMatMulWithBiasAndRequantize(a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float, min_freezed_output: float, max_freezed_output: float) -> out: Toutput, min_out: float, max_out: float; T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; Toutput: quantizedtype = quint8; transpose_a: bool = false; transpose_b: bool = false; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'
QuantizedMaxPool(input: T, min_input: float, max_input: float) -> output: T, min_output: float, max_output: float; T: quantizedtype; ksize: list(int); strides: list(int); padding: {'SAME', 'VALID'}
QuantizedMul(x: T1, y: T2, min_x: float, max_x: float, min_y: float, max_y: float) -> z: Toutput, min_z: float, max_z: float; T1: quantizedtype; T2: quantizedtype; Toutput: quantizedtype = qint32
QuantizedRelu(features: Tinput, min_features: float, max_features: float) -> activations: out_type, min_activations: float, max_activations: float; Tinput: quantizedtype; out_type: quantizedtype = quint8
QuantizedRelu6(features: Tinput, min_features: float, max_features: float) -> activations: out_type, min_activations: float, max_activations: float; Tinput: quantizedtype; out_type: quantizedtype = quint8
QuantizedReluX(features: Tinput, max_value: float, min_features: float, max_features: float) -> activations: out_type, min_activations: float, max_activations: float; Tinput: quantizedtype; out_type: quantizedtype = quint8
QuantizedReshape(tensor: T, shape: Tshape, input_min: float, input_max: float) -> output: T, output_min: float, output_max: float; T: type; Tshape: {int32, int64} = int32
QuantizedResizeBilinear(images: T, size: int32, min: float, max: float) -> resized_images: T, out_min: float, out_max: float; T: {quint8, qint32, float}; align_corners: bool = false; half_pixel_centers: bool = false
QueueClose(handle: Ref(string)); cancel_pending_enqueues: bool = false
QueueCloseV2(handle: resource); cancel_pending_enqueues: bool = false; stateful
QueueDequeue(handle: Ref(string)) -> components: component_types; component_types: list(type) >= 1; timeout_ms: int = -1
QueueDequeueMany(handle: Ref(string), n: int32) -> components: component_types; component_types: list(type) >= 1; timeout_ms: int = -1
QueueDequeueManyV2(handle: resource, n: int32) -> components: component_types; component_types: list(type) >= 1; timeout_ms: int = -1; stateful
QueueDequeueUpTo(handle: Ref(string), n: int32) -> components: component_types; component_types: list(type) >= 1; timeout_ms: int = -1
QueueDequeueUpToV2(handle: resource, n: int32) -> components: component_types; component_types: list(type) >= 1; timeout_ms: int = -1; stateful
QueueDequeueV2(handle: resource) -> components: component_types; component_types: list(type) >= 1; timeout_ms: int = -1; stateful
QueueEnqueue(handle: Ref(string), components: Tcomponents); Tcomponents: list(type) >= 1; timeout_ms: int = -1
QueueEnqueueMany(handle: Ref(string), components: Tcomponents); Tcomponents: list(type) >= 1; timeout_ms: int = -1
QueueEnqueueManyV2(handle: resource, components: Tcomponents); Tcomponents: list(type) >= 1; timeout_ms: int = -1; stateful
QueueEnqueueV2(handle: resource, components: Tcomponents); Tcomponents: list(type) >= 1; timeout_ms: int = -1; stateful
QueueIsClosed(handle: Ref(string)) -> is_closed: bool
QueueIsClosedV2(handle: resource) -> is_closed: bool; stateful
QueueSize(handle: Ref(string)) -> size: int32
QueueSizeV2(handle: resource) -> size: int32; stateful
RFFT(input: Treal, fft_length: int32) -> output: Tcomplex; Treal: {float, double} = float; Tcomplex: {complex64, complex128} = complex64
RFFT2D(input: Treal, fft_length: int32) -> output: Tcomplex; Treal: {float, double} = float; Tcomplex: {complex64, complex128} = complex64
RFFT3D(input: Treal, fft_length: int32) -> output: Tcomplex; Treal: {float, double} = float; Tcomplex: {complex64, complex128} = complex64
RFFTND(input: Treal, fft_length: int32, axes: int32) -> output: Tcomplex; Treal: {float, double} = float; Tcomplex: {complex64, complex128} = complex64
RGBToHSV(images: T) -> output: T; T: {half, bfloat16, float, double} = float
RaggedBincount(splits: int64, values: Tidx, size: Tidx, weights: T) -> output: T; Tidx: {int32, int64}; T: {int32, int64, float, double}; binary_output: bool = false
RaggedCountSparseOutput(splits: int64, values: T, weights: output_type) -> output_indices: int64, output_values: output_type, output_dense_shape: int64; T: {int32, int64}; minlength: int >= -1 = -1; maxlength: int >= -1 = -1; binary_output: bool; output_type: {int32, int64, float, double}
RaggedCross(ragged_values: ragged_values_types, ragged_row_splits: ragged_splits_types, sparse_indices: Nsparse * int64, sparse_values: sparse_values_types, sparse_shape: Nsparse * int64, dense_inputs: dense_types) -> output_values: out_values_type, output_row_splits: out_row_splits_type; Nsparse: int >= 0; input_order: string; hashed_output: bool; num_buckets: int >= 0; hash_key: int; ragged_values_types: list({int64, string}) >= 0; ragged_splits_types: list({int32, int64}) >= 0; sparse_values_types: list({int64, string}) >= 0; dense_types: list({int64, string}) >= 0; out_values_type: {int64, string}; out_row_splits_type: {int32, int64}
RaggedFillEmptyRows(value_rowids: int64, values: T, nrows: int64, default_value: T) -> output_value_rowids: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64; T: type
RaggedFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> d_values: T, d_default_value: T; T: type
RaggedGather(params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, indices: Tindices) -> output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues; Tvalues: type; Tindices: {int32, int64}; Tsplits: {int32, int64} = int64; PARAMS_RAGGED_RANK: int >= 1; OUTPUT_RAGGED_RANK: int >= 0
RaggedRange(starts: T, limits: T, deltas: T) -> rt_nested_splits: Tsplits, rt_dense_values: T; T: {bfloat16, float, double, int32, int64} = int32; Tsplits: {int32, int64} = int64
RaggedTensorFromVariant(encoded_ragged: variant) -> output_nested_splits: output_ragged_rank * Tsplits, output_dense_values: Tvalues; input_ragged_rank: int >= -1; output_ragged_rank: int >= 0; Tvalues: type; Tsplits: {int32, int64} = int64
RaggedTensorToSparse(rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T) -> sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64; RAGGED_RANK: int >= 1; T: type; Tsplits: {int32, int64} = int64
RaggedTensorToTensor(shape: Tshape, values: T, default_value: T, row_partition_tensors: num_row_partition_tensors * Tindex) -> result: T; T: type; Tindex: {int64, int32}; Tshape: {int64, int32}; num_row_partition_tensors: int >= 1; row_partition_types: list(string)
RaggedTensorToVariant(rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues) -> encoded_ragged: variant :: RAGGED[$Tvalues]; RAGGED_RANK: int >= 0; Tvalues: type; Tsplits: {int32, int64} = int64; batched_input: bool
RaggedTensorToVariantGradient(encoded_ragged_grad: variant, row_splits: Tsplits, dense_values_shape: int32) -> dense_values_grad: Tvalues; Tvalues: type; Tsplits: {int32, int64} = int64
RandomCrop(image: T, size: int64) -> output: T; T: {uint8, int8, int16, int32, int64, float, double}; seed: int = 0; seed2: int = 0; stateful; deprecated 8 'Random crop is now pure Python'
RandomDataset(seed: int64, seed2: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; stateful
RandomDatasetV2(seed: int64, seed2: int64, seed_generator: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; rerandomize_each_iteration: bool = false; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; stateful
RandomGamma(shape: S, alpha: T) -> output: T; seed: int = 0; seed2: int = 0; S: {int32, int64}; T: {half, float, double}; stateful
RandomGammaGrad(alpha: T, sample: T) -> output: T; T: {float, double}
RandomIndexShuffle(index: dtype, seed: Tseed, max_index: dtype) -> output: dtype; rounds: int = 4; dtype: {int32, uint32, int64, uint64}; Tseed: {int32, uint32, int64, uint64}
RandomPoisson(shape: S, rate: dtype) -> output: dtype; seed: int = 0; seed2: int = 0; S: {int32, int64}; dtype: {half, float, double}; stateful; deprecated 25 'Replaced by RandomPoissonV2'
RandomPoissonV2(shape: S, rate: R) -> output: dtype; seed: int = 0; seed2: int = 0; S: {int32, int64}; R: {half, float, double, int32, int64} = double; dtype: {half, float, double, int32, int64} = int64; stateful
RandomShuffle(value: T) -> output: T; seed: int = 0; seed2: int = 0; T: type; stateful
RandomShuffleQueue() -> handle: Ref(string); component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1; min_after_dequeue: int = 0; seed: int = 0; seed2: int = 0; container: string = ''; shared_name: string = ''; stateful
RandomShuffleQueueV2() -> handle: resource; component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1; min_after_dequeue: int = 0; seed: int = 0; seed2: int = 0; container: string = ''; shared_name: string = ''; stateful
RandomStandardNormal(shape: T) -> output: dtype; seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}; stateful
RandomUniform(shape: T) -> output: dtype; seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}; stateful
RandomUniformInt(shape: T, minval: Tout, maxval: Tout) -> output: Tout; seed: int = 0; seed2: int = 0; Tout: {int32, int64}; T: {int32, int64}; stateful
Range(start: Tidx, limit: Tidx, delta: Tidx) -> output: Tidx; Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = int32
RangeDataset(start: int64, stop: int64, step: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; replicate_on_split: bool = false; stateful
Rank(input: T) -> output: int32; T: type
ReadFile(filename: string) -> contents: string
ReadVariableOp(resource: resource) -> value: dtype; dtype: type; stateful
ReadVariableXlaSplitND(resource: resource) -> outputs: N * T; T: type; N: int >= 1; num_splits: list(int); paddings: list(int) = []; stateful
ReaderNumRecordsProduced(reader_handle: Ref(string)) -> records_produced: int64
ReaderNumRecordsProducedV2(reader_handle: resource) -> records_produced: int64; stateful
ReaderNumWorkUnitsCompleted(reader_handle: Ref(string)) -> units_completed: int64
ReaderNumWorkUnitsCompletedV2(reader_handle: resource) -> units_completed: int64; stateful
ReaderRead(reader_handle: Ref(string), queue_handle: Ref(string)) -> key: string, value: string
ReaderReadUpTo(reader_handle: Ref(string), queue_handle: Ref(string), num_records: int64) -> keys: string, values: string
ReaderReadUpToV2(reader_handle: resource, queue_handle: resource, num_records: int64) -> keys: string, values: string; stateful
ReaderReadV2(reader_handle: resource, queue_handle: resource) -> key: string, value: string; stateful
ReaderReset(reader_handle: Ref(string))
ReaderResetV2(reader_handle: resource); stateful
ReaderRestoreState(reader_handle: Ref(string), state: string)
ReaderRestoreStateV2(reader_handle: resource, state: string); stateful
ReaderSerializeState(reader_handle: Ref(string)) -> state: string
ReaderSerializeStateV2(reader_handle: resource) -> state: string; stateful
Real(input: T) -> output: Tout; T: {complex64, complex128} = complex64; Tout: {float, double} = float
RealDiv(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64, complex128}
RebatchDataset(input_dataset: variant, num_replicas: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; use_fallback: bool = true
RebatchDatasetV2(input_dataset: variant, batch_sizes: int64, drop_remainder: bool) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
Reciprocal(x: T) -> y: T; T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}
ReciprocalGrad(y: T, dy: T) -> z: T; T: {bfloat16, half, float, double, complex64, complex128}
RecordInput() -> records: string; file_pattern: string; file_random_seed: int = 301; file_shuffle_shift_ratio: float = 0.0; file_buffer_size: int = 10000; file_parallelism: int = 16; batch_size: int = 32; compression_type: string = ''; stateful
Recv() -> tensor: tensor_type; tensor_type: type; tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: string; client_terminated: bool = false; stateful; distributed
RecvTPUEmbeddingActivations() -> outputs: num_outputs * float; num_outputs: int >= 1; config: string; stateful
ReduceDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments) -> components: output_types; f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; use_inter_op_parallelism: bool = true; metadata: string = ''; stateful
ReduceJoin(inputs: string, reduction_indices: int32) -> output: string; keep_dims: bool = false; separator: string = ''
RefEnter(data: Ref(T)) -> output: Ref(T); T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10
RefExit(data: Ref(T)) -> output: Ref(T); T: type
RefIdentity(input: Ref(T)) -> output: Ref(T); T: type; allows_uninitialized_input
RefIn(a: Ref(T)); T: type
RefInputFloatInput(a: Ref(float), b: float)
RefInputFloatInputIntOutput(a: Ref(float), b: float) -> c: int32
RefInputIntInput(a: Ref(int32), b: int32)
RefMerge(inputs: Ref(N * T)) -> output: Ref(T), value_index: int32; T: type; N: int >= 1
RefNextIteration(data: Ref(T)) -> output: Ref(T); T: type
RefOut() -> a: Ref(T); T: type
RefOutput() -> a: Ref(int32)
RefOutputFloatOutput() -> a: Ref(float), b: float
RefSelect(index: int32, inputs: Ref(N * T)) -> output: Ref(T); T: type; N: int >= 1
RefSwitch(data: Ref(T), pred: bool) -> output_false: Ref(T), output_true: Ref(T); T: type; allows_uninitialized_input
RegexFullMatch(input: string, pattern: string) -> output: bool
RegexReplace(input: string, pattern: string, rewrite: string) -> output: string; replace_global: bool = true
RegisterDataset(dataset: variant, address: string, protocol: string) -> dataset_id: int64; external_state_policy: int; element_spec: string = ''; metadata: string = ''
RegisterDatasetV2(dataset: variant, address: string, protocol: string) -> dataset_id: string; external_state_policy: int; element_spec: string = ''; requested_dataset_id: string = ''; metadata: string = ''
Relayout(input: T) -> output: T; layout: string; T: type
RelayoutLike(input: T, layout_input: U) -> output: T; T: type; U: type
Relu(features: T) -> activations: T; T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8}
Relu6(features: T) -> activations: T; T: realnumbertype
Relu6Grad(gradients: T, features: T) -> backprops: T; T: realnumbertype
ReluGrad(gradients: T, features: T) -> backprops: T; T: realnumbertype
RemoteCall(target: string, args: Tin) -> output: Tout; Tin: list(type) >= 1; Tout: list(type) >= 1; f: func; stateful
RepeatDataset(input_dataset: variant, count: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
RequantizationRange(input: Tinput, input_min: float, input_max: float) -> output_min: float, output_max: float; Tinput: quantizedtype
RequantizationRangePerChannel(input: T, input_min: float, input_max: float) -> output_min: float, output_max: float; T: quantizedtype = qint32; clip_value_max: float
Requantize(input: Tinput, input_min: float, input_max: float, requested_output_min: float, requested_output_max: float) -> output: out_type, output_min: float, output_max: float; Tinput: quantizedtype; out_type: quantizedtype
RequantizePerChannel(input: T, input_min: float, input_max: float, requested_output_min: float, requested_output_max: float) -> output: out_type, output_min: float, output_max: float; T: quantizedtype = qint32; out_type: quantizedtype = quint8
RequiresOlderGraphVersion() -> version: int32; stateful
ReservedAttr(); range: int
ReservedInput(input: int32)
Reshape(tensor: T, shape: Tshape) -> output: T; T: type; Tshape: {int32, int64} = int32
ResizeArea(images: T, size: int32) -> resized_images: float; T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}; align_corners: bool = false
ResizeBicubic(images: T, size: int32) -> resized_images: float; T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}; align_corners: bool = false; half_pixel_centers: bool = false
ResizeBicubicGrad(grads: float, original_image: T) -> output: T; T: {float, double}; align_corners: bool = false; half_pixel_centers: bool = false
ResizeBilinear(images: T, size: int32) -> resized_images: float; T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double, bfloat16}; align_corners: bool = false; half_pixel_centers: bool = false
ResizeBilinearGrad(grads: float, original_image: T) -> output: T; T: {float, bfloat16, half, double}; align_corners: bool = false; half_pixel_centers: bool = false
ResizeNearestNeighbor(images: T, size: int32) -> resized_images: T; T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}; align_corners: bool = false; half_pixel_centers: bool = false
ResizeNearestNeighborGrad(grads: T, size: int32) -> output: T; T: {uint8, int8, int32, half, float, double, bfloat16}; align_corners: bool = false; half_pixel_centers: bool = false
ResourceAccumulatorApplyGradient(handle: resource, local_step: int64, gradient: dtype); dtype: numbertype; stateful
ResourceAccumulatorNumAccumulated(handle: resource) -> num_accumulated: int32; stateful
ResourceAccumulatorSetGlobalStep(handle: resource, new_global_step: int64); stateful
ResourceAccumulatorTakeGradient(handle: resource, num_required: int32) -> average: dtype; dtype: numbertype; stateful
ResourceApplyAdaMax(var: resource, m: resource, v: resource, beta1_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T); T: numbertype; use_locking: bool = false; stateful
ResourceApplyAdadelta(var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, grad: T); T: numbertype; use_locking: bool = false; stateful
ResourceApplyAdagrad(var: resource, accum: resource, lr: T, grad: T); T: numbertype; use_locking: bool = false; update_slots: bool = true; stateful
ResourceApplyAdagradDA(var: resource, gradient_accumulator: resource, gradient_squared_accumulator: resource, grad: T, lr: T, l1: T, l2: T, global_step: int64); T: numbertype; use_locking: bool = false; stateful
ResourceApplyAdagradV2(var: resource, accum: resource, lr: T, epsilon: T, grad: T); T: numbertype; use_locking: bool = false; update_slots: bool = true; stateful
ResourceApplyAdam(var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T); T: numbertype; use_locking: bool = false; use_nesterov: bool = false; stateful
ResourceApplyAdamWithAmsgrad(var: resource, m: resource, v: resource, vhat: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T); T: numbertype; use_locking: bool = false; stateful
ResourceApplyAddSign(var: resource, m: resource, lr: T, alpha: T, sign_decay: T, beta: T, grad: T); T: numbertype; use_locking: bool = false; stateful
ResourceApplyCenteredRMSProp(var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T); T: numbertype; use_locking: bool = false; stateful
ResourceApplyFtrl(var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, lr_power: T); T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false; stateful
ResourceApplyFtrlV2(var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T); T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false; stateful
ResourceApplyGradientDescent(var: resource, alpha: T, delta: T); T: numbertype; use_locking: bool = false; stateful
ResourceApplyKerasMomentum(var: resource, accum: resource, lr: T, grad: T, momentum: T); T: numbertype; use_locking: bool = false; use_nesterov: bool = false; stateful
ResourceApplyMomentum(var: resource, accum: resource, lr: T, grad: T, momentum: T); T: numbertype; use_locking: bool = false; use_nesterov: bool = false; stateful
ResourceApplyPowerSign(var: resource, m: resource, lr: T, logbase: T, sign_decay: T, beta: T, grad: T); T: numbertype; use_locking: bool = false; stateful
ResourceApplyProximalAdagrad(var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T); T: numbertype; use_locking: bool = false; stateful
ResourceApplyProximalGradientDescent(var: resource, alpha: T, l1: T, l2: T, delta: T); T: numbertype; use_locking: bool = false; stateful
ResourceApplyRMSProp(var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T); T: numbertype; use_locking: bool = false; stateful
ResourceConditionalAccumulator() -> handle: resource; dtype: numbertype; shape: shape; container: string = ''; shared_name: string = ''; reduction_type: {'MEAN', 'SUM'} = 'MEAN'; stateful
ResourceCountUpTo(resource: resource) -> output: T; limit: int; T: {int32, int64}; stateful
ResourceCreateOp(resource: resource); stateful
ResourceGather(resource: resource, indices: Tindices) -> output: dtype; batch_dims: int = 0; validate_indices: bool = true; dtype: type; Tindices: {int32, int64}; stateful
ResourceGatherNd(resource: resource, indices: Tindices) -> output: dtype; dtype: type; Tindices: {int32, int64}; stateful
ResourceInitializedOp(resource: resource) -> initialized: bool; stateful
ResourceScatterAdd(resource: resource, indices: Tindices, updates: dtype); dtype: numbertype; Tindices: {int32, int64}; stateful
ResourceScatterDiv(resource: resource, indices: Tindices, updates: dtype); dtype: numbertype; Tindices: {int32, int64}; stateful
ResourceScatterMax(resource: resource, indices: Tindices, updates: dtype); dtype: numbertype; Tindices: {int32, int64}; stateful
ResourceScatterMin(resource: resource, indices: Tindices, updates: dtype); dtype: numbertype; Tindices: {int32, int64}; stateful
ResourceScatterMul(resource: resource, indices: Tindices, updates: dtype); dtype: numbertype; Tindices: {int32, int64}; stateful
ResourceScatterNdAdd(ref: resource, indices: Tindices, updates: T); T: type; Tindices: {int32, int64}; use_locking: bool = true; bad_indices_policy: string = ''; stateful
ResourceScatterNdMax(ref: resource, indices: Tindices, updates: T); T: type; Tindices: {int32, int64}; use_locking: bool = true; bad_indices_policy: string = ''; stateful
ResourceScatterNdMin(ref: resource, indices: Tindices, updates: T); T: type; Tindices: {int32, int64}; use_locking: bool = true; bad_indices_policy: string = ''; stateful
ResourceScatterNdSub(ref: resource, indices: Tindices, updates: T); T: type; Tindices: {int32, int64}; use_locking: bool = true; bad_indices_policy: string = ''; stateful
ResourceScatterNdUpdate(ref: resource, indices: Tindices, updates: T); T: type; Tindices: {int32, int64}; use_locking: bool = true; bad_indices_policy: string = ''; stateful
ResourceScatterSub(resource: resource, indices: Tindices, updates: dtype); dtype: numbertype; Tindices: {int32, int64}; stateful
ResourceScatterUpdate(resource: resource, indices: Tindices, updates: dtype); dtype: type; Tindices: {int32, int64}; stateful
ResourceSparseApplyAdadelta(var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, grad: T, indices: Tindices); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; stateful
ResourceSparseApplyAdagrad(var: resource, accum: resource, lr: T, grad: T, indices: Tindices); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; update_slots: bool = true; stateful
ResourceSparseApplyAdagradDA(var: resource, gradient_accumulator: resource, gradient_squared_accumulator: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, global_step: int64); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; stateful
ResourceSparseApplyAdagradV2(var: resource, accum: resource, lr: T, epsilon: T, grad: T, indices: Tindices); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; update_slots: bool = true; stateful
ResourceSparseApplyCenteredRMSProp(var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; stateful
ResourceSparseApplyFtrl(var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, lr_power: T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; multiply_linear_by_lr: bool = false; stateful
ResourceSparseApplyFtrlV2(var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; multiply_linear_by_lr: bool = false; stateful
ResourceSparseApplyKerasMomentum(var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; use_nesterov: bool = false; stateful
ResourceSparseApplyMomentum(var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; use_nesterov: bool = false; stateful
ResourceSparseApplyProximalAdagrad(var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T, indices: Tindices); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; stateful
ResourceSparseApplyProximalGradientDescent(var: resource, alpha: T, l1: T, l2: T, grad: T, indices: Tindices); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; stateful
ResourceSparseApplyRMSProp(var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; stateful
ResourceStridedSliceAssign(ref: resource, begin: Index, end: Index, strides: Index, value: T); T: type; Index: {int32, int64}; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0; stateful
ResourceUsingOp(resource: resource); stateful
Restore(file_pattern: string, tensor_name: string) -> tensor: dt; dt: type; preferred_shard: int = -1; stateful
RestoreSlice(file_pattern: string, tensor_name: string, shape_and_slice: string) -> tensor: dt; dt: type; preferred_shard: int = -1; stateful
RestoreV2(prefix: string, tensor_names: string, shape_and_slices: string) -> tensors: dtypes; dtypes: list(type) >= 1; stateful
Restrict(a: T) -> out: T; T: {string, bool}
RetrieveAllTPUEmbeddingParameters() -> parameters: NumTables * float, auxiliary1: NumTables * float, auxiliary2: NumTables * float, auxiliary3: NumTables * float, auxiliary4: NumTables * float, auxiliary5: NumTables * float, auxiliary6: NumTables * float, auxiliary7: NumTables * float; NumTables: int >= 1; config: string; num_shards: int; shard_id: int; stateful
RetrieveTPUEmbeddingADAMParameters() -> parameters: float, momenta: float, velocities: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingAdadeltaParameters() -> parameters: float, accumulators: float, updates: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingAdagradMomentumParameters() -> parameters: float, accumulators: float, momenta: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingAdagradParameters() -> parameters: float, accumulators: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingCenteredRMSPropParameters() -> parameters: float, ms: float, mom: float, mg: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingFTRLParameters() -> parameters: float, accumulators: float, linears: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingFrequencyEstimatorParameters() -> parameters: float, last_hit_step: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingMDLAdagradLightParameters() -> parameters: float, accumulators: float, weights: float, benefits: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingMomentumParameters() -> parameters: float, momenta: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingProximalAdagradParameters() -> parameters: float, accumulators: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingProximalYogiParameters() -> parameters: float, v: float, m: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingRMSPropParameters() -> parameters: float, ms: float, mom: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
RetrieveTPUEmbeddingStochasticGradientDescentParameters() -> parameters: float; table_id: int = -1; table_name: string = ''; num_shards: int; shard_id: int; config: string = ''; stateful
Reverse(tensor: T, dims: bool) -> output: T; T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, bfloat16, half, float, double, complex64, complex128, string}
ReverseSequence(input: T, seq_lengths: Tlen) -> output: T; seq_dim: int; batch_dim: int = 0; T: type; Tlen: {int32, int64} = int64
ReverseV2(tensor: T, axis: Tidx) -> output: T; Tidx: {int32, int64} = int32; T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, half, float, double, complex64, complex128, string}
RewriteDataset(input_dataset: variant, rewrite_name: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
RightShift(x: T, y: T) -> z: T; T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}
Rint(x: T) -> y: T; T: {bfloat16, half, float, double}
RiscAbs(x: T) -> y: T; T: {bfloat16, half, float, double}
RiscAdd(x: T, y: T) -> z: T; T: {bfloat16, half, float, double}; commutative; aggregate
RiscBinaryArithmetic(x: T, y: T) -> z: T; op_type: {'ADD', 'SUB', 'MUL', 'DIV', 'REM', 'MIN', 'POW'}; T: {bfloat16, half, float, double}
RiscBinaryComparison(x: T, y: T) -> z: bool; op_type: {'EQ', 'NE', 'GE', 'GT', 'LE', 'LT'}; T: {bfloat16, half, float, double}
RiscBitcast(x: SrcT) -> y: DstT; SrcT: type; DstT: type
RiscBroadcast(input: T, shape: Tidx) -> output: T; T: type; Tidx: {int32, int64} = int32
RiscCast(x: SrcT) -> y: DstT; SrcT: type; DstT: type
RiscCeil(x: T) -> y: T; T: {bfloat16, half, float, double}
RiscCholesky(input: T) -> output: T; T: {bfloat16, half, float, double}
RiscConcat(values: N * T, axis: Tidx) -> output: T; N: int >= 2; T: type; Tidx: {int32, int64} = int32
RiscCondition(pred: bool, input_true: SrcT, input_false: SrcT) -> output: DstT; func_true: func; func_false: func; SrcT: {bfloat16, half, float, double}; DstT: {bfloat16, half, float, double}
RiscConv(input: T, filter: T) -> output: T; T: {bfloat16, half, float, double}; strides: list(int); data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
RiscCos(x: T) -> y: T; T: {bfloat16, half, float, double}
RiscDiv(x: T, y: T) -> z: T; T: {bfloat16, half, float, double}
RiscDot(a: T, b: T) -> product: T; transpose_a: bool = false; transpose_b: bool = false; T: {bfloat16, half, float, double}
RiscExp(x: T) -> y: T; T: {bfloat16, half, float, double}
RiscFft(input: Tcomplex) -> output: Tcomplex; Tcomplex: {complex64, complex128} = complex64
RiscFloor(x: T) -> y: T; T: {bfloat16, half, float, double}
RiscGather(params: Tparams, indices: Tindices, axis: Taxis) -> output: Tparams; batch_dims: int = 0; Tparams: type; Tindices: {int32, int64}; Taxis: {int32, int64}
RiscImag(input: T) -> output: Tout; T: {complex64, complex128} = complex64; Tout: {float, double} = float
RiscIsFinite(x: T) -> y: bool; T: {bfloat16, half, float, double}
RiscLog(x: T) -> y: T; T: {bfloat16, half, float, double}
RiscLogicalAnd(x: bool, y: bool) -> z: bool
RiscLogicalNot(x: bool) -> z: bool
RiscLogicalOr(x: bool, y: bool) -> z: bool
RiscMax(x: T, y: T) -> max: T; T: {bfloat16, half, float, double}
RiscMin(x: T, y: T) -> z: T; T: {bfloat16, half, float, double}
RiscMul(x: T, y: T) -> z: T; T: {bfloat16, half, float, double}
RiscNeg(x: T) -> y: T; T: {bfloat16, half, float, double}
RiscPad(input: T, paddings: Tpaddings, constant_values: T) -> output: T; T: {bfloat16, half, float, double}; Tpaddings: {int32, int64} = int32
RiscPool(value: T) -> output: T; ksize: list(int) >= 4; strides: list(int) >= 4; pooling_type: {'AVG', 'MAX'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: {bfloat16, half, float, double}
RiscPow(x: T, y: T) -> z: T; T: {bfloat16, half, float, double}
RiscRandomUniform(shape: T) -> output: float; seed: int = 0; T: {int32, int64}
RiscReal(input: T) -> output: Tout; T: {complex64, complex128} = complex64; Tout: {float, double} = float
RiscReduce(tensor: T, axis: Index) -> output: T; reduce_type: {'MEAN', 'SUM'}; Index: {int32, int64} = int32; T: {bfloat16, half, float, double}
RiscRem(x: T, y: T) -> z: T; T: {bfloat16, half, float, double}
RiscReshape(tensor: T, shape: Tshape) -> output: T; T: {bfloat16, half, float, double}; Tshape: {int32, int64} = int32
RiscReverse(tensor: T, axis: Tidx) -> output: T; Tidx: {int32, int64} = int32; T: {bfloat16, half, float, double}
RiscScatter(indices: Tindices, updates: T, shape: Tindices) -> output: T; T: {bfloat16, half, float, double}; Tindices: {int32, int64}
RiscShape(input: T) -> output: out_type; T: {bfloat16, half, float, double}; out_type: {int32, int64} = int32
RiscSign(x: T) -> y: T; T: {bfloat16, half, float, double}
RiscSlice(input: T, begin: Index, size: Index) -> output: T; T: {bfloat16, half, float, double}; Index: {int32, int64}
RiscSort(input: T, axis: Index) -> output: T; Index: {int32, int64} = int32; T: {bfloat16, half, float, double}; direction: {'ASCENDING', 'DESCENDING'}
RiscSqueeze(input: T) -> output: T; T: type; squeeze_dims: list(int) >= 0 = []
RiscSub(x: T, y: T) -> z: T; T: {bfloat16, half, float, double}
RiscTranspose(x: T, perm: Tperm) -> y: T; T: type; Tperm: {int32, int64} = int32
RiscTriangularSolve(matrix: T, rhs: T) -> output: T; lower: bool = true; adjoint: bool = false; T: {bfloat16, half, float, double}
RiscUnary(x: T) -> y: T; op_type: {'ABL', 'CEIL', 'COS', 'EXP', 'FLOOR', 'IMAG', 'LOG', 'NEG', 'REAL', 'SIGN'}; T: {bfloat16, half, float, double}
RiscWhile(input: T) -> output: T; T: list(type) >= 0; cond: func; body: func; output_shapes: list(shape) = []; parallel_iterations: int = 10; stateful
RngReadAndSkip(resource: resource, alg: int32, delta: uint64) -> value: int64; stateful
RngSkip(resource: resource, algorithm: int64, delta: int64); stateful
Roll(input: T, shift: Tshift, axis: Taxis) -> output: T; T: type; Tshift: {int32, int64}; Taxis: {int32, int64}
Round(x: T) -> y: T; T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}
RpcCall(client: resource, method_name: string, args: Tin, timeout_in_ms: int64) -> future: resource, deleter: variant; Tin: list(type) >= 0; stateful
RpcCheckStatus(status_or: resource) -> error_code: int64, error: string; stateful
RpcClient(server_address: string, timeout_in_ms: int64) -> client: resource, method_specs: string; shared_name: string = ''; list_registered_methods: bool = false; stateful
RpcGetValue(status_or: resource) -> output: Tout; Tout: list(type) >= 0; stateful
RpcServer(server_address: string) -> server: resource; stateful
RpcServerRegister(server: resource, method_name: string, captured_inputs: Tin); Tin: list(type) >= 0 = []; f: func; input_specs: string = ''; output_specs: string; stateful
RpcServerStart(server: resource); stateful
Rsqrt(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
RsqrtGrad(y: T, dy: T) -> z: T; T: {bfloat16, half, float, double, complex64, complex128}
SampleDistortedBoundingBox(image_size: T, bounding_boxes: float) -> begin: T, size: T, bboxes: float; T: {uint8, int8, int16, int32, int64}; seed: int = 0; seed2: int = 0; min_object_covered: float = 0.1; aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1.0]; max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false; stateful
SampleDistortedBoundingBoxV2(image_size: T, bounding_boxes: float, min_object_covered: float) -> begin: T, size: T, bboxes: float; T: {uint8, int8, int16, int32, int64}; seed: int = 0; seed2: int = 0; aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1.0]; max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false; stateful
SamplingDataset(input_dataset: variant, rate: float, seed: int64, seed2: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
Save(filename: string, tensor_names: string, data: T); T: list(type) >= 1; stateful
SaveDataset(input_dataset: variant, path: string, shard_func_other_args: Tshard_func_args); compression: string = ''; shard_func: func; use_shard_func: bool = true; Tshard_func_args: list(type) >= 0; stateful
SaveDatasetV2(input_dataset: variant, path: string, shard_func_other_args: Tshard_func_args) -> handle: variant; compression: string = ''; shard_func: func; use_shard_func: bool = true; Tshard_func_args: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
SaveSlices(filename: string, tensor_names: string, shapes_and_slices: string, data: T); T: list(type) >= 1; stateful
SaveV2(prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes); dtypes: list(type) >= 1; stateful
ScalarSummary(tags: string, values: T) -> summary: string; T: realnumbertype
ScaleAndTranslate(images: T, size: int32, scale: float, translation: float) -> resized_images: float; T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}; kernel_type: string = 'lanczos3'; antialias: bool = true
ScaleAndTranslateGrad(grads: T, original_image: T, scale: float, translation: float) -> output: T; T: {float}; kernel_type: string = 'lanczos3'; antialias: bool = true
ScanDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; preserve_cardinality: bool = false; use_default_device: bool = true; metadata: string = ''
ScatterAdd(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false
ScatterDiv(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false
ScatterMax(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: {half, bfloat16, float, double, int32, int64}; Tindices: {int32, int64}; use_locking: bool = false
ScatterMin(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: {half, bfloat16, float, double, int32, int64}; Tindices: {int32, int64}; use_locking: bool = false
ScatterMul(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false
ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> output: T; T: type; Tindices: {int16, int32, int64}; bad_indices_policy: string = ''
ScatterNdAdd(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; bad_indices_policy: string = ''
ScatterNdMax(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; bad_indices_policy: string = ''
ScatterNdMin(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; bad_indices_policy: string = ''
ScatterNdNonAliasingAdd(input: T, indices: Tindices, updates: T) -> output: T; T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}; Tindices: {int32, int64}; bad_indices_policy: string = ''
ScatterNdSub(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; bad_indices_policy: string = ''
ScatterNdUpdate(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: type; Tindices: {int32, int64}; use_locking: bool = true; bad_indices_policy: string = ''
ScatterSub(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false
ScatterUpdate(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T); T: type; Tindices: {int32, int64}; use_locking: bool = true
SdcaFprint(input: string) -> output: int64
SdcaOptimizer(sparse_example_indices: num_sparse_features * int64, sparse_feature_indices: num_sparse_features * int64, sparse_feature_values: num_sparse_features_with_values * float, dense_features: num_dense_features * float, example_weights: float, example_labels: float, sparse_indices: num_sparse_features * int64, sparse_weights: num_sparse_features * float, dense_weights: num_dense_features * float, example_state_data: float) -> out_example_state_data: float, out_delta_sparse_weights: num_sparse_features * float, out_delta_dense_weights: num_dense_features * float; loss_type: {'logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss'}; adaptative: bool = false; num_sparse_features: int >= 0; num_sparse_features_with_values: int >= 0; num_dense_features: int >= 0; l1: float; l2: float; num_loss_partitions: int >= 1; num_inner_iterations: int >= 1
SdcaOptimizerV2(sparse_example_indices: num_sparse_features * int64, sparse_feature_indices: num_sparse_features * int64, sparse_feature_values: num_sparse_features_with_values * float, dense_features: num_dense_features * float, example_weights: float, example_labels: float, sparse_indices: num_sparse_features * int64, sparse_weights: num_sparse_features * float, dense_weights: num_dense_features * float, example_state_data: float) -> out_example_state_data: float, out_delta_sparse_weights: num_sparse_features * float, out_delta_dense_weights: num_dense_features * float; loss_type: {'logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss'}; adaptive: bool = false; num_sparse_features: int >= 0; num_sparse_features_with_values: int >= 0; num_dense_features: int >= 0; l1: float; l2: float; num_loss_partitions: int >= 1; num_inner_iterations: int >= 1
SdcaShrinkL1(weights: Ref(num_features * float)); num_features: int >= 0; l1: float; l2: float
SegmentMax(data: T, segment_ids: Tindices) -> output: T; T: realnumbertype; Tindices: {int32, int64}
SegmentMaxV2(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T; T: realnumbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32
SegmentMean(data: T, segment_ids: Tindices) -> output: T; T: numbertype; Tindices: {int32, int64}
SegmentMin(data: T, segment_ids: Tindices) -> output: T; T: realnumbertype; Tindices: {int32, int64}
SegmentMinV2(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T; T: realnumbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32
SegmentProd(data: T, segment_ids: Tindices) -> output: T; T: numbertype; Tindices: {int32, int64}
SegmentProdV2(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T; T: numbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32
SegmentSum(data: T, segment_ids: Tindices) -> output: T; T: numbertype; Tindices: {int32, int64}
SegmentSumV2(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T; T: numbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32
Select(condition: bool, t: T, e: T) -> output: T; T: type
SelectV2(condition: bool, t: T, e: T) -> output: T; T: type
SelfAdjointEig(input: T) -> output: T; T: {double, float, half}; deprecated 11 'Use SelfAdjointEigV2 instead.'
SelfAdjointEigV2(input: T) -> e: T, v: T; compute_v: bool = true; T: {double, float, half, complex64, complex128}
Selu(features: T) -> activations: T; T: {half, bfloat16, float, double}
SeluGrad(gradients: T, outputs: T) -> backprops: T; T: {half, bfloat16, float, double}
Send(tensor: T); T: type; tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: string; client_terminated: bool = false; stateful
SendTPUEmbeddingGradients(inputs: N * float, learning_rates: NN * float); N: int >= 1; NN: int >= 0 = 0; config: string; stateful
SerializeIterator(resource_handle: resource) -> serialized: variant; external_state_policy: int = 0; stateful
SerializeManySparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> serialized_sparse: out_type; T: type; out_type: {string, variant} = string
SerializeSparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> serialized_sparse: out_type; T: type; out_type: {string, variant} = string
SerializeTensor(tensor: T) -> serialized: string; T: type
SetSize(set_indices: int64, set_values: T, set_shape: int64) -> size: int32; validate_indices: bool = true; T: {int8, int16, int32, int64, uint8, uint16, string}
SetStatsAggregatorDataset(input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
Shape(input: T) -> output: out_type :: SHAPE_TENSOR[$out_type]; T: type; out_type: {int32, int64} = int32
ShapeN(input: N * T) -> output: N * out_type; N: int >= 1; T: type; out_type: {int32, int64} = int32
ShardDataset(input_dataset: variant, num_shards: int64, index: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; require_non_empty: bool = false; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
ShardedFilename(basename: string, shard: int32, num_shards: int32) -> filename: string
ShardedFilespec(basename: string, num_shards: int32) -> filename: string
ShuffleAndRepeatDataset(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; reshuffle_each_iteration: bool = true; metadata: string = ''
ShuffleAndRepeatDatasetV2(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64, seed_generator: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; reshuffle_each_iteration: bool = true; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; stateful
ShuffleDataset(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; reshuffle_each_iteration: bool = true; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
ShuffleDatasetV2(input_dataset: variant, buffer_size: int64, seed_generator: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; stateful
ShuffleDatasetV3(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, seed_generator: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; reshuffle_each_iteration: bool = true; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; stateful
ShutdownDistributedTPU(); stateful
ShutdownTPUSystem() -> success: bool; stateful
Sigmoid(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
SigmoidGrad(y: T, dy: T) -> z: T; T: {bfloat16, half, float, double, complex64, complex128}
Sign(x: T) -> y: T; T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}
Simple(a: int32) -> out: float
SimpleStruct() -> a: n_a * int32; n_a: int >= 0
Sin(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
Sinh(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
Size(input: T) -> output: out_type; T: type; out_type: {int32, int64} = int32
SkipDataset(input_dataset: variant, count: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
Skipgram() -> vocab_word: string, vocab_freq: int32, words_per_epoch: int64, current_epoch: int32, total_words_processed: int64, examples: int32, labels: int32; filename: string; batch_size: int; window_size: int = 5; min_count: int = 5; subsample: float = 0.001; stateful; deprecated 19 'Moving word2vec into tensorflow_models/tutorials and deprecating its ops here as a result'
SleepDataset(input_dataset: variant, sleep_microseconds: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
SleepIdentityOp(sleep_seconds: int32, input: T) -> output: T; T: type; stateful
SleepOp(sleep_seconds: int32); stateful
Slice(input: T, begin: Index, size: Index) -> output: T; T: type; Index: {int32, int64}
SlidingWindowDataset(input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; drop_remainder: bool = true; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
Snapshot(input: T) -> output: T; T: type
SnapshotChunkDataset(chunk_file: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; compression: string = ''
SnapshotDataset(input_dataset: variant, path: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; compression: string = ''; reader_path_prefix: string = ''; writer_path_prefix: string = ''; shard_size_bytes: int = 10737418240; pending_snapshot_expiry_seconds: int = 86400; num_reader_threads: int = 1; reader_buffer_size: int = 1; num_writer_threads: int = 1; writer_buffer_size: int = 1; shuffle_on_read: bool = false; seed: int = 0; seed2: int = 0; mode: string = 'auto'; snapshot_name: string = ''
SnapshotDatasetReader(shard_dir: string, start_index: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; compression: string = ''; version: int
SnapshotDatasetV2(input_dataset: variant, path: string, reader_func_other_args: Treader_func_args, shard_func_other_args: Tshard_func_args) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; compression: string = ''; reader_prefix: string = ''; writer_prefix: string = ''; hash_valid: bool = false; hash: int = 0; reader_func: func; shard_func: func; Treader_func_args: list(type) >= 0; Tshard_func_args: list(type) >= 0; metadata: string = ''
SnapshotNestedDatasetReader(inputs: N * variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1
SobolSample(dim: int32, num_results: int32, skip: int32) -> samples: dtype; dtype: {float, double} = float
Softmax(logits: T) -> softmax: T; T: {half, bfloat16, float, double}
SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> loss: T, backprop: T; T: {half, bfloat16, float, double}
Softplus(features: T) -> activations: T; T: {half, bfloat16, float, double}
SoftplusGrad(gradients: T, features: T) -> backprops: T; T: {half, bfloat16, float, double}
Softsign(features: T) -> activations: T; T: {half, bfloat16, float, double}
SoftsignGrad(gradients: T, features: T) -> backprops: T; T: {half, bfloat16, float, double}
SortListOfSparseCoreCooTensors(row_ids_list: N * int32, col_ids_list: N * int32, gains_list: N * float) -> sorted_row_ids: int32, sorted_col_ids: int32, sorted_gains: float, id_counts: int32; sample_count_list: list(int); col_offset_list: list(int); num_replica: int >= 1; table_vocab_size: int >= 1; feature_width: int >= 1; num_sc_per_chip: int >= 1; max_ids_per_sparse_core: int >= 1; max_unique_ids_per_sparse_core: int >= 1; table_name: string; N: int >= 1
SpaceToBatch(input: T, paddings: Tpaddings) -> output: T; T: type; Tpaddings: {int32, int64} = int32; block_size: int >= 2
SpaceToBatchND(input: T, block_shape: Tblock_shape, paddings: Tpaddings) -> output: T; T: type; Tblock_shape: {int32, int64} = int32; Tpaddings: {int32, int64} = int32
SpaceToDepth(input: T) -> output: T; T: type; block_size: int >= 2; data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'
SparseAccumulatorApplyGradient(handle: Ref(string), local_step: int64, gradient_indices: int64, gradient_values: dtype, gradient_shape: int64); dtype: numbertype; has_known_shape: bool
SparseAccumulatorTakeGradient(handle: Ref(string), num_required: int32) -> indices: int64, values: dtype, shape: int64; dtype: numbertype
SparseAdd(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, thresh: Treal) -> sum_indices: int64, sum_values: T, sum_shape: int64; T: numbertype; Treal: realnumbertype
SparseAddGrad(backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64) -> a_val_grad: T, b_val_grad: T; T: numbertype
SparseApplyAdadelta(var: Ref(T), accum: Ref(T), accum_update: Ref(T), lr: T, rho: T, epsilon: T, grad: T, indices: Tindices) -> out: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false
SparseApplyAdagrad(var: Ref(T), accum: Ref(T), lr: T, grad: T, indices: Tindices) -> out: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; update_slots: bool = true
SparseApplyAdagradDA(var: Ref(T), gradient_accumulator: Ref(T), gradient_squared_accumulator: Ref(T), grad: T, indices: Tindices, lr: T, l1: T, l2: T, global_step: int64) -> out: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false
SparseApplyAdagradV2(var: Ref(T), accum: Ref(T), lr: T, epsilon: T, grad: T, indices: Tindices) -> out: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; update_slots: bool = true
SparseApplyCenteredRMSProp(var: Ref(T), mg: Ref(T), ms: Ref(T), mom: Ref(T), lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices) -> out: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false
SparseApplyFtrl(var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, indices: Tindices, lr: T, l1: T, l2: T, lr_power: T) -> out: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; multiply_linear_by_lr: bool = false
SparseApplyFtrlV2(var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, indices: Tindices, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T) -> out: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; multiply_linear_by_lr: bool = false
SparseApplyMomentum(var: Ref(T), accum: Ref(T), lr: T, grad: T, indices: Tindices, momentum: T) -> out: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; use_nesterov: bool = false
SparseApplyProximalAdagrad(var: Ref(T), accum: Ref(T), lr: T, l1: T, l2: T, grad: T, indices: Tindices) -> out: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false
SparseApplyProximalGradientDescent(var: Ref(T), alpha: T, l1: T, l2: T, grad: T, indices: Tindices) -> out: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false
SparseApplyRMSProp(var: Ref(T), ms: Ref(T), mom: Ref(T), lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices) -> out: Ref(T); T: numbertype; Tindices: {int32, int64}; use_locking: bool = false
SparseBincount(indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T) -> output: T; Tidx: {int32, int64}; T: {int32, int64, float, double}; binary_output: bool = false
SparseConcat(indices: N * int64, values: N * T, shapes: N * int64) -> output_indices: int64, output_values: T, output_shape: int64; concat_dim: int; N: int >= 2; T: type
SparseConditionalAccumulator() -> handle: Ref(string); dtype: numbertype; shape: shape; container: string = ''; shared_name: string = ''; reduction_type: {'MEAN', 'SUM'} = 'MEAN'; stateful
SparseCountSparseOutput(indices: int64, values: T, dense_shape: int64, weights: output_type) -> output_indices: int64, output_values: output_type, output_dense_shape: int64; T: {int32, int64}; minlength: int >= -1 = -1; maxlength: int >= -1 = -1; binary_output: bool; output_type: {int32, int64, float, double}
SparseCross(indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types) -> output_indices: int64, output_values: out_type, output_shape: int64; N: int >= 0; hashed_output: bool; num_buckets: int >= 0; hash_key: int; sparse_types: list({int64, string}) >= 0; dense_types: list({int64, string}) >= 0; out_type: {int64, string}; internal_type: {int64, string}
SparseCrossHashed(indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types, num_buckets: int64, strong_hash: bool, salt: int64) -> output_indices: int64, output_values: int64, output_shape: int64; N: int >= 0; sparse_types: list({int64, string}) >= 0; dense_types: list({int64, string}) >= 0
SparseCrossV2(indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types, sep: string) -> output_indices: int64, output_values: string, output_shape: int64; N: int >= 0; sparse_types: list({int64, string}) >= 0; dense_types: list({int64, string}) >= 0
SparseDenseCwiseAdd(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T; T: numbertype
SparseDenseCwiseDiv(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T; T: numbertype
SparseDenseCwiseMul(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T; T: numbertype
SparseFillEmptyRows(indices: int64, values: T, dense_shape: int64, default_value: T) -> output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64; T: type
SparseFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> d_values: T, d_default_value: T; T: type
SparseMatMul(a: Ta, b: Tb) -> product: float; transpose_a: bool = false; transpose_b: bool = false; a_is_sparse: bool = false; b_is_sparse: bool = false; Ta: {float, bfloat16} = float; Tb: {float, bfloat16} = float
SparseMatrixAdd(a: variant, b: variant, alpha: T, beta: T) -> c: variant; T: {float, double, complex64, complex128}
SparseMatrixMatMul(a: variant, b: T) -> output: T; T: type; transpose_a: bool = false; transpose_b: bool = false; adjoint_a: bool = false; adjoint_b: bool = false; transpose_output: bool = false; conjugate_output: bool = false
SparseMatrixMul(a: variant, b: T) -> output: variant; T: type
SparseMatrixNNZ(sparse_matrix: variant) -> nnz: int32
SparseMatrixOrderingAMD(input: variant) -> output: int32
SparseMatrixSoftmax(logits: variant) -> softmax: variant; type: {float, double}
SparseMatrixSoftmaxGrad(softmax: variant, grad_softmax: variant) -> gradient: variant; type: {float, double}
SparseMatrixSparseCholesky(input: variant, permutation: int32) -> output: variant; type: {float, double, complex64, complex128}
SparseMatrixSparseMatMul(a: variant, b: variant) -> c: variant; type: {float, double, complex64, complex128}; transpose_a: bool = false; transpose_b: bool = false; adjoint_a: bool = false; adjoint_b: bool = false
SparseMatrixTranspose(input: variant) -> output: variant; conjugate: bool = false; type: {float, double, complex64, complex128}
SparseMatrixZeros(dense_shape: int64) -> sparse_matrix: variant; type: {float, double, complex64, complex128}
SparseReduceMax(input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32) -> output: T; keep_dims: bool = false; T: realnumbertype
SparseReduceMaxSparse(input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32) -> output_indices: int64, output_values: T, output_shape: int64; keep_dims: bool = false; T: realnumbertype
SparseReduceSum(input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32) -> output: T; keep_dims: bool = false; T: numbertype
SparseReduceSumSparse(input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32) -> output_indices: int64, output_values: T, output_shape: int64; keep_dims: bool = false; T: numbertype
SparseReorder(input_indices: int64, input_values: T, input_shape: int64) -> output_indices: int64, output_values: T; T: type
SparseReshape(input_indices: int64, input_shape: int64, new_shape: int64) -> output_indices: int64, output_shape: int64
SparseSegmentMean(data: T, indices: Tidx, segment_ids: Tsegmentids) -> output: T; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32; sparse_gradient: bool = false
SparseSegmentMeanGrad(grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32) -> output: T; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32
SparseSegmentMeanGradV2(grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32) -> output: T, sorted_unique_indices: Tidx; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32
SparseSegmentMeanWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments) -> output: T; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32; Tnumsegments: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32; sparse_gradient: bool = false
SparseSegmentSqrtN(data: T, indices: Tidx, segment_ids: Tsegmentids) -> output: T; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32; sparse_gradient: bool = false
SparseSegmentSqrtNGrad(grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32) -> output: T; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32
SparseSegmentSqrtNGradV2(grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32) -> output: T, sorted_unique_indices: Tidx; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32
SparseSegmentSqrtNWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments) -> output: T; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32; Tnumsegments: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32; sparse_gradient: bool = false
SparseSegmentSum(data: T, indices: Tidx, segment_ids: Tsegmentids) -> output: T; T: realnumbertype; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32; sparse_gradient: bool = false
SparseSegmentSumGrad(grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32) -> output: T; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32
SparseSegmentSumGradV2(grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32) -> output: T, sorted_unique_indices: Tidx; T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32
SparseSegmentSumWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments) -> output: T; T: realnumbertype; Tidx: {int32, int64} = int32; Tnumsegments: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32; sparse_gradient: bool = false
SparseSlice(indices: int64, values: T, shape: int64, start: int64, size: int64) -> output_indices: int64, output_values: T, output_shape: int64; T: type
SparseSliceGrad(backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64) -> val_grad: T; T: numbertype
SparseSoftmax(sp_indices: int64, sp_values: T, sp_shape: int64) -> output: T; T: {half, float, double}
SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> loss: T, backprop: T; T: {half, bfloat16, float, double}; Tlabels: {int32, int64} = int64
SparseSparseMaximum(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64) -> output_indices: int64, output_values: T; T: realnumbertype
SparseSparseMinimum(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64) -> output_indices: int64, output_values: T; T: numbertype
SparseSplit(split_dim: int64, indices: int64, values: T, shape: int64) -> output_indices: num_split * int64, output_values: num_split * T, output_shape: num_split * int64; num_split: int >= 1; T: type
SparseTensorDenseAdd(a_indices: Tindices, a_values: T, a_shape: Tindices, b: T) -> output: T; T: numbertype; Tindices: {int32, int64}
SparseTensorDenseMatMul(a_indices: Tindices, a_values: T, a_shape: int64, b: T) -> product: T; T: type; Tindices: {int32, int64} = int64; adjoint_a: bool = false; adjoint_b: bool = false
SparseTensorSliceDataset(indices: int64, values: Tvalues, dense_shape: int64) -> handle: variant :: DATASET[TENSOR[$Tvalues]]; Tvalues: type; stateful
SparseTensorToCSRSparseMatrix(indices: int64, values: T, dense_shape: int64) -> sparse_matrix: variant; T: {float, double, complex64, complex128}
SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T) -> dense: T; validate_indices: bool = true; T: type; Tindices: {int32, int64}
SparseToSparseSetOperation(set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, set2_values: T, set2_shape: int64) -> result_indices: int64, result_values: T, result_shape: int64; set_operation: string; validate_indices: bool = true; T: {int8, int16, int32, int64, uint8, uint16, string}
Spence(x: T) -> y: T; T: {bfloat16, half, float, double}
Split(split_dim: int32, value: T) -> output: num_split * T; num_split: int >= 1; T: type
SplitDedupData(input: variant) -> integer_tensor: integer_type, float_tensor: float_type; integer_type: {int32, int64, uint32, uint64}; float_type: {half, bfloat16, float}; tuple_mask: string; config: string = ''
SplitV(value: T, size_splits: Tlen, split_dim: int32) -> output: num_split * T; num_split: int >= 1; T: type; Tlen: {int8, int32, int64} = int64
SqlDataset(driver_name: string, data_source_name: string, query: string) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
Sqrt(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
SqrtGrad(y: T, dy: T) -> z: T; T: {bfloat16, half, float, double, complex64, complex128}
Square(x: T) -> y: T; T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}
SquaredDifference(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, int32, int64, complex64, complex128}; commutative
Squeeze(input: T) -> output: T; T: type; squeeze_dims: list(int) >= 0 = []
Stack() -> handle: Ref(string); elem_type: type; stack_name: string = ''; stateful
StackClose(handle: Ref(string))
StackCloseV2(handle: resource); stateful
StackPop(handle: Ref(string)) -> elem: elem_type; elem_type: type
StackPopV2(handle: resource) -> elem: elem_type; elem_type: type; stateful
StackPush(handle: Ref(string), elem: T) -> output: T; T: type; swap_memory: bool = false
StackPushV2(handle: resource, elem: T) -> output: T; T: type; swap_memory: bool = false; stateful
StackV2(max_size: int32) -> handle: resource; elem_type: type; stack_name: string = ''; stateful
Stage(values: dtypes); capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''; stateful
StageClear(); capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); container: string = ''; shared_name: string = ''; stateful
StagePeek(index: int32) -> values: dtypes; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''; stateful
StageSize() -> size: int32; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); container: string = ''; shared_name: string = ''; stateful
StatefulPartitionedCall(args: Tin) -> output: Tout; Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; config: string = ''; config_proto: string = ''; executor_type: string = ''; stateful; distributed
StatefulRandomBinomial(resource: resource, algorithm: int64, shape: S, counts: T, probs: T) -> output: dtype; S: {int32, int64}; T: {half, float, double, int32, int64} = double; dtype: {half, float, double, int32, int64} = int64; stateful
StatefulStandardNormal(resource: resource, shape: shape_dtype) -> output: dtype; dtype: type = float; shape_dtype: type = int64; stateful; deprecated 29 'Use StatefulStandardNormalV2 instead'
StatefulStandardNormalV2(resource: resource, algorithm: int64, shape: shape_dtype) -> output: dtype; dtype: type = float; shape_dtype: type = int64; stateful
StatefulTruncatedNormal(resource: resource, algorithm: int64, shape: shape_dtype) -> output: dtype; dtype: type = float; shape_dtype: type = int64; stateful
StatefulUniform(resource: resource, algorithm: int64, shape: shape_dtype) -> output: dtype; dtype: type = float; shape_dtype: type = int64; stateful
StatefulUniformFullInt(resource: resource, algorithm: int64, shape: shape_dtype) -> output: dtype; dtype: type = uint64; shape_dtype: type = int64; stateful
StatefulUniformInt(resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype) -> output: dtype; dtype: type = int64; shape_dtype: type = int64; stateful
StatelessCase(branch_index: int32, input: Tin) -> output: Tout; Tin: list(type) >= 0; Tout: list(type) >= 0; branches: list(func) >= 1; output_shapes: list(shape) = []
StatelessIf(cond: Tcond, input: Tin) -> output: Tout; Tcond: type; Tin: list(type) >= 0; Tout: list(type) >= 0; then_branch: func; else_branch: func; output_shapes: list(shape) = []
StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed) -> output: output_dtype; T: realnumbertype; Tseed: {int32, int64} = int64; output_dtype: {int32, int64} = int64
StatelessParameterizedTruncatedNormal(shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype, maxvals: dtype) -> output: dtype; S: {int32, int64}; Tseed: {int32, int64} = int64; dtype: {half, float, double}
StatelessRandomBinomial(shape: S, seed: Tseed, counts: T, probs: T) -> output: dtype; S: {int32, int64}; Tseed: {int32, int64} = int64; T: {half, float, double, int32, int64} = double; dtype: {half, float, double, int32, int64} = int64
StatelessRandomGammaV2(shape: T, seed: Tseed, alpha: dtype) -> output: dtype; dtype: {half, float, double}; T: {int32, int64}; Tseed: {int32, int64} = int64
StatelessRandomGammaV3(shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype) -> output: dtype; dtype: {half, float, double}; shape_dtype: {int32, int64} = int32
StatelessRandomGetAlg() -> alg: int32; stateful
StatelessRandomGetKeyCounter(seed: Tseed) -> key: uint64, counter: uint64; Tseed: {int32, int64} = int64
StatelessRandomGetKeyCounterAlg(seed: Tseed) -> key: uint64, counter: uint64, alg: int32; Tseed: {int32, int64} = int64
StatelessRandomNormal(shape: T, seed: Tseed) -> output: dtype; dtype: {half, bfloat16, float, double} = float; T: {int32, int64} = int32; Tseed: {int32, int64} = int64
StatelessRandomNormalV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> output: dtype; dtype: {half, bfloat16, float, double} = float; Tshape: {int32, int64} = int32
StatelessRandomPoisson(shape: T, seed: Tseed, lam: Rtype) -> output: dtype; Rtype: {half, float, double, int32, int64}; dtype: {half, float, double, int32, int64}; T: {int32, int64}; Tseed: {int32, int64} = int64
StatelessRandomUniform(shape: T, seed: Tseed) -> output: dtype; dtype: {half, bfloat16, float, double} = float; T: {int32, int64} = int32; Tseed: {int32, int64} = int64
StatelessRandomUniformFullInt(shape: T, seed: Tseed) -> output: dtype; dtype: {int32, int64, uint32, uint64} = uint64; T: {int32, int64} = int32; Tseed: {int32, int64, uint32, uint64} = int64
StatelessRandomUniformFullIntV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> output: dtype; dtype: {int32, int64, uint32, uint64} = uint64; Tshape: {int32, int64} = int32
StatelessRandomUniformInt(shape: T, seed: Tseed, minval: dtype, maxval: dtype) -> output: dtype; dtype: {int32, int64}; T: {int32, int64}; Tseed: {int32, int64} = int64
StatelessRandomUniformIntV2(shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype) -> output: dtype; dtype: {int32, int64, uint32, uint64}; Tshape: {int32, int64} = int32
StatelessRandomUniformV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> output: dtype; dtype: {half, bfloat16, float, double} = float; Tshape: {int32, int64} = int32
StatelessSampleDistortedBoundingBox(image_size: T, bounding_boxes: float, min_object_covered: float, seed: Tseed) -> begin: T, size: T, bboxes: float; T: {uint8, int8, int16, int32, int64}; Tseed: {int32, int64}; aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1.0]; max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false
StatelessShuffle(value: T, key: uint64, counter: uint64, alg: int32) -> output: T; T: type
StatelessTruncatedNormal(shape: T, seed: Tseed) -> output: dtype; dtype: {half, bfloat16, float, double} = float; T: {int32, int64} = int32; Tseed: {int32, int64} = int64
StatelessTruncatedNormalV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> output: dtype; dtype: {half, bfloat16, float, double} = float; Tshape: {int32, int64} = int32
StatelessWhile(input: T) -> output: T; T: list(type) >= 0; cond: func; body: func; output_shapes: list(shape) = []; parallel_iterations: int = 10
StaticRegexFullMatch(input: string) -> output: bool; pattern: string
StaticRegexReplace(input: string) -> output: string; pattern: string; rewrite: string; replace_global: bool = true
StatsAggregatorHandle() -> handle: resource; container: string = ''; shared_name: string = ''; stateful
StatsAggregatorHandleV2() -> handle: resource; container: string = ''; shared_name: string = ''; stateful
StatsAggregatorSetSummaryWriter(stats_aggregator: resource, summary: resource); stateful
StatsAggregatorSummary(iterator: resource) -> summary: string; stateful
StochasticCastToInt(input: Tin, key: uint64, counter: uint64, alg: int32) -> output: Tout; Tin: {half, bfloat16, float, double}; Tout: {int8, int16, int32}
StopGradient(input: T) -> output: T; T: type
StoreMinibatchStatisticsInFdo(program_key: string, max_ids: int32, max_uniques: int32); sample_count: int >= 1; num_replica: int >= 1; feature_width: int >= 1; num_sc_per_chip: int >= 1; table_name: string; mini_batch_splits: string; stateful
StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> output: T; T: type; Index: {int16, int32, int64}; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0
StridedSliceAssign(ref: Ref(T), begin: Index, end: Index, strides: Index, value: T) -> output_ref: Ref(T); T: type; Index: {int32, int64}; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0
StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> output: T; T: type; Index: {int32, int64}; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0
StringFormat(inputs: T) -> output: string; T: list(type) >= 0; template: string = '%s'; placeholder: string = '%s'; summarize: int = 3
StringJoin(inputs: N * string) -> output: string; N: int >= 0; separator: string = ''
StringLength(input: string) -> output: int32; unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'
StringListAttr(); a: list(string); b: string
StringLower(input: string) -> output: string; encoding: string = ''
StringNGrams(data: string, data_splits: Tsplits) -> ngrams: string, ngrams_splits: Tsplits; separator: string; ngram_widths: list(int) >= 0; left_pad: string; right_pad: string; pad_width: int; preserve_short_sequences: bool; Tsplits: {int32, int64} = int64
StringSplit(input: string, delimiter: string) -> indices: int64, values: string, shape: int64; skip_empty: bool = true
StringSplitV2(input: string, sep: string) -> indices: int64, values: string, shape: int64; maxsplit: int = -1
StringStrip(input: string) -> output: string
StringToHashBucket(string_tensor: string) -> output: int64; num_buckets: int >= 1
StringToHashBucketFast(input: string) -> output: int64; num_buckets: int >= 1
StringToHashBucketStrong(input: string) -> output: int64; num_buckets: int >= 1; key: list(int)
StringToNumber(string_tensor: string) -> output: out_type; out_type: {float, double, int32, int64, uint32, uint64} = float
StringUpper(input: string) -> output: string; encoding: string = ''
StubResourceHandleOp() -> resource: resource; container: string = ''; shared_name: string = ''; stateful
Sub(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, complex64, complex128, uint32, uint64}
Substr(input: string, pos: T, len: T) -> output: string; T: {int32, int64}; unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'
Sum(input: T, reduction_indices: Tidx) -> output: T; keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = int32
SummaryWriter() -> writer: resource; shared_name: string = ''; container: string = ''; stateful
Svd(input: T) -> s: T, u: T, v: T; compute_uv: bool = true; full_matrices: bool = false; T: {double, float, half, complex64, complex128}
Switch(data: T, pred: bool) -> output_false: T, output_true: T; T: type
SymbolicGradient(input: Tin) -> output: Tout; Tin: list(type) >= 1; Tout: list(type) >= 1; f: func
SyncDevice(); stateful
TFRecordDataset(filenames: string, compression_type: string, buffer_size: int64) -> handle: variant :: DATASET[TENSOR[STRING]]; metadata: string = ''; stateful
TFRecordDatasetV2(filenames: string, compression_type: string, buffer_size: int64, byte_offsets: int64) -> handle: variant :: DATASET[TENSOR[STRING]]; metadata: string = ''; stateful
TFRecordReader() -> reader_handle: Ref(string); container: string = ''; shared_name: string = ''; compression_type: string = ''; stateful; deprecated 26 'Use TFRecordReaderV2'
TFRecordReaderV2() -> reader_handle: resource; container: string = ''; shared_name: string = ''; compression_type: string = ''; stateful
TPUAnnotateTensorsWithDynamicShape(tensors: T) -> tpu_tensors: T; T: list(type) >= 1; stateful
TPUCompilationResult() -> output: string
TPUCompile(dynamic_shapes: NumDynamicShapes * int64, guaranteed_constants: Tguaranteed_constants) -> compilation_status: string, program: num_computations * string, may_modify_variables: num_computations * bool; num_computations: int >= 0; function: func; metadata: string; NumDynamicShapes: int >= 0; Tguaranteed_constants: list(type) >= 0; stateful
TPUCompileSucceededAssert(compilation_status: string); stateful
TPUCopyWithDynamicShape(tensors: T, unpadded_sizes: N * int32) -> tpu_tensors: T; N: int >= 0; T: list(type) >= 1; stateful
TPUDummyInput() -> output: dtype; dtype: {float, bfloat16}; shape: shape; stateful
TPUEmbeddingActivations(embedding_variable: float, sliced_activations: float) -> output: float; table_id: int >= 0; lookup_id: int >= 0
TPUExecute(args: Targs, key: string) -> results: Tresults; Targs: list(type) >= 0; Tresults: list(type) >= 0; stateful; distributed
TPUExecuteAndUpdateVariables(args: Targs, key: string) -> results: Tresults; Targs: list(type) >= 0; Tresults: list(type) >= 0; device_var_reads_indices: list(int) >= 0; device_var_updates_indices: list(int) >= 0; stateful; distributed
TPUOrdinalSelector() -> device_ordinals: int32; stateful
TPUPartitionedCall(args: Tin, device_ordinal: int32) -> output: Tout; Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; autotuner_thresh: int = 0
TPUPartitionedInput(inputs: N * T) -> output: T; N: int >= 1; T: type; partition_dim: int = 0
TPUPartitionedInputV2(inputs: N * T) -> output: T; N: int >= 1; T: type; partition_dims: list(int); is_packed: bool = false
TPUPartitionedOutput(inputs: T) -> output: num_splits * T; T: type; num_splits: int >= 1; partition_dim: int = 0
TPUPartitionedOutputV2(inputs: T) -> output: num_splits * T; T: type; num_splits: int >= 1; partition_dims: list(int)
TPUReplicateMetadata(); num_replicas: int >= 0; num_cores_per_replica: int = 1; topology: string = ''; use_tpu: bool = true; device_assignment: list(int) = []; computation_shape: list(int) = []; host_compute_core: list(string) = []; padding_map: list(string) = []; step_marker_location: string = 'STEP_MARK_AT_ENTRY'; allow_soft_placement: bool = false; use_spmd_for_xla_partitioning: bool = false; use_shardy_partitioner: bool = false; tpu_compile_options_proto: string = ''
TPUReplicatedInput(inputs: N * T) -> output: T; N: int >= 1; T: type; is_mirrored_variable: bool = false; index: int = -1; is_packed: bool = false
TPUReplicatedOutput(input: T) -> outputs: num_replicas * T; num_replicas: int >= 1; T: type
TPUReshardVariables(vars: N * resource, new_format_key: string, format_state_var: resource); N: int >= 0; stateful
TPURoundRobin() -> device_ordinal: int32; stateful
TakeDataset(input_dataset: variant, count: int64) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
TakeManySparseFromTensorsMap(sparse_handles: int64) -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64; dtype: type; container: string = ''; shared_name: string = ''; stateful
TakeWhileDataset(input_dataset: variant, other_arguments: Targuments) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; predicate: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
Tan(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
Tanh(x: T) -> y: T; T: {bfloat16, half, float, double, complex64, complex128}
TanhGrad(y: T, dy: T) -> z: T; T: {bfloat16, half, float, double, complex64, complex128}
TemporaryVariable() -> ref: Ref(dtype); shape: shape; dtype: type; var_name: string = ''; stateful
TensorArray(size: int32) -> handle: Ref(string); dtype: type; dynamic_size: bool = false; clear_after_read: bool = true; tensor_array_name: string = ''; element_shape: shape = shape; stateful; deprecated 16 'Use TensorArrayV3'
TensorArrayClose(handle: Ref(string)); deprecated 16 'Use TensorArrayCloseV3'
TensorArrayCloseV2(handle: string); deprecated 26 'Use TensorArrayCloseV3'
TensorArrayCloseV3(handle: resource); stateful
TensorArrayConcat(handle: Ref(string), flow_in: float) -> value: dtype, lengths: int64; dtype: type; element_shape_except0: shape = shape; deprecated 16 'Use TensorArrayGradV3'
TensorArrayConcatV2(handle: string, flow_in: float) -> value: dtype, lengths: int64; dtype: type; element_shape_except0: shape = shape
TensorArrayConcatV3(handle: resource, flow_in: float) -> value: dtype, lengths: int64; dtype: type; element_shape_except0: shape = shape; stateful
TensorArrayGather(handle: Ref(string), indices: int32, flow_in: float) -> value: dtype; dtype: type; element_shape: shape = shape; deprecated 16 'Use TensorArrayGatherV3'
TensorArrayGatherV2(handle: string, indices: int32, flow_in: float) -> value: dtype; dtype: type; element_shape: shape = shape; deprecated 26 'Use TensorArrayGatherV3'
TensorArrayGatherV3(handle: resource, indices: int32, flow_in: float) -> value: dtype; dtype: type; element_shape: shape = shape; stateful
TensorArrayGrad(handle: string, flow_in: float) -> grad_handle: Ref(string); source: string; stateful; deprecated 16 'Use TensorArrayGradV3'
TensorArrayGradV2(handle: string, flow_in: float) -> grad_handle: string; source: string; stateful; deprecated 26 'Use TensorArrayGradV3'
TensorArrayGradV3(handle: resource, flow_in: float) -> grad_handle: resource, flow_out: float; source: string; stateful
TensorArrayGradWithShape(handle: resource, flow_in: float, shape_to_prepend: int32) -> grad_handle: resource, flow_out: float; source: string; stateful
TensorArrayPack(handle: Ref(string), flow_in: float) -> value: dtype; dtype: type; element_shape: shape = shape; deprecated 16 'Use TensorArrayGatherV3 with RangeOp'
TensorArrayRead(handle: Ref(string), index: int32, flow_in: float) -> value: dtype; dtype: type; deprecated 16 'Use TensorArrayReadV3'
TensorArrayReadV2(handle: string, index: int32, flow_in: float) -> value: dtype; dtype: type; deprecated 26 'Use TensorArrayReadV3'
TensorArrayReadV3(handle: resource, index: int32, flow_in: float) -> value: dtype; dtype: type; stateful
TensorArrayScatter(handle: Ref(string), indices: int32, value: T, flow_in: float) -> flow_out: float; T: type; deprecated 19 'Use TensorArrayGradV3'
TensorArrayScatterV2(handle: string, indices: int32, value: T, flow_in: float) -> flow_out: float; T: type; deprecated 26 'Use TensorArrayScatterV3'
TensorArrayScatterV3(handle: resource, indices: int32, value: T, flow_in: float) -> flow_out: float; T: type; stateful
TensorArraySize(handle: Ref(string), flow_in: float) -> size: int32; deprecated 16 'Use TensorArraySizeV3'
TensorArraySizeV2(handle: string, flow_in: float) -> size: int32; deprecated 26 'Use TensorArraySizeV3'
TensorArraySizeV3(handle: resource, flow_in: float) -> size: int32; stateful
TensorArraySplit(handle: Ref(string), value: T, lengths: int64, flow_in: float) -> flow_out: float; T: type; deprecated 16 'Use TensorArraySplitV3'
TensorArraySplitV2(handle: string, value: T, lengths: int64, flow_in: float) -> flow_out: float; T: type; deprecated 26 'Use TensorArraySplitV3'
TensorArraySplitV3(handle: resource, value: T, lengths: int64, flow_in: float) -> flow_out: float; T: type; stateful
TensorArrayUnpack(handle: Ref(string), value: T, flow_in: float) -> flow_out: float; T: type; deprecated 20 'Use TensorArrayScatterV3 with RangeOp'
TensorArrayV2(size: int32) -> handle: string; dtype: type; element_shape: shape = shape; dynamic_size: bool = false; clear_after_read: bool = true; tensor_array_name: string = ''; stateful; deprecated 26 'Use TensorArrayV3'
TensorArrayV3(size: int32) -> handle: resource, flow: float; dtype: type; element_shape: shape = shape; dynamic_size: bool = false; clear_after_read: bool = true; identical_element_shapes: bool = false; tensor_array_name: string = ''; stateful
TensorArrayWrite(handle: Ref(string), index: int32, value: T, flow_in: float) -> flow_out: float; T: type; deprecated 16 'Use TensorArrayWriteV3'
TensorArrayWriteV2(handle: string, index: int32, value: T, flow_in: float) -> flow_out: float; T: type; deprecated 26 'Use TensorArrayWriteV3'
TensorArrayWriteV3(handle: resource, index: int32, value: T, flow_in: float) -> flow_out: float; T: type; stateful
TensorDataset(components: Toutput_types) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$Toutput_types], $Toutput_types]]; Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; stateful
TensorListConcat(input_handle: variant) -> tensor: element_dtype, lengths: int64; element_dtype: type; element_shape: shape = shape
TensorListConcatLists(input_a: variant, input_b: variant) -> output: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type
TensorListConcatV2(input_handle: variant, element_shape: shape_type, leading_dims: int64) -> tensor: element_dtype, lengths: int64; element_dtype: type; shape_type: {int32, int64}
TensorListElementShape(input_handle: variant) -> element_shape: shape_type; shape_type: {int32, int64}
TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) -> output_handle: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type; shape_type: {int32, int64}
TensorListGather(input_handle: variant, indices: int32, element_shape: int32) -> values: element_dtype; element_dtype: type
TensorListGetItem(input_handle: variant, index: int32, element_shape: Tshape) -> item: element_dtype; element_dtype: type; Tshape: {int32, int64} = int32
TensorListLength(input_handle: variant) -> length: int32
TensorListPopBack(input_handle: variant, element_shape: int32) -> output_handle: variant, tensor: element_dtype; element_dtype: type
TensorListPushBack(input_handle: variant, tensor: element_dtype) -> output_handle: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type
TensorListPushBackBatch(input_handles: variant, tensor: element_dtype) -> output_handles: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type
TensorListReserve(element_shape: shape_type, num_elements: int32) -> handle: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type; shape_type: {int32, int64}
TensorListResize(input_handle: variant, size: int32) -> output_handle: variant
TensorListScatter(tensor: element_dtype, indices: int32, element_shape: shape_type) -> output_handle: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type; shape_type: {int32, int64}
TensorListScatterIntoExistingList(input_handle: variant, tensor: element_dtype, indices: int32) -> output_handle: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type
TensorListScatterV2(tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32) -> output_handle: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type; shape_type: {int32, int64}
TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) -> output_handle: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type; resize_if_index_out_of_bounds: bool = false
TensorListSplit(tensor: element_dtype, element_shape: shape_type, lengths: int64) -> output_handle: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type; shape_type: {int32, int64}
TensorListStack(input_handle: variant, element_shape: int32) -> tensor: element_dtype; element_dtype: type; num_elements: int = -1
TensorMapErase(input_handle: variant, key: key_dtype) -> output_handle: variant; key_dtype: type; value_dtype: type
TensorMapHasKey(input_handle: variant, key: key_dtype) -> has_key: bool; key_dtype: type
TensorMapInsert(input_handle: variant, key: key_dtype, value: value_dtype) -> output_handle: variant; key_dtype: type; value_dtype: type
TensorMapLookup(input_handle: variant, key: key_dtype) -> value: value_dtype; key_dtype: type; value_dtype: type
TensorMapSize(input_handle: variant) -> size: int32
TensorMapStackKeys(input_handle: variant) -> keys: key_dtype; key_dtype: type
TensorScatterAdd(tensor: T, indices: Tindices, updates: T) -> output: T; T: type; Tindices: {int32, int64}; bad_indices_policy: string = ''
TensorScatterMax(tensor: T, indices: Tindices, updates: T) -> output: T; T: type; Tindices: {int32, int64}; bad_indices_policy: string = ''
TensorScatterMin(tensor: T, indices: Tindices, updates: T) -> output: T; T: type; Tindices: {int32, int64}; bad_indices_policy: string = ''
TensorScatterSub(tensor: T, indices: Tindices, updates: T) -> output: T; T: type; Tindices: {int32, int64}; bad_indices_policy: string = ''
TensorScatterUpdate(tensor: T, indices: Tindices, updates: T) -> output: T; T: type; Tindices: {int16, int32, int64, uint16}; bad_indices_policy: string = ''
TensorSliceDataset(components: Toutput_types) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$Toutput_types], $Toutput_types]]; Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; is_files: bool = false; metadata: string = ''; replicate_on_split: bool = false; stateful
TensorStridedSliceUpdate(input: T, begin: Index, end: Index, strides: Index, value: T) -> output: T; T: type; Index: {int32, int64}; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0
TensorSummary(tensor: T) -> summary: string; T: type; description: string = ''; labels: list(string) = []; display_name: string = ''
TensorSummaryV2(tag: string, tensor: T, serialized_summary_metadata: string) -> summary: string; T: type
TestAttr() -> out: T; T: {float, double}; stateful
TestStringOutput(input: float) -> output1: float, output2: string
TextLineDataset(filenames: string, compression_type: string, buffer_size: int64) -> handle: variant :: DATASET[TENSOR[STRING]]; metadata: string = ''; stateful
TextLineReader() -> reader_handle: Ref(string); skip_header_lines: int = 0; container: string = ''; shared_name: string = ''; stateful; deprecated 26 'Use TextLineReaderV2'
TextLineReaderV2() -> reader_handle: resource; skip_header_lines: int = 0; container: string = ''; shared_name: string = ''; stateful
ThreadPoolDataset(input_dataset: variant, thread_pool: resource) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful
ThreadPoolHandle() -> handle: resource; num_threads: int; max_intra_op_parallelism: int = 1; display_name: string; container: string = ''; shared_name: string = ''; stateful
ThreadUnsafeUnigramCandidateSampler(true_classes: int64) -> sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float; num_true: int >= 1; num_sampled: int >= 1; unique: bool; range_max: int >= 1; seed: int = 0; seed2: int = 0; stateful
Tile(input: T, multiples: Tmultiples) -> output: T; T: type; Tmultiples: {int32, int64} = int32
TileGrad(input: T, multiples: int32) -> output: T; T: type; deprecated 3 'TileGrad has been replaced with reduce_sum'
Timestamp() -> ts: double; stateful
ToBool(input: T) -> output: bool; T: type
TopK(input: T) -> values: T, indices: int32; k: int >= 0; sorted: bool = true; T: realnumbertype; deprecated 7 'Use TopKV2 instead'
TopKUnique(input: float) -> topk: float, topk_indices: int32; k: int
TopKV2(input: T, k: Tk) -> values: T, indices: index_type; sorted: bool = true; T: realnumbertype; Tk: {int16, int32, int64} = int32; index_type: {int16, int32, int64} = int32
TopKWithUnique(input: float) -> topk: float, topk_indices: int32; k: int
TpuHandleToProtoKey(uid: int64) -> proto_keys: string
Transpose(x: T, perm: Tperm) -> y: T; T: type; Tperm: {int32, int64} = int32
TridiagonalMatMul(superdiag: T, maindiag: T, subdiag: T, rhs: T) -> output: T; T: {double, float, complex64, complex128}
TridiagonalSolve(diagonals: T, rhs: T) -> output: T; partial_pivoting: bool = true; perturb_singular: bool = false; T: {double, float, complex64, complex128}
TruncateDiv(x: T, y: T) -> z: T; T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64, complex128}
TruncateMod(x: T, y: T) -> z: T; T: {int32, int64, bfloat16, half, float, double}
TruncatedNormal(shape: T) -> output: dtype; seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}; stateful
TwoFloatInputs(a: float, b: float)
TwoFloatInputsFloatOutput(a: float, b: float) -> c: float
TwoFloatInputsIntOutput(a: float, b: float) -> c: int32
TwoFloatOutputs() -> a: float, b: float
TwoIntInputs(a: int32, b: int32)
TwoIntOutputs() -> a: int32, b: int32
TwoRefsIn(a: Ref(T), b: Ref(T)); T: type
TypeList(a: T); T: list(type) >= 0
TypeListRestrict(a: T); T: list({string, bool}) >= 1
TypeListTwice(a: T, b: T); T: list(type) >= 0
Unary(a: T) -> b: T; T: type
Unbatch(batched_tensor: T, batch_index: int64, id: int64) -> unbatched_tensor: T; timeout_micros: int; container: string = ''; shared_name: string = ''; T: type
UnbatchDataset(input_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
UnbatchGrad(original_input: T, batch_index: int64, grad: T, id: int64) -> batched_grad: T; container: string = ''; shared_name: string = ''; T: type
UncompressElement(compressed: variant) -> components: output_types; output_types: list(type) >= 1; output_shapes: list(shape) >= 1
UnicodeDecode(input: string) -> row_splits: Tsplits, char_values: int32; input_encoding: string; errors: {'strict', 'replace', 'ignore'} = 'replace'; replacement_char: int = 65533; replace_control_characters: bool = false; Tsplits: {int32, int64} = int64
UnicodeDecodeWithOffsets(input: string) -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64; input_encoding: string; errors: {'strict', 'replace', 'ignore'} = 'replace'; replacement_char: int = 65533; replace_control_characters: bool = false; Tsplits: {int32, int64} = int64
UnicodeEncode(input_values: int32, input_splits: Tsplits) -> output: string; errors: {'ignore', 'replace', 'strict'} = 'replace'; output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}; replacement_char: int = 65533; Tsplits: {int32, int64} = int64
UnicodeScript(input: int32) -> output: int32
UnicodeTranscode(input: string) -> output: string; input_encoding: string; output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}; errors: {'strict', 'replace', 'ignore'} = 'replace'; replacement_char: int = 65533; replace_control_characters: bool = false
UniformCandidateSampler(true_classes: int64) -> sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float; num_true: int >= 1; num_sampled: int >= 1; unique: bool; range_max: int >= 1; seed: int = 0; seed2: int = 0; stateful
UniformDequantize(input: Tin, scales: float, zero_points: int32) -> output: Tout; Tin: {qint8, quint8, qint32}; Tout: {float}; quantization_axis: int = -1; quantization_min_val: int; quantization_max_val: int
UniformQuantize(input: Tin, scales: float, zero_points: int32) -> output: Tout; Tin: {float}; Tout: {qint8, quint8, qint32}; quantization_axis: int = -1; quantization_min_val: int; quantization_max_val: int
UniformQuantizedAdd(lhs: T, rhs: T, lhs_scales: float, lhs_zero_points: int32, rhs_scales: float, rhs_zero_points: int32, output_scales: float, output_zero_points: int32) -> output: T; lhs_quantization_axis: int = -1; lhs_quantization_min_val: int; lhs_quantization_max_val: int; rhs_quantization_axis: int = -1; rhs_quantization_min_val: int; rhs_quantization_max_val: int; output_quantization_axis: int = -1; output_quantization_min_val: int; output_quantization_max_val: int; T: {qint32}
UniformQuantizedClipByValue(operand: T, min: T, max: T, scales: float, zero_points: int32) -> output: T; T: {qint32}; quantization_axis: int = -1; quantization_min_val: int; quantization_max_val: int
UniformQuantizedConvolution(lhs: Tin, rhs: Tin, lhs_scales: float, lhs_zero_points: int32, rhs_scales: float, rhs_zero_points: int32, output_scales: float, output_zero_points: int32) -> output: Tout; Tin: {qint8}; Tout: {qint32}; window_strides: list(int) = []; padding: string; explicit_padding: list(int) = []; lhs_dilation: list(int) = []; rhs_dilation: list(int) = []; batch_group_count: int = 1; feature_group_count: int = 1; dimension_numbers: string = ''; lhs_quantization_axis: int = -1; lhs_quantization_min_val: int; lhs_quantization_max_val: int; rhs_quantization_axis: int = -1; rhs_quantization_min_val: int; rhs_quantization_max_val: int; output_quantization_axis: int = -1; output_quantization_min_val: int; output_quantization_max_val: int
UniformQuantizedConvolutionHybrid(lhs: Tlhs, rhs: Trhs, rhs_scales: float, rhs_zero_points: int32) -> output: Tout; Tlhs: {float}; Trhs: {qint8}; Tout: {float}; window_strides: list(int) = []; padding: string; explicit_padding: list(int) = []; lhs_dilation: list(int) = []; rhs_dilation: list(int) = []; batch_group_count: int = 1; feature_group_count: int = 1; dimension_numbers: string = ''; rhs_quantization_axis: int = -1; rhs_quantization_min_val: int; rhs_quantization_max_val: int
UniformQuantizedDot(lhs: Tin, rhs: Tin, lhs_scales: float, lhs_zero_points: int32, rhs_scales: float, rhs_zero_points: int32, output_scales: float, output_zero_points: int32) -> output: Tout; Tin: {qint8}; Tout: {qint32}; lhs_quantization_axis: int = -1; lhs_quantization_min_val: int; lhs_quantization_max_val: int; rhs_quantization_axis: int = -1; rhs_quantization_min_val: int; rhs_quantization_max_val: int; output_quantization_axis: int = -1; output_quantization_min_val: int; output_quantization_max_val: int
UniformQuantizedDotHybrid(lhs: Tlhs, rhs: Trhs, rhs_scales: float, rhs_zero_points: int32) -> output: Tout; Tlhs: {float}; Trhs: {qint8}; Tout: {float}; rhs_quantization_axis: int = -1; rhs_quantization_min_val: int; rhs_quantization_max_val: int
UniformRequantize(input: Tin, input_scales: float, input_zero_points: int32, output_scales: float, output_zero_points: int32) -> output: Tout; Tin: {qint8, qint32}; Tout: {qint8, qint32}; input_quantization_axis: int = -1; input_quantization_min_val: int; input_quantization_max_val: int; output_quantization_axis: int = -1; output_quantization_min_val: int; output_quantization_max_val: int
Unique(x: T) -> y: T, idx: out_idx; T: type; out_idx: {int32, int64} = int32
UniqueDataset(input_dataset: variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
UniqueV2(x: T, axis: Taxis) -> y: T, idx: out_idx; T: type; Taxis: {int32, int64} = int64; out_idx: {int32, int64} = int32
UniqueWithCounts(x: T) -> y: T, idx: out_idx, count: out_idx; T: type; out_idx: {int32, int64} = int32
UniqueWithCountsV2(x: T, axis: Taxis) -> y: T, idx: out_idx, count: out_idx; T: type; Taxis: {int32, int64} = int64; out_idx: {int32, int64} = int32
Unpack(value: T) -> output: num * T; num: int >= 0; T: type; axis: int = 0
UnravelIndex(indices: Tidx, dims: Tidx) -> output: Tidx; Tidx: {int32, int64} = int32
UnsortedSegmentJoin(inputs: string, segment_ids: Tindices, num_segments: Tnumsegments) -> output: string; separator: string = ''; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32
UnsortedSegmentMax(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T; T: realnumbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32
UnsortedSegmentMin(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T; T: realnumbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32
UnsortedSegmentProd(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T; T: numbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32
UnsortedSegmentSum(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T; T: numbertype; Tindices: {int16, int32, int64}; Tnumsegments: {int32, int64} = int32
Unstage() -> values: dtypes; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''; stateful
UnwrapDatasetVariant(input_handle: variant) -> output_handle: variant
UpdateTaskIdAndGlobalCoreArray(tpu_task_id_to_shard_id: task_count * int32); task_count: int >= 1; stateful
UpperBound(sorted_inputs: T, values: T) -> output: out_type; T: type; out_type: {int32, int64} = int32
VarHandleOp() -> resource: resource; container: string = ''; shared_name: string = ''; debug_name: string = ''; dtype: type; shape: shape; allowed_devices: list(string) = []; stateful
VarIsInitializedOp(resource: resource) -> is_initialized: bool; stateful
Variable() -> ref: Ref(dtype); shape: shape; dtype: type; container: string = ''; shared_name: string = ''; stateful
VariableShape(input: resource) -> output: out_type; out_type: {int32, int64} = int32; stateful
VariableV2() -> ref: Ref(dtype); shape: shape; dtype: type; container: string = ''; shared_name: string = ''; stateful
WeightedFlatMapDataset(input_datasets: N * variant, weights: M * double) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; N: int >= 2; M: int >= 2; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
Where(input: T) -> index: int64; T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool} = bool
While(input: T) -> output: T; T: list(type) >= 0; cond: func; body: func; output_shapes: list(shape) = []; parallel_iterations: int = 10; stateful
WholeFileReader() -> reader_handle: Ref(string); container: string = ''; shared_name: string = ''; stateful
WholeFileReaderV2() -> reader_handle: resource; container: string = ''; shared_name: string = ''; stateful
WindowDataset(input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''
WindowOp(inputs: Tinputs) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; Tinputs: list(type) >= 1
WorkerHeartbeat(request: string) -> response: string; stateful
WrapDatasetVariant(input_handle: variant) -> output_handle: variant
WriteAudioSummary(writer: resource, step: int64, tag: string, tensor: float, sample_rate: float); max_outputs: int >= 1 = 3; stateful
WriteFile(filename: string, contents: string); stateful
WriteGraphSummary(writer: resource, step: int64, tensor: string); stateful
WriteHistogramSummary(writer: resource, step: int64, tag: string, values: T); T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, bool} = float; stateful
WriteImageSummary(writer: resource, step: int64, tag: string, tensor: T, bad_color: uint8); max_images: int >= 1 = 3; T: {uint8, double, float, half} = float; stateful
WriteRawProtoSummary(writer: resource, step: int64, tensor: string); stateful
WriteScalarSummary(writer: resource, step: int64, tag: string, value: T); T: realnumbertype; stateful
WriteSummary(writer: resource, step: int64, tensor: T, tag: string, summary_metadata: string); T: type; stateful
Xdivy(x: T, y: T) -> z: T; T: {half, bfloat16, float, double, complex64, complex128}
XlaAllReduce(input: T, group_assignment: int32) -> output: T; T: {half, bfloat16, float, int32, uint32}; reduce_op: {'Min', 'Max', 'Mul', 'Add', 'Mean'}; mode: {'CrossReplica', 'CrossReplicaAndPartition'}
XlaBroadcastHelper(lhs: T, rhs: T, broadcast_dims: Tindices) -> lhs_output: T, rhs_output: T; T: numbertype; Tindices: {int32, int64}
XlaCallModule(args: Tin) -> output: Tout; version: int; module: string; Sout: list(shape) >= 0; Tout: list(type) >= 0; Tin: list(type) >= 0; dim_args_spec: list(string) = []; platforms: list(string) = []; function_list: list(func) = []; has_token_input_output: bool = false; disabled_checks: list(string) = []; use_shardy_partitioner: bool = false; stateful
XlaClusterOutput(input: T) -> outputs: T; T: type
XlaConcatND(inputs: N * T) -> output: T; T: type; N: int >= 1; num_concats: list(int); paddings: list(int) = []
XlaConv(lhs: T, rhs: T, window_strides: Tindices, padding: Tindices, lhs_dilation: Tindices, rhs_dilation: Tindices, feature_group_count: Tindices) -> output: T; T: numbertype; Tindices: {int32, int64}; dimension_numbers: string; precision_config: string
XlaConvV2(lhs: LhsT, rhs: RhsT, window_strides: Tindices, padding: Tindices, lhs_dilation: Tindices, rhs_dilation: Tindices, feature_group_count: Tindices) -> output: preferred_element_type; LhsT: numbertype; RhsT: numbertype; Tindices: {int32, int64}; dimension_numbers: string; precision_config: string; preferred_element_type: numbertype; batch_group_count: int = 1
XlaCustomCall(args: T) -> output: dtype; target_name: string; backend_config: string; T: list(type) >= 0; dtype: type; shape: shape
XlaCustomCallV2(operands: operand_dtypes) -> results: result_dtypes; call_target_name: string; backend_config: string; has_side_effect: bool; operand_dtypes: list(type) >= 0; result_dtypes: list(type) >= 0; result_shapes: list(shape) >= 0
XlaDequantize(input: uint32) -> output: bfloat16; min_range: float; max_range: float; mode: string; transpose_output: bool; stateful
XlaDot(lhs: T, rhs: T) -> output: T; T: numbertype; dimension_numbers: string; precision_config: string
XlaDotV2(lhs: LhsT, rhs: RhsT) -> output: preferred_element_type; LhsT: numbertype; RhsT: numbertype; dimension_numbers: string; precision_config: string; preferred_element_type: numbertype
XlaDynamicSlice(input: T, start_indices: Tindices, size_indices: Tindices) -> output: T; T: type; Tindices: {int32, int64}
XlaDynamicUpdateSlice(input: T, update: T, indices: Tindices) -> output: T; T: type; Tindices: {int32, int64}
XlaEinsum(a: T, b: T) -> product: T; equation: string; T: {complex64, bfloat16, float}
XlaGather(operand: T, start_indices: Tindices, slice_sizes: Tindices) -> output: T; dimension_numbers: string; indices_are_sorted: bool; T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}; Tindices: {int32, int64}
XlaHostCompute(inputs: Tinputs) -> outputs: Toutputs; Tinputs: list(type) >= 0; Toutputs: list(type) >= 0; ancestors: list(string) >= 0; shapes: list(shape) >= 0; shape_inference_graph: func; key: string; send_key: string = ''; recv_key: string = ''; cost_estimate_ns: int = 1000000; tpu_core: int = 0; stateful
XlaIf(cond: Tcond, inputs: Tin) -> output: Tout; Tcond: type; then_branch: func; else_branch: func; Tin: list(type) >= 0; Tout: list(type) >= 0; stateful
XlaKeyValueSort(keys: K, values: V) -> sorted_keys: K, sorted_values: V; K: realnumbertype; V: type
XlaLaunch(constants: Tconstants, args: Targs, resources: Nresources * resource) -> results: Tresults; Tconstants: list(type) >= 0; Targs: list(type) >= 0; Nresources: int >= 0; Tresults: list(type) >= 0; function: func; stateful
XlaLaunchV2(args: Targs) -> results: Tresults; Targs: list(type) >= 0; Tresults: list(type) >= 0; constants: list(int) >= 0; resources: list(int) >= 0; function: func
XlaOptimizationBarrier(input: T) -> output: T; T: list(type) >= 0
XlaPad(input: T, padding_value: T, padding_low: Tindices, padding_high: Tindices, padding_interior: Tindices) -> output: T; T: type; Tindices: {int32, int64}
XlaRecv() -> tensor: dtype; dtype: type; tensor_name: string; shape: shape; stateful
XlaRecvFromHost() -> output: Toutput; Toutput: type; shape: shape; key: string; stateful
XlaRecvTPUEmbeddingActivations(deduplication_data: variant) -> outputs: num_tables * float; num_tables: int >= 1; config: string; stateful
XlaRecvTPUEmbeddingActivationsV2(deduplication_data: variant) -> outputs: num_tables * float; num_tables: int >= 1; config: string; embedding_partitions: string; hbm_buffers_config: string; tpu_topology: string; stateful
XlaRecvTPUEmbeddingDeduplicationData() -> output: variant; config: string; stateful
XlaRecvTPUEmbeddingDeduplicationDataV2() -> output: variant; config: string; embedding_partitions: string; hbm_buffers_config: string; tpu_topology: string; stateful
XlaReduce(input: T, init_value: T) -> output: T; T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}; dimensions_to_reduce: list(int); reducer: func
XlaReducePrecision(operand: T) -> output: T; T: {bfloat16, half, float, double}; exponent_bits: int; mantissa_bits: int
XlaReduceScatter(input: T, group_assignment: int32, scatter_dimension: int32) -> output: T; T: {half, bfloat16, float, int32, uint32}; reduce_op: {'Min', 'Max', 'Mul', 'Add', 'Mean'}
XlaReduceWindow(input: T, init_value: T, window_dimensions: Tindices, window_strides: Tindices, base_dilations: Tindices, window_dilations: Tindices, padding: Tindices) -> output: T; T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}; Tindices: {int32, int64}; computation: func
XlaRemoveDynamicDimensionSize(input: T, dim_index: int32) -> output: T; T: type
XlaReplicaId() -> id: int32
XlaRngBitGenerator(algorithm: int32, initial_state: uint64, shape: Tshape) -> output_key: uint64, output: dtype; dtype: {uint8, int8, int32, int64, uint32, uint64} = uint64; Tshape: {int32, int64} = int32
XlaScatter(operand: T, scatter_indices: Tindices, updates: T) -> output: T; update_computation: func; dimension_numbers: string; indices_are_sorted: bool; T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}; Tindices: {int32, int64}
XlaSelectAndScatter(operand: T, window_dimensions: Tindices, window_strides: Tindices, padding: Tindices, source: T, init_value: T) -> output: T; T: numbertype; Tindices: {int32, int64}; select: func; scatter: func
XlaSelfAdjointEig(a: T) -> w: T, v: T; lower: bool; max_iter: int; epsilon: float; T: numbertype
XlaSend(tensor: T); T: type; tensor_name: string; stateful
XlaSendTPUEmbeddingGradients(gradients: NumTables * float, learning_rates: NumLearningRateTags * float, deduplication_data: variant); NumTables: int >= 1; NumLearningRateTags: int >= 0 = 0; config: string; stateful
XlaSendTPUEmbeddingGradientsV2(gradients: NumTables * float, learning_rates: NumLearningRateTags * float, deduplication_data: variant); NumTables: int >= 1; NumLearningRateTags: int >= 0 = 0; config: string; embedding_partitions: string; hbm_buffers_config: string; tpu_topology: string; stateful
XlaSendToHost(input: Tinput); Tinput: type; key: string; stateful
XlaSetBound(input: int32, bound: int32) -> output: int32
XlaSetDynamicDimensionSize(input: T, dim_index: int32, size: int32) -> output: T; T: type
XlaSharding(input: T) -> output: T; T: type; sharding: string = ''; unspecified_dims: list(int) = []
XlaSort(input: T) -> output: T; T: type
XlaSparseActivationsUnstack(stacked_activations: input_dtype) -> unstacked_activations: num_tables * dtype; num_tables: int >= 1; sample_counts: list(int) >= 1; features: list(int) >= 1; interleaved: bool; input_dtype: type; dtype: type
XlaSparseCoreAdagrad(indices: int32, gradient: float, learning_rate: float, accumulator: float, embedding_table: float) -> updated_embedding_table: float, updated_accumulator: float; feature_width: int; stateful
XlaSparseCoreAdagradMomentum(indices: int32, gradient: float, learning_rate: float, beta_1: float, epsilon: float, accumulator: float, momentum: float, embedding_table: float) -> updated_embedding_table: float, updated_accumulator: float, updated_momentum: float; feature_width: int; use_nesterov: bool; beta_2: float; exponent: float; stateful
XlaSparseCoreAdam(embedding_table: float, indices: int32, gradient: float, learning_rate: float, momentum: float, velocity: float, beta_1: float, beta_2: float, epsilon: float) -> updated_embedding_table: float, updated_velocity: float, updated_momentum: float; feature_width: int; use_sum_inside_sqrt: bool; stateful
XlaSparseCoreFtrl(embedding_table: float, accumulator: float, linear: float, learning_rate: float, indices: int32, gradient: float, beta: float, learning_rate_power: float, l2_regularization_strength: float) -> updated_embedding_table: float, updated_accumulator: float, updated_linear: float; feature_width: int; multiply_linear_by_learning_rate: bool; l1_regularization_strength: float; stateful
XlaSparseCoreSgd(indices: int32, gradient: float, learning_rate: float, embedding_table: float) -> updated_embedding_table: float; feature_width: int; stateful
XlaSparseDenseMatmul(row_ids: int32, col_ids: uint32, values: float, offsets: uint32, embedding_table: float) -> activations: float, row_pointers: int32, sorted_embedding_ids: int32, sorted_sample_ids: int32, sorted_gains: float; max_ids_per_partition: int >= 0; max_unique_ids_per_partition: int >= 0; input_size: int >= 0
XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradAndCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float, weights: float, preserved_valencies: int32, preserved_vectors: float, preserved_weights: float, activation_gradients: float, learning_rate: float, combiner_weights_learning_rate: float, embedding_table: float, accumulator: float) -> updated_embedding_table: float, updated_accumulator: float, updated_weights: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; max_valency: int >= 0; num_weights: int >= 0; combiner_table_vjp_computation: func; combiner_weights_vjp_computation: func; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradMomentumAndCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float, weights: float, preserved_valencies: int32, preserved_vectors: float, preserved_weights: float, activation_gradients: float, learning_rate: float, combiner_weights_learning_rate: float, embedding_table: float, accumulator: float, momenta: float) -> updated_embedding_table: float, updated_accumulator: float, updated_momenta: float, updated_weights: float; use_nesterov: bool; exponent: float; beta1: float; beta2: float; epsilon: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; max_valency: int >= 0; num_weights: int >= 0; combiner_table_vjp_computation: func; combiner_weights_vjp_computation: func; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdamAndCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float, weights: float, preserved_valencies: int32, preserved_vectors: float, preserved_weights: float, activation_gradients: float, learning_rate: float, combiner_weights_learning_rate: float, embedding_table: float, momenta: float, velocity: float) -> updated_embedding_table: float, updated_momenta: float, updated_velocity: float, updated_weights: float; use_sum_inside_sqrt: bool; beta1: float; beta2: float; epsilon: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; max_valency: int >= 0; num_weights: int >= 0; combiner_table_vjp_computation: func; combiner_weights_vjp_computation: func; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulCustomCombinerOnTcGradWithCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float, weights: float, preserved_valencies: int32, preserved_vectors: float, preserved_weights: float, activation_gradients: float, tables: N * float, hyperparameters: M * float, combiner_weights_learning_rate: float) -> updated_tables: N * float, updated_weights: float; N: int >= 1; M: int >= 1; max_valency: int >= 0; num_weights: int >= 0; combiner_table_vjp_computation: func; combiner_weights_vjp_computation: func; optimizer_custom_computation: func; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulCustomCombinerOnTcGradWithFtrlAndCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float, weights: float, preserved_valencies: int32, preserved_vectors: float, preserved_weights: float, activation_gradients: float, learning_rate: float, combiner_weights_learning_rate: float, embedding_table: float, accumulator: float, linear: float) -> updated_embedding_table: float, updated_accumulator: float, updated_linear: float, updated_weights: float; multiply_linear_by_learning_rate: bool; beta: float; learning_rate_power: float; l1_regularization_strength: float; l2_regularization_strength: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; max_valency: int >= 0; num_weights: int >= 0; combiner_table_vjp_computation: func; combiner_weights_vjp_computation: func; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float, weights: float, preserved_valencies: int32, preserved_vectors: float, preserved_weights: float, activation_gradients: float, learning_rate: float, combiner_weights_learning_rate: float, embedding_table: float) -> updated_embedding_table: float, updated_weights: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; max_valency: int >= 0; num_weights: int >= 0; combiner_table_vjp_computation: func; combiner_weights_vjp_computation: func; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float, embedding_table: float, weights: float) -> activations: float, preserved_valencies: int32, preserved_vectors: float; input_size: int >= 0; max_valency: int >= 0; num_weights: int >= 0; combiner_computation: func; quantization_config_low: float; quantization_config_high: float; quantization_config_num_buckets: int >= 0; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulGradWithAdagradAndCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, activation_gradients: float, learning_rate: float, embedding_table: float, accumulator: float, num_minibatches_per_physical_sparse_core: int32) -> updated_embedding_table: float, updated_accumulator: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulGradWithAdagradAndStaticBufferSize(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, activation_gradients: float, learning_rate: float, embedding_table: float, accumulator: float, num_minibatches_per_physical_sparse_core: int32) -> updated_embedding_table: float, updated_accumulator: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; max_ids_per_sparse_core: int >= 1; max_unique_ids_per_sparse_core: int >= 1; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulGradWithAdagradMomentumAndCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, activation_gradients: float, learning_rate: float, embedding_table: float, accumulator: float, momenta: float, num_minibatches_per_physical_sparse_core: int32) -> updated_embedding_table: float, updated_accumulator: float, updated_momenta: float; use_nesterov: bool; exponent: float; beta1: float; beta2: float; epsilon: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulGradWithAdagradMomentumAndStaticBufferSize(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, activation_gradients: float, learning_rate: float, embedding_table: float, accumulator: float, momenta: float, num_minibatches_per_physical_sparse_core: int32) -> updated_embedding_table: float, updated_accumulator: float, updated_momenta: float; use_nesterov: bool; exponent: float; beta1: float; beta2: float; epsilon: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; max_ids_per_sparse_core: int >= 1; max_unique_ids_per_sparse_core: int >= 1; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulGradWithAdamAndCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, activation_gradients: float, learning_rate: float, embedding_table: float, momenta: float, velocity: float, num_minibatches_per_physical_sparse_core: int32) -> updated_embedding_table: float, updated_momenta: float, updated_velocity: float; use_sum_inside_sqrt: bool; beta1: float; beta2: float; epsilon: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulGradWithAdamAndStaticBufferSize(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, activation_gradients: float, learning_rate: float, embedding_table: float, momenta: float, velocity: float, num_minibatches_per_physical_sparse_core: int32) -> updated_embedding_table: float, updated_momenta: float, updated_velocity: float; use_sum_inside_sqrt: bool; beta1: float; beta2: float; epsilon: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; max_ids_per_sparse_core: int >= 1; max_unique_ids_per_sparse_core: int >= 1; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulGradWithCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, activation_gradients: float, tables: N * T, hyperparameters: M * float, num_minibatches_per_physical_sparse_core: int32) -> updated_tables: N * T; N: int >= 1; M: int >= 1; custom_computation: func; table_name: string; num_sparsecores_per_device: int = -1; T: {int32, float} = float
XlaSparseDenseMatmulGradWithFtrlAndCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, activation_gradients: float, learning_rate: float, embedding_table: float, accumulator: float, linear: float, num_minibatches_per_physical_sparse_core: int32) -> updated_embedding_table: float, updated_accumulator: float, updated_linear: float; multiply_linear_by_learning_rate: bool; beta: float; learning_rate_power: float; l1_regularization_strength: float; l2_regularization_strength: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulGradWithFtrlAndStaticBufferSize(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, activation_gradients: float, learning_rate: float, embedding_table: float, accumulator: float, linear: float, num_minibatches_per_physical_sparse_core: int32) -> updated_embedding_table: float, updated_accumulator: float, updated_linear: float; multiply_linear_by_learning_rate: bool; beta: float; learning_rate_power: float; l1_regularization_strength: float; l2_regularization_strength: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; max_ids_per_sparse_core: int >= 1; max_unique_ids_per_sparse_core: int >= 1; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulGradWithSgdAndCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, activation_gradients: float, learning_rate: float, embedding_table: float, num_minibatches_per_physical_sparse_core: int32) -> updated_embedding_table: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulGradWithSgdAndStaticBufferSize(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, activation_gradients: float, learning_rate: float, embedding_table: float, num_minibatches_per_physical_sparse_core: int32) -> updated_embedding_table: float; clip_weight_min: float = -inf; clip_weight_max: float = inf; max_ids_per_sparse_core: int >= 1; max_unique_ids_per_sparse_core: int >= 1; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseDenseMatmulWithCsrInput(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, embedding_table: T, num_minibatches_per_physical_sparse_core: int32) -> activations: T; input_size: int >= 0; quantization_config_low: float; quantization_config_high: float; quantization_config_num_buckets: int >= 0; table_name: string; num_sparsecores_per_device: int = -1; T: {int32, float} = float
XlaSparseDenseMatmulWithStaticBufferSize(row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float, embedding_table: float, num_minibatches_per_physical_sparse_core: int32) -> activations: float; input_size: int >= 0; quantization_config_low: float; quantization_config_high: float; quantization_config_num_buckets: int >= 0; max_ids_per_sparse_core: int >= 1; max_unique_ids_per_sparse_core: int >= 1; table_name: string; num_sparsecores_per_device: int = -1
XlaSparseGradientsStack(unstacked_gradients: num_tables * input_dtype) -> stacked_gradients: dtype; num_tables: int >= 1; interleaved: bool; input_dtype: type; dtype: type
XlaSplitND(input: T) -> outputs: N * T; T: type; N: int >= 1; num_splits: list(int); paddings: list(int) = []
XlaSpmdFullToShardShape(input: T) -> output: T; T: type; manual_sharding: string; dim: int = -1; unspecified_dims: list(int) = []
XlaSpmdShardToFullShape(input: T) -> output: T; T: type; manual_sharding: string; full_shape: shape; dim: int = -1; unspecified_dims: list(int) = []
XlaSvd(a: T) -> s: T, u: T, v: T; max_iter: int; epsilon: float; precision_config: string; T: numbertype
XlaVariadicReduce(input: N * T, init_value: N * T) -> output: N * T; N: int >= 1; T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}; dimensions_to_reduce: list(int); reducer: func
XlaVariadicReduceV2(inputs: T, init_values: T) -> outputs: T; T: list(type) >= 1; dimensions_to_reduce: list(int); reducer: func
XlaVariadicSort(inputs: T, dimension: int32) -> outputs: T; T: list(type) >= 1; comparator: func; is_stable: bool
XlaWhile(input: T) -> output: T; T: list(type) >= 0; cond: func; body: func; stateful
Xlog1py(x: T, y: T) -> z: T; T: {half, bfloat16, float, double, complex64, complex128}
Xlogy(x: T, y: T) -> z: T; T: {half, bfloat16, float, double, complex64, complex128}
ZerosLike(x: T) -> y: T; T: type
Zeta(x: T, q: T) -> z: T; T: {float, double}
ZipDataset(input_datasets: N * variant) -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$output_types], $output_types]]; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1; metadata: string = ''
_Arg() -> output: T; T: type; index: int >= 0; stateful
_ArrayToList(input: N * T) -> output: out_types; T: type; N: int >= 1; out_types: list(type) >= 1
_ConfigureDistributedTPU(inputs: N * int32) -> output: string; N: int >= 1; enable_whole_mesh_compilations: bool = false; stateful
_DeviceArg() -> output: T; T: type; index: int >= 0; stateful
_DeviceRetval(input: T); T: type; index: int >= 0; stateful
_DisconnectHostFromDistributedTPUSystem() -> number_of_tpu_chips: int32; stateful
_EagerConst(input: T) -> output: T; T: type
_FusedBatchNormEx(x: T, scale: U, offset: U, mean: U, variance: U, side_input: num_side_inputs * T) -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U; T: {half, float, bfloat16}; U: {float}; epsilon: float = 1e-04; exponential_avg_factor: float = 1.0; num_side_inputs: int >= 0 = 0; activation_mode: string = 'Identity'; data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true
_FusedBatchNormGradEx(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U, offset: float, y: T) -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U, side_input_backprop: num_side_inputs * T; T: {half, float}; U: {float}; epsilon: float = 1e-04; num_side_inputs: int >= 0 = 0; activation_mode: string = 'Identity'; data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'; is_training: bool = true
_FusedConv2D(input: T, filter: T, args: TArgs, host_args: num_host_args * float) -> output: T; T: {half, float, double, int8, qint8}; TArgs: list(type) >= 1; num_args: int >= 0; num_host_args: int >= 0 = 0; strides: list(int); padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'; filter_format: {'HWIO', 'OIHW', 'OIHW_VECT_I'} = 'HWIO'; dilations: list(int) = [1, 1, 1, 1]; use_cudnn_on_gpu: bool = true; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_FusedConv3D(input: T, filter: T, args: num_args * T) -> output: T; T: {bfloat16, float, half}; num_args: int >= 0; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]; padding_list: list(int) = []; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_FusedDepthwiseConv2dNative(input: T, filter: T, args: num_args * T) -> output: T; T: {half, bfloat16, float, double}; num_args: int >= 0; strides: list(int); padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_FusedMatMul(a: T, b: T, args: num_args * T) -> product: T; transpose_a: bool = false; transpose_b: bool = false; T: {bfloat16, half, float}; num_args: int >= 0; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_FusedQuantizedConv2D(device_inputs: Tdevice_inputs, host_inputs: Thost_inputs) -> device_outputs: Tdevice_outputs, host_outputs: Thost_outputs; Tinput: quantizedtype = quint8; Tfilter: quantizedtype = qint8; Tbias: {float, qint32} = qint32; Tsummand: {float, quint8, qint8, qint32}; out_type: quantizedtype = qint32; Tdevice_inputs: list(type) >= 0 = []; Thost_inputs: list(type) >= 0; Tdevice_outputs: list(type) >= 0 = []; Thost_outputs: list(type) >= 0; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; alpha: float = 0.0
_FusedQuantizedDepthwiseConv2D(device_inputs: Tdevice_inputs, host_inputs: Thost_inputs) -> device_outputs: Tdevice_outputs, host_outputs: Thost_outputs; Tinput: quantizedtype = quint8; Tfilter: quantizedtype = qint8; Tbias: {float, qint32} = qint32; Tsummand: {float, quint8, qint8, qint32}; out_type: quantizedtype = qint32; Tdevice_inputs: list(type) >= 0 = []; Thost_inputs: list(type) >= 0; Tdevice_outputs: list(type) >= 0 = []; Thost_outputs: list(type) >= 0; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; alpha: float = 0.0
_HostCast(x: SrcT) -> y: DstT; SrcT: type; DstT: type; Truncate: bool = false
_HostRecv() -> tensor: tensor_type; tensor_type: type; tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: string; client_terminated: bool = false; stateful; distributed
_HostSend(tensor: T); T: type; tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: string; client_terminated: bool = false; stateful
_If(cond: Tcond, input: Tin) -> output: Tout; Tcond: type; Tin: list(type) >= 1; Tout: list(type) >= 1; then_branch: func; else_branch: func; stateful
_InitializeHostForDistributedTPU(input: string) -> tpu_ids: int32; enable_whole_mesh_compilations: bool = false; tpu_cancellation_closes_chips: int = 0; stateful
_ListToArray(input: Tin) -> output: N * T; Tin: list(type) >= 1; T: type; N: int >= 1
_MklAvgPool(value: T, mkl_input: uint8) -> output: T, mkl_output: uint8; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: {float, half, double, bfloat16}
_MklAvgPool3D(value: T, mkl_input: uint8) -> output: T, mkl_output: uint8; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {float, half, double, bfloat16}
_MklAvgPool3DGrad(orig_input_shape: int32, grad: T, mkl_orig_input: uint8, mkl_grad: uint8) -> output: T, mkl_output: uint8; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {float, half, double, bfloat16}
_MklAvgPoolGrad(orig_input_shape: int32, grad: T, mkl_orig_input: uint8, mkl_grad: uint8) -> output: T, mkl_output: uint8; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: {float, half, double, bfloat16}
_MklBatchMatMul(x: T, y: T) -> output: T; T: {bfloat16, float, half}; adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false
_MklBatchMatMulV2(x: T, y: T) -> output: T; T: {bfloat16, float, half}; adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false
_MklConcat(concat_dim: int32, values: N * T, mkl_concat_dim: uint8, mkl_values: N * uint8) -> output: T, mkl_output: uint8; N: int >= 2; T: type
_MklConcatV2(values: N * T, axis: Tidx, mkl_values: N * uint8, mkl_axis: uint8) -> output: T, mkl_output: uint8; N: int >= 2; T: type; Tidx: {int32, int64} = int32
_MklConjugateTranspose(x: T, perm: Tperm) -> y: T; T: type; Tperm: {int32, int64} = int32
_MklConv2D(input: T, filter: T, mkl_input: uint8, mkl_filter: uint8) -> output: T, filter_output: T, mkl_output: uint8, mkl_filter_output: uint8; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; is_filter_const: bool = false; padding: {'SAME', 'VALID', 'EXPLICIT'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]
_MklConv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T, mkl_input: uint8, mkl_filter_size: uint8, mkl_out_backprop: uint8) -> output: T, mkl_output: uint8; T: {bfloat16, float}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]
_MklConv2DBackpropFilterWithBias(input: T, filter_sizes: int32, out_backprop: T, mkl_input: uint8, mkl_filter_size: uint8, mkl_out_backprop: uint8) -> output: T, bias_grad: T, mkl_output: uint8, mkl_bias_grad: uint8; T: {bfloat16, float}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
_MklConv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T, mkl_input_sizes: uint8, mkl_filter: uint8, mkl_out_backprop: uint8) -> output: T, mkl_output: uint8; T: {bfloat16, float}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]
_MklConv2DWithBias(input: T, filter: T, bias: T, mkl_input: uint8, mkl_filter: uint8, mkl_bias: uint8) -> output: T, filter_output: T, mkl_output: uint8, mkl_filter_output: uint8; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; is_filter_const: bool = false; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
_MklConv3D(input: T, filter: T, mkl_input: uint8, mkl_filter: uint8) -> output: T, filter_output: T, mkl_output: uint8, mkl_filter_output: uint8; T: {bfloat16, float, half}; strides: list(int) >= 5; is_filter_const: bool = false; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]
_MklConv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T, mkl_input: uint8, mkl_filter_size: uint8, mkl_out_backprop: uint8) -> output: T, mkl_output: uint8; T: {bfloat16, float, half}; strides: list(int); padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]
_MklConv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T, mkl_input_sizes: uint8, mkl_filter: uint8, mkl_out_backprop: uint8) -> output: T, mkl_output: uint8; T: {bfloat16, float, half}; strides: list(int) >= 5; dilations: list(int) = [1, 1, 1, 1, 1]; Tshape: {int32, int64} = int32; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'
_MklDepthwiseConv2dNative(input: T, filter: T, mkl_input: uint8, mkl_filter: uint8) -> output: T, filter_output: T, mkl_output: uint8, mkl_filter_output: uint8; T: {half, bfloat16, float, double}; strides: list(int); is_filter_const: bool = false; padding: {'SAME', 'VALID', 'EXPLICIT'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]
_MklDepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T, mkl_input: uint8, mkl_filter: uint8, mkl_out_backprop: uint8) -> output: T, mkl_output: uint8; T: {half, bfloat16, float, double}; strides: list(int); padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]
_MklDepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T, mkl_input: uint8, mkl_filter: uint8, mkl_out_backprop: uint8) -> output: T, mkl_output: uint8; T: {half, bfloat16, float, double}; strides: list(int); padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]
_MklDequantize(input: T, min_range: float, max_range: float) -> output: dtype; T: quantizedtype; narrow_range: bool = false; axis: int = -1; mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'SCALED'; dtype: {bfloat16, float} = float
_MklEinsum(inputs: N * T) -> output: T; equation: string; N: int >= 1; T: {bfloat16, float, half}
_MklElu(features: T, mkl_features: uint8) -> activations: T, mkl_activations: uint8; T: {float, bfloat16} = float
_MklEluGrad(gradients: T, features: T, mkl_gradients: uint8, mkl_features: uint8) -> backprops: T, mkl_backprops: uint8; T: {float, bfloat16} = float
_MklFusedBatchMatMulV2(x: T, y: T, args: num_args * T) -> output: T; T: {bfloat16, float, half}; adj_x: bool = false; adj_y: bool = false; num_args: int >= 0; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_MklFusedBatchNorm(x: T, scale: T, offset: T, mean: T, variance: T, mkl_x: uint8, mkl_scale: uint8, mkl_offset: uint8, mkl_mean: uint8, mkl_variance: uint8) -> y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T, mkl_y: uint8, mkl_batch_mean: uint8, mkl_batch_variance: uint8, mkl_reserve_space_1: uint8, mkl_reserve_space_2: uint8; T: numbertype; epsilon: float = 1e-04; data_format: string = 'NHWC'; exponential_avg_factor: float = 1.0; is_training: bool = true
_MklFusedBatchNormEx(x: T, scale: U, offset: U, mean: U, variance: U, side_input: num_side_inputs * T, mkl_x: uint8, mkl_scale: uint8, mkl_offset: uint8, mkl_mean: uint8, mkl_variance: uint8, mkl_side_input: num_side_inputs * uint8) -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U, mkl_y: uint8, mkl_batch_mean: uint8, mkl_batch_variance: uint8, mkl_reserve_space_1: uint8, mkl_reserve_space_2: uint8, mkl_reserve_space_3: uint8; T: {bfloat16, float, half}; U: {float}; epsilon: float = 1e-04; exponential_avg_factor: float = 1.0; data_format: {'NHWC', 'NCHW'} = 'NHWC'; num_side_inputs: int >= 0 = 0; activation_mode: string = 'Identity'; is_training: bool = true
_MklFusedBatchNormGrad(y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T, mkl_y_backprop: uint8, mkl_x: uint8, mkl_scale: uint8, mkl_reserve_space_1: uint8, mkl_reserve_space_2: uint8) -> x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T, mkl_x_backprop: uint8, mkl_scale_backprop: uint8, mkl_offset_backprop: uint8, mkl_reserve_space_3: uint8, mkl_reserve_space_4: uint8; T: numbertype; epsilon: float = 1e-04; data_format: string = 'NHWC'; is_training: bool = true
_MklFusedBatchNormGradV2(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, mkl_y_backprop: uint8, mkl_x: uint8, mkl_scale: uint8, mkl_reserve_space_1: uint8, mkl_reserve_space_2: uint8) -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U, mkl_x_backprop: uint8, mkl_scale_backprop: uint8, mkl_offset_backprop: uint8, mkl_reserve_space_3: uint8, mkl_reserve_space_4: uint8; T: {bfloat16, float, half}; U: {float}; epsilon: float = 1e-04; data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true
_MklFusedBatchNormGradV3(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U, mkl_y_backprop: uint8, mkl_x: uint8, mkl_scale: uint8, mkl_reserve_space_1: uint8, mkl_reserve_space_2: uint8, mkl_reserve_space_3: uint8) -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U, mkl_x_backprop: uint8, mkl_scale_backprop: uint8, mkl_offset_backprop: uint8, mkl_reserve_space_4: uint8, mkl_reserve_space_5: uint8; T: {half, bfloat16, float}; U: {float}; epsilon: float = 1e-04; data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true
_MklFusedBatchNormV2(x: T, scale: U, offset: U, mean: U, variance: U, mkl_x: uint8, mkl_scale: uint8, mkl_offset: uint8, mkl_mean: uint8, mkl_variance: uint8) -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, mkl_y: uint8, mkl_batch_mean: uint8, mkl_batch_variance: uint8, mkl_reserve_space_1: uint8, mkl_reserve_space_2: uint8; T: {bfloat16, float, half}; U: {float}; epsilon: float = 1e-04; data_format: {'NHWC', 'NCHW'} = 'NHWC'; exponential_avg_factor: float = 1.0; is_training: bool = true
_MklFusedBatchNormV3(x: T, scale: U, offset: U, mean: U, variance: U, mkl_x: uint8, mkl_scale: uint8, mkl_offset: uint8, mkl_mean: uint8, mkl_variance: uint8) -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U, mkl_y: uint8, mkl_batch_mean: uint8, mkl_batch_variance: uint8, mkl_reserve_space_1: uint8, mkl_reserve_space_2: uint8, mkl_reserve_space_3: uint8; T: {half, bfloat16, float}; U: {float}; epsilon: float = 1e-04; data_format: {'NHWC', 'NCHW'} = 'NHWC'; exponential_avg_factor: float = 1.0; is_training: bool = true
_MklFusedConv2D(input: T, filter: T, args: num_args * T, mkl_input: uint8, mkl_filter: uint8, mkl_args: num_args * uint8) -> output: T, filter_output: T, mkl_output: uint8, mkl_filter_output: uint8; T: {bfloat16, float, half}; num_args: int >= 0; strides: list(int); is_filter_const: bool = false; padding: {'SAME', 'VALID', 'EXPLICIT'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]; use_cudnn_on_gpu: bool = true; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_MklFusedDepthwiseConv2dNative(input: T, filter: T, args: num_args * T, mkl_input: uint8, mkl_filter: uint8, mkl_args: num_args * uint8) -> output: T, filter_output: T, mkl_output: uint8, mkl_filter_output: uint8; T: {bfloat16, float, half}; num_args: int >= 0; strides: list(int); is_filter_const: bool = false; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_MklFusedInstanceNorm(x: T, gamma: T, beta: T) -> y: T; T: {float, bfloat16, half}; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2; reduction_axes: list(int)
_MklFusedMatMul(a: T, b: T, args: num_args * T, mkl_a: uint8, mkl_b: uint8, mkl_args: num_args * uint8) -> product: T, mkl_product: uint8; is_filter_const: bool = false; transpose_a: bool = false; transpose_b: bool = false; T: {bfloat16, float, half}; num_args: int >= 0; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_MklFusedMish(features: T) -> activations: T; T: {bfloat16, float, half}
_MklLayerNorm(x: T, scale: T, offset: T) -> y: T; T: {float, bfloat16, half}; epsilon: float = 0.001
_MklLeakyRelu(features: T, mkl_features: uint8) -> activations: T, mkl_activations: uint8; T: {float, bfloat16} = float; alpha: float = 0.2
_MklLeakyReluGrad(gradients: T, features: T, mkl_gradients: uint8, mkl_features: uint8) -> backprops: T, mkl_backprops: uint8; T: {float, bfloat16} = float; alpha: float = 0.2
_MklMatMul(a: T, b: T) -> product: T; transpose_a: bool = false; transpose_b: bool = false; T: {bfloat16, float, half}; grad_a: bool = false; grad_b: bool = false
_MklMaxPool(input: T, mkl_input: uint8) -> output: T, workspace: uint8, mkl_output: uint8, mkl_workspace: uint8; T: {float, half, bfloat16} = float; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; workspace_enabled: bool = false
_MklMaxPool3D(input: T, mkl_input: uint8) -> output: T, workspace: uint8, mkl_output: uint8, mkl_workspace: uint8; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float}; workspace_enabled: bool = false
_MklMaxPool3DGrad(orig_input: TInput, orig_output: TInput, grad: T, workspace: uint8, mkl_orig_input: uint8, mkl_orig_output: uint8, mkl_grad: uint8, mkl_workspace: uint8) -> output: T, mkl_output: uint8; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float} = float; TInput: {half, bfloat16, float} = float; workspace_enabled: bool = false
_MklMaxPoolGrad(orig_input: T, orig_output: T, grad: T, workspace: uint8, mkl_orig_input: uint8, mkl_orig_output: uint8, mkl_grad: uint8, mkl_workspace: uint8) -> output: T, mkl_output: uint8; T: {float, half, bfloat16} = float; ksize: list(int) >= 4; strides: list(int) >= 4; workspace_enabled: bool = false; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []
_MklNativeAvgPool(value: T) -> output: T; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: {float, half, double, bfloat16}
_MklNativeAvgPool3D(value: T) -> output: T; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {float, half, double, bfloat16}
_MklNativeAvgPool3DGrad(orig_input_shape: int32, grad: T) -> output: T; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {float, half, double, bfloat16}
_MklNativeAvgPoolGrad(orig_input_shape: int32, grad: T) -> output: T; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: {float, half, double, bfloat16}
_MklNativeConv2D(input: T, filter: T) -> output: T; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; is_filter_const: bool = false; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
_MklNativeConv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> output: T; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
_MklNativeConv2DBackpropFilterWithBias(input: T, filter_sizes: int32, out_backprop: T) -> output: T, bias_grad: T; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
_MklNativeConv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> output: T; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
_MklNativeConv2DWithBias(input: T, filter: T, bias: T) -> output: T; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; is_filter_const: bool = false; padding: {'SAME', 'VALID', 'EXPLICIT'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]
_MklNativeConv3D(input: T, filter: T) -> output: T; T: {bfloat16, float, half}; strides: list(int) >= 5; is_filter_const: bool = false; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]
_MklNativeConv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T) -> output: T; T: {bfloat16, float, half}; strides: list(int); padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]
_MklNativeConv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T) -> output: T; T: {bfloat16, float, half}; strides: list(int) >= 5; dilations: list(int) = [1, 1, 1, 1, 1]; Tshape: {int32, int64} = int32; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'
_MklNativeDepthwiseConv2dNative(input: T, filter: T) -> output: T; T: {half, bfloat16, float, double}; strides: list(int); is_filter_const: bool = false; padding: {'SAME', 'VALID', 'EXPLICIT'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]
_MklNativeDepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> output: T; T: {half, bfloat16, float, double}; strides: list(int); padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]
_MklNativeDepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> output: T; T: {half, bfloat16, float, double}; strides: list(int); padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]
_MklNativeFusedBatchNorm(x: T, scale: T, offset: T, mean: T, variance: T) -> y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T; T: numbertype; epsilon: float = 1e-04; data_format: string = 'NHWC'; exponential_avg_factor: float = 1.0; is_training: bool = true
_MklNativeFusedBatchNormEx(x: T, scale: U, offset: U, mean: U, variance: U, side_input: num_side_inputs * T) -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U; T: {bfloat16, float, half}; U: {float}; epsilon: float = 1e-04; exponential_avg_factor: float = 1.0; data_format: {'NHWC', 'NCHW'} = 'NHWC'; num_side_inputs: int >= 0 = 0; activation_mode: string = 'Identity'; is_training: bool = true
_MklNativeFusedBatchNormGrad(y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T) -> x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T; T: numbertype; epsilon: float = 1e-04; data_format: string = 'NHWC'; is_training: bool = true
_MklNativeFusedBatchNormGradV2(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U) -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U; T: {bfloat16, float, half}; U: {float}; epsilon: float = 1e-04; data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true
_MklNativeFusedBatchNormGradV3(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U) -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U; T: {half, bfloat16, float}; U: {float}; epsilon: float = 1e-04; data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true
_MklNativeFusedBatchNormV2(x: T, scale: U, offset: U, mean: U, variance: U) -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U; T: {bfloat16, float, half}; U: {float}; epsilon: float = 1e-04; data_format: {'NHWC', 'NCHW'} = 'NHWC'; exponential_avg_factor: float = 1.0; is_training: bool = true
_MklNativeFusedBatchNormV3(x: T, scale: U, offset: U, mean: U, variance: U) -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U; T: {half, bfloat16, float}; U: {float}; epsilon: float = 1e-04; data_format: {'NHWC', 'NCHW'} = 'NHWC'; exponential_avg_factor: float = 1.0; is_training: bool = true
_MklNativeFusedConv2D(input: T, filter: T, args: TArgs, host_args: num_host_args * float) -> output: T; T: {bfloat16, float, half}; TArgs: list(type) >= 1; num_args: int >= 0; num_host_args: int >= 0 = 0; strides: list(int); is_filter_const: bool = false; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; filter_format: {'HWIO', 'OIHW'} = 'HWIO'; dilations: list(int) = [1, 1, 1, 1]; use_cudnn_on_gpu: bool = true; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_MklNativeFusedConv3D(input: T, filter: T, args: num_args * T) -> output: T; T: {bfloat16, float, half}; num_args: int >= 0; strides: list(int) >= 5; is_filter_const: bool = false; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]; padding_list: list(int) = []; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_MklNativeFusedDepthwiseConv2dNative(input: T, filter: T, args: num_args * T) -> output: T; T: {bfloat16, float, half}; num_args: int >= 0; strides: list(int); is_filter_const: bool = false; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_MklNativeFusedMatMul(a: T, b: T, args: num_args * T) -> product: T; is_filter_const: bool = false; transpose_a: bool = false; transpose_b: bool = false; T: {bfloat16, float, half}; num_args: int >= 0; fused_ops: list(string) = []; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_MklNativeMaxPool(input: T) -> output: T, workspace: uint8; T: {float, half, bfloat16} = float; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []; workspace_enabled: bool = false
_MklNativeMaxPool3D(input: T) -> output: T, workspace: uint8; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float}; workspace_enabled: bool = false
_MklNativeMaxPool3DGrad(orig_input: TInput, orig_output: TInput, grad: T, workspace: uint8) -> output: T; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float} = float; TInput: {half, bfloat16, float} = float; workspace_enabled: bool = false
_MklNativeMaxPoolGrad(orig_input: T, orig_output: T, grad: T, workspace: uint8) -> output: T; T: {float, half, bfloat16} = float; ksize: list(int) >= 4; strides: list(int) >= 4; workspace_enabled: bool = false; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; explicit_paddings: list(int) = []
_MklNativePadWithConv2D(input: T, filter: T, paddings: Tpaddings) -> output: T; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_filter_const: bool = false; dilations: list(int) = [1, 1, 1, 1]; Tpaddings: {int32, int64} = int32
_MklNativePadWithFusedConv2D(input: T, filter: T, args: num_args * T, paddings: Tpaddings) -> output: T; T: {bfloat16, float, half}; num_args: int >= 0; strides: list(int); is_filter_const: bool = false; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; Tpaddings: {int32, int64} = int32; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_MklNativeSparseMatrixMatMul(a: variant, b: T) -> output: T; T: type; transpose_a: bool = false; transpose_b: bool = false; adjoint_a: bool = false; adjoint_b: bool = false; transpose_output: bool = false; conjugate_output: bool = false
_MklPadWithConv2D(input: T, filter: T, paddings: Tpaddings, mkl_input: uint8, mkl_filter: uint8, mkl_paddings: uint8) -> output: T, filter_output: T, mkl_output: uint8, mkl_filter_output: uint8; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_filter_const: bool = false; dilations: list(int) = [1, 1, 1, 1]; Tpaddings: {int32, int64} = int32
_MklPadWithFusedConv2D(input: T, filter: T, args: num_args * T, paddings: Tpaddings, mkl_input: uint8, mkl_filter: uint8, mkl_args: num_args * uint8, mkl_paddings: uint8) -> output: T, filter_output: T, mkl_output: uint8, mkl_filter_output: uint8; T: {bfloat16, float, half}; num_args: int >= 0; strides: list(int); is_filter_const: bool = false; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; Tpaddings: {int32, int64} = int32; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
_MklQuantizeV2(input: float, min_range: float, max_range: float) -> output: T, output_min: float, output_max: float; T: quantizedtype; mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'SCALED'; round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'; narrow_range: bool = false; axis: int = -1; ensure_minimum_range: float = 0.01
_MklQuantizedAvgPool(input: T, min_input: float, max_input: float) -> output: T, min_output: float, max_output: float; T: quantizedtype; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}
_MklQuantizedConcatV2(values: N * T, axis: Tidx, input_mins: N * float, input_maxes: N * float) -> output: T, output_min: float, output_max: float; N: int >= 2; T: type; Tidx: {int32, int64} = int32
_MklQuantizedConv2D(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedConv2DAndRelu(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedConv2DAndReluAndRequantize(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = quint8; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedConv2DAndRequantize(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint8; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedConv2DPerChannel(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = false; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedConv2DWithBias(input: Tinput, filter: Tfilter, bias: float, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedConv2DWithBiasAndRelu(input: Tinput, filter: Tfilter, bias: float, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedConv2DWithBiasAndReluAndRequantize(input: Tinput, filter: Tfilter, bias: Tbias, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; out_type: quantizedtype = quint8; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedConv2DWithBiasAndRequantize(input: Tinput, filter: Tfilter, bias: Tbias, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; out_type: quantizedtype = qint8; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedConv2DWithBiasSignedSumAndReluAndRequantize(input: Tinput, filter: Tfilter, bias: Tbias, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float, summand: Tsummand, min_summand: float, max_summand: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; Tsummand: quantizedtype; out_type: quantizedtype = quint8; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedConv2DWithBiasSumAndRelu(input: Tinput, filter: Tfilter, bias: float, min_input: float, max_input: float, min_filter: float, max_filter: float, summand: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedConv2DWithBiasSumAndReluAndRequantize(input: Tinput, filter: Tfilter, bias: Tbias, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float, summand: Tsummand, min_summand: float, max_summand: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; Tsummand: quantizedtype; out_type: quantizedtype = quint8; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedDepthwiseConv2D(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]
_MklQuantizedDepthwiseConv2DWithBias(input: Tinput, filter: Tfilter, bias: float, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]
_MklQuantizedDepthwiseConv2DWithBiasAndRelu(input: Tinput, filter: Tfilter, bias: float, min_input: float, max_input: float, min_filter: float, max_filter: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = qint32; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedDepthwiseConv2DWithBiasAndReluAndRequantize(input: Tinput, filter: Tfilter, bias: Tbias, min_input: float, max_input: float, min_filter: float, max_filter: float, min_freezed_output: float, max_freezed_output: float) -> output: out_type, min_output: float, max_output: float; Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; out_type: quantizedtype = quint8; data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []
_MklQuantizedMatMulWithBias(a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float) -> out: Toutput, min_out: float, max_out: float; T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; Toutput: quantizedtype = qint32; transpose_a: bool = false; transpose_b: bool = false; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'; is_weight_const: bool = true; is_bias_const: bool = true
_MklQuantizedMatMulWithBiasAndDequantize(a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float, min_freezed_output: float, max_freezed_output: float) -> out: Toutput; T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; Toutput: {float}; transpose_a: bool = false; transpose_b: bool = false; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'; is_weight_const: bool = true; is_bias_const: bool = true
_MklQuantizedMatMulWithBiasAndRelu(a: T1, b: T2, bias: float, min_a: float, max_a: float, min_b: float, max_b: float) -> out: Toutput, min_out: float, max_out: float; T1: quantizedtype; T2: quantizedtype; Toutput: quantizedtype = qint32; transpose_a: bool = false; transpose_b: bool = false; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'; is_weight_const: bool = true; is_bias_const: bool = true
_MklQuantizedMatMulWithBiasAndReluAndRequantize(a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float, min_freezed_output: float, max_freezed_output: float) -> out: Toutput, min_out: float, max_out: float; T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; Toutput: quantizedtype = quint8; transpose_a: bool = false; transpose_b: bool = false; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'; is_weight_const: bool = true; is_bias_const: bool = true
_MklQuantizedMatMulWithBiasAndRequantize(a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float, min_freezed_output: float, max_freezed_output: float) -> out: Toutput, min_out: float, max_out: float; T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; Toutput: quantizedtype = quint8; transpose_a: bool = false; transpose_b: bool = false; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'; is_weight_const: bool = true; is_bias_const: bool = true
_MklQuantizedMaxPool(input: T, min_input: float, max_input: float) -> output: T, min_output: float, max_output: float; T: quantizedtype; ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}
_MklRelu(features: T, mkl_features: uint8) -> activations: T, mkl_activations: uint8; T: {float, bfloat16} = float
_MklRelu6(features: T, mkl_features: uint8) -> activations: T, mkl_activations: uint8; T: {float, bfloat16} = float
_MklRelu6Grad(gradients: T, features: T, mkl_gradients: uint8, mkl_features: uint8) -> backprops: T, mkl_backprops: uint8; T: {float, bfloat16} = float
_MklReluGrad(gradients: T, features: T, mkl_gradients: uint8, mkl_features: uint8) -> backprops: T, mkl_backprops: uint8; T: {float, bfloat16} = float
_MklSoftmax(logits: T) -> softmax: T; T: {bfloat16, float, half} = float
_MklSwish(features: T) -> activations: T; T: {float, bfloat16, half} = float
_MklTanh(features: T, mkl_features: uint8) -> activations: T, mkl_activations: uint8; T: realnumbertype
_MklTanhGrad(gradients: T, features: T, mkl_gradients: uint8, mkl_features: uint8) -> backprops: T, mkl_backprops: uint8; T: realnumbertype
_MklTranspose(x: T, perm: Tperm) -> y: T; T: type; Tperm: {int32, int64} = int32
_NcclBroadcastRecv(shape: int32) -> output: T; T: {half, float, double, int32, int64}; num_devices: int; shared_name: string; stateful
_NcclBroadcastSend(input: T); T: {half, float, double, int32, int64}; num_devices: int; shared_name: string; stateful
_NcclReduceRecv(input: T) -> data: T; reduction: {'min', 'max', 'prod', 'sum'}; T: {half, float, double, int32, int64}; num_devices: int; shared_name: string; stateful
_NcclReduceSend(input: T); reduction: {'min', 'max', 'prod', 'sum'}; T: {half, float, double, int32, int64}; num_devices: int; shared_name: string; stateful
_ParallelConcatStart() -> output: dtype; shape: shape; dtype: type; stateful
_ParallelConcatUpdate(value: T, update: T) -> output: T; T: type; loc: int
_QuantizedMatMul(device_inputs: Tdevice_inputs, host_inputs: Thost_inputs) -> device_outputs: Tdevice_outputs, host_outputs: Thost_outputs; Tdevice_inputs: list(type) >= 0 = []; Thost_inputs: list(type) >= 0 = []; Tdevice_outputs: list(type) >= 0 = []; Thost_outputs: list(type) >= 0 = []; T1: quantizedtype; T2: quantizedtype; Tbias: {bfloat16, float, qint8, quint8, qint32, qint16, quint16} = float; U: {bfloat16, float, qint8, quint8, qint32, qint16, quint16} = float; Tout: {bfloat16, float, qint8, quint8, qint32, qint16, quint16} = float; transpose_a: bool = false; transpose_b: bool = false; is_weight_const: bool = true; is_bias_const: bool = true; fused_ops: list(string) = []; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'SCALED'; output_quant_mode: {'MIN_FIRST', 'SCALED'} = 'SCALED'; leakyrelu_alpha: float = 0.2
_QuantizedMaxPool3D(input: T, min_input: float, max_input: float) -> output: T, min_output: float, max_output: float; ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: quantizedtype
_ReadVariablesOp(resources: N * resource) -> values: dtypes; N: int >= 0; dtypes: list(type) >= 1; stateful
_Recv() -> tensor: tensor_type; tensor_type: type; tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: string; client_terminated: bool = false; stateful; distributed
_Retval(input: T); T: type; index: int >= 0; stateful
_ScopedAllocator() -> output: T; shapes: list(shape); shape: shape; T: type; sa_name: string; id: int; expected_call_count: int; stateful
_ScopedAllocatorConcat(backing: T, inputs: N * T) -> output: T; shape: shape; T: type; reshape: bool = false; sa_name: string; id: int; N: int >= 2; stateful
_ScopedAllocatorSplit(concat: T, split: N * T) -> output: N * T; T: type; sa_name: string; id: int; N: int >= 2; shapes: list(shape); stateful
_Send(tensor: T); T: type; tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: string; client_terminated: bool = false; stateful
_SetGlobalTPUArray(topology: string); stateful
_ShutdownDistributedTPU(); stateful
_SwitchN(data: T, output_index: int32) -> outputs: num_outs * T; num_outs: int >= 1; T: type
_TPUCompileMlir(dynamic_shapes: NumDynamicShapes * int64) -> compilation_status: string, program: num_computations * string; num_computations: int >= 0; mlir_module: string = ''; metadata: string; NumDynamicShapes: int >= 0; stateful
_TPUReplicate(inputs: Tinputs, broadcast_inputs: Tbroadcast_inputs, variables: NumVariables * resource, guaranteed_constants: Tguaranteed_constants) -> outputs: output_types; computation: func; num_replicas: int >= 1; num_cores_per_replica: int = 1; topology: string = ''; use_tpu: bool = true; device_assignment: list(int) = []; host_compute_core: list(string) = []; Tinputs: list(type) >= 0; Tbroadcast_inputs: list(type) >= 0; NumVariables: int >= 0; Tguaranteed_constants: list(type) >= 0; output_types: list(type) >= 0; padding_map: list(string) = []; step_marker_location: string = 'STEP_MARK_AT_ENTRY'; allow_soft_placement: bool = false; num_distributed_variables: int = 0; use_spmd_for_xla_partitioning: bool = false; use_shardy_partitioner: bool = false; tpu_compile_options_proto: string = ''; stateful
_TensorToHashBucketFast(input: T) -> output: int64; T: {int8, uint8, int16, uint16, int32, uint32, int64, uint64}; num_buckets: int >= 1
_UnaryOpsComposition(x: T) -> y: T; T: {float, half, double}; op_names: list(string)
_VarHandlesOp() -> resources: N * resource; containers: list(string); shared_names: list(string); N: int >= 0; dtypes: list(type); shapes: list(shape); stateful
_WaitForDistributedTPU(inputs: N * int32) -> topology: string; startup_timeout_sec: int = 20; N: int >= 1; stateful
_While(input: T) -> output: T; T: list(type) >= 0; cond: func; body: func; stateful
_XlaAotOnlyVarHandleOp() -> resource: resource; container: string = ''; shared_name: string = ''; debug_name: string = ''; dtype: type; shape: shape; stateful
_XlaCompile(constants: Tconstants, args: Targs, resources: Nresources * resource) -> key: string, compilation_successful: bool; Tconstants: list(type) >= 0; must_compile: bool; Targs: list(type) >= 0; Nresources: int >= 0; function: func; stateful
_XlaCompileMlirPlaceholderProgramKey() -> program: string; stateful
_XlaHostComputeMlir(inputs: Tinputs) -> outputs: Toutputs; Tinputs: list(type) >= 0; Toutputs: list(type) >= 0; send_key: string; recv_key: string; host_mlir_module: string = ''; manual_sharding: bool = false; stateful
_XlaMerge(partitioned_call: T, xla_run: T) -> output: T; T: type
_XlaRecvAtHost(dynamic_key: string) -> outputs: Toutputs; Toutputs: list(type) >= 0; key: string; device_ordinal: int; device_type: string = 'TPU'; stateful
_XlaRecvAtHostV2(dynamic_key: string, device_ordinal: int64) -> outputs: Toutputs; Toutputs: list(type) >= 0; key: string; device_type: string = 'TPU'; stateful
_XlaRun(args: Targs, key: string) -> results: Tresults; Targs: list(type) >= 0; Tresults: list(type) >= 0; stateful
_XlaSendFromHost(inputs: Tinputs, dynamic_key: string); Tinputs: list(type) >= 0; key: string; device_ordinal: int; device_type: string = 'TPU'; stateful
_XlaSendFromHostV2(inputs: Tinputs, dynamic_key: string, device_ordinal: int64); Tinputs: list(type) >= 0; key: string; device_type: string = 'TPU'; stateful
__MklDummyConv2DBackpropFilterWithBias(input: T, filter_sizes: int32, out_backprop: T) -> output: T, bias_grad: T; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
__MklDummyConv2DWithBias(input: T, filter: T, bias: T) -> output: T; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; is_filter_const: bool = false; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]
__MklDummyPadWithConv2D(input: T, filter: T, paddings: Tpaddings) -> output: T; T: {bfloat16, float, half}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]; Tpaddings: {int32, int64} = int32
__MklDummyPadWithFusedConv2D(input: T, filter: T, args: num_args * T, paddings: Tpaddings) -> output: T, filter_output: T, mkl_output: uint8, mkl_filter_output: uint8; T: {bfloat16, float, half}; num_args: int >= 0; strides: list(int); padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; Tpaddings: {int32, int64} = int32; epsilon: float = 1e-04; leakyrelu_alpha: float = 0.2
"""
