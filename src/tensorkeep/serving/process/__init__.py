"""The server as a program: flags, workers, listeners, start and stop.

channel         what the process that watches over workers and the workers say to each other
composition     the parts of a server, put together: models, what is done with requests, the protocols, readiness
listeners       where requests come in: gRPC on a port and on a Unix socket, HTTP on another port
loading         the models of a server, as its options name them, and what it would serve, without serving it
options         everything that a server is told before it starts
original_flags  the command line of TensorFlow Serving, read by its rules
peers           a worker among others, as the server in it sees them
server          a server in one process: from its start to its end
security        certificates and keys, as contexts for gRPC and for HTTP, and tokens: who may ask
sockets         the places where a server listens
start           starting a server, as one process or as several, and what it says of itself: lines on standard error
told_by_files   what configuration files say besides which models there are
traffic         what is done with requests besides answering them, as options and configuration say it
worker          one of several workers, as a process
workers         several workers of one server, and the process that watches over them
"""
