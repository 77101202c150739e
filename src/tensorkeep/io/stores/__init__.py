"""Object stores: S3, Google Cloud Storage, Azure Blob Storage, HTTP servers, and one in memory, by the package obstore.

caching       copies of objects on the local disk, each of one version
connections   one connection for each bucket, made when it is first asked for
environment   what the environment and the clouds' own files say: endpoints, regions, profiles
filesystem    a store as a file system
objects       what is asked of a store: objects read, put, copied, listed and deleted
reading       an object, open for reading: ranges of it, many at a time
settings      what a program says of a store: `tensorkeep.storage`
store_errors  the errors of stores as ours, with the remedy and without secrets
uploads       an object on its way to the store, in parts, while it is made
urls          where a URL leads: scheme, bucket, key
writing       an object that is written as a file
"""
