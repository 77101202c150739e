"""Serving models: ours beside TensorFlow 2.21 behind the same Python servers, on loopback, clients apart.

client    asks a server the same question over and over, in a process of its own
models    the models that are served, and requests for them
opponent  TensorFlow behind grpc.aio, starlette and uvicorn
report    the measurements
servers   servers as processes of their own
"""
