"""`tf.keras.callbacks`: what is called before and after epochs and batches.

base       what a callback may override, histories, and lists of callbacks
progress   progress bars
recording  CSV files, and events for TensorBoard
steering   checkpoints, early stopping, and learning rates that change
"""
