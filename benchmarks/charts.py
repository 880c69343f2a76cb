"""Plots drawn to PNG and SVG with matplotlib, without a screen.

One look for all: colours that people with any colour vision tell apart (after Okabe and Ito), a series named beside its
end where there is room for lines and above the data otherwise, spread as bars, what a time limit ended as hollow marks.
Charts are left out, with a word in the report, where matplotlib is absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import Part, Plot, Series

ABSENT = "charts: matplotlib is not installed (pip install 'millstream[bench]')"
OURS = ("#0072B2", "#56B4E9", "#003F66")
OTHERS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#5B5B5B", "#8C6D1F", "#8B1A1A")
MARKS = ("s", "^", "D", "v", "P", "X", "*")
PEERS = ("S-Rev", "pyoxigraph", "DuckDB", "pyoxigraph, every hundred", "rdflib", "Pathway")
MOST_TICKS = 8
FEW_POWERS = 300
INK, FAINT = "#262626", "#D9D9D9"
_STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": "#8C8C8C",
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "svg.hashsalt": "millstream",
    "svg.fonttype": "none",
}


def draw(part: Part, folder: Path) -> list[str]:
    """Draws all plots of a part; gives the names of the PNG files, each with an SVG of the same name beside it."""
    if not part.plots:
        return []
    try:
        import matplotlib
    except ModuleNotFoundError:
        part.missing.append(ABSENT)
        return []
    matplotlib.use("Agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for number, plot in enumerate(part.plots, 1):
        with pyplot.rc_context(_STYLE):
            figure = _figure(pyplot, plot)
            name = f"{part.name}-{number}"
            figure.savefig(folder / f"{name}.png", dpi=120, metadata={"Software": None})
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            pyplot.close(figure)
        names.append(f"{name}.png")
    return names


def styles(series: Sequence[Series]) -> dict[str, tuple[str, str, float]]:
    """Colour, mark and width of each: ours are blue and stand out, whatever else is drawn."""
    found: dict[str, tuple[str, str, float]] = {}
    names = [one.name for one in series]
    # A peer looks the same in every chart; whoever is not known takes what is left.
    taken = {PEERS.index(name) for name in names if name in PEERS}
    free = (*(place for place in range(len(OTHERS)) if place not in taken), *range(len(OTHERS)))
    own = others = 0
    for name in names:
        if name.startswith("millstream"):
            found[name] = (OURS[own % len(OURS)], "o", 2.4)
            own += 1
        elif name in PEERS:
            found[name] = (OTHERS[PEERS.index(name)], MARKS[PEERS.index(name)], 1.5)
        else:
            place = free[others % len(free)]
            found[name] = (OTHERS[place], MARKS[place], 1.5)
            others += 1
    return found


def _figure(pyplot: Any, plot: Plot) -> Any:
    kinds = [x for series in plot.series for x in series.xs if isinstance(x, str)]
    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    if plot.log_x and not kinds:
        axes.set_xscale("log")
    if plot.log_y:
        axes.set_yscale("log")
    else:
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.12g}")
    look = styles(plot.series)
    if kinds:
        _beside(axes, plot.series, list(dict.fromkeys(kinds)), look)
    else:
        _lines(axes, plot.series, look)
        _tick_where_measured(axes, plot.series)
    if plot.log_y:
        _tick_plainly(axes.yaxis, axes.get_ylim())
    axes.set_title(plot.title, pad=12)
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    if not plot.log_y:
        axes.set_ylim(bottom=0)
    notes = [plot.note] if plot.note else []
    if any(
        stopped and y is not None for series in plot.series for y, stopped in zip(series.ys, series.stopped, strict=False)
    ):
        notes.append("hollow: ended by a time limit, the value until then")
    if _cross_out(axes, plot, look, list(dict.fromkeys(kinds))):
        notes.append("x: nothing within the limit")
    if notes:
        figure.supxlabel("; ".join(notes), fontsize=8, color="#5B5B5B", x=0.01, ha="left")
    if kinds or len(plot.series) > 8:
        figure.legend(loc="outside right upper", frameon=False, handlelength=1.2)
    elif len(plot.series) > 1 or plot.series[0].name not in plot.title:
        _name_ends(figure, axes, plot.series, look)
    return figure


def _points(series: Series, places: Sequence[float]) -> list[tuple[float, float, float, float, bool]]:
    """Place, value, and how far spread goes below and above it, of what was measured."""
    found = []
    for i, y in enumerate(series.ys):
        if y is None:
            continue
        low, high = (side[i] if side and side[i] is not None else y for side in (series.low, series.high))
        stopped = bool(series.stopped and series.stopped[i])
        found.append((places[i], y, max(0.0, y - (low or 0)), max(0.0, (high or 0) - y), stopped))
    return found


def _draw(axes: Any, series: Series, places: Sequence[float], look: tuple[str, str, float], line: bool) -> None:
    colour, mark, width = look
    points = _points(series, places)
    if not points:
        axes.plot([], [], color=colour, marker=mark, label=f"{series.name} (none)", linestyle="")
        return
    xs, ys, below, above, _ = zip(*points, strict=True)
    axes.errorbar(
        *(xs, ys),
        yerr=(below, above) if any(below) or any(above) else None,
        color=colour,
        marker=mark,
        markersize=6,
        linewidth=width,
        elinewidth=1,
        capsize=2,
        linestyle="-" if line else "",
        label=series.name,
    )
    hollow = [(x, y) for x, y, _, _, stopped in points if stopped]
    if hollow:
        axes.plot(*zip(*hollow, strict=True), color=colour, marker=mark, markerfacecolor="white", linestyle="", zorder=5)


def _cross_out(axes: Any, plot: Plot, look: dict[str, tuple[str, str, float]], kinds: list[str]) -> bool:
    """Crosses at the worse end of the axis for those of which a limit left nothing; whether there are any."""
    above = axes.get_xaxis_transform()
    seen: dict[float, int] = {}
    for series in plot.series:
        for x, y, stopped in zip(series.xs, series.ys, series.stopped, strict=False):
            if y is None and stopped:
                place = float(kinds.index(str(x))) if kinds else float(str(x))
                turn = seen[place] = seen.get(place, 0) + 1
                height = 1.02 - 0.045 * turn if plot.less_is_better else -0.02 + 0.045 * turn
                axes.plot([place], [height], marker="x", markeredgewidth=2, color=look[series.name][0], transform=above)
    return bool(seen)


def _lines(axes: Any, all_series: Sequence[Series], look: dict[str, tuple[str, str, float]]) -> None:
    for series in all_series:
        _draw(axes, series, [float(x) for x in series.xs], look[series.name], line=True)


def _tick_where_measured(axes: Any, all_series: Sequence[Series]) -> None:
    """Sizes as they were chosen instead of powers in between, if there are few enough to be read."""
    xs = sorted({float(x) for series in all_series for x in series.xs})
    if len(xs) <= MOST_TICKS:
        axes.set_xticks(xs, [f"{x:,g}" if x < 1e6 else f"{x / 1e6:,.3g} M" for x in xs])
        axes.set_xticks([], minor=True)


def _tick_plainly(axis: Any, limits: tuple[float, float]) -> None:
    """Numbers instead of powers where a logarithmic axis is so short that it would show few powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = limits
    if high < FEW_POWERS * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
        axis.set_minor_formatter(NullFormatter())


def _beside(axes: Any, all_series: Sequence[Series], kinds: list[str], look: dict[str, tuple[str, str, float]]) -> None:
    """Marks side by side within a kind: on a logarithmic axis the length of a bar would mean nothing."""
    step = 0.7 / max(1, len(all_series))
    for number, series in enumerate(all_series):
        shift = (number - (len(all_series) - 1) / 2) * step
        _draw(axes, series, [kinds.index(str(x)) + shift for x in series.xs], look[series.name], line=False)
    # Long or many names lean, or they would run into each other.
    crowded = sum(map(len, kinds)) + len(kinds) > 70
    axes.set_xticks(range(len(kinds)), kinds, **({"rotation": 35, "ha": "right"} if crowded else {}))
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    for edge in range(len(kinds) - 1):
        axes.axvline(edge + 0.5, color=FAINT, linewidth=0.6)


def _name_ends(figure: Any, axes: Any, all_series: Sequence[Series], look: dict[str, tuple[str, str, float]]) -> None:
    """Each name right of the last point of its line, names that would cover each other moved apart."""
    figure.canvas.draw()
    ends = []
    for series in all_series:
        points = _points(series, [float(x) for x in series.xs])
        if points:
            x, y = points[-1][:2]
            ends.append([axes.transData.transform((x, y))[1], series.name, x, y])
    if not ends:
        return
    ends.sort()
    least = 15 * figure.dpi / 100
    for height, (wanted, name, x, y) in zip(spread([end[0] for end in ends], least), ends, strict=True):
        shift = (height - wanted) * 72 / figure.dpi
        axes.annotate(
            name,
            (x, y),
            xytext=(10, shift),
            textcoords="offset points",
            va="center",
            color=look[name][0],
            fontweight="bold" if name.startswith("millstream") else "normal",
            annotation_clip=False,
        )


def spread(wanted: Sequence[float], least: float) -> list[float]:
    """Places at least so far apart, in the same order, as near to the wanted ones as can be."""
    piles: list[list[float]] = []
    starts: list[float] = []
    for place in wanted:
        piles.append([place])
        starts.append(place)
        while len(piles) > 1 and starts[-2] + len(piles[-2]) * least > starts[-1]:
            pile = piles.pop(-2) + piles.pop()
            piles.append(pile)
            starts[-2:] = [sum(place - i * least for i, place in enumerate(pile)) / len(pile)]
    return [start + i * least for start, pile in zip(starts, piles, strict=True) for i in range(len(pile))]
