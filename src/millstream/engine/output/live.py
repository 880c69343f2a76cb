"""A query's answers in a notebook as they move: a widget over the console's own view of answers.

The widget looks at the answer set now and then, and sends it where it has changed; the page finds what came and went. So it
takes nothing from whoever calls `take`, and works for every output.
"""

from __future__ import annotations

import json
import threading
import time
import weakref
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pyoxigraph import Literal

from millstream.errors import MillstreamError, OptionError
from millstream.language.algebra import Form
from millstream.output.terms import term_json

if TYPE_CHECKING:
    from millstream.engine.queries.query import ContinuousQuery

EVERY_S = 0.25
_SHARE = 10
"""Looking takes at most one in so many seconds."""


def bindings_of(query: ContinuousQuery) -> list[Any]:
    """The answer set of a query now as solutions, whatever its form is."""
    found = query.solutions()
    match query.query.form:
        case Form.CONSTRUCT:
            return [{"subject": t.subject, "predicate": t.predicate, "object": t.object} for t in found]
        case Form.ASK:
            return [{"boolean": Literal(bool(found))}]
    return list(found)


def live(query: ContinuousQuery) -> Any:
    """A widget that shows the answers of a query until it is closed."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise OptionError(f"query.live() needs {error.name}: pip install 'millstream[notebook]'") from None
    script = files("millstream") / "server" / "page" / "live.js"
    if not script.is_file():
        raise OptionError("query.live() needs the page of the console; in a clone of millstream, `make console` builds it.")

    class LiveAnswers(anywidget.AnyWidget):
        """Its state is what the page shows."""

        _esm = script.read_text("utf-8")
        prefixes = traitlets.Dict().tag(sync=True)
        notification = traitlets.Unicode().tag(sync=True)
        ended = traitlets.Bool(False).tag(sync=True)

    widget = LiveAnswers(prefixes=dict(query.query.prefixes), notification=_notification(query))
    threading.Thread(target=_follow, args=(query, weakref.ref(widget)), name="millstream live", daemon=True).start()
    return widget


def _follow(query: ContinuousQuery, shown: weakref.ref[Any]) -> None:
    """Tells a widget what has changed, until it or the query is gone."""
    wait_s = EVERY_S
    while True:
        time.sleep(wait_s)
        widget = shown()
        if widget is None or widget.comm is None:
            return
        began = time.thread_time()
        try:
            if query.closed:
                widget.ended = True
                return
            found = _notification(query)
        except MillstreamError:
            widget.ended = True
            return
        wait_s = max(EVERY_S, _SHARE * (time.thread_time() - began))
        if found != widget.notification:
            widget.notification = found
        del widget


def _notification(query: ContinuousQuery) -> str:
    """The answer set in the shape of a server's notifications."""
    core = query._core
    with core.lock:
        found, at_ms = bindings_of(query), max(core.clock_ms, core.options.t0_ms)
    rows = [{name: term_json(term) for name, term in row.items()} for row in found]
    results = {"head": {"vars": list(query.variables)}, "results": {"bindings": rows}}
    nothing: dict[str, Any] = {"results": {"bindings": []}}
    return json.dumps({"at_ms": at_ms, "addedResults": results, "removedResults": nothing}, ensure_ascii=False)
