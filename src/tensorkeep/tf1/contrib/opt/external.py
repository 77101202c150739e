"""Minimizing by algorithms outside of the graph, which ask for a loss and its gradient as they like: SciPy's."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import Feeds, SessionLike
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, placeholder, reshape, zeros_like
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.tf1.variables.listing import trainable_variables

LOG: Final = logging.getLogger("tensorkeep")
_OWN: Final = ("jac", "callback", "constraints", "bounds")


class ExternalOptimizerInterface:
    """A loss of variables, for an algorithm that `_minimize` of a subclass calls.

    `equalities` are held at zero, `inequalities` not below it, variables between bounds, by algorithms that can.
    """

    current_session: Callable[[], Any] = staticmethod(lambda: None)

    def __init__(
        self,
        loss: Tensor,
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[Tensor] | None = None,
        inequalities: Sequence[Tensor] | None = None,
        var_to_bounds: Mapping[Any, tuple[Any, Any]] | None = None,
        **optimizer_kwargs: object,
    ) -> None:
        self._loss, self.optimizer_kwargs = loss, optimizer_kwargs
        self._equalities, self._inequalities = list(equalities or ()), list(inequalities or ())
        self._vars = list(trainable_variables() if var_list is None else var_list)
        self._shapes = [tuple(var.shape.as_list()) for var in self._vars]
        self._packed_bounds = None if var_to_bounds is None else self._packed(var_to_bounds)
        self._new_values = [placeholder(var.dtype.base_dtype) for var in self._vars]
        self._updates = [
            var.assign(reshape(value, shape))
            for var, value, shape in zip(self._vars, self._new_values, self._shapes, strict=True)
        ]
        self._packed_var = _flat([convert(var) for var in self._vars])
        self._slope = self._gradient(loss)
        self._equality_slopes = [self._gradient(item) for item in self._equalities]
        self._inequality_slopes = [self._gradient(item) for item in self._inequalities]
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in self._shapes)])
        self._slices = [slice(start, end) for start, end in pairwise(ends)]

    def _packed(self, bounds: Mapping[Any, tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        rows: list[tuple[Any, Any]] = []
        for var, shape in zip(self._vars, self._shapes, strict=True):
            low, high = next((found for key, found in bounds.items() if key is var), (-np.inf, np.inf))
            sides = [np.broadcast_to(side, shape).ravel().tolist() for side in (low, high)]
            rows.extend(zip(*sides, strict=True))
        return rows

    def _gradient(self, value: Tensor) -> Tensor:
        found = gradients(value, self._vars)
        return _flat([
            zeros_like(convert(var)) if slope is None else convert(slope) if isinstance(slope, IndexedSlices) else slope
            for slope, var in zip(found, self._vars, strict=True)
        ])  # fmt: skip

    def minimize(
        self,
        session: SessionLike | None = None,
        feed_dict: Feeds | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[[Array], None] | None = None,
        loss_callback: Callable[..., None] | None = None,
        **run_kwargs: object,
    ) -> None:
        """Runs the algorithm in a session, and gives the variables the values that it found."""
        used = session or self.current_session()
        if used is None:
            raise FailedPreconditionError("no session is in force: give one to minimize, or call it inside of one")

        def asked(tensors: list[Tensor], told: Callable[..., None] | None = None) -> Callable[[Array], list[Any]]:
            def ask(x: Array) -> list[Any]:
                values = {
                    var: x[part].reshape(shape)
                    for var, part, shape in zip(self._vars, self._slices, self._shapes, strict=True)
                }
                found = used.run([*tensors, *(fetches or ())], {**values, **(feed_dict or {})})
                if told is not None:
                    told(*found[len(tensors) :])
                return list(found[: len(tensors)])

            return ask

        def each(tensors: list[Tensor]) -> list[Callable[[Array], Any]]:
            return [partial(_first, asked([tensor])) for tensor in tensors]

        best = self._minimize(
            initial_val=used.run(self._packed_var, feed_dict),
            loss_grad_func=asked([self._loss, self._slope], loss_callback),
            equality_funcs=each(self._equalities),
            equality_grad_funcs=each(self._equality_slopes),
            inequality_funcs=each(self._inequalities),
            inequality_grad_funcs=each(self._inequality_slopes),
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda _: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = dict(zip(self._new_values, (best[part] for part in self._slices), strict=True))
        used.run(self._updates, values, **run_kwargs)

    def _minimize(self, **told: Any) -> Array:
        raise UnimplementedError("subclass ExternalOptimizerInterface, and let its _minimize give the best vector")


def _first(ask: Callable[[Array], list[Any]], x: Array) -> Any:
    return ask(x)[0]


def _flat(tensors: list[Tensor]) -> Tensor:
    parts = [reshape(tensor, [-1]) for tensor in tensors]
    return parts[0] if len(parts) == 1 else concat(parts, 0)


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimizes by `scipy.optimize.minimize`, by default with L-BFGS-B; SciPy has to be installed."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(self, **told: Any) -> Array:
        options = dict(told["optimizer_kwargs"])
        for word in _OWN:
            if word in options:
                instead = "var_to_bounds" if word == "bounds" else "the arguments of minimize"
                raise InvalidArgumentError(f"{word} is set by the interface: use {instead}")
        try:
            optimize = import_module("scipy.optimize")
        except ImportError as error:
            raise FailedPreconditionError("ScipyOptimizerInterface needs SciPy: pip install scipy") from error
        constraints = [
            {"type": kind, "fun": function, "jac": slope}
            for kind, word in (("eq", "equality"), ("ineq", "inequality"))
            for function, slope in zip(told[f"{word}_funcs"], told[f"{word}_grad_funcs"], strict=True)
        ]

        def loss_and_slope(x: Array) -> tuple[float, Array]:
            loss, slope = told["loss_grad_func"](x)
            return loss, slope.astype(np.float64)  # which Fortran asks for

        found = optimize.minimize(
            loss_and_slope,
            told["initial_val"].astype(np.float64),  # as SLSQP asks for
            method=options.pop("method", self._DEFAULT_METHOD),
            jac=True,
            callback=told["step_callback"],
            constraints=constraints,
            bounds=told["packed_bounds"],
            **options,
        )
        LOG.info(
            "Optimization terminated with:\n  Message: %s\n  Objective function value: %f", found.message, found.fun
        )
        best: Array = found.x
        return best
