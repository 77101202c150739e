"""`tf.saved_model.tag_constants`."""

from tensorkeep.saved_model.files.constants import GPU, SERVING, TPU, TRAINING

__all__ = ["GPU", "SERVING", "TPU", "TRAINING"]
