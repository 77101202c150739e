"""The life of models and their versions: configuration, finding, loading, switching, unloading.

What is to be done is decided by pure functions over frozen values, kept right under one lock, and done by threads:
`lifecycle` decides over `versions`, `roster` keeps, `served_models` does.

configuration  which models are to be served, as their owner says it, checked, as values; the file that says it
deltas         incremental checkpoints that are put over loaded models
finding        which versions lie below a base path, and what lies in the folder of one
holding        versions that can be looked up, and requests that hold them
lifecycle      what is to be done next with the versions of a model
loading        a version becomes a servable, in a thread of its own
options        how models are found and loaded, and what is said of each besides its configuration
readiness      whether models serve, or never will
roster         what is served, wished and done at this moment
served_models  the models of a server, driven by a thread
versions       the life of one version, as a value
warming        warm-up: requests that a version brings along
"""
