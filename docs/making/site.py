"""Hooks of MkDocs: files outside of docs/ that are pages too, and links as they are on GitHub made links of the site.

A page links to files by where they lie in the project, so that links work wherever the project is read. Here each is
followed: what is a page of the site is linked as one, what is no page loses its link and keeps its text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"

OUTSIDE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security-policy.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
}
"""Pages that lie elsewhere, and where the site has them."""
OUTSIDE |= {
    str(path.relative_to(ROOT)): str(path.relative_to(ROOT))
    for pattern in ("README.md", "*/README.md", "*/*.svg")
    for path in sorted((ROOT / "examples").glob(pattern))
}

_LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\((?P<target>[^)\s#]*)(?P<anchor>#[^)\s]*)?\)"
)
_ROW, _CODE = re.compile(r"^\|.*$", re.MULTILINE), re.compile(r"`[^`]*`")
_FENCED = re.compile(r"^```(\w*)[^\n]*(\n.*?^```)$", re.DOTALL | re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages from elsewhere."""
    from mkdocs.structure.files import File

    for name, uri in OUTSIDE.items():
        if (ROOT / name).exists():
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Makes the links of a page those of the site."""
    lies = Path(page.file.abs_src_path)
    return relinked(markdown, lies, page.file.src_uri, lambda uri: files.get_file_from_path(uri) is not None)


def relinked(markdown: str, lies: Path, uri: str, is_page: Any) -> str:
    """The text of a page that lies at a path of the project and has a place in the site, with its links as that needs."""

    def link(match: re.Match[str]) -> str:
        text = _LINK.sub(link, match["text"]) if "](" in match["text"] else match["text"]
        target = match["target"]
        if not target or "://" in target or target.startswith("mailto:"):
            return f"{match['image']}[{text}]({target}{match['anchor'] or ''})"
        there = Path(os.path.normpath(lies.parent / target))
        if not there.is_relative_to(ROOT):
            return ""  # GitHub's own: the state of a workflow
        place = _place(there)
        if place is None or not is_page(place):
            return text
        return f"{match['image']}[{text}]({os.path.relpath(place, Path(uri).parent)}{match['anchor'] or ''})"

    def prose(text: str) -> str:
        # A bar within code is escaped in tables of GitHub, and must not be in those of MkDocs.
        return _ROW.sub(lambda row: _CODE.sub(lambda code: code[0].replace(r"\|", "|"), row[0]), _LINK.sub(link, text))

    parts = []
    end = 0
    for block in _FENCED.finditer(markdown):
        # What a block says to the tests is no word to MkDocs.
        parts += [prose(markdown[end : block.start()]), f"```{block[1]}{block[2]}"]
        end = block.end()
    return "".join([*parts, prose(markdown[end:])])


def _place(path: Path) -> str | None:
    """Where the site has what lies at a path, if it has."""
    if path.is_relative_to(DOCS):
        return str(path.relative_to(DOCS))
    return OUTSIDE.get(str(path.relative_to(ROOT)))
