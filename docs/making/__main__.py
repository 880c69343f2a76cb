"""Writes everything that documentation shows and programs make."""

from __future__ import annotations

from pathlib import Path

from docs.making.badges import badges
from docs.making.drawings import drawings
from docs.making.recording import recording
from docs.making.reference import api, command_line

DOCS = Path(__file__).resolve().parent.parent


def made() -> dict[Path, str]:
    """All files that are made, and what is in them."""
    pages = {DOCS / "reference" / "api.md": api(), DOCS / "reference" / "options.md": command_line()}
    pages[DOCS / "recording.svg"] = recording()
    pages |= {DOCS / "badges" / name: svg for name, svg in badges().items()}
    return pages | {DOCS / "concepts" / "drawings" / name: svg for name, svg in drawings().items()}


if __name__ == "__main__":
    for path, text in made().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        print(path.relative_to(DOCS.parent))
