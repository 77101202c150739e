"""What a page can ask, by subject.

arrays    numbers as a page shows them: statistics, samples, maps of two axes
catalog   all questions by name, and which of them take long
checks    what is wrong: checksums, numbers, and what a model does besides computing
graphs    graphs as columns, the attributes of a node, shapes and costs, differences
history   the checkpoints of a folder, and how two of them differ
overview  what is looked at, and what can be seen of each
running   signatures: what they take, what they give, and values on the way
tables    embedding tables: keys, rows, nearest rows, a map
tensors   single tensors: statistics, slices, filters, values, files
weights   all tensors as columns
"""
