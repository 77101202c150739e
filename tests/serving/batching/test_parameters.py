"""How requests are joined, as the file of the original says it."""

from __future__ import annotations

from typing import Any

import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.machine.parallel import processors
from tensorkeep.proto.serving import BatchingParameters
from tensorkeep.proto.text import parse_text
from tensorkeep.serving.batching.parameters import BatchSettings


def test_what_the_file_does_not_say_is_as_the_original_has_it() -> None:
    settings = BatchSettings.of(BatchingParameters())
    assert settings == BatchSettings()
    assert (settings.max_batch_size, settings.batch_timeout_micros, settings.max_enqueued_batches) == (1000, 0, 10)
    assert (settings.num_batch_threads, settings.thread_pool_name) == (processors(), "batch_threads")
    assert settings.allowed_batch_sizes == ()
    assert not settings.pad_variable_length_inputs
    assert settings.rows_of_run == 1000


def test_everything_that_the_file_says_counts() -> None:
    text = """
        max_batch_size { value: 64 } batch_timeout_micros { value: 5000 } max_enqueued_batches { value: 3 }
        num_batch_threads { value: 2 } thread_pool_name { value: "mine" } allowed_batch_sizes: 8 allowed_batch_sizes: 16
        pad_variable_length_inputs: true enable_large_batch_splitting { value: true }
        max_execution_batch_size { value: 16 }
    """
    settings = BatchSettings.of(parse_text(BatchingParameters, text, "the parameters"))
    assert settings == BatchSettings(64, 5000, 3, 2, "mine", (8, 16), True, True, 16)
    assert (settings.rows_of_run, settings.timeout_seconds) == (16, 0.005)


def test_no_batch_in_the_queue_means_one() -> None:
    assert BatchSettings(max_enqueued_batches=0).max_enqueued_batches == 1


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"num_batch_threads": 0}, "num_batch_threads must be positive; was 0"),
        ({"max_batch_size": 0}, "input_batch_size_limit must be positive; was 0"),
        ({"batch_timeout_micros": -1}, "batch_timeout_micros must be non-negative; was -1"),
        (
            {"max_enqueued_batches": 0, "enable_large_batch_splitting": True},
            "max_enqueued_batches must be positive; was 0",
        ),
        (
            {"max_batch_size": 4, "allowed_batch_sizes": (2, 8)},
            "Last entry in allowed_batch_sizes must match max_batch_size; last entry was 8; expected 4",
        ),
        (
            {"max_batch_size": 4, "allowed_batch_sizes": (4, 4), "enable_large_batch_splitting": True},
            "allowed_batch_sizes entries must be monotonically increasing",
        ),
        (
            {"max_batch_size": 4, "allowed_batch_sizes": (8,), "enable_large_batch_splitting": True},
            "Last entry in allowed_batch_sizes must be less than or equal to max_batch_size; last entry was 8; "
            "expected 4",
        ),
        (
            {
                "max_batch_size": 8,
                "allowed_batch_sizes": (2,),
                "enable_large_batch_splitting": True,
                "max_execution_batch_size": 4,
            },
            "Last entry in allowed_batch_sizes must be equal to max_execution_batch_size; last entry was 2; expected 4",
        ),
        (
            {"max_batch_size": 4, "max_execution_batch_size": 8, "enable_large_batch_splitting": True},
            "When enable_large_batch_splitting is true, input_batch_size_limit must be greater than or equal to "
            "max_execution_batch_size. They are 4 and 8",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_the_words_of_the_original(values: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        BatchSettings(**values)
    assert str(caught.value) == text
