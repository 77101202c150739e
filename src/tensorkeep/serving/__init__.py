"""A server of models, in the place of TensorFlow Serving: the same URLs, gRPC services, flags and files.

A request goes from a protocol (`rpc`, `rest`), which knows bytes and no models, through `inference`, which knows
signatures and no bytes, to a model that `life` has loaded. Requests are handled by one event loop in each process;
what computes or reads files runs in threads beside it.

batching/   rows of several requests in one run
connections connections over sockets: TCP, Unix, TLS; all of a server
exchanges   a request and what became of it, for whatever counts, limits, logs or redirects requests
http1/      HTTP/1.1 from the server's side
http2/      HTTP/2 from the server's side, which carries gRPC
inference/  answers to requests, whatever protocol they came by: predict, classify, regress, metadata
life/       the life of models and their versions: configuration, finding, loading, switching, unloading
models      the models that are being served, as requests see them, and what a request asks for: model, version, label
process/    the server as a program: flags, workers, listeners, start and stop
rest/       HTTP: URLs, JSON and binary bodies, pages for people
rpc/        the gRPC services
servables   one loaded version of a model: its signatures, and tensors in and out of its graph
statuses    errors as the codes of gRPC and of HTTP, and in the words of TensorFlow
traffic/    what is done with requests besides answering: counted, limited, logged, sent elsewhere
"""
