"""Programs written for TensorFlow 1, run as they are: `import tensorflow` is ours in their process.

paths/        TensorFlow's module paths, and where each of their names is here: the one table
causes        what stopped a program, where that is older than this Python or not ours
finding       modules of TensorFlow's paths, made of the table and found by `import`: `tensorkeep.v1.install`
running       a program run as Python runs it: `tensorkeep run`, `python -m tensorkeep.v1`
surveying     what a program uses of TensorFlow, read off its text
"""
