"""`tf.logging`: what is shown, where, and how."""

from __future__ import annotations

import re
import subprocess
import sys


def run(program: str) -> tuple[str, str]:
    """What a program prints on both streams."""
    script = f"import tensorkeep.v1 as tf\n{program}"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return result.stdout, result.stderr


def test_what_is_logged_is_shown_from_the_level_that_was_set_on_as_tensorflow_shows_it() -> None:
    output, errors = run(
        "tf.logging.info('before')\n"
        "tf.logging.set_verbosity(tf.logging.INFO)\n"
        "tf.logging.info('loss = %.1f', 0.5)\n"
        "tf.logging.debug('details')\n"
        "tf.logging.set_verbosity(tf.logging.ERROR)\n"
        "tf.logging.warning('quiet')\n"
        "tf.logging.error('loud')\n"
        "assert tf.logging.get_verbosity() == tf.logging.ERROR\n"
    )
    assert output == ""
    assert errors == "INFO:tensorkeep:loss = 0.5\nERROR:tensorkeep:loud\n"


def test_a_program_that_configures_logging_itself_gets_each_message_once() -> None:
    _, errors = run(
        "import logging\n"
        "logging.basicConfig(format='%(message)s')\n"
        "tf.logging.set_verbosity(tf.logging.INFO)\n"
        "tf.logging.info('once')\n"
    )
    assert errors == "once\n"


def test_a_program_whose_logging_absl_configures_later_gets_each_message_once() -> None:
    _, errors = run(
        "tf.logging.set_verbosity(tf.logging.INFO)\n"
        "tf.logging.info('before')\n"
        "def main(argv):\n"
        "    tf.logging.info('loss = %.1f', 0.5)\n"
        "tf.app.run(main)\n"
    )
    first, second = errors.splitlines()
    assert first == "INFO:tensorkeep:before"
    assert re.fullmatch(r"I\d{4} .*\] loss = 0\.5", second)
