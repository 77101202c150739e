"""`tf.keras.utils`: what is beside models.

arrays        classes as rows of zeros and a one, and vectors of length one
downloads     files by URL, kept in a folder
hdf5_matrix   datasets of HDF5 files in the place of arrays
models        replicas of models, of which there is one, and pictures of them, which are refused
progress      how far a training is
sequences     data as a sequence of batches, and threads that fetch them ahead
"""
