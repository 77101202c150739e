"""Several processes that train one model: the same program on parts of the data, against shared tables and variables.

batches     which batches each worker has
programs    the program that all run, as the two sides of a step: gradients, and their application
running     servers and workers as actors of a Ray cluster, or one after the other in this process
servers     the process that has the variables: applies gradients, saves, recovers
workers     a process that computes gradients of its part of the data
"""
