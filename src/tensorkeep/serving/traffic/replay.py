"""Requests that were logged, read again: to be sent, or to warm a model up."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.coding.records import CutRecordError, read_records
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text, texts_of_paths
from tensorkeep.proto.messages import parse
from tensorkeep.proto.serving import PredictionLog
from tensorkeep.saved_model.files.warmup import MOST_REQUESTS, write_warmup_requests

LOG: Final = logging.getLogger("tensorkeep.serving")
_KINDS: Final = ("predict_log", "classify_log", "regress_log", "multi_inference_log")


def replay_log(
    path: PathLike, *, model: str | None = None, signature: str | None = None, fs: FileSystem = FILES
) -> Iterator[PredictionLog]:
    """The requests and answers of a log file, one after the other; on request those of one model or signature.

    A file whose writer was killed ends with its last whole record, and a warning. DataLossError for damage before that.
    """
    text = path_text(path)
    records = read_records(fs, text)
    while True:
        try:
            record = next(records, None)
        except CutRecordError as error:
            LOG.warning("the log ends in the middle of a record, which is left out: %s", error)
            return
        if record is None:
            return
        log = parse(PredictionLog, record, text)
        spec = log.log_metadata.model_spec
        if (model is None or spec.name == model) and (signature is None or spec.signature_name == signature):
            yield log


def as_warmup(
    path: PathLike | Iterable[PathLike],
    model_directory: PathLike,
    *,
    model: str | None = None,
    count: int = MOST_REQUESTS,
    fs: FileSystem = FILES,
) -> str:
    """Gives a model the first logged requests, with their answers, to be warmed up with; gives the path of their file.

    `path` is a log file, or several; what no model can be warmed up with is left out.
    """
    paths = texts_of_paths(path)
    logs = (log for each in paths for log in replay_log(each, model=model, fs=fs))
    wanted = list(islice((log for log in logs if log.WhichOneof("log_type") in _KINDS), count))
    if not wanted:
        whose = "" if model is None else f' of model "{model}"'
        raise InvalidArgumentError(f"no request{whose} to warm up with is in {', '.join(paths)}")
    return write_warmup_requests(model_directory, wanted, fs=fs)
