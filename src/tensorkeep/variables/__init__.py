"""Variables: handles to what lasts from run to run, and the scopes they are found in.

Importing the package installs what it needs to be whole: Python's operators, and both kinds of variable.
"""

from tensorkeep.functions import operators
from tensorkeep.variables import creation

__all__ = ["creation", "operators"]
