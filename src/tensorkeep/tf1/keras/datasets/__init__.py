"""`tf.keras.datasets`: data by the files that Keras keeps of them; nothing is fetched.

images        handwritten digits, clothes, and small pictures of things
kept_files    the files: NumPy archives, and pickles of plain values
numbers       prices of houses
texts         reviews of films and news, as numbers of words
"""
