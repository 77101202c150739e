"""What the machine has, and what its operating system does differently from others.

blas             how many threads the library of products under NumPy (BLAS) wakes for us
huge_pages       whether fresh memory may come in huge pages, and what the system may take back
large_arrays     memory for large arrays, fast to fill, and used again when it was freed
mapped_memory    memory that lies in a file, for what is larger than the machine's own
other_processes  trying in another process what may end the one that does it
parallel         doing several things at once
reused_memory    memory of large results, used again as soon as nobody sees what was in it
resources        what the machine has: memory and bounds on it, processors, and what its user has set
shared_counters  numbers that several processes count, each in a file that all of them can read
system           what operating systems do differently
"""
