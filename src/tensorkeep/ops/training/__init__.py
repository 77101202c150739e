"""What training updates: variables by the rules of optimizers, ensembles of trees.

boosted_trees    boosted trees, as models that TensorFlow 1's estimators exported run them
optimizer_steps  the ops that optimizers apply gradients with
_trees           ensembles of decision trees, and boundaries of buckets
"""
