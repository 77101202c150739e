# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.optimizers.by_name import deserialize, get, serialize
from tensorkeep.tf1.keras.optimizers.optimizer import Optimizer
from tensorkeep.tf1.keras.optimizers.rules import Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop, SGD
from tensorkeep.v1.keras.optimizers import schedules

__all__ = [
    "Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "Optimizer", "RMSprop", "SGD", "deserialize", "get",
    "schedules", "serialize",
]
