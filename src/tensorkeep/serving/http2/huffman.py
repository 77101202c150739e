"""The Huffman code of HPACK (RFC 7541, appendix B): texts of headers in fewer bits.

    text = code(octet)*  padding            padding: up to 7 ones, the beginning of the code of "end of text"

The code is canonical: codes of a length follow each other in the order of their octets, after those that are shorter.
So the lengths say everything.
"""

from __future__ import annotations

from typing import Final

_LENGTHS: Final = (
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28,
    28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15,
    6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22,
    20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23,
    23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22,
    22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26,
    27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27,
    26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
)  # fmt: skip
_END: Final = 256  # the symbol that no text contains
_DEAD: Final = (b"", -1)  # after the end of text, where nothing may follow


def _codes() -> list[int]:
    codes = [0] * len(_LENGTHS)
    code = length = 0
    for symbol in sorted(range(len(_LENGTHS)), key=lambda each: (_LENGTHS[each], each)):
        code <<= _LENGTHS[symbol] - length
        length = _LENGTHS[symbol]
        codes[symbol] = code
        code += 1
    return codes


def _tree() -> tuple[list[list[int]], frozenset[int]]:
    """The nodes of the code's tree, each with the two that follow it, and those in which a text may end.

    A number below 0 is a symbol: -1 for octet 0. A text may end in the root, and after up to 7 ones.
    """
    nodes = [[0, 0]]
    for symbol, (code, length) in enumerate(zip(_CODES, _LENGTHS, strict=True)):
        node = 0
        for place in range(length - 1, 0, -1):
            bit = code >> place & 1
            if not nodes[node][bit]:
                nodes[node][bit] = len(nodes)
                nodes.append([0, 0])
            node = nodes[node][bit]
        nodes[node][code & 1] = -1 - symbol
    ends, node = [0], 0
    for _ in range(7):
        node = nodes[node][1]
        ends.append(node)
    return nodes, frozenset(ends)


_CODES: Final = _codes()
_NODES, _ENDS = _tree()
# By node and octet: the octets of text that end within it, and the node after it. Filled as texts need it.
_STEPS: Final[dict[int, tuple[bytes, int]]] = {}


def encode_text(text: bytes) -> bytes:
    """The bytes of a text in the Huffman code."""
    bits = size = 0
    for octet in text:
        bits = bits << _LENGTHS[octet] | _CODES[octet]
        size += _LENGTHS[octet]
    padding = -size % 8
    return (bits << padding | (1 << padding) - 1).to_bytes((size + padding) // 8, "big")


def encoded_size(text: bytes) -> int:
    """How many bytes a text has in the code."""
    return (sum(_LENGTHS[octet] for octet in text) + 7) // 8


def decode_text(data: bytes) -> bytes | None:
    """The text that was encoded as these bytes; None if no text is encoded so."""
    node = 0
    pieces = []
    for octet in data:
        key = node << 8 | octet
        found = _STEPS.get(key)
        if found is None:
            found = _STEPS[key] = _step(node, octet)
        piece, node = found
        if node < 0:
            return None
        pieces.append(piece)
    return b"".join(pieces) if node in _ENDS else None


def _step(node: int, octet: int) -> tuple[bytes, int]:
    """What eight bits give that are read from a node of the tree: the octets that end in them, and the next node."""
    text = bytearray()
    for place in range(7, -1, -1):
        node = _NODES[node][octet >> place & 1]
        if node == -1 - _END:
            return _DEAD
        if node < 0:
            text.append(-1 - node)
            node = 0
    return bytes(text), node
