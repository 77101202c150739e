"""Settings for every test."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("everyday", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("everyday"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "everyday")
