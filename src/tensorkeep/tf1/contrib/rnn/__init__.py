"""`tf.contrib.rnn`: cells of recurrent networks, wrappers around them, and networks of several layers.

attention_cells   a wrapper that looks back at the last outputs
block_cells       cells that compute their gates in one go, and fused ones that take a whole sequence
convolution_cells cells whose gates are convolutions
gated_cells       cells with gates of other kinds: update gates, intersections, phases, groups
grid_cells        cells that go along the frequencies of their input as well as along time
independent_cells cells whose units do not see each other, and the simple recurrent unit
linear_maps       a weighted sum of several inputs, with variables of the current scope
lstm_cells        LSTM cells with layer normalization, coupled gates, normalized weights, or found by search
memory_cells      the cell of a neural Turing machine, which reads and writes a memory
networks          networks of several bidirectional layers
wrappers          wrappers that project, embed or bypass
"""
