"""Strings: any bytes, and text in some encoding.

_encodings        text in any encoding as code points, with the bytes that each one starts at, and back
_google_re2       RE2's regular expressions by RE2 itself
hashes            the hashes that assign strings to buckets
ngrams            runs of words: every so many that follow each other in a row, joined
_re2              RE2's regular expressions, in time that a pattern cannot make explode
strings           strings: joined, split, cut, matched, converted, hashed
unicode           text as characters: decoded, encoded, transcoded, and by script
_unicode_scripts  the scripts of Unicode's characters
"""
