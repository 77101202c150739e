"""`tf.keras.utils`: what is beside models.

arrays        classes as rows of zeros and a one, vectors of length one, and datasets of HDF5 files
downloads     files by URL, kept in a folder
models        replicas of models, of which there is one, and pictures of them, which are refused
progress      how far a training is
sequences     data as a sequence of batches, and threads that fetch them ahead
"""
