"""Protocol buffer messages: the one layer that imports the protobuf runtime.

chunked         messages that were cut into chunks
descriptors     message types that a graph names
identification  what some bytes are: which of TensorFlow's messages
json_text       messages as JSON, in the form that TensorFlow Serving has for them
messages        message classes, and messages as bytes
op_messages     messages of a few ops: ensembles of decision trees, layouts of quantised convolutions
_pool           the private descriptor pool that all of our messages live in
preserving      messages that were changed, as bytes that are the old ones wherever nothing was changed
reflection      messages of gRPC's server reflection, and the files of our schemas that it hands out
reports         messages of reports: profiles of graphs, and the embeddings that TensorBoard shows
serving         messages of TensorFlow Serving: requests, answers, logs, configuration; the health check
session_config  messages of settings: of sessions, of single runs
tensor_values   the typed fields of a TensorProto, straight between wire bytes and arrays
tensors         arrays as TensorProto messages, the way TensorFlow's Python writes the constants of a graph
text            messages in text format: the `checkpoint` state file, `.pbtxt` graphs and models
wire            protocol buffer wire format by hand
"""
