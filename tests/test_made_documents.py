"""What programs make for the documentation is as they make it now: `make drawings` writes it anew."""

from __future__ import annotations

from docs.making.__main__ import DOCS, made


def test_what_is_made_is_up_to_date() -> None:
    files = made()
    stale = [path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    assert [str(path.relative_to(DOCS)) for path in stale] == []
    drawn = (DOCS / "concepts" / "drawings").iterdir()
    assert [path for path in drawn if path not in files] == []
