"""`python -m tensorkeep` is the program `tensorkeep`."""

import sys

from tensorkeep.cli.start import main

if __name__ == "__main__":
    sys.exit(main())
