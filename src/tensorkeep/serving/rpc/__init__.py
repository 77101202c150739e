"""The gRPC services.

handling    what all methods have in common: bytes in and out, who may call, errors as statuses, deadlines
health      the standard health service: the server, its services, and each model
library     the gRPC package, or an error that says how to get it
reflection  the standard reflection service, by which clients ask what there is
server      a gRPC server with all of it, without ports
services    the services of TensorFlow Serving
"""
