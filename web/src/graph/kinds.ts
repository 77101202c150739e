// What ops are for, by which nodes are coloured.

export const KINDS = ["layer", "activation", "normalisation", "shape", "arithmetic", "variable", "constant", "input", "control", "lookup", "other"] as const;
export type Kind = (typeof KINDS)[number];

/** For light ground the fill, for dark ground the fill; both keep dark or light text readable. */
export const COLOURS: Record<Kind, [string, string]> = {
  layer: ["#cfe0ff", "#23406e"],
  activation: ["#ffe0cc", "#6b3a1c"],
  normalisation: ["#e4d8f8", "#45306b"],
  shape: ["#e9edf2", "#333c49"],
  arithmetic: ["#d8f0e4", "#1f4d38"],
  variable: ["#fff0bf", "#5c4a10"],
  constant: ["#f2f2ee", "#3a3a36"],
  input: ["#c9f0f4", "#14505a"],
  control: ["#ffd6de", "#6b2236"],
  lookup: ["#dcebc4", "#3c4f1a"],
  other: ["#eef0f4", "#2d3440"],
};

const WORDS: [Kind, RegExp][] = [
  ["input", /^(Placeholder|_Arg|Iterator|ParseExample|DecodeJpeg|DecodePng|DecodeImage|ReadFile)/],
  ["variable", /^(VarHandleOp|Variable|ReadVariableOp|Assign|KvVar|AutoReload|ResourceApply|Apply)/],
  ["constant", /^(Const|Fill|ZerosLike|OnesLike|Range|LinSpace|Random|Stateless(Random|Truncated)|TruncatedNormal|Eye)/],
  ["layer", /^(MatMul|BatchMatMul|Conv|DepthwiseConv|Einsum|CudnnRNN|LSTM|GRU|MaxPool|AvgPool|SparseTensorDenseMatMul|Dilation|_Fused)/],
  ["normalisation", /^(FusedBatchNorm|BatchNorm|LRN|L2Normalize|InstanceNorm|Moments)/],
  ["activation", /^(Relu|Elu|Selu|LeakyRelu|Sigmoid|Tanh|Soft|LogSoftmax|Erf|Gelu|Dropout)/],
  ["lookup", /^(Gather|ResourceGather|KvResource|LookupTable|HashTable|EmbeddingLookup|Unique|SparseSegment|InitializeTable|StringTo|Mutable)/],
  ["control", /^(While|If|Stateless(While|If|Case)|Case|For|Switch|RefSwitch|Merge|Enter|RefEnter|Exit|NextIteration|LoopCond|NoOp|ControlTrigger|Assert|PartitionedCall|StatefulPartitionedCall|SymbolicGradient|Save|Restore|MergeV2|ShardedFilename)/],
  ["shape", /^(Reshape|Shape|Transpose|Squeeze|ExpandDims|Concat|Pack|Unpack|Slice|StridedSlice|Split|Tile|Pad|Cast|Identity|Rank|Size|Broadcast|Reverse|Fill|OneHot|SpaceTo|BatchTo|DepthTo|ResizeBilinear|ResizeNearest|StopGradient|Snapshot|BiasAddGrad|Bitcast|Where)/],
  ["arithmetic", /^(Add|Sub|Mul|Div|RealDiv|FloorDiv|FloorMod|Neg|Exp|Log|Sqrt|Rsqrt|Square|Pow|Maximum|Minimum|Sum|Mean|Max|Min|Prod|Any|All|Arg|BiasAdd|Abs|Sign|Round|Floor|Ceil|Cumsum|TopK|Greater|Less|Equal|NotEqual|Logical|Select|Clip|L2Loss|InTopK|Reciprocal|Cos|Sin|BiasAdd)/],
];

export function kindOf(op: string): Kind {
  for (const [kind, words] of WORDS) if (words.test(op)) return kind;
  return "other";
}
