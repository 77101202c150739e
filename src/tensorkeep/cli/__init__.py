"""The program `tensorkeep`: looks into model files and works on them."""
