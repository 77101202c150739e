"""HTTP/2 from the server's side (RFC 9113, RFC 7541), safe before strangers. It knows nothing of what is served.

blocks      blocks of headers: gathered from their frames, and read
connection  a connection: what comes on it, and what follows from that
frames      frames, of which everything on a connection consists, and what a peer does wrong: the error codes
heads       the head of a request, well-formed
hpack       header lists as blocks of bytes, and back
huffman     the Huffman code of HPACK
life        how long a connection lasts
limits      what a connection may have and do
reading     bytes as they come, cut into frames
requests    the requests of a connection: opened, their data taken, answered, ended
sender      what a connection sends, within windows and no faster than it is read
streams     a stream: one request and its answer, and who takes the one and gives the other
"""
