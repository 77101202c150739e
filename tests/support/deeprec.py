"""What tests of DeepRec's embedding variables share."""

from __future__ import annotations

from typing import Final

import pytest

SWITCHES: Final = (
    "INFERENCE_MODE",
    "TF_EV_RESET_VERSION",
    "TF_EV_SAVE_FILTERED_FEATURES",
    "TF_RECORD_FREQ",
    "TF_RECORD_VERSION",
)


def unset_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if none of the variables of the environment that DeepRec looks at were set."""
    for name in SWITCHES:
        monkeypatch.delenv(name, raising=False)
