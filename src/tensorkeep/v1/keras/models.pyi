# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.engine.saving.cloning import clone_model
from tensorkeep.tf1.keras.engine.saving.model_configs import model_from_config, model_from_json
from tensorkeep.tf1.keras.engine.saving.model_files import load_model, save_model
from tensorkeep.tf1.keras.engine.sequential import Sequential

__all__ = [
    "Model", "Sequential", "clone_model", "load_model", "model_from_config", "model_from_json", "save_model",
]
