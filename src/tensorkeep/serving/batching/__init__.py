"""Rows of several requests in one run.

joining     several requests as one, and its answer as theirs: pure functions of arrays
notes       what is told of runs: each of them, and all so far
parameters  how requests are joined, as the file of the original says it
queues      a queue for each set of tensors of a version, and what runs requests through them
sizes       how many rows a run had best have, learnt from how long runs take
tasks       requests that wait, and the batches that they are in
threads     the threads that all queues of a server share, and the time by which they are given work
"""
