"""Models in files: weights as HDF5 and as checkpoints, whole models as HDF5, configurations as JSON.

cloning        models made anew, with the same layers or with others
hdf5_texts     names in attributes of HDF5 files, which may be too many for one
model_configs  models as configurations, and made of them
model_files    whole models as HDF5
weight_files   the weights of models, as HDF5 and as checkpoints
"""
