"""Seeds made of one: each operation that draws gets another."""

from __future__ import annotations

import hashlib


class SeedStream:
    """Gives another seed at each call, all of them made of one and of a text; None for ever, if the one is None."""

    def __init__(self, seed: SeedStream | int | None, salt: str) -> None:
        self._seed: int | None = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    @property
    def original_seed(self) -> int | None:
        return self._seed

    @property
    def salt(self) -> str:
        return self._salt

    def __call__(self) -> int | None:
        self._counter += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._counter, self._salt)).encode()
        return int(hashlib.md5(text, usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF
