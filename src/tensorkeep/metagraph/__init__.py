"""Meta graphs: a graph with its collections, its saver and the signatures of its ops, in one message."""
