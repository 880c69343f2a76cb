"""A test kit for queries: a timeline of what comes, and the answers that are expected of it.

>>> from millstream.testing import Timeline
>>> seen = Timeline("SELECT ?who { STREAM :door [RANGE 10s] { ?who :at :hall } }", prefixes={"": "http://e/"})
>>> seen.push("1s", ":door", ":ann :at :hall .").expect("1s", +1, who=":ann").finish().check()

`check` reads the same from a text file, a SPEC; `millstream check` runs those.
"""

from millstream.testing.comparison import Outcome
from millstream.testing.spec import check, read_spec
from millstream.testing.timeline import Timeline

__all__ = ["Outcome", "Timeline", "check", "read_spec"]
