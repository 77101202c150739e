"""Object-based checkpoints: what they follow, how they are saved and restored.

load_status         what becomes of restoring a checkpoint into objects
manager             a series of object-based checkpoints in a folder, of which some are kept
module              modules: objects that hold variables and other modules
object_checkpoints  object-based checkpoints: `tf.train.Checkpoint` for trees of variables and arrays
object_saver        saves and restores whatever can be reached from an object, by operations of a graph
trackable           objects that checkpoints can follow: which they are, and what they refer to by which names
"""
