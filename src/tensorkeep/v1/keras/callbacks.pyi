# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.callbacks.base import BaseLogger, Callback, CallbackList, History, LambdaCallback
from tensorkeep.tf1.keras.callbacks.progress import ProgbarLogger
from tensorkeep.tf1.keras.callbacks.recording import CSVLogger, RemoteMonitor, TensorBoard
from tensorkeep.tf1.keras.callbacks.steering import (
    EarlyStopping, LearningRateScheduler, ModelCheckpoint, ReduceLROnPlateau, TerminateOnNaN,
)

__all__ = [
    "BaseLogger", "CSVLogger", "Callback", "CallbackList", "EarlyStopping", "History", "LambdaCallback",
    "LearningRateScheduler", "ModelCheckpoint", "ProgbarLogger", "ReduceLROnPlateau", "RemoteMonitor", "TensorBoard",
    "TerminateOnNaN",
]
