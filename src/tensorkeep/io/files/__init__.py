"""Files and folders, as the rest of the package sees them, and the file systems behind that.

archives          zip archives, read from bytes with limits
directories       whole folders: copied, removed, put in place in one step, or there for a while only
everywhere        the file system behind every path: this machine, or a store
filesystem        files, as the rest of the package sees them
gfile             files and folders with TensorFlow's manners: what `tf.gfile` and `tf.io.gfile` stand on
gfile_object      an open file as TensorFlow has it
gfile_stores      what `tf.gfile` does with URLs of object stores
globbing          patterns of file names, as TensorFlow reads them
hdf5_images       HDF5 files as bytes, made and read in memory
local             the local disk
memory            files in memory: for tests, for building a checkpoint that goes straight elsewhere, for libraries
model_signatures  signatures of a model's files by a key
numpy_files       arrays in NumPy's own files: .npy, one array; .npz, a zip of several
passing_files     files that another library opens by their paths, and that are gone when it has
paths             how paths are spelled: with forward slashes, on Windows too, and with a scheme such as `file://`
places            where a path of a program leads
record_files      record files (TFRecord) that programs write and read, plain or compressed
system_errors     the system's errors as ours, and the number and paths that they keep
"""
