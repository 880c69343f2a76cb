"""Power meters of family houses after the SEAS data set: observations of a data cube, twenty triples each.

Every meter reports each five minutes. Of the two queries of the SPECTRA paper the second is selective: a voltage whose
crest factor is below 1.2 is rare.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from benchmarks.workloads.elements import Element, Workload
from benchmarks.workloads.patterns import TYPE, XSD, Patterns, windowed

STREAM = "http://example.org/meters"
PERIOD_MS = 300_000
METERS = 100
TRIPLES = 20
"""Of an observation."""
_BLOCK = 2_000
_MEASURES = "http://purl.org/NET/seas/measures#"
_CUBE = "http://purl.org/linked-data/cube#"
_SEAS = "http://purl.org/NET/seas#"
_BEGIN = np.datetime64("2013-01-01T00:00:00", "s")


def _m(name: str) -> str:
    return f"<{_MEASURES}{name}>"


PATTERNS: Patterns = [
    ("?obs", _m("V_RMS"), "?rm"),
    ("?obs", _m("V_THD"), "?thd"),
    ("?obs", _m("V_CF"), "?cf"),
    ("?obs", _m("W"), "?watt"),
    ("?obs", _m("Wh"), "?watth"),
    ("?obs", _m("DPF"), "?vah"),
]
SELECTIVE = "FILTER (?watt > 10 && ?cf < 1.2)"
# Measure, mean, deviation, in hundredths of its unit.
_DRAWN = (
    ("V_RMS", 23_000, 350),
    ("V_THD", 230, 60),
    ("V_CF", 141, 12),
    ("A_RMS", 310, 90),
    ("A_THD", 1_400, 400),
    ("A_CF", 180, 25),
    ("W", 6_000, 5_000),
    ("VA", 9_000, 2_500),
    ("VAR", 4_000, 1_500),
    ("DPF", 92, 5),
    ("APF", 88, 6),
    ("Freq", 5_000, 3),
)


def queries(window: str = "RANGE 1h") -> dict[str, str]:
    return {
        "Q1": windowed(PATTERNS, window, STREAM),
        "Q2": windowed(PATTERNS, window, STREAM, SELECTIVE),
    }


def elements(triples: int, seed: int = 1, meters: int = METERS) -> Iterator[Element]:
    """Observations in order of time, the meters of a period after another."""
    random = np.random.default_rng(seed)
    count = -(-triples // TRIPLES)
    watt_hours, reactive_hours = np.zeros(meters, np.int64), np.zeros(meters, np.int64)
    for first in range(0, count, _BLOCK):
        number = np.arange(first, min(first + _BLOCK, count))
        at_ms = number // meters * PERIOD_MS + number % meters * (PERIOD_MS // meters)
        moment = np.datetime_as_string(_BEGIN + at_ms // 1000).tolist()
        drawn = {name: _hundredths(random.normal(mean, spread, len(number))) for name, mean, spread in _DRAWN}
        # Counters only go up, each meter's by what it measured.
        wh, varh = np.empty(len(number)), np.empty(len(number))
        for i, meter in enumerate((number % meters).tolist()):
            watt_hours[meter] += int(drawn["W"][i] * 100 / 12)
            reactive_hours[meter] += int(drawn["VAR"][i] * 100 / 12)
            wh[i], varh[i] = watt_hours[meter], reactive_hours[meter]
        columns = [drawn[name].tolist() for name, _, _ in _DRAWN]
        rows = zip(
            number.tolist(),
            at_ms.tolist(),
            moment,
            _hundredths(wh).tolist(),
            _hundredths(varh).tolist(),
            *columns,
            strict=True,
        )
        for n, at, when, energy, reactive, *values in rows:
            yield Element(STREAM, at, _observation(n, n % meters, when, energy, reactive, *values))


def _hundredths(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Decimals of two digits that do not end in a zero: spelled as they are written canonically."""
    whole = np.maximum(values, 1).astype(np.int64)
    found: npt.NDArray[np.float64] = (whole + (whole % 10 == 0)) / 100
    return found


def _observation(
    n: int,
    meter: int,
    when: str,
    wh: float,
    varh: float,
    v_rms: float,
    v_thd: float,
    v_cf: float,
    a_rms: float,
    a_thd: float,
    a_cf: float,
    w: float,
    va: float,
    var: float,
    dpf: float,
    apf: float,
    freq: float,
) -> str:
    s = f"<http://example.org/observation/{n}>"
    m, end = f"{s} <{_MEASURES}", f'"^^<{XSD}decimal> .\n'
    return (
        f"{s} {TYPE} <{_CUBE}Observation> .\n"
        f"{s} <{_CUBE}dataSet> <http://example.org/house/{meter}/power> .\n"
        f"{s} <{_SEAS}meter> <http://example.org/meter/{meter}> .\n"
        f"{s} <{_SEAS}house> <http://example.org/house/{meter}> .\n"
        f'{s} <{_SEAS}at> "{when}"^^<{XSD}dateTime> .\n'
        f'{s} <{_SEAS}period> "PT5M"^^<{XSD}dayTimeDuration> .\n'
        f'{m}V_RMS> "{v_rms}{end}{m}V_THD> "{v_thd}{end}{m}V_CF> "{v_cf}{end}'
        f'{m}A_RMS> "{a_rms}{end}{m}A_THD> "{a_thd}{end}{m}A_CF> "{a_cf}{end}'
        f'{m}W> "{w}{end}{m}VA> "{va}{end}{m}VAR> "{var}{end}'
        f'{m}DPF> "{dpf}{end}{m}APF> "{apf}{end}{m}Freq> "{freq}{end}'
        f'{m}Wh> "{wh}{end}{m}VARh> "{varh}{end}'
    )


METER_WORKLOAD = Workload("meters", queries(), elements)
