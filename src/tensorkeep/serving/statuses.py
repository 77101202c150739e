"""Errors as the codes of gRPC and of HTTP, and their texts as clients get them, in the words of TensorFlow."""

from __future__ import annotations

import asyncio
import re
from typing import Final

from tensorkeep.errors import TensorKeepError
from tensorkeep.proto.messages import Code

OK: Final = 0
INTERNAL: Final = 13
MOST_TEXT: Final = 1024  # bytes of an error's text over gRPC; TensorFlow Serving cuts there
TIMED_OUT: Final = "Timed out waiting for notification"  # what TensorFlow's session says when a deadline passes
_CUT: Final = "...TRUNCATED"

_SHAPE: Final = re.compile(r"\[(?:\?|-?\d+)(?:, (?:\?|-?\d+))+\]")

# TensorFlow Serving's table, of its HTTP server's status codes.
_HTTP: Final = {
    0: 200, 1: 499, 2: 500, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 12: 501, 13: 500,
    14: 503, 15: 500, 16: 401,
}  # fmt: skip


def code_of(error: BaseException) -> int:
    """The number that gRPC has for an error; what was not raised on purpose is INTERNAL."""
    if isinstance(error, TensorKeepError):
        return error.error_code
    if isinstance(error, asyncio.TimeoutError | TimeoutError):
        return int(Code.DEADLINE_EXCEEDED)
    if isinstance(error, asyncio.CancelledError):  # the client has gone
        return int(Code.CANCELLED)
    return INTERNAL


def code_name(code: int) -> str:
    """The name of a code: OK, NOT_FOUND."""
    return Code.Name(code)


def http_status(code: int) -> int:
    """The status that HTTP answers with for a code of gRPC."""
    return _HTTP.get(code, 500)


def cut_text(text: str) -> str:
    """The text of an error as gRPC clients get it: at most 1024 bytes, and a mark where it was cut."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= MOST_TEXT else data[:MOST_TEXT].decode("utf-8", "ignore") + _CUT


def in_runtime_words(error: TensorKeepError) -> TensorKeepError:
    """An error as TensorFlow's runtime words it, if an operation of a model raised it; else the error itself.

    ours     Matrix size-incompatible: In[0]: [1, 3], In[1]: [4, 2]\\n\\t [[node dense/MatMul (MatMul)]]
    theirs   Matrix size-incompatible: In[0]: [1,3], In[1]: [4,2]\\n\\t [[{{node dense/MatMul}}]]

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
