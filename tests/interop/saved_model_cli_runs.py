"""TensorFlow's `saved_model_cli`, many times: starting TensorFlow takes longer than most of what it does.

    python -m tests.interop.saved_model_cli_runs

reads command lines from standard input, each a line of JSON, and answers each with one: the exit status, and what went
to standard output and to standard error. A child of this process, which has TensorFlow imported, runs each of them.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from typing import IO, NoReturn

from tensorflow.python.tools import saved_model_cli


def run(words: list[str]) -> tuple[int, str, str]:
    """What comes of a command line."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            _run_here(words, output, errors)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status), _written(output), _written(errors)


def _run_here(words: list[str], output: IO[bytes], errors: IO[bytes]) -> NoReturn:
    """Runs a command line to the end of this process, as Python runs a program."""
    os.dup2(output.fileno(), 1)
    os.dup2(errors.fileno(), 2)
    code = 1
    try:
        sys.argv = ["saved_model_cli", *words]
        saved_model_cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _written(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
