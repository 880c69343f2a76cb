"""The short way for single elements: a triple goes straight to the joins of the queries that ask for it.

Columns pay off for many rows; for one they cost more than the join. A lane takes elements of a stream whose readers all
answer after every change and have only windows that end by time; it does what `QueryRun.elements` does, row by row.
Whatever else a stream or a query needs, it has no lane and takes the long way, with the same answers.
"""

from __future__ import annotations

from dataclasses import dataclass

from millstream.engine.feeds import TimeFeed
from millstream.engine.reporting import ChangeReporter
from millstream.engine.run import QueryRun
from millstream.kernels.dictionary import Dictionary
from millstream.operators.component import JoinComponent

Row = tuple[int, int, int, int]
"""Subject, predicate, object, and the statement's place in its element."""


@dataclass(frozen=True, slots=True)
class _Route:
    """Where a triple with some predicate goes, if its constants fit: a view of a join, by way of a window."""

    subject: int
    object: int
    same: bool
    position: int
    """Of the first variable: 0 or 2."""
    pair: bool
    component: JoinComponent
    view: int
    feed: TimeFeed


class Lane:
    """The way into one query."""

    def __init__(
        self, run: QueryRun, dictionary: Dictionary, routes: dict[int, list[_Route]], feeds: list[TimeFeed]
    ) -> None:
        self._run = run
        self._dictionary = dictionary
        self._routes = routes
        self._feeds = feeds

    def take(self, rows: list[Row], at_ms: int, at_tick: int, total: int) -> None:
        """One element of its stream."""
        run = self._run
        fed = found = 0
        if total:
            for feed in self._feeds:
                feed.see(at_ms)
        for s, p, o, _ in rows:
            for route in self._routes.get(p, ()):
                if (
                    (route.subject >= 0 and route.subject != s)
                    or (route.object >= 0 and route.object != o)
                    or (route.same and s != o)
                ):
                    continue
                if not fed:
                    fed = run.next_change()
                until = route.feed.end_of(at_ms)
                touch = self._dictionary.touch_one
                touch(s, until)
                touch(p, until)
                touch(o, until)
                first = s if route.position == 0 else o
                found += route.component.join.feed_one(route.view, first, o if route.pair else 0, at_tick, until, 1, fed)
        if found:
            run.operator.feed_rows(at_tick)
        run.move_to(at_tick, changed=found > 0)


def lane_for(run: QueryRun, stream: str, dictionary: Dictionary) -> Lane | None:
    """The lane of a query for a stream, if it can have one."""
    if not isinstance(run.reporter, ChangeReporter) or run.steps or run.has_first_change_ahead:
        return None
    routes: dict[int, list[_Route]] = {}
    feeds: list[TimeFeed] = []
    members = run.operator.plan.components
    component_of = {n: c for c, numbers in zip(run.operator.components, members, strict=True) for n in numbers}
    if not all(isinstance(c, JoinComponent) for c in run.operator.components):
        return None
    for feed, matcher, in_union in run.window_inputs(stream):
        if in_union or not isinstance(feed, TimeFeed) or matcher.has_tests or matcher.compares:
            return None
        feeds.append(feed)
        for number, (s, p, o), same in matcher.scanned:
            component = component_of[number]
            assert isinstance(component, JoinComponent)
            view = component.view_of(number)
            if view is None:
                return None
            pair = s < 0 and o < 0 and not same
            route = _Route(s, o, same, 0 if s < 0 else 2, pair, component, view, feed)
            routes.setdefault(p, []).append(route)
    return Lane(run, dictionary, routes, feeds)
