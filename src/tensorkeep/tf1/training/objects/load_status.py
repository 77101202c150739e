"""What becomes of restoring a checkpoint into objects: what was found, what was not, and what is still to be run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorkeep.checkpoint.finding.files import open_prefix
from tensorkeep.checkpoint.objects.graph import describe_objects, node_names
from tensorkeep.checkpoint.reader import ReadOptions
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.building import device
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.runtime.session import Session
from tensorkeep.saving.saver import Saver
from tensorkeep.tf1.training.objects.object_saver import Restoration, in_graph
from tensorkeep.tf1.training.objects.trackable import GraphView
from tensorkeep.tf1.training.savers.saver_graph import BulkSaverBuilder
from tensorkeep.tf1.variables.variable import Variable

_MOST_SHOWN: Final = 10

FindSession = Callable[[SessionLike | None], Session]
"""The session given, or the one in force; FailedPreconditionError if there is none."""


class UnmatchedObjectsError(FailedPreconditionError, AssertionError):
    """Objects and checkpoint do not correspond as they were said to."""


def _holders(root: object, view: GraphView) -> list[Any]:
    """The objects that hold values."""
    return [item for item in describe_objects(root, view).objects if view.attributes(item)]


def _without(items: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    known = {id(item) for item in others}
    return [item for item in items if id(item) not in known]


def _initializers(items: Sequence[Any]) -> list[Any]:
    return [item.initializer for item in items if getattr(item, "initializer", None) is not None]


class CheckpointLoadStatus:
    """The restoring of an object-based checkpoint. Arrays have their values already; variables get them when run."""

    def __init__(self, restoration: Restoration, view: GraphView, find_session: FindSession) -> None:
        self._restoration = restoration
        self._view = view
        self._find_session = find_session

    def extend(self) -> None:
        """Takes in objects that have been made since."""
        self._restoration.extend()

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises unless every stored value has an object, and every object that holds a value a stored one."""
        self.assert_existing_objects_matched()
        binding = self._restoration.binding
        ignored = self._view.ignored_slots(binding.graph)
        missing = [
            at
            for at, node in enumerate(binding.graph.nodes)
            if node.attributes and at not in binding.objects and at not in ignored
        ]
        if missing:
            names = node_names(binding.graph, missing[:_MOST_SHOWN])
            more = f" and {len(missing) - _MOST_SHOWN} more" if missing[_MOST_SHOWN:] else ""
            raise UnmatchedObjectsError(f"Unresolved object in checkpoint {', '.join(names)}{more}")
        if self._restoration.unused:
            numbers = list(self._restoration.unused)
            names = node_names(binding.graph, numbers)
            lines = [
                f"{name} ({binding.objects[number]}): {self._restoration.unused[number]}"
                for name, number in zip(names, numbers, strict=True)
            ]
            raise UnmatchedObjectsError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but were not "
                "restored):\n" + "\n".join(lines)
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raises unless every object that holds a value has a stored one. There may be more in the checkpoint."""
        self._restoration.extend()
        unmatched = self._unmatched()
        if unmatched:
            shown = unmatched[:_MOST_SHOWN]
            raise UnmatchedObjectsError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed values, likely due to "
                f"changes in the Python program. Showing {len(shown)} of {len(unmatched)} unmatched objects: {shown}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raises if nothing but the root was found in the checkpoint."""
        self._restoration.extend()
        if len(self._restoration.binding.objects) <= 1:
            unmatched = self._unmatched()
            if unmatched:
                raise UnmatchedObjectsError(
                    "Nothing except the root object matched a checkpointed value. Typically this means that the "
                    "checkpoint does not match the Python program. The following objects have no matching "
                    f"checkpointed value: {unmatched}"
                )
            raise UnmatchedObjectsError(
                f"Nothing to load. No dependencies have been added to {self._restoration.root} yet."
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Says that the checkpoint need not be used as a whole; nothing here complains about it unasked."""
        return self

    def run_restore_ops(self, session: SessionLike | None = None) -> None:
        """Gives the variables their values."""
        self._restoration.extend()
        if self._restoration.needs_session:
            self._restoration.run(self._find_session(session))

    def initialize_or_restore(self, session: SessionLike | None = None) -> None:
        """Gives the variables their values, and those that are not in the checkpoint their initial ones."""
        self.run_restore_ops(session)
        initializers = _initializers(self._unmatched())
        if initializers:
            self._find_session(session).run(initializers)

    def _unmatched(self) -> list[Any]:
        known = list(self._restoration.binding.objects.values())
        return _without(_holders(self._restoration.root, self._view), known)


class InitializationOnlyStatus:
    """There is no checkpoint: all that can be done is to initialize."""

    def __init__(self, root: object, view: GraphView, find_session: FindSession) -> None:
        self._root = root
        self._view = view
        self._find_session = find_session

    def assert_consumed(self) -> InitializationOnlyStatus:
        raise UnmatchedObjectsError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> InitializationOnlyStatus:
        return self

    def run_restore_ops(self, session: SessionLike | None = None) -> None:
        raise UnmatchedObjectsError(
            "No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore)."
        )

    def initialize_or_restore(self, session: SessionLike | None = None) -> None:
        """Gives the variables their initial values."""
        initializers = _initializers(_holders(self._root, self._view))
        if initializers:
            self._find_session(session).run(initializers)


class NameBasedSaverStatus:
    """The restoring of a checkpoint that a Saver wrote, by the names of the variables."""

    def __init__(self, root: object, view: GraphView, path: str, find_session: FindSession, fs: FileSystem) -> None:
        self._root = root
        self._view = view
        self._path = path
        self._find_session = find_session
        self._fs = fs
        self._optional: list[Any] = []

    def add_to_optionally_restored(self, var: object) -> None:
        """Says that a variable need not be in the checkpoint."""
        self._optional.append(var)

    def assert_consumed(self) -> NameBasedSaverStatus:
        """Raises unless the checkpoint has a value for every object, under its name."""
        missing = [item for item in self._named() if self._view.full_name(item) not in self._names()]
        unnamed = [item for item in _holders(self._root, self._view) if not isinstance(item, Variable)]
        if wanting := [*_without(missing, self._optional), *_without(unnamed, self._optional)]:
            lines = "".join(f"\n    {item}" for item in wanting)
            raise UnmatchedObjectsError(f"Some objects had attributes which were not restored: {lines}")
        return self

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> NameBasedSaverStatus:
        return self

    def run_restore_ops(self, session: SessionLike | None = None) -> None:
        """Gives the variables their values. One that need not be there and is not stays as it is."""
        found = self._find_session(session)
        optional = {id(item) for item in self._optional}
        stored = self._names()
        wanted = {self._view.full_name(item): item for item in self._named()}
        named = {name: item for name, item in wanted.items() if name in stored or id(item) not in optional}
        if not named:
            return
        with in_graph(found.graph), device("/cpu:0"):
            saver_def = BulkSaverBuilder().build(named)
        Saver(found.graph, saver_def).restore(found, self._path)

    initialize_or_restore = run_restore_ops

    def _named(self) -> list[Variable]:
        return [item for item in _holders(self._root, self._view) if isinstance(item, Variable)]

    def _names(self) -> frozenset[str]:
        with open_prefix(self._path, ReadOptions(), self._fs) as reader:
            return frozenset(reader)
