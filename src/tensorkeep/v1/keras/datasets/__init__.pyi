# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.keras.datasets import boston_housing, cifar10, cifar100, fashion_mnist, imdb, mnist, reuters

__all__ = [
    "boston_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist", "reuters",
]
