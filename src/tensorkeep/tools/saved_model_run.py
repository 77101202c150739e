"""The command `run` of `saved_model_cli`."""

from __future__ import annotations

import argparse
import json
import sys

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.saved_model.show.flag_values import limits_of_texts, split_names, split_tags
from tensorkeep.saved_model.show.signature_runs import (
    InputTexts,
    RunRequest,
    RunResult,
    UnknownInputError,
    plain_value,
    run_signature,
    save_outputs,
    timing_text,
)


def main(flags: argparse.Namespace) -> int:
    """Runs a signature with the inputs that the flags give, and prints what comes out."""
    asked = [name for name in ("worker", "init_tpu", "tf_debug") if getattr(flags, name)]
    if asked:
        raise UnimplementedError(f"--{', --'.join(asked)}: models run here, in this process; leave it out")
    texts = InputTexts(flags.inputs, flags.input_exprs, flags.input_examples, flags.allow_pickle)
    values = texts.values(_warn, may_be_none=True)
    limits = limits_of_texts(flags.max_seconds, flags.max_memory, flags.max_steps)
    request = RunRequest(flags.dir, split_tags(flags.tag_set), flags.signature_def, split_names(flags.allow), limits)
    try:
        result = run_signature(request, values, timing=flags.timing)
    except UnknownInputError as error:
        listed = '", "'.join(error.inputs)
        raise InvalidArgumentError(
            f'"{error.key}" is not a valid input key. Please choose from "{listed}", or use --show option.'
        ) from None
    _give(result, flags)
    if flags.timing:
        print(f"Timing: {timing_text(result)}", file=sys.stderr)
    return 0


def _warn(text: str) -> None:
    print(f"WARNING: {text}", file=sys.stderr)


def _give(result: RunResult, flags: argparse.Namespace) -> None:
    outputs = result.outputs
    if flags.json:
        sys.stdout.write(json.dumps({key: plain_value(value) for key, value in outputs.items()}, indent=2) + "\n")
    for key in sorted(outputs):
        if not flags.json:
            sys.stdout.write(f"Result for output key {key}:\n{outputs[key]}\n")
        if flags.outdir:
            paths = save_outputs({key: outputs[key]}, flags.outdir, overwrite=flags.overwrite)
            sys.stdout.write("" if flags.json else f"Output {key} is saved to {paths[key]}\n")
