"""What is exported after which evaluation: every one, the last, or those that are better than all before."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files import gfile
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.tf1.estimators.estimator import Estimator, arguments_of
from tensorkeep.tf1.estimators.keys import MetricKeys
from tensorkeep.tf1.training.loops.events import summary_iterator

LOG: Final = logging.getLogger("tensorkeep")
_DIGITS: Final = 10  # of the seconds since 1970, after which exports are named

Results = Mapping[str, Any]
Compare = Callable[..., bool]


class Exporter:
    """Exports models, or not, after an evaluation."""

    @property
    def name(self) -> str:
        """The folder below "export" in which its models are."""
        raise NotImplementedError

    def export(
        self,
        estimator: Estimator,
        export_path: PathLike,
        checkpoint_path: PathLike | None,
        eval_result: Results,
        is_the_final_export: bool,
    ) -> bytes | str | None:
        """The path of what was exported; None if nothing was."""
        raise NotImplementedError


class _ModelExporter(Exporter):
    """What exporters of SavedModels share."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = None,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise InvalidArgumentError(
                f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}"
            )
        self._name = name
        self._receiver_fn = serving_input_receiver_fn
        self._assets_extra, self._as_text, self._keep = assets_extra, as_text, exports_to_keep

    @property
    def name(self) -> str:
        return self._name

    def _export(self, estimator: Estimator, export_path: PathLike, checkpoint_path: PathLike | None) -> bytes:
        if self._receiver_fn is None:
            raise InvalidArgumentError("An input_receiver_fn must be defined.")
        made = estimator.export_saved_model(
            export_path, self._receiver_fn, self._assets_extra, self._as_text, checkpoint_path
        )
        if self._keep is not None:
            _delete_all_but(path_text(export_path), self._keep)
        return made


def _delete_all_but(folder: str, count: int) -> None:
    """Deletes the oldest exports of a folder."""
    names = [name.rstrip("/") for name in gfile.list_directory(folder)]
    exports = sorted((name for name in names if len(name) == _DIGITS and name.isdigit()), key=int)
    for name in exports[:-count]:
        gfile.remove_tree(posixpath.join(folder, name))


class LatestExporter(_ModelExporter):
    """Exports after every evaluation, and keeps the latest."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)

    def export(
        self,
        estimator: Estimator,
        export_path: PathLike,
        checkpoint_path: PathLike | None,
        eval_result: Results,
        is_the_final_export: bool,
    ) -> bytes:
        return self._export(estimator, export_path, checkpoint_path)


class FinalExporter(_ModelExporter):
    """Exports once, at the end of training."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(
        self,
        estimator: Estimator,
        export_path: PathLike,
        checkpoint_path: PathLike | None,
        eval_result: Results,
        is_the_final_export: bool,
    ) -> bytes | None:
        if not is_the_final_export:
            return None
        LOG.info("Performing the final export in the end of training.")
        return self._export(estimator, export_path, checkpoint_path)


def loss_smaller(best_eval_result: Results, current_eval_result: Results) -> bool:
    """Whether the loss of an evaluation is smaller than that of the best so far."""
    for word, result in (("best_eval_result", best_eval_result), ("current_eval_result", current_eval_result)):
        if not result or MetricKeys.LOSS not in result:
            raise InvalidArgumentError(f"{word} cannot be empty or no loss is found in it.")
    return bool(best_eval_result[MetricKeys.LOSS] > current_eval_result[MetricKeys.LOSS])


class BestExporter(_ModelExporter):
    """Exports when an evaluation is better than all before it; those of earlier runs are read from event files."""

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Compare = loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        wanted = {"best_eval_result", "current_eval_result"}
        if compare_fn is None or set(arguments_of(compare_fn)) != wanted:
            raise InvalidArgumentError(f"compare_fn ({compare_fn}) must take the arguments {sorted(wanted)}.")
        self._compare_fn = compare_fn
        self._pattern = event_file_pattern
        self._model_dir: str | None = None
        self._best: Results | None = None
        self._has_exported = False

    def export(
        self,
        estimator: Estimator,
        export_path: PathLike,
        checkpoint_path: PathLike | None,
        eval_result: Results,
        is_the_final_export: bool,
    ) -> bytes | None:
        if self._model_dir != estimator.model_dir and self._pattern:
            LOG.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            self._best = self._best_of_files(posixpath.join(estimator.model_dir, self._pattern))
        if (
            self._best is not None
            and self._has_exported
            and not self._compare_fn(best_eval_result=self._best, current_eval_result=eval_result)
        ):
            return None
        LOG.info("Performing best model export.")
        self._best = eval_result
        made = self._export(estimator, export_path, checkpoint_path)
        self._has_exported = True
        return made

    def _best_of_files(self, pattern: str) -> Results | None:
        best: Results | None = None
        for path in gfile.glob(pattern):
            for event in summary_iterator(path):
                found = {
                    value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")
                }
                if found and (best is None or self._compare_fn(best_eval_result=best, current_eval_result=found)):
                    best = found
        return best
