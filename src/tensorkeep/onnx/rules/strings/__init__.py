"""Rules for ops on strings, and for the tables in which they are looked up.

patterns    patterns of strings that stand for one text or for some characters
tables      lookup tables: keys to values
text        strings: joined, split, matched, as numbers and back
text_parts  strings put together of parts: characters replaced, spaces taken away, runs of words
"""
