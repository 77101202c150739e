"""Embedding variables, which DeepRec made: rows by key, behind a handle.

blocks     embedding variables of several blocks: each key has as many of them as a lookup says
handle     embedding variables: rows by key, behind a handle
multihash  multi-hash variables: an id is looked up in two small tables, by quotient and by remainder
options    what an embedding variable is made with: values with DeepRec's names and rules
saving     how embedding variables are saved and restored
slots      slots of embedding variables, which are columns of the same table
store      get_embedding_variable: embedding variables by name, in scopes, in parts
"""
