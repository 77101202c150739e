"""Changes to ONNX models as a whole."""
