"""Loading a model, and calling it: by signatures, by objects, or into a program's own session.

engines             engines by name: our own kernels, and ONNX Runtime for what translates to ONNX
function_library    the functions of a stranger's model, looked at before any of them runs
graph_parts         parts of a model as graphs, for whoever translates them
graph_running       running a model by its graph, as TensorFlow 1 and its servers do
graph_sources       graphs that somebody else wrote, found in whatever they are in
kept_values         values that variables and tables of a model get when it is loaded
live_objects        the objects of a loaded TensorFlow 2 model while it is in use
loaded_names        the names that TensorFlow gives the functions of a model when `saved_model_cli show` loads
                    it
model               loaded models: what a SavedModel directory can do
model_loading       loading SavedModels, those of TensorFlow 1 and of TensorFlow 2
object_graph        the objects of a TensorFlow 2 model
opened_graph        graphs that somebody else wrote, opened to be run by name, restored, trained on and saved
permissions         what a loaded model may do besides computing
restored_functions  the functions of a loaded TensorFlow 2 model, to be called with arrays
signature           signatures: named arrays in, named arrays out
surroundings        what all parts of a loaded model share: its files, what it may do, runs of arrays of any shapes
table_fills         what has to run before signatures do, in graphs that name no operation for it
tensor_values       arrays as the values of tensors that have a type and a shape
"""
