"""SavedModels as TensorFlow 1's Python makes and loads them: builder, loader, and objects of TensorFlow 2.

builder           building a SavedModel: graphs with tags and signatures, one set of variables, what runs on loading
object_exporting  objects saved as a model of TensorFlow 2
object_loading    the objects of a model of TensorFlow 2 in a graph of one's own
object_messages   objects as messages: what each is, what it leads to, and how functions are called
object_tables     tables as objects of a model
object_tree       what is saved of a tree of objects, files among them
ragged_info       ragged tensors among the inputs and outputs of signatures: made of their parts
save_options      how objects are saved as a model
session_loading   loading a SavedModel into a graph and a session that a program has, as TensorFlow 1 does it
"""
