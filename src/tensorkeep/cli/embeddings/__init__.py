"""`tensorkeep ev`: embedding tables in checkpoints.

changing  `tensorkeep ev`: embedding tables in checkpoints, changed
exports   `tensorkeep ev export` and `ev import`: embedding tables in the formats of others
looking   `tensorkeep ev`: embedding tables in checkpoints, looked into
writing   what the commands that write embedding tables have in common
"""
