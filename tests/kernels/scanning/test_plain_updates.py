"""Plain statements of SPARQL Update data: what the kernel takes, where it stops, and what it is handed by mistake."""

from __future__ import annotations

import pytest

from millstream.kernels.scanning.plain_updates import take_plain

A, B = "<http://e/a> <http://e/p> <http://e/b>", '<http://e/a> <http://e/p> "b"@en'


def taken(text: str, depth: int = 0, graph: str = "") -> tuple[str, list[int], str, int, int]:
    """Lines, signs, what is left, how many braces are open there, and how many operations were opened."""
    data = text.encode()
    lines, signs, position, left_open, _, opened = take_plain(data, 0, depth, 1, graph.encode(), 4096)
    return lines.decode(), [sign - 256 if sign > 127 else sign for sign in signs], text[position:], left_open, opened


def test_operations_are_taken_with_their_statements() -> None:
    text = f"INSERT DATA {{ {A} . {B} }} ;\ndelete data{{{A}.}}"
    assert taken(text) == (f"{A} .\n{B} .\n{A} .\n", [1, 1, -1], "", 0, 2)


def test_it_stops_before_what_is_not_plain() -> None:
    odd = "<http://e/a> a <http://e/b> . }"
    assert taken(f"INSERT DATA {{ {A} . {odd}") == (f"{A} .\n", [1], f" {odd}", 1, 1)
    assert taken(f"{A} . }} # and so on", depth=1) == (f"{A} .\n", [1], " # and so on", 0, 0)


def test_a_graph_ends_with_its_brace() -> None:
    assert taken(f"{A} }} {B} }}", depth=2, graph="<g:g>") == (f"{A} <g:g> .\n{B} .\n", [1, 1], "", 0, 0)


def test_any_text_may_end_anywhere() -> None:
    text = f'INSERT DATA {{ {A} . {B} . <http://e:80/a?b#c> <http://e/p> "1"^^<http://www.w3.org/2001/XMLSchema#int> }}'
    for end in range(len(text)):
        lines, _, left, _, _ = taken(text[:end])
        assert text[:end].endswith(left)
        assert lines.count("\n") <= 3
    assert taken(text)[0].count("\n") == 3
    assert taken(text.replace("}", "\0"))[3] == 1


def test_a_place_outside_of_the_text_is_refused() -> None:
    for position, depth in ((-1, 0), (3, 0), (0, -1)):
        with pytest.raises(ValueError, match="within"):
            take_plain(b"ab", position, depth, 1, b"", 10)
