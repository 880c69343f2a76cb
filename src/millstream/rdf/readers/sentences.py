"""Where the sentences of Turtle and TriG begin and end.

`next_sentence` looks only at tokens, never at their meaning, and so finds the end of a malformed sentence as well as of
a good one: the next `.` that is not part of an IRI, string, comment, name or number and stands outside brackets. It is
a function of the buffer and of whether it is complete. If more text could change the answer, it says so.

Recovery beyond that, so that one slip costs one sentence: a quote left open ends at its line (`\"\"\"` left open counts
as no quote once the text has ended); a `.` at the end of a line ends a sentence even inside brackets, where no `.` can
stand; directives in SPARQL's style that are malformed end at their line.
"""

from __future__ import annotations

import enum
import re
from typing import NamedTuple


class Kind(enum.Enum):
    """What a sentence is, as far as its tokens tell."""

    TRIPLES = "triples"
    DIRECTIVE = "directive"
    MESSAGE = "message"
    OPEN = "open"  # a graph's label and its {
    CLOSE = "close"  # the } of a graph
    UNFINISHED = "unfinished"  # the text ends inside it
    END = "end"  # nothing but white space and comments is left
    MORE = "more"  # the answer depends on text that has not been read yet


class Sentence(NamedTuple):
    """A sentence and where it stands in the buffer; reading goes on at `end`."""

    kind: Kind
    start: int
    end: int


COMMENT = rb"#[^\r\n]*+"
_SPACE = rb"[\x20\t\r\n]++|" + COMMENT
WHOLE_IRI = rb'<[^\x00-\x20<>"{}|^`]*+>'
# An IRI with characters it must not have is still one token, or a dot in it would end the sentence.
_BROKEN_IRI = rb"<[^<>\r\n]*+>"
LONG_STRING = rb'"""(?:[^"\\]++|\\.|""?(?!"))*+"""' + rb"|'''(?:[^'\\]++|\\.|''?(?!'))*+'''"
SHORT_STRING = rb'"(?!"")(?:[^"\\\r\n]++|\\[^\r\n])*+"' + rb"|'(?!'')(?:[^'\\\r\n]++|\\[^\r\n])*+'"
NAME_CHAR = rb"[A-Za-z0-9_:%\x80-\xff-]|\\."
NAME = rb"(?:[A-Za-z_:%\x80-\xff]|\\.)(?:" + NAME_CHAR + rb"|\.++(?=" + NAME_CHAR + rb"))*+"
_TAG = rb"@[A-Za-z]++(?:-++[A-Za-z0-9]++)*+"
_NUMBER = rb"[+-]?(?:[0-9]+\.[0-9]*[eE][+-]?[0-9]+|\.?[0-9]+[eE][+-]?[0-9]+|[0-9]*\.[0-9]+|[0-9]+)"
# Tokens cut off by the end of the buffer: they reach it, which is how `next_sentence` knows to ask for more.
_CUT_OFF = (
    rb'"""(?:[^"\\]++|\\.|""?(?!"))*+(?:"{0,2}|\\)\Z'
    rb"|'''(?:[^'\\]++|\\.|''?(?!'))*+(?:'{0,2}|\\)\Z"
    rb'|"(?:[^"\\\r\n]++|\\[^\r\n])*+\\?\Z'
    rb"|'(?:[^'\\\r\n]++|\\[^\r\n])*+\\?\Z"
    rb"|<[^<>\r\n]*+\Z"
)

PLAIN = rb"|".join((_SPACE, WHOLE_IRI, LONG_STRING, SHORT_STRING, NAME, _TAG, _NUMBER, rb"[;,^]"))
TOKEN = re.compile(
    rb"(?P<plain>(?:" + PLAIN + rb")++)"
    + rb"|(?P<cut>" + _CUT_OFF + rb")"
    + rb"|(?P<broken>" + _BROKEN_IRI + rb")"
    + rb"|(?P<open>\{\||<<|[\[(])"
    + rb"|(?P<close>\|\}|>>|[\])])"
    + rb"|(?P<begin>\{)|(?P<finish>\})"
    + rb"|(?P<dot>\.)"
    + rb'|(?P<odd>"""|\'\'\'|.)',
    re.DOTALL,
)  # fmt: skip
_SKIP = re.compile(rb"(?:" + _SPACE + rb")*+")
_WORD = re.compile(rb"(?:PREFIX|BASE|VERSION|MESSAGE)(?![A-Za-z0-9_:%\\.\x80-\xff-])", re.IGNORECASE)
_SPACES = rb"(?:" + _SPACE + rb")*+"
_DIRECTIVES = {
    b"PREFIX": re.compile(_SPACES + rb"(?:" + NAME + rb")" + _SPACES + WHOLE_IRI),
    b"BASE": re.compile(_SPACES + WHOLE_IRI),
    b"VERSION": re.compile(_SPACES + rb"(?:" + SHORT_STRING + rb")"),
}
# After a dot and up to the end of the buffer: with more text the dot may turn out to be inside a name or a number.
UNDECIDED = re.compile(rb"(?:\.*+\\?|[0-9]*+(?:[eE][+-]?)?)\Z")
_LINE_END = re.compile(rb"[\r\n]|\Z")
BLANK_REST = re.compile(rb"[\x20\t]*+(?:#|[\r\n]|\Z)")


def skip_space(buffer: bytes, start: int) -> int:
    """Behind white space and comments."""
    skipped = _SKIP.match(buffer, start)
    return skipped.end() if skipped else start


def directive_begins(buffer: bytes, start: int) -> bool:
    """Whether a directive in SPARQL's style begins at a place."""
    return _WORD.match(buffer, start) is not None


def next_sentence(buffer: bytes, start: int, *, ended: bool, in_graph: bool = False, graphs: bool = False) -> Sentence:
    """The sentence at or after `start`; `ended` says that no text follows the buffer.

    With `graphs` (TriG) braces outside of a sentence open and close graphs, else they are brackets like any other.
    """
    skipped = _SKIP.match(buffer, start)
    begin = skipped.end() if skipped else start
    if begin == len(buffer):
        # A comment may go on in text not read yet; it is then skipped again from its beginning.
        return Sentence(Kind.END if ended else Kind.MORE, start, begin)
    if word := _WORD.match(buffer, begin):
        return _directive(buffer, begin, word, ended=ended)
    depth = 0
    position = begin
    while position < len(buffer):
        match = TOKEN.match(buffer, position)
        assert match is not None  # any byte is at least odd
        if match.end() == len(buffer) and not ended:
            return Sentence(Kind.MORE, begin, begin)
        position = match.end()
        match match.lastgroup:
            case "cut":
                # The text has ended and the quote is still open: taken as no quote, it hides nothing that follows.
                width = 3 if buffer[match.start() : match.start() + 3] in (b'"""', b"'''") else 1
                position = match.start() + width
            case "open":
                depth += 1
            case "close":
                depth = max(0, depth - 1)
            case "begin":
                if graphs and depth == 0:
                    return Sentence(Kind.OPEN, begin, position)
                depth += 1
            case "finish":
                if graphs and (depth == 0 or in_graph):
                    return _closed(begin, match.start(), position)
                depth = max(0, depth - 1)
            case "dot" if not ended and UNDECIDED.match(buffer, position):
                return Sentence(Kind.MORE, begin, begin)
            case "dot":
                if depth == 0 or BLANK_REST.match(buffer, position):
                    if depth and not ended and BLANK_REST.fullmatch(buffer, position):
                        return Sentence(Kind.MORE, begin, begin)
                    return Sentence(Kind.DIRECTIVE if buffer[begin] == 0x40 else Kind.TRIPLES, begin, position)
    return Sentence(Kind.UNFINISHED, begin, len(buffer))


def _closed(begin: int, brace: int, after: int) -> Sentence:
    """A `}`: it ends the triples before it, which need no dot; alone it is a sentence of its own."""
    return Sentence(Kind.CLOSE, begin, after) if begin == brace else Sentence(Kind.TRIPLES, begin, brace)


def _directive(buffer: bytes, begin: int, word: re.Match[bytes], *, ended: bool) -> Sentence:
    if word.end() == len(buffer) and not ended:
        return Sentence(Kind.MORE, begin, begin)
    name = word[0].upper()
    if name == b"MESSAGE":
        return Sentence(Kind.MESSAGE, begin, word.end())
    line_end = _LINE_END.search(buffer, word.end())
    rest = _DIRECTIVES[name].match(buffer, word.end())
    end = rest.end() if rest else line_end.start() if line_end else len(buffer)
    if end == len(buffer) and not ended:
        return Sentence(Kind.MORE, begin, begin)
    return Sentence(Kind.DIRECTIVE, begin, end)
