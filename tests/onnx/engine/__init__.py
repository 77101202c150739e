"""The second engine: parts of plans that run in ONNX Runtime."""
