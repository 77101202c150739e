"""Serving models: ours beside TensorFlow 2.21 behind the same Python servers, on loopback, clients apart.

asking      many connections that ask, each one question at a time
client      asks a server the same question over and over, in a process of its own
light_grpc  what is said on a connection of gRPC, as raw HTTP/2
light_rest  what is said on a connection of HTTP/1.1
models      the models that are served, and requests for them
opponent    TensorFlow behind grpc.aio, starlette and uvicorn
report      the measurements
servers     servers as processes of their own
"""
