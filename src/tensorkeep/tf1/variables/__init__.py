"""Variables: handles to what lasts from run to run, and the scopes they are found in.

Importing the package installs what it needs to be whole: Python's operators, both kinds of variable, and how variables
are stored in meta graphs.
"""

from tensorkeep.tf1.functions import operators
from tensorkeep.tf1.variables import collection_items, creation

__all__ = ["collection_items", "creation", "operators"]
