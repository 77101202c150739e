"""Arithmetic of single elements."""

from __future__ import annotations

from tensorkeep.onnx.rules.registry import same_node

same_node(
    {"Add": "Add", "AddV2": "Add", "Sub": "Sub", "Mul": "Mul", "Exp": "Exp", "Tanh": "Tanh", "Sigmoid": "Sigmoid"}
)
