"""SavedModels made from SavedModels: pure functions of messages, and what writes the result.

directory_edits     SavedModels in directories, made from others
freezing            freezing a SavedModel: constants in the place of variables
message_edits       SavedModels made from SavedModels: pure functions of messages
meta_graph_pruning  meta graphs cut down to what some of their signatures need
object_pruning      the objects of a model of TensorFlow 2, cut down to what some of its signatures need
object_signatures   signatures among the objects of a model of TensorFlow 2
saver_pruning       savers that save and restore fewer variables
"""
