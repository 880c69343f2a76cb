"""The words of the grammar, each in any case."""

from __future__ import annotations

from millstream.windows.kinds import words
from millstream.windows.window import Takes

WINDOW_WORDS = {takes: words(takes) for takes in Takes}
KEYWORDS = (
    "AS ASC BIND CHANGES COMPUTED CONSTRUCT DESC DESCRIBE DISTINCT DSTREAM EVERY EXISTS FALSE FROM "
    "GRAPH HAVING IN ISTREAM LIMIT NOT OFFSET QUERY REDUCED REGISTER RSTREAM SELECT SERVICE SILENT SLIDE "
    "STEP STREAM TRUE TUMBLING UNDEF VALUES WINDOW "
    "_ASK _BASE _BY _FILTER _GROUP _MINUS _NAMED _ON _OPTIONAL _ORDER _PREFIX _SEPARATOR _TO _UNION _WHERE"
).split() + [word for some in WINDOW_WORDS.values() for word in some]
"""Those with an underscore carry no information and are dropped by the parser."""
