"""The layers of Keras.

advanced_activations     activations as layers, some of which learn
attention                values of sequences, weighted by how well their keys fit a query
convolutional            convolutions; enlarging, padding and cropping
convolutional_recurrent  recurrent layers whose steps are images
core                     dense layers, dropout, reshaping, masking, functions as layers
cudnn_layouts            weights of recurrent layers as cuDNN has them, and as others do
cudnn_recurrent          recurrent layers whose weights lie as cuDNN has them
embeddings               rows by their numbers
every                    every layer by the name of its class
features                 feature columns as a layer
function_texts           functions of a program's own in configurations
locally_connected        like convolutions, with weights of their own at each place
merge                    layers of several inputs
noise                    noise while training
normalization            batch normalization and layer normalization
options                  what programs may say of layers, as types
pooling                  maxima and means of windows, or of all
recurrent                recurrent layers
recurrent_cells          their cells
wrappers                 layers around layers: at every step, and in both directions
"""
