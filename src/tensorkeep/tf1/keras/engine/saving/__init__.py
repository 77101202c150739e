"""Models in files: weights as HDF5 and as checkpoints, whole models as HDF5 and SavedModels, configurations as JSON.

cloning            models made anew, with the same layers or with others
directory_reading  models made of SavedModels that have their configuration
directory_writing  models as SavedModels
model_configs      models as configurations, and made of them
model_files        whole models as HDF5
weight_files       the weights of models, as HDF5 and as checkpoints
"""
