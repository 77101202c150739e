"""The restore doctor: what a program wants beside what a checkpoint holds, before anything is changed.

adapted_reader  stored tensors as a program wants them
items           the entries of a restore plan: what becomes of each wanted tensor, and why
name_rules      how TensorFlow's names come to differ between two programs: one small pure function per way
planning        the restore doctor: compares what a program wants with what a checkpoint holds
report          a restore plan in words: the one error that says all that is wrong
suggestions     did you mean: which stored tensors a program may mean, if it holds a variable twice too
wanted_tensors  what a program wants from a checkpoint
"""
