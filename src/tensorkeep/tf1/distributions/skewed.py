"""Numbers that are skewed and stretched by hyperbolic functions: SinhArcsinh."""

from __future__ import annotations

from typing import Any

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.affine_vectors import dtype_of, skewed_by
from tensorkeep.tf1.distributions.base import Distribution
from tensorkeep.tf1.distributions.bijectors.affine import AffineScalar
from tensorkeep.tf1.distributions.bijectors.combining import Chain
from tensorkeep.tf1.distributions.continuous import Normal
from tensorkeep.tf1.distributions.transformed import TransformedDistribution
from tensorkeep.tf1.functions.arrays.shapes import broadcast_dynamic_shape, ones, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of


class SinhArcsinh(TransformedDistribution):
    """loc + scale C sinh((arcsinh(z) + skewness) tailweight) of normal z, or of another distribution's.

    C makes it as wide as `scale` says where nothing is skewed. Positive skewness leans to the right, a tailweight above
    1 has heavier tails.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        distribution: Distribution | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ) -> None:
        given = dict(locals())
        dtype = dtype_of(loc, scale, skewness, tailweight)
        with name_scope(name) as name:
            self._loc, self._scale = convert(loc, dtype, name="loc"), convert(scale, dtype, name="scale")
            self._skewing, width = skewed_by(skewness, tailweight, dtype)
            base = distribution
            if base is None:
                sizes = self._whole_shape()
                base = Normal(zeros(sizes, dtype), ones(sizes, dtype), allow_nan_stats=allow_nan_stats)
            affine = AffineScalar(self._loc, self._scale * width, validate_args=validate_args)
        super().__init__(base, Chain([affine, self._skewing]), validate_args=validate_args, name=name)
        self._keep_parameters(given)

    def _whole_shape(self) -> Tensor:
        found: Any = shape_of(self._loc)
        for each in (self._scale, self.skewness, self.tailweight):
            found = broadcast_dynamic_shape(found, shape_of(each))
        result: Tensor = found
        return result

    @property
    def loc(self) -> Tensor:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    @property
    def skewness(self) -> Any:
        return self._skewing.skewness  # type: ignore[attr-defined]

    @property
    def tailweight(self) -> Any:
        return self._skewing.tailweight  # type: ignore[attr-defined]
