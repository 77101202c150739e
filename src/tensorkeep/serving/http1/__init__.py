"""HTTP/1.1 from the server's side, safe before strangers. It knows nothing of what is served.

connection  a connection: requests that come on it one after the other, and their answers in the same order
content     the body of a request, as it comes
messages    a request as HTTP has it, and what goes back: as a value, and as bytes
"""
