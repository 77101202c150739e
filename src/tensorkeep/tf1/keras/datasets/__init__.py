"""`tf.keras.datasets`: data by the files that Keras keeps of them; nothing is fetched.

arrays        handwritten digits, clothes and small pictures of things; prices of houses
kept_files    the files: NumPy archives, and pickles of plain values
texts         reviews of films and news, as numbers of words
"""
