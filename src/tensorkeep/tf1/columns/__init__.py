"""`tf.feature_column`: what the features of a model are, and how they become its first layer or a linear model.

A column says which features it reads and what becomes of them; nothing is built until `input_layer`, `linear_model`
or a layer such as `DenseFeatures` is given columns and features.

categorical   columns of ids: of buckets, of vocabularies, identical, weighted
column        what all columns are, and the features that they read: how these are parsed, too
crossed       columns of ids that are made of several features
dense_layers  layers of columns: `DenseFeatures`, `SequenceFeatures`
embedding     columns of rows that are looked up, and of indicators
groups        DeepRec's scopes whose columns are looked up together
input_layer   the first layer of a model
keyed         DeepRec's columns of keys: of embedding variables, adaptive, in several hashes
linear_model  a linear model of columns
numeric       columns of numbers, and of the buckets that they are in
sequence      columns of sequences, and their first layer
shared        columns that share a table
state         where the variables and tables of columns are made
"""
