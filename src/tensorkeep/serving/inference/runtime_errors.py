"""Errors of a model's operations in the words of TensorFlow's runtime.

ours     Matrix size-incompatible: In[0]: [1, 3], In[1]: [4, 2]\\n\\t [[node dense/MatMul (MatMul)]]
theirs   Matrix size-incompatible: In[0]: [1,3], In[1]: [4,2]\\n\\t [[{{node dense/MatMul}}]]
"""

from __future__ import annotations

import re
from typing import Final

from tensorkeep.errors import TensorKeepError

_SHAPE: Final = re.compile(r"\[(?:\?|-?\d+)(?:, (?:\?|-?\d+))+\]")


def in_runtime_words(error: TensorKeepError) -> TensorKeepError:
    """The error as TensorFlow's runtime has it, if an operation raised it; else the error itself.

    Its traces are forgotten: in them are all arrays of the run, and in circles, which only garbage collection ends.
    """
    error.__traceback__ = error.__cause__ = error.__context__ = None
    op = error.op
    if op is None:
        return error
    text = error.message.removesuffix(f"\n\t [[node {op.name} ({op.type})]]")
    text = _SHAPE.sub(lambda found: found.group().replace(" ", ""), text)
    made = type(error)(f"{text}\n\t [[{{{{node {op.name}}}}}]]")
    made.op = op
    return made
