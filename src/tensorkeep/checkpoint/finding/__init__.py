"""From what a person types to an open checkpoint: names of files, the state file, which is the latest.

file_names    the names of checkpoint files
files         from the name of a checkpoint to its files: which there are, and a reader of them
latest        which checkpoint of a folder is the latest, and which the latest that is whole
opening       from what a person types to an open checkpoint, held whatever becomes of its name
state_file    the state file, `checkpoint`: which checkpoints a folder holds, and which is the latest
waiting       waiting for checkpoints that another process writes
"""
