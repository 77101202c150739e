"""Programs for the command line, each under the name and with the flags of TensorFlow's own."""
