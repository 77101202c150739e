"""`tf.contrib.opt`: optimizers.

adams     Adam that leaves rows alone, looks ahead, or takes the largest of past gradients
averaging workers that train variables of their own, and meet at common ones: elastic and model averages, AGN
external  minimizing by algorithms outside of the graph: SciPy's
layers    a rate for each variable, by how long it and its gradient are
matrices  gradients conditioned by matrices: GGT, Shampoo
steps     gradient descent and Adagrad, with late gradients, or with losses of weights
signs     gradients weighed by whether they agree with their mean: PowerSign, AddSign
wrappers  optimizers around optimizers: averages, decay, clipping, several tasks, late gradients
"""
