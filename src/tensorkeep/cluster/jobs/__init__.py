"""Jobs over checkpoints that are large: cut into parts, which workers do, and put together.

best_keys   which keys are the best of a table
checking    every checksum of a checkpoint
converting  other formats: checkpoints, and safetensors in several files
cutting     tensors in parts of about the same size
editing     other types, averages, other files
embeddings  embedding tables: repartitioned, compacted, pruned, exported
journals    which parts of a job are done, so that the next run goes on
looking     statistics, health, differences
writing     files that workers write, the step that makes the result appear, and what casts and conversions would lose
"""
