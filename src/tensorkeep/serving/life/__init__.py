"""The life of models and their versions: configuration, finding, loading, switching, unloading."""
