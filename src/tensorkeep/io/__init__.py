"""Files, bytes and the machine: the one layer that names the operating system.

coding/   bytes: numbers and strings as they are stored, checksums, compression, files of records
files/    files and folders, as the rest of the package sees them, and the file systems behind that
machine/  what the machine has, and what its operating system does differently from others
stores/   object stores: S3, Google Cloud Storage, Azure, HTTP servers, by URL
showing/  what is shown to people: amounts, tables, progress
"""
