"""The errors: one tree, each also the built-in that a caller expects, and each with a message that can be read."""

from __future__ import annotations

import copy
import pickle

import pytest

import tensorkeep
from tensorkeep import errors
from tensorkeep.errors import TensorKeepError

EXPECTED: dict[str, tuple[type[Exception], ...]] = {
    "InvalidArgumentError": (ValueError,),
    "NotFoundError": (KeyError, LookupError),
    "MissingFileError": (errors.NotFoundError, FileNotFoundError, OSError, KeyError),
    "AlreadyExistsError": (ValueError,),
    "FailedPreconditionError": (RuntimeError,),
    "UnimplementedError": (NotImplementedError,),
    "DataLossError": (ValueError,),
    "StorageError": (OSError,),
    "ResourceExhaustedError": (errors.StorageError, OSError),
    "PermissionDeniedError": (errors.StorageError, PermissionError),
    "WrongTypeError": (errors.InvalidArgumentError, TypeError, ValueError),
    "OutOfRangeError": (IndexError,),
    "AbortedError": (RuntimeError,),
    "CancelledError": (RuntimeError,),
    "DeadlineExceededError": (TimeoutError,),
    "UnauthenticatedError": (PermissionError,),
    "UnavailableError": (ConnectionError,),
    "InternalError": (RuntimeError,),
    "UnknownError": (RuntimeError,),
}
ALL = [getattr(errors, name) for name in errors.__all__]


def test_the_tree_is_complete() -> None:
    assert sorted(EXPECTED) == sorted(set(errors.__all__) - {"TensorKeepError"})
    found = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert found == set(errors.__all__)


@pytest.mark.parametrize("name", EXPECTED)
def test_each_is_ours_and_the_built_in_that_a_caller_expects(name: str) -> None:
    error = getattr(errors, name)
    assert issubclass(error, (TensorKeepError,))
    for built_in in EXPECTED[name]:
        assert issubclass(error, built_in)


@pytest.mark.parametrize("error", ALL)
def test_each_is_offered_by_the_package(error: type[TensorKeepError]) -> None:
    assert getattr(tensorkeep, error.__name__) is error


@pytest.mark.parametrize("error", ALL)
def test_the_message_is_shown_as_it_is(error: type[TensorKeepError]) -> None:
    text = "tensor \"w\":\n'two' lines"
    caught = error(text)
    assert str(caught) == text
    assert caught.message == text
    assert text in "".join(map(str, caught.args))


@pytest.mark.parametrize("error", ALL)
def test_an_error_can_be_sent_to_another_process_and_copied(error: type[TensorKeepError]) -> None:
    caught = error("what, where, got, wanted")
    for same in (pickle.loads(pickle.dumps(caught)), copy.copy(caught), copy.deepcopy(caught)):
        assert type(same) is error
        assert str(same) == str(caught)
        assert same.message == caught.message


@pytest.mark.parametrize("error", ALL)
def test_the_docstring_of_the_module_draws_each(error: type[TensorKeepError]) -> None:
    assert errors.__doc__ is not None
    assert error.__name__ in errors.__doc__


def test_tensorflows_three_arguments_are_a_node_an_operation_and_a_message() -> None:
    caught = errors.OutOfRangeError("node", "operation", "the end")
    assert str(caught) == "the end"
    assert (caught.node_def, caught.op, caught.error_code) == ("node", "operation", 11)
    plain = errors.OutOfRangeError("the end")
    assert (plain.node_def, plain.op) == (None, None)
