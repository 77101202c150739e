"""`tf.keras.utils`: what is beside models.

arrays        classes as rows of zeros and a one, and vectors of length one
downloads     files by URL, kept in a folder
drawings      pictures of models, which are refused
hdf5_matrix   datasets of HDF5 files in the place of arrays
progress      how far a training is
replication   models on several devices, of which there is one
sequences     data as a sequence of batches, and threads that fetch them ahead
"""
