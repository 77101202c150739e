"""What lies in the folder of a SavedModel, and the messages in it.

argument_specs   structures of arguments and results as messages
assets           assets: files that a graph reads, which travel with the model
canonical_bytes  messages as bytes in one form only
completeness     whether a model's directory has all that its graph reads
constants        what TensorFlow calls the files, tags, signatures and collections of a SavedModel
fingerprint      fingerprint.pb: what TensorFlow 2, and `save` here, say of a model, and which of them wrote it
layout           where things lie in a SavedModel directory, in chunks too, and which of its meta graphs is meant
links            links in the folder of a model that lead out of it
long_hashes      FarmHash Fingerprint64 of one long string
program_hashes   hashes of the parts of a meta graph as TensorFlow puts them in fingerprints
signature_defs   SignatureDef: inputs and outputs of a model under names
structures       structures of tensors as SavedModels store them: what a function takes, and what it gives
tensor_info      TensorInfo: a tensor of a graph, or several that are one value, by name
warmup           requests that TensorFlow Serving warms a model up with
"""
