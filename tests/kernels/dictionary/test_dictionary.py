"""Ids of terms.

- round trips: every spelling that is valid comes back as pyoxigraph writes it, distinct terms have distinct ids;
- values: what is inlined compares and computes as Python's Fraction and datetime say;
- columns: Arrow in and out;
- dumps: the same ids in another dictionary.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from millstream.errors import DataError
from millstream.kernels.dictionary.dictionary import Dictionary, ForgottenError
from millstream.kernels.dictionary.kinds import KIND_SHIFT, Kind
from millstream.kernels.rows.definition import Definition
from millstream.kernels.rows.row_operations import Operation
from millstream.kernels.rows.row_program import RowProgram

relaxed = settings(deadline=None)  # other work on the machine must not fail a test

XSD = "http://www.w3.org/2001/XMLSchema#"


def typed(text: str, datatype: str) -> str:
    return f'"{text}"^^<{XSD}{datatype}>'


def ids_of(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


# Lexical forms around the borders of what is inlined: signs, zeros, leap days, midnight, zones, lengths.
digits = st.text("0123456789", min_size=1, max_size=21)
numbers = st.one_of(
    st.builds("{}{}".format, st.sampled_from(["", "-", "+", "0", "-0"]), digits),
    st.builds("{}{}.{}".format, st.sampled_from(["", "-", "+", "0"]), digits, st.text("0123456789", max_size=20)),
    st.integers(2**58 - 2, 2**58 + 2).map(str),
    st.integers(-(2**58) - 2, -(2**58) + 2).map(str),
    st.integers(2**53 - 2, 2**53 + 2).map(str),
    st.sampled_from(["", "-", ".", "0.", ".0", "-0", "-0.0", "0.0", "00", "1e3", "NaN", "99999999999999999999"]),
)
two = st.sampled_from(["00", "01", "02", "12", "13", "14", "15", "23", "24", "28", "29", "30", "31", "45", "59", "60", "7"])
datetimes = st.builds(
    "{}-{}-{}T{}:{}:{}{}{}".format,
    st.sampled_from(["2015", "2016", "1900", "2000", "0000", "0001", "9999", "10000", "-0001", "1970", "+2015"]),
    two, two, two, two, two,
    st.sampled_from(["", ".", ".0", ".5", ".50", ".500", ".999", ".001", ".0010", ".123456"]),
    st.sampled_from(["", "Z", "z", "+00:00", "-00:00", "+14:00", "-14:00", "+14:15", "+05:30", "-05:45", "+01:07"]),
)  # fmt: skip
literals = st.one_of(
    st.builds(typed, numbers, st.sampled_from(["integer", "decimal", "int", "double"])),
    st.builds(typed, datetimes, st.sampled_from(["dateTime", "dateTimeStamp"])),
    st.builds(typed, st.sampled_from(["true", "false", "0", "1", "TRUE", "", "true "]), st.just("boolean")),
    st.text(st.characters(exclude_categories=["Cs"])).map(ox.Literal).map(str),
    st.builds(
        lambda text, tag: str(ox.Literal(text, language=tag)),
        st.text(max_size=5),
        st.sampled_from(["en", "de-ch-1996"]),
    ),
)
terms = st.one_of(literals, st.sampled_from(["<http://a>", "<urn:x:y>", "_:b", "_:b.c", '"http://a"', '"_:b"']))


@relaxed
@given(st.lists(terms, max_size=30))
@example([typed("-0", "integer"), typed("0", "integer"), typed("0.0", "decimal"), typed("-0.0", "decimal")])
@example([typed("1", "integer"), typed("1", "decimal"), typed("1.0", "decimal"), typed("1.00", "decimal")])
def test_decoding_gives_back_what_was_encoded_and_distinct_terms_have_distinct_ids(batch: list[str]) -> None:
    dictionary = Dictionary()
    ids = dictionary.encode(batch)
    assert (ids >= 0).all()
    assert dictionary.decode(ids).to_pylist() == batch
    assert [dictionary.decode_one(i) for i in ids.tolist()] == batch
    assert len(set(ids.tolist())) == len(set(batch))
    assert dictionary.encode(batch).tolist() == ids.tolist()
    assert [dictionary.find(term) for term in batch] == ids.tolist()


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("<http://a>", Kind.IRI),
        ("_:b", Kind.BLANK),
        ('"x"', Kind.STRING),
        ('"x"@en', Kind.LANGUAGE),
        (typed("x", "date"), Kind.TYPED),
        (typed("-7", "integer"), Kind.INTEGER),
        (typed("01", "integer"), Kind.TYPED),
        (typed("+1", "integer"), Kind.TYPED),
        (typed("-0", "integer"), Kind.TYPED),
        (typed(str(2**58 - 1), "integer"), Kind.INTEGER),
        (typed(str(2**58), "integer"), Kind.TYPED),
        (typed(str(-(2**58)), "integer"), Kind.INTEGER),
        (typed("12.50", "decimal"), Kind.DECIMAL),
        (typed(".5", "decimal"), Kind.TYPED),
        (typed("1.", "decimal"), Kind.TYPED),
        (typed("-0.0", "decimal"), Kind.TYPED),
        (typed("true", "boolean"), Kind.BOOLEAN),
        (typed("1", "boolean"), Kind.TYPED),
        (typed("2016-02-29T23:59:59.120+05:30", "dateTime"), Kind.DATETIME),
        (typed("2015-02-29T00:00:00Z", "dateTime"), Kind.TYPED),
        (typed("2015-01-01T24:00:00Z", "dateTime"), Kind.TYPED),
        (typed("0000-01-01T00:00:00Z", "dateTime"), Kind.TYPED),
        (typed("-0001-01-01T00:00:00Z", "dateTime"), Kind.TYPED),
        (typed("2015-01-01T00:00:00.1234Z", "dateTime"), Kind.TYPED),
    ],
)
def test_only_forms_that_come_back_byte_for_byte_are_inlined(term: str, expected: Kind) -> None:
    dictionary = Dictionary()
    ids = dictionary.encode([term])
    assert (ids >> KIND_SHIFT).tolist() == [expected]
    assert dictionary.stats()["live"] == (expected <= Kind.TYPED)
    assert dictionary.decode_one(int(ids[0])) == term


def test_an_unbound_id_has_its_own_kind_and_decodes_to_null() -> None:
    dictionary = Dictionary()
    ids = ids_of(-1, dictionary.encode_one("<http://a>"), -1)
    assert (ids >> KIND_SHIFT).tolist() == [-1, Kind.IRI, -1]
    assert dictionary.decode(ids).to_pylist() == [None, "<http://a>", None]
    assert dictionary.texts(ids) == [None, "<http://a>", None]


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        (r'"\u0041\'"', '"A\'"'),
        ('"tab\t"', r'"tab\t"'),
        ('"\x00\x7f\ufffe\uffff"', r'"\u0000\u007F\uFFFE\uFFFF"'),
        ('"x"@EN-us', '"x"@en-us'),
        (f'"x"^^<{XSD}string>', '"x"'),
        ('"x" ^^ <http://a>', '"x"^^<http://a>'),
        (r"<http://a/\u00e9>", "<http://a/é>"),
        (r'"\U0001F600"^^<http://a/\u00e9>', '"😀"^^<http://a/é>'),
    ],
)
def test_all_spellings_of_a_term_have_one_id(spelling: str, canonical: str) -> None:
    dictionary = Dictionary()
    assert dictionary.encode_one(spelling) == dictionary.encode_one(canonical.encode())
    assert dictionary.decode_one(dictionary.find(spelling)) == canonical


def test_every_character_is_written_as_pyoxigraph_writes_it() -> None:
    dictionary = Dictionary()
    step = 31  # every character below U+0400 and of the specials, a sample of the others
    codes = [*range(0x400), *range(0x400, 0xD800, step), *range(0xE000, 0xFF00, step), *range(0xFF00, 0x10100)]
    codes += range(0x10100, 0x110000, step)
    expected = [str(ox.Literal(chr(code))) for code in codes]
    assert dictionary.decode(dictionary.encode([f'"\\U{code:08X}"' for code in codes])).to_pylist() == expected


subtags = st.sampled_from(
    "en zh x i a u sgn min nan GB oed be fr latn 1901 abcde 12345678 123456789 419 1ab ab1 a1b2 co klingon 12ab".split()
)


@relaxed
@given(st.lists(subtags, min_size=1, max_size=5).map("-".join))
def test_the_same_language_tags_are_legal_as_in_pyoxigraph(tag: str) -> None:
    dictionary = Dictionary()
    try:
        expected = str(ox.Literal("x", language=tag))
    except ValueError:
        expected = None
    if expected is None or tag[0].isdigit():
        with pytest.raises(DataError):
            dictionary.encode_one(f'"x"@{tag}')
    else:
        assert dictionary.decode_one(dictionary.encode_one(f'"x"@{tag}')) == expected


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        ("", "a term starts with"),
        ("http://a", "a term starts with"),
        ("<a>", "scheme"),
        ("<http://a b>", "not an IRI"),
        ("<http://a", "closing '>'"),
        ('"x', "closing quote"),
        ('"x"y', "follows"),
        ("<http://a> ", "follows"),
        ('"\n"', "closing quote"),
        ('"x"@en--ltr', "base directions"),
        ("<<( <a:> <a:> <a:> )>>", "triple terms"),
        ('"x"@', "language tag"),
        ('"x"^^y', "an IRI must follow"),
        (r'"\uD800"', "escape"),
        ("\ud800", "surrogate"),
        (b'"\xff"', "UTF-8"),
        ("_:-", "label"),
        ('"x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>', "langString"),
    ],
)
def test_what_is_no_term_is_refused_with_the_reason(term: str | bytes, reason: str) -> None:
    with pytest.raises(DataError, match=reason.replace("'", ".")):
        Dictionary().encode_one(term)


@relaxed
@given(st.binary(max_size=40))
def test_arbitrary_bytes_never_crash(data: bytes) -> None:
    dictionary = Dictionary()
    for text in (
        data,
        b'"' + data + b'"',
        b"<http://" + data + b">",
        b"_:" + data,
        b'"x"@' + data,
        b'"x"^^<a:' + data + b">",
    ):
        try:
            term_id = dictionary.encode_one(text)
        except DataError:
            continue
        assert dictionary.encode_one(dictionary.decode_one(term_id)) == term_id


# Values.


def value_of(term: str) -> Fraction | datetime | bool | None:
    """What a canonical literal means, by the standard library; None for what has no order here."""
    text, _, datatype = term[1:-1].partition(f'"^^<{XSD}')
    match datatype:
        case "integer" | "decimal":
            return Fraction(text)
        case "boolean":
            return text == "true"
        case "dateTime":
            return datetime.fromisoformat(text)
    return None


cleaner = st.one_of(
    st.integers(-(2**58), 2**58 - 1).map(lambda n: typed(str(n), "integer")),
    st.integers(-9, 9).map(lambda n: typed(str(n), "integer")),
    st.decimals(-99, 99, places=3).map(lambda d: typed(f"{d:f}", "decimal")),
    st.decimals(-9, 9, places=1).map(lambda d: typed(f"{d:f}", "decimal")),
    st.integers(-(2**53), 2**53 - 1).map(lambda n: typed(f"{n}", "decimal")),
    st.booleans().map(lambda b: typed(str(b).lower(), "boolean")),
    st.builds(
        lambda at, zone: typed(at.replace(tzinfo=zone).isoformat(timespec="milliseconds"), "dateTime"),
        st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)),
        st.sampled_from([None, UTC, timezone(timedelta(hours=14)), timezone(-timedelta(hours=5, minutes=30))]),
    ),
)


def compares(dictionary: Dictionary, operation: int, left: int, right: int) -> bool:
    """Whether the ids alone say so."""
    steps = [(Operation.COLUMN, 0), (Operation.COLUMN, 1), (operation, 0), (Operation.TEST, 0)]
    program = RowProgram(dictionary, 2, steps, [], [Definition(dictionary, lambda ids: -1, [])])
    return len(program.run(np.array([[left, right]], np.int64))[1]) == 1


@relaxed
@given(cleaner, cleaner)
@example(typed("1", "integer"), typed("1.0", "decimal"))
@example(typed("288230376151711743", "integer"), typed("0.000000000000000001", "decimal"))
@example(typed("2015-01-01T00:00:00Z", "dateTime"), typed("2015-01-01T05:30:00+05:30", "dateTime"))
def test_inlined_values_compare_as_their_values(left: str, right: str) -> None:
    dictionary = Dictionary()
    a, b = dictionary.encode_one(left), dictionary.encode_one(right)
    x, y = value_of(left), value_of(right)
    comparable = min(a, b) >> KIND_SHIFT >= Kind.INTEGER and type(x) is type(y)
    if isinstance(x, datetime) and isinstance(y, datetime):
        comparable &= (x.tzinfo is None) == (y.tzinfo is None)
    assert compares(dictionary, Operation.LESS, a, b) == (comparable and x < y)  # type: ignore[operator]
    assert compares(dictionary, Operation.GREATER, a, b) == (comparable and x > y)  # type: ignore[operator]
    if comparable:
        assert compares(dictionary, Operation.EQUAL, a, b) == (x == y)


# Columns and dumps.


@pytest.mark.parametrize("column_type", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_arrow_columns_are_encoded_with_nulls_and_offsets(column_type: pa.DataType) -> None:
    dictionary = Dictionary()
    texts = ["<http://skipped>", '"x"', None, typed("5", "integer"), '"x"']
    column = pa.array(texts, pa.string()).cast(column_type)[1:]
    ids = dictionary.encode_column(column)
    assert ids.tolist() == dictionary.encode_column(pa.chunked_array([column[:2], column[2:]])).tolist()
    assert dictionary.decode(ids).to_pylist() == texts[1:]
    assert dictionary.find("<http://skipped>") == -1
    assert dictionary.encode_column(pa.array([None, None], pa.string())).tolist() == [-1, -1]


def test_finding_adds_nothing() -> None:
    dictionary = Dictionary()
    assert dictionary.find("<http://a>") == -1
    assert dictionary.find(typed("5", "integer")) >= 0
    assert dictionary.stats()["live"] == 0


@pytest.mark.parametrize("term_id", [-1, 5, 1 << 62, 9 << 59, (1 << 63) - 1])
def test_an_id_that_was_never_given_out_is_an_error(term_id: int) -> None:
    with pytest.raises(ForgottenError):
        Dictionary().decode_one(term_id)


def test_a_dump_restores_the_same_ids() -> None:
    dictionary = Dictionary()
    ids = dictionary.encode(["<http://a>", '"b"', "_:c", '"d"@en', typed("e", "date"), '"' + "long" * 1000 + '"'])
    dictionary.touch(ids[:1], 50)
    dictionary.touch(ids[1:2], 5)
    dictionary.hold(ids[2:])
    dictionary.hold(ids[2:3])
    dictionary.forget_before(10)
    dictionary.settle()
    dumped = dictionary.dump()
    assert dumped[0].tolist() == [ids[0], *ids[2:]]
    assert dumped[3].tolist() == [0, 2, 1, 1, 1]
    copy = Dictionary()
    copy.load(*dumped, mark=dictionary.mark)
    assert copy.decode(dumped[0]).to_pylist() == dumped[1].to_pylist()
    assert copy.encode(dumped[1].to_pylist()).tolist() == dumped[0].tolist()
    again = copy.dump()
    assert [column.tolist() for column in (again[0], again[2], again[3])] == [
        column.tolist() for column in (dumped[0], dumped[2], dumped[3])
    ]
    fresh = copy.encode_one("<http://new>")
    assert fresh not in dumped[0].tolist()


def test_only_a_dump_can_be_loaded_and_only_once() -> None:
    dictionary = Dictionary()
    one = ids_of(0)
    with pytest.raises(ValueError, match="as many ids"):
        dictionary.load(one, pa.array([], pa.string()), one, one, 0)
    with pytest.raises(ValueError, match="not from a dump"):
        dictionary.load(ids_of(5 << 59), pa.array(["<http://a>"]), one, one, 0)
    with pytest.raises(ValueError, match="not from a dump"):
        Dictionary().load(one, pa.array(['"x"']), one, one, 0)
    dictionary.load(one, pa.array(["<http://a>"]), one, ids_of(1), 0)
    with pytest.raises(ValueError, match="without terms"):
        dictionary.load(one, pa.array(["<http://a>"]), one, one, 0)
