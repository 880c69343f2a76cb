"""What programs make for the documentation is as they make it now: `make drawings` writes it anew."""

from __future__ import annotations

from docs.making.__main__ import DOCS, made
from docs.making.drawings import WINDOWS
from millstream.windows.kinds import KINDS


def test_what_is_made_is_up_to_date() -> None:
    files = made()
    stale = [path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    assert [str(path.relative_to(DOCS)) for path in stale] == []
    drawn = (DOCS / "concepts" / "drawings").iterdir()
    assert [path for path in drawn if path not in files] == []


def test_every_kind_of_window_is_drawn_and_shown() -> None:
    drawn = {window.partition(" ")[0] for window in WINDOWS.values()} | {
        word for window in WINDOWS.values() for word in window.split() if word in ("SLIDE", "STEP")
    }
    assert drawn == {word for clause in KINDS for word in (clause.word, clause.grid) if word}
    page = (DOCS / "concepts" / "windows.md").read_text("utf-8")
    assert [kind for kind in WINDOWS if f"(drawings/{kind}.svg)" not in page] == []
