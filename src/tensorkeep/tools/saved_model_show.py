"""The command `show` of `saved_model_cli`."""

from __future__ import annotations

import argparse
import json
import sys

from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.show.tensorflow_text import ShowRequest, shown_data, shown_text


def main(flags: argparse.Namespace) -> int:
    """Prints what the flags ask for."""
    model = read_saved_model(flags.dir)
    tags = None if flags.tag_set is None else flags.tag_set.split(",")
    if flags.json:
        data = shown_data(model, ShowRequest(tags=tags, signature=flags.signature_def))
        sys.stdout.write(json.dumps(data, indent=2) + "\n")
    else:
        sys.stdout.write(shown_text(model, ShowRequest(flags.all, tags, flags.signature_def, flags.list_ops)))
    return 0
