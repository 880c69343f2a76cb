"""Terms of all spaces, many of them equal or nearly so, for tests of order."""

from hypothesis import strategies as st

XSD = "http://www.w3.org/2001/XMLSchema#"


def typed(lexical: str, name: str) -> str:
    return f'"{lexical}"^^<{XSD}{name}>'


NUMBERS = [
    *(typed(n, "integer") for n in ("0", "1", "-1", "2", "01", "+1", "10", "9007199254740992", "9007199254740993")),
    *(typed(n, "integer") for n in ("-0", "288230376151711743", "9223372036854775808", "-9" + "0" * 30)),
    *(typed(n, "decimal") for n in ("1.0", "1.50", "1.5", "0.1", "-0.1", "0.10000000000000000001", ".5", "2.")),
    *(
        typed(n, "double")
        for n in ("1.0E0", "1e0", "0.1", "-0", "0", "INF", "-INF", "NaN", "1e999", "9007199254740992", "1.5")
    ),
    *(typed(n, "float") for n in ("1", "0.1", "NaN", "-INF")),
    *(typed(n, "byte") for n in ("1", "10")),
    *(typed("1" + "0" * n, "integer") for n in (18, 19, 400)),
]
TEXTS = [
    *(
        f'"{text}"'
        for text in ("", "a", "b", "B", "ab", "aé", "é", "abcdefgh", "abcdefghi", "abcdefghj", "\U0001f600", "\uffee")
    ),
    *(f'"{text}"' for text in (r"a\nb", r"abcdefgh\"", r"\\", "abcdefgh!")),
    *(f'"{text}"@{language}' for text in ("a", "ab", "abcdefgh") for language in ("en", "de", "en-us")),
    '"a"^^<urn:t>',
    '"abcdefgh"^^<urn:t>',
    '"abcdefgh"^^<urn:u>',
    typed("x", "integer"),
    typed("", "double"),
    typed("5e", "double"),
]
MOMENTS = [
    *(
        typed(at + zone, "dateTime")
        for at in ("2020-01-01T00:00:00", "2020-01-01T00:00:00.5", "2020-01-01T00:00:00.5001", "2020-01-03T00:00:00")
        for zone in ("", "Z", "+01:00")
    ),
    typed("99999-01-01T00:00:00Z", "dateTime"),
    typed("-0001-01-01T00:00:00", "dateTime"),
    typed("2019-12-31T23:00:00Z", "dateTime"),
    typed("2019-12-31T24:00:00Z", "dateTime"),
]
CALENDAR = [
    *(typed(at, "date") for at in ("2020-01-01", "2020-01-02", "2020-01-01Z")),
    *(typed(at, "time") for at in ("10:00:00", "09:00:00Z", "10:00:00.5")),
    *(typed(at, "gYear") for at in ("2020", "2019", "2020Z")),
    *(typed(at, "gMonth") for at in ("--02", "--03")),
]
DURATIONS = [
    *(
        typed(length, "duration")
        for length in ("P1M", "P30D", "P31D", "P1D", "PT24H", "-P1D", "P1Y", "P12M", "P366D", "P5M")
    ),
    typed("P1M", "yearMonthDuration"),
    typed("PT24H", "dayTimeDuration"),
]
NAMES = [
    *(
        f"<{iri}>"
        for iri in ("http://a/b", "http://a/bc", "http://a/c", "http://a/", "http://a", "http://a0", "http://b/b", "urn:a")
    ),
    *("_:a", "_:b", "_:ab"),
]
BOOLEANS = [typed(b, "boolean") for b in ("true", "false", "1", "0")]
ALL = [*NUMBERS, *TEXTS, *MOMENTS, *CALENDAR, *DURATIONS, *NAMES, *BOOLEANS]

terms = st.sampled_from(ALL)
maybe_terms = st.one_of(st.none(), terms)
