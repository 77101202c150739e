"""Variables: handles to what lasts from run to run, and the scopes they are found in.

Importing the package installs what it needs to be whole: Python's operators, both kinds of variable, and how variables
are stored in meta graphs.

    embedding_variables/  embedding variables, which DeepRec made: rows by key, behind a handle
    hash_tables/          DeepRec's older tables by key: `tf.hash_table`, its lookups and filters, how they are saved
    assignments           functions that change variables: assign, scatter_add, count_up_to and their kin
    collection_items      variables, branches and loops in the collections of meta graphs
    composed              variables that are made of others and are looked up as one
    creation              which kind of variable `Variable(...)` makes
    global_step           the global step: the variable that counts training steps
    initial_values        initial values that depend on other variables, which need not have been initialised yet
    initializers          initializers: what makes the first value of a variable, given its shape and type
    listing               all variables of a graph: finding them, initializing them
    modes                 what a variable may be told about copies of it, and a scope about reuse
    options               what programs may say of a variable, as types, and all that they say of one, as values
    partitioned           partitioned variables: one variable in several parts along one axis
    partitioners          partitioners: into how many parts a variable of some shape and type is cut
    random_generators     generators of random numbers whose state is a variable
    reference             reference variables: a tensor of a reference type leads to the value
    regularizers          regularization losses: computed anew wherever they are used
    resource              resource variables: a handle leads to the value
    row_changes           scatter_add and its like as methods, stated once for both kinds of variable
    saveable              how variables, their slices and other things of a graph become saveables, under which
                          names
    scope                 variable scopes as data: what get_variable takes from its surroundings
    scopes                variable scopes and get_variable, as programs use them
    slices                where a variable lies in the whole that it is a part of
    store                 the variables that get_variable has made in a graph, by name: found again, or made
    template              templates: functions that make variables when they are called first
    variable              variables as programs see them: what both kinds have in common
"""

from tensorkeep.tf1.functions import operators
from tensorkeep.tf1.variables import collection_items, creation

__all__ = ["collection_items", "creation", "operators"]
