"""`python -m tensorkeep.v1 train.py …`: the command `tensorkeep run`."""

import sys

from tensorkeep.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]]))
