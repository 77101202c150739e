"""`tf.keras.preprocessing`: sequences, text and images made ready for models.

image_generators  batches of images, changed at random, from arrays and from folders
images            images as arrays: files, and changes of them
sequences         lists of numbers as arrays, pairs of words, windows of time series
text              text as numbers of words
"""
