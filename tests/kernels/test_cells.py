"""Rows of tables: cells where they lie in memory, against the same text line by line; elements against lists of them, and
repeats in them against sets.
"""

import random

import numpy as np
import pytest

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.repeats import element_places, repeats
from millstream.kernels.scanning.table_scanner import TableScanner

SUBJECTS = ["<http://a/1>", "<http://a/2>", "_:b", "<http://a/#é>"]
PREDICATES = ["<http://a/p>", "<http://a/q>"]
OBJECTS = [
    *SUBJECTS,
    '"x"',
    '"x # y ."',
    '"a\\nb"@en',
    '"1.5"^^<http://www.w3.org/2001/XMLSchema#decimal>',
    f'"{"y" * 70_000}"',
]
BAD = [
    "",
    " ",
    "<http://a/1",
    '"x',
    "x",
    "<http://a/1> .",
    " <http://a/1>",
    '"x"\n',
    "<a> <b> <c> . #",
    "<http://a/1> . #",
    '"x\xff',
]


def column(texts, kind=np.int32, before=b""):
    """Texts as Arrow has them, perhaps from the middle of a column."""
    found = [before, *(text.encode("latin-1" if "\xff" in text else "utf-8") for text in texts)]
    return np.cumsum([len(text) for text in found]).astype(kind), b"".join(found)


def read(columns, rows, dictionary):
    found = TableScanner(dictionary, scope="t").cells(columns, rows)
    return (
        None
        if found is None
        else list(zip(found.s.tolist(), found.p.tolist(), found.o.tolist(), found.index.tolist(), strict=True))
    )


@pytest.mark.parametrize("seed", range(60))
def test_cells_are_read_as_lines_of_them_are(seed):
    chance = random.Random(seed)
    size = chance.choice((0, 1, 3, 50, 3000))
    table = [
        [chance.choice(terms) for _ in range(size)] for terms in (SUBJECTS, PREDICATES, OBJECTS[: chance.choice((4, 9))])
    ]
    bad = size and chance.random() < 0.5
    if bad:
        chance.choice(table)[chance.randrange(size)] = chance.choice(BAD)
    dictionary = Dictionary()
    columns = [column(cells, chance.choice((np.int32, np.int64)), chance.choice((b"", b"<z"))) for cells in table]
    found = read(columns, size, dictionary)
    if bad:
        assert found is None
        return
    lines = "".join(f"{s} {p} {o} .\n" for s, p, o in zip(*table, strict=True)).encode()
    expected = TableScanner(dictionary, scope="t").feed(lines, True)
    assert not expected.errors
    triples = (expected.s.tolist(), expected.p.tolist(), expected.o.tolist())
    assert found == list(zip(*triples, range(size), strict=True))


LEXICAL = [
    "",
    "1.5",
    "x",
    "é",
    "a\\nb",
    "a\\u0041",
    "a'b",
    "\\'",
    "tab\there",
    "\x7f",
    '"',
    '""',
    "\\",
    '"^^<x:d>',
    "y" * 40,
    "\n",
]
TAILS = [
    '"',
    '"@en',
    '"@EN',
    '"@en-',
    '"^^<x:d>',
    '"^^<x:>d',
    '"^^<x:d',
    '" ^^<x:d>',
    '"^^<http://www.w3.org/2001/XMLSchema#integer>',
]
TAILS += ['"^^<http://www.w3.org/2001/XMLSchema#string>', '"^^', '"@', " ", '"^^<x:d> ']


def test_a_literal_after_another_is_read_as_it_is_alone():
    literals = ['"' + lexical + tail for tail in TAILS for lexical in LEXICAL]
    s, p = column(["<http://a/1>"] * 2), column(["<http://a/p>"] * 2)
    one = [(ends[:2], data) for ends, data in (s, p)]
    dictionary = Dictionary()
    alone = {o: read([*one, column([o])], 1, dictionary) for o in literals}
    assert sum(found is not None for found in alone.values()) > len(literals) // 3
    for before in literals:
        for o in literals if alone[before] else ():
            found = read([s, p, column([before, o])], 2, dictionary)
            expected = alone[before] + [(*row[:3], 1) for row in alone[o]] if alone[o] else None
            assert found == expected, (before, o)


def test_cells_beyond_their_bytes_are_none():
    good = column(["<http://a/1>"] * 2)
    for ends in ([0, 12, 25], [0, 12, 11], [-1, 12, 24], [0, 1 << 40, 24]):
        cells = (np.array(ends, np.int64), good[1])
        assert read([cells, good, good], 2, Dictionary()) is None
        assert read([good, good, cells], 2, Dictionary()) is None


def test_columns_of_another_length_are_refused():
    good = column(["<http://a/1>"] * 2)
    for columns, rows in (([good, good], 2), ([good] * 3, 1), ([good] * 3, 3), ([good] * 3, -1)):
        with pytest.raises(ValueError, match=r"expected|rows have"):
            read(columns, rows, Dictionary())


@pytest.mark.parametrize("seed", range(30))
def test_repeats_are_what_a_set_has_already(seed):
    chance = random.Random(seed)
    element, triples = [], []
    for number in range(chance.choice((0, 1, 5, 40))):
        for _ in range(chance.choice((0, 1, 2, 10, 24, 25, 200))):
            element.append(2 * number)
            triples.append([chance.randrange(4) for _ in range(3)])
    seen, expected = set(), []
    for row in zip(element, map(tuple, triples), strict=True):
        expected.append(row in seen)
        seen.add(row)
    found = repeats(np.array(element, np.int64), np.array(triples, np.int64).reshape(-1, 3))
    assert found.tolist() == expected


def test_repeats_are_of_triples():
    with pytest.raises(ValueError, match="3 rows of 3 columns"):
        repeats(np.zeros(3, np.int64), np.zeros((2, 3), np.int64))
    with pytest.raises(ValueError, match="2 rows of 3 columns"):
        repeats(np.zeros(2, np.int64), np.zeros((2, 2), np.int64))


@pytest.mark.parametrize("seed", range(20))
def test_places_are_those_of_the_elements_that_rows_make_up(seed):
    chance = random.Random(seed)
    elements = [(chance.randrange(-3, 3), chance.choice((1, 1, 2, 10))) for _ in range(chance.choice((0, 1, 5, 40)))]
    times = [at_ms for at_ms, size in elements for _ in range(size)]
    begins = [row == 0 for _, size in elements for row in range(size)]
    found = element_places(np.array(begins, np.uint8), np.array(times, np.int64), -3, 3)
    expected = [place for place, (_, size) in enumerate(elements) for _ in range(size)]
    assert [column.tolist() for column in found] == [expected, [a for a, _ in elements], [size for _, size in elements]]
    inner = [row for row, begin in enumerate(begins) if not begin]
    if inner:
        times[chance.choice(inner)] += 1
        assert element_places(np.array(begins, np.uint8), np.array(times, np.int64), -3, 3) is None


def test_rows_without_an_element_are_refused():
    with pytest.raises(ValueError, match="begins no element"):
        element_places(np.zeros(1, np.uint8), np.zeros(1, np.int64), 0, 1)
    with pytest.raises(ValueError, match="2 rows, but 1 times"):
        element_places(np.ones(2, np.uint8), np.zeros(1, np.int64), 0, 1)


@pytest.mark.parametrize(("lowest", "highest"), [(2, 9), (0, 8)])
def test_elements_outside_of_time_are_no_elements(lowest, highest):
    begins, times = np.array([1, 0, 1], np.uint8), np.array([1, 1, 9], np.int64)
    assert element_places(begins, times, 1, 9) is not None
    assert element_places(begins, times, lowest, highest) is None
