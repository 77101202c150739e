"""`tf.initializers`: initial values."""

from __future__ import annotations

from tensorkeep.tf1.functions.data.lookup_tables import tables_initializer
from tensorkeep.tf1.variables.initializers import Constant as constant
from tensorkeep.tf1.variables.initializers import GlorotNormal as glorot_normal
from tensorkeep.tf1.variables.initializers import GlorotUniform as glorot_uniform
from tensorkeep.tf1.variables.initializers import Identity as identity
from tensorkeep.tf1.variables.initializers import Ones as ones
from tensorkeep.tf1.variables.initializers import Orthogonal as orthogonal
from tensorkeep.tf1.variables.initializers import RandomNormal as random_normal
from tensorkeep.tf1.variables.initializers import RandomUniform as random_uniform
from tensorkeep.tf1.variables.initializers import TruncatedNormal as truncated_normal
from tensorkeep.tf1.variables.initializers import UniformUnitScaling as uniform_unit_scaling
from tensorkeep.tf1.variables.initializers import VarianceScaling as variance_scaling
from tensorkeep.tf1.variables.initializers import Zeros as zeros
from tensorkeep.tf1.variables.initializers import he_normal, he_uniform, lecun_normal, lecun_uniform
from tensorkeep.tf1.variables.listing import global_variables_initializer as global_variables
from tensorkeep.tf1.variables.listing import local_variables_initializer as local_variables
from tensorkeep.tf1.variables.listing import variables_initializer as variables

__all__ = [
    "constant",
    "global_variables",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "local_variables",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "tables_initializer",
    "truncated_normal",
    "uniform_unit_scaling",
    "variables",
    "variance_scaling",
    "zeros",
]
