"""`tensorkeep run`."""

from __future__ import annotations

from argparse import REMAINDER, Namespace

from tensorkeep.cli.command import DONE, FOUND, Command, Parser
from tensorkeep.cli.fitting import Column
from tensorkeep.cli.output import Output, amount_of
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.saved_model.load.engines import NAMES as ENGINES
from tensorkeep.v1.defaults import set_default_engine
from tensorkeep.v1.programs.running import module_file, read_program, run_module, run_program
from tensorkeep.v1.programs.surveying import names_used


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what it uses of TensorFlow, and what is not here")
    parser.add_argument(
        "--engine", choices=ENGINES, default=ENGINES[0], help="what runs its sessions that name none (%(default)s)"
    )
    parser.add_argument("-m", dest="is_module", action="store_true", help="PROGRAM is a module, as of python -m")
    parser.add_argument("program", metavar="PROGRAM", help="a file of Python that imports tensorflow")
    rest = parser.add_argument(
        "arguments", metavar="ARGUMENT", nargs=REMAINDER, help="what the program is given, as it is"
    )
    rest.required = False  # argparse says of it that it is missing, too, when the program is


def _run(given: Namespace, output: Output) -> int:
    if given.dry_run:
        return _rehearse(module_file(given.program) if given.is_module else given.program, output)
    if output.is_json:
        raise InvalidArgumentError("--json goes with --dry-run: what a program prints is its own")
    output.out.flush()
    set_default_engine(given.engine)
    ending = (run_module if given.is_module else run_program)(given.program, given.arguments)
    if ending.said is not None:
        output.err.write(f"{ending.said}\n")
    if ending.cause is not None:
        output.note(ending.cause, "cause")
    return ending.code


def _rehearse(path: str, output: Output) -> int:
    """Says what a program uses of TensorFlow, and what of it is not here."""
    used = names_used(read_program(path), path)
    lacking = [use for use in used if not use.is_there]
    if output.is_json:
        rows = [{"name": use.name, "line": use.line, "is_there": use.is_there, "instead": use.instead} for use in used]
        output.data("run/1", {"program": path, "names": rows})
        return FOUND if lacking else DONE
    if lacking:
        columns = [Column("line", is_number=True), Column("name", is_name=True), Column("instead", is_prose=True)]
        output.table(columns, [[use.line, f"tf.{use.name}", use.instead or ""] for use in lacking])
    output.line(f"{amount_of(len(used), 'name')} of TensorFlow, {len(lacking) or 'none'} of them not here")
    return FOUND if lacking else DONE


COMMANDS = {
    "run": Command(
        "Runs a program written for TensorFlow 1 as it is: `import tensorflow`, with all that is below it, is "
        "tensorkeep's in its process. Its arguments, exit code and output are its own.",
        [
            "run train.py --learning_rate 0.1    # as python train.py --learning_rate 0.1",
            "run -m train --learning_rate 0.1       # as python -m train --learning_rate 0.1",
            "run --engine jax train.py           # its steps are compiled by JAX, for the device that JAX has",
            "run --dry-run train.py              # which names of TensorFlow it uses, and which are not here",
        ],
        _add_arguments,
        _run,
        has_own_warnings=True,
    )
}
