"""The gRPC services, over HTTP/2.

arguments   the arguments of gRPC's channels, as what they mean for this server
calls       what comes of a request for a method, from its first byte to its status
health      the standard health service: the server, its services, and each model
methods     methods of services: what each does with a request, and who may call it
reflection  the standard reflection service, by which clients ask what there is
server      a gRPC server with all services
services    the services of TensorFlow Serving
wire        how gRPC is written in HTTP/2: messages, deadlines, statuses, metadata
"""
