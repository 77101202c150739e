"""Serves models by the command line of TensorFlow Serving's `tensorflow_model_server`.

    tensorkeep-model-server --port=8500 --rest_api_port=8501 --model_name=m --model_base_path=/models/m

Flags, texts and the status of the process (255 for whatever keeps the server from starting) are the original's; see
`serving.process.original_flags`. `tensorkeep serve` is the same server by our own options.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from tensorkeep._version import __version__
from tensorkeep.errors import TensorKeepError
from tensorkeep.serving.process.original_flags import (
    GivenFlags,
    UnknownFlagError,
    WrongFlagError,
    options_of,
    parse_flags,
    usage_text,
)
from tensorkeep.serving.process.start import serve

FAILED: Final = 255
_PROGRAM: Final = "tensorkeep-model-server"
_CODES: Final = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the server until it is told to stop; gives the status of the process."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        flags = parse_flags(given)
    except WrongFlagError as error:
        print(error, file=sys.stderr)
        print(usage_text(_PROGRAM), end="")
        return FAILED
    except UnknownFlagError as error:
        if str(error) != "unknown argument: --help":
            print(error)
        print(usage_text(_PROGRAM), end="")
        return FAILED
    return _run(flags)


def _run(flags: GivenFlags) -> int:
    if flags.is_on("version"):
        print(f"TensorFlow ModelServer: {__version__}\nTensorFlow Library: none, tensorkeep {__version__}")
        return 0
    for note in flags.notes():
        print(note, file=sys.stderr)
    try:
        return serve(options_of(flags))
    except TensorKeepError as error:
        if problem := getattr(error, "problem", ""):  # of a file in text format; scripts look for the line
            print(problem, file=sys.stderr)
        print(f"Failed to start server. Error: {_CODES[error.error_code]}: {error}", flush=True)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
