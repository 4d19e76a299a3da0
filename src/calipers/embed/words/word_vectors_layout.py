"""What kind of word-vector file one is: told by its first bytes, never by its name."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from calipers.errors import InputError

EXPECTED = (
    "word vectors are a text file with a word and its numbers on each line (GloVe, fastText .vec), "
    "or one that starts with the number of words and of numbers (word2vec, text or binary)"
)
_HEADER = re.compile(rb"\s*([0-9]{1,12})[ \t]+([0-9]{1,6})[ \t\r]*\n")
_LINES = 100  # of a file without a header, to find how many numbers most lines have
_OTHER = {
    b"\x93NUMPY": "a NumPy array; give it as --reference or as a system, which takes vectors",
    b"\x89HDF": "an HDF5 file",
    b"\xba\x16\x4f\x2f": "a model in fastText's own format; use its .vec file",
    b"GGUF": "a language model in GGUF format",
    b"%PDF": "a PDF file",
    b"\x1f\x8b": "compressed twice",
}
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


@dataclass(frozen=True)
class Layout:
    """How the rows of a file are written.

    Attributes
    ----------
    kind
        ``"text"`` or ``"binary"``.
    width
        Numbers of a vector.
    words
        How many words the header promises; None without a header.
    skip
        Bytes of the header.
    """

    kind: str
    width: int
    words: int | None
    skip: int


def find_layout(head: bytes, name: str) -> Layout:
    """Tell how a file is written from its beginning.

    Parameters
    ----------
    head
        Its first bytes, after decompression: a megabyte, or all there is.
    name
        What messages call it.

    Raises
    ------
    InputError
        If it is empty, or does not hold word vectors.
    """
    if not head.strip():
        raise InputError(f"{name}: is empty; {EXPECTED}")
    _refuse_others(head, name)
    header = _HEADER.match(head)
    if header is None:
        return Layout("text", _usual_width(head, name), None, 0)
    words, width = int(header[1]), int(header[2])
    if not words or not width:
        raise InputError(
            f"{name}: line 1 promises {words} words with {width} numbers; each must be at least 1"
        )
    rest = head[header.end() :]
    kind = "binary" if _CONTROL.search(rest) and numbers_in(rest) != width else "text"
    return Layout(kind, width, words, header.end())


def _refuse_others(head: bytes, name: str) -> None:
    if _PICKLE.match(head):
        raise InputError(
            f"{name}: is a pickled file, as gensim's own save() writes; it could run code when "
            "opened, so it is refused. Save the vectors with save_word2vec_format() instead"
        )
    for magic, what in _OTHER.items():
        if head.startswith(magic):
            raise InputError(f"{name}: is {what}; {EXPECTED}")
    if _CONTROL.search(head) and not _HEADER.match(head):
        raise InputError(f"{name}: is a binary file of an unknown kind; {EXPECTED}")


def _usual_width(head: bytes, name: str) -> int:
    """Find how many numbers stand at the end of most of the first lines."""
    lines = head.split(b"\n")[:_LINES]
    if len(lines) > 1:
        lines.pop()  # it may be cut, or be empty behind the last line break
    widths = Counter(numbers_in(line) for line in lines if line.strip())
    # A word of several parts may end in a number, so the fewest of equally common ones
    width = min(widths, key=lambda each: (-widths[each], each))
    if width < 2:
        found = lines[0][:60].decode("utf-8", "replace").strip()
        raise InputError(f"{name}: holds no word vectors; {EXPECTED}. Line 1 is {found!r}")
    return width


def numbers_in(line: bytes) -> int:
    """Count the numbers at the end of the first line, behind at least one word."""
    fields = line.partition(b"\n")[0].split()[1:]
    count = 0
    for field in reversed(fields):
        if not is_number(field):
            break
        count += 1
    return count


def is_number(field: bytes) -> bool:
    """Tell whether a field is a number as Python reads it; NaN and infinity are."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field
