"""`tf.keras.backend`: functions of tensors, variables, settings and the session in force.

activating       functions between layers: rectifiers, sigmoids, softmax, dropout
arrays           shapes of tensors, and tensors made of tensors
control          one thing or another, and functions of elements
cross_entropies  cross entropies of probabilities and of logits
networks         convolutions, pools and biases of images; labels of sequences (CTC)
numbers          elements, reductions, products, random numbers
recurrence       a step applied along the time axis
sessions         variables, placeholders, values, functions of placeholders, and the session in force
settings         the type of numbers, the least number, and where images have their channels
"""
