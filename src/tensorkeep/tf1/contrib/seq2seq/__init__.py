"""`tf.contrib.seq2seq`: decoders, helpers that feed them, attention, beam search, and the loss of sequences.

attention          what attention mechanisms share: memories, masks, keys
attention_wrapper  a cell that attends to memories at every step
beam_choices       what a beam search chooses: scores with penalties, masks, and the step that it takes
beam_search        a decoder that keeps the best sequences so far
decoders           decoding in a loop, and a decoder that samples as a helper says
helpers            where the inputs of a decoder come from: data, samples, or both
losses             the cross entropy of sequences
mechanisms         attention as Bahdanau and Luong have it, plain and monotonic
tiling             batches with every row repeated, and sequences along the parents of beams
"""
