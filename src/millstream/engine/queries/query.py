"""A registered query as its user sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from millstream.engine.monitor import delivering, serialised
from millstream.engine.output.answer_order import as_change
from millstream.engine.output.answers import Answer, Decoder, triple_of, truth_of
from millstream.errors import OptionError
from millstream.kernels.emission.pending import PendingRows, Receiver
from millstream.kernels.engine.processing import Stream
from millstream.language import algebra as a
from millstream.language.printer import Printer
from millstream.operators import stored
from millstream.operators.ticks import ELEMENT, MOST_MS, Deltas
from millstream.plan.passes import plan_of

if TYPE_CHECKING:
    import pyarrow as pa

    from millstream.engine.core import Core
    from millstream.engine.output.emitter import Emitter
    from millstream.engine.queries.parameterised import ParameterisedQuery, QueryInstance
    from millstream.engine.queries.run import QueryRun
    from millstream.output import Sink
    from millstream.plan.explain.counts import CountedPlan, OperatorCounts


def _nobody(answer: Answer) -> None:
    """Is never called."""


class ContinuousQuery(Receiver):
    """What `Engine.register` gives: answers to take, the answer set as it stands, and what the query is."""

    def __init__(self, core: Core, query: a.Query, text: str, on_answer: Callable[[Answer], object] | None) -> None:
        self._core = core
        self.query = query
        self.text = text
        self.output = query.output.value
        self._on_answer = on_answer
        self._decoder = Decoder(core.dictionary, query)
        self.receive_into(PendingRows(width=len(query.columns)), core.pending)
        self._is_new = False
        self._look_again()
        self._left: pa.Table | None = None
        """The same, once it is closed."""
        self._elements = 0
        self._kept = 0
        self._counted: list[tuple[Stream, int, int]] = []
        """Its streams, with what they had when it began to read them."""
        self.parameterised: ParameterisedQuery | None = None
        """The queries it is run with, until it is closed."""
        self.instance: QueryInstance | None = None
        """Those of them with its constants."""
        self.registered_with: tuple[str | None, str | None, int] = (None, None, 0)
        """The base of its IRIs, the output it was given, and the clock at registration."""

    # For people -------------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str | None:
        """What REGISTER calls it."""
        return self.query.name

    @property
    def variables(self) -> tuple[str, ...]:
        """What it selects; the places of a triple for CONSTRUCT, one name for ASK."""
        return tuple(v.value for v in self.query.columns)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was accepted leniently, with the legal form."""
        return tuple(str(w) for w in self.query.warnings)

    @serialised
    def explain(self, *, counts: bool = False) -> str:
        """The query and how it is run, as readable text; with what each operator has done so far, if asked for."""
        from millstream.plan.explain.operators import explain_plan
        from millstream.plan.explain.query import explain

        options, printer = self._core.options, Printer(dict(self.query.prefixes))
        plan, counted = plan_of(self.query), None
        if counts:
            plan, counted = self._emitter().root.plan, self._counted_plan().text()
        run = explain_plan(
            plan,
            printer,
            summary=options.summary,
            lazy=options.lazy,
            adaptive=options.adaptive,
            counted=counted,
        )
        others = 0 if self.parameterised is None else len(self.parameterised) - 1
        if others:
            many = "query" if others == 1 else "queries"
            run += f"\nruns as one plan with {others} other {many}; constants in which they differ are joined as a relation"
        sharing = 0 if self.parameterised is None else self._core.registry.sharing_with(self.parameterised)
        if sharing:
            run += f"\nshares parts of its plan with {sharing} other {'query' if sharing == 1 else 'queries'}"
        return f"{explain(self.query)}\n\n{run}"

    @serialised
    def operators(self) -> OperatorCounts:
        """The operators that run it, each with what came out of it, what it keeps, and where CPU time goes.

        Queries that run as one plan, or share parts of one, share their counts; those of a restored engine begin at zero.
        """
        return self._counted_plan().operators

    @serialised
    def measure(self, on: bool = True) -> None:
        """Has the CPU time of every operator taken from now on, from zero, or no longer."""
        if self.parameterised is not None:
            self.parameterised.run.operator.measure(self, measured=on)

    def _emitter(self) -> Emitter:
        if self.parameterised is None:
            raise OptionError("the query is closed: no operators run it any more.")
        return self.parameterised.emitter

    def _counted_plan(self) -> CountedPlan:
        self._core.catch_up(self)
        return self._emitter().counted(Printer(dict(self.query.prefixes)))

    def live(self) -> Any:
        """A widget for notebooks that shows its answers as they move; takes nothing from `take`."""
        from millstream.engine.output.live import live

        return live(self)

    @serialised
    def _repr_html_(self) -> str:
        from millstream.engine.output.notebook import query_html

        named = self.query.form.value if self.name is None else f"{self.query.form.value} {self.name}"
        if self.parameterised is None:
            return query_html(f"{named}, closed", {"answers": self.emitted, "pending": self.pending}, ())
        return query_html(f"{named}, {self.output}", self.stats, self._counted_plan().text())

    def take(self) -> list[Answer]:
        """What was emitted since the last take, in order."""
        core = self._core
        # As `serialised` does it, which for so short a call would be a third of it.
        with core.lock:
            if self._left is not None:
                return self._decoder.answers_of(self.take_table())
            core.catch_up(self)
            taken = self._decoder.answers(self.untaken)
            if taken:
                self._let_go()
            return taken

    @serialised
    def take_table(self) -> pa.Table:
        """The same as Arrow: at_ms, weight, one column of N-Triples strings a variable."""
        if self._left is not None:
            left, self._left = self._left, self._left.slice(0, 0)
            return left
        self._core.catch_up(self)
        taken = self._decoder.table(self.untaken)
        self._let_go()
        return taken

    def to_pandas(self) -> Any:
        """What `take_table` gives, as a data frame of pandas: columns of numbers, booleans, dates and strings."""
        import pyarrow as pa

        from millstream.engine.output.data_frames import installed, typed

        pandas = installed("pandas")
        nullable = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
        return typed(self.take_table()).to_pandas(types_mapper=nullable.get)

    def to_polars(self) -> Any:
        """What `take_table` gives, as a data frame of polars: columns of numbers, booleans, dates and strings."""
        from millstream.engine.output.data_frames import installed, typed

        polars = installed("polars")
        return polars.from_arrow(typed(self.take_table()))

    @serialised
    def to(self, sink: Sink) -> bytes:
        """Writes what was emitted since the last take to an open sink and commits it; gives the position behind it.

        Where the sink fails nothing counts as taken: opened again at its last position, it gets the same answers.
        """
        if self._left is not None:
            sink.write(self._left)
            position = sink.commit()
            self.take_table()
            return position
        self._core.catch_up(self)
        self.hold_pending()
        before = self.emitted
        sink.write(self._decoder.table(self.untaken))
        position = sink.commit()
        # A sink that pushes may have brought more, which stays.
        self._let_go(max(0, len(self.untaken) - (self.emitted - before)))
        return position

    @serialised
    def solutions(self) -> Any:
        """The answer set now: bindings in the order the query asks for, triples for CONSTRUCT, a bool for ASK."""
        self._core.catch_up(self)
        rows = Deltas(width=len(self.query.columns))
        if self.parameterised is not None and self.instance is not None:
            rows = as_change(self.parameterised.emitter.answer_rows(self.parameterised.instance_id(self.instance)), 0)
        match self.query.form:
            case a.Form.CONSTRUCT:
                return [triple_of(row) for row in self._decoder.bindings(rows)]
            case a.Form.ASK:
                return any(truth_of(row) for row in self._decoder.bindings(rows))
            case _:
                return self._decoder.bindings(rows)

    @property
    @serialised
    def stats(self) -> dict[str, int]:
        """Counts since registration; `stored` is what is kept now, `pending` what was emitted and not taken."""
        self._core.catch_up(self)
        stored = 0 if self.parameterised is None else self.parameterised.emitter.stored
        return {
            "elements": self._came()[0],
            "kept": self._came()[1],
            "stored": stored,
            "answers": self.emitted,
            "pending": self.pending,
        }

    @delivering
    @serialised
    def close(self) -> None:
        """Ends the query and frees its state; what was emitted can still be taken."""
        self._core.registry.close(self)

    @property
    def closed(self) -> bool:
        return self.parameterised is None

    # For the engine ---------------------------------------------------------------------------------------------------

    @property
    def run(self) -> QueryRun | None:
        return None if self.parameterised is None else self.parameterised.emitter.run

    def dump(self) -> dict[str, Any]:
        """What a snapshot keeps of it, its run aside."""
        rows, (base, _, now_ms) = self.untaken, self.registered_with
        return {
            "text": self.text,
            "output": self.output,
            "base": base,
            "now_ms": now_ms,
            "emissions": [(rows.columns, rows.tick >> 2, rows.weight)] if len(rows) else [],
            "counts": (self.emitted, *self._came()),
        }

    def load(self, state: dict[str, Any]) -> None:
        for columns in state["emissions"]:
            self._keep(self._stored(*columns))
        self.hold_pending()
        self.emitted, self._elements, self._kept = (stored.whole(n, 0, MOST_MS) for n in stored.items(state["counts"], 3))

    def _stored(self, columns: Any, at_ms: Any, weight: Any) -> Deltas:
        times = stored.column(at_ms, None, -MOST_MS - 1, MOST_MS + 1)
        weights = stored.one_of(stored.column(weight, len(times)), (1, -1))
        rows = stored.rows(columns, len(self.query.columns), self._core.dictionary, len(times))
        return Deltas(rows, times * 4 + ELEMENT, times * 0, weights)

    def forget_answers(self) -> None:
        """Takes back what was emitted: it is as if it had never been registered."""
        self._let_go()

    def attach(self, parameterised: ParameterisedQuery, instance: QueryInstance) -> None:
        self.parameterised, self.instance = parameterised, instance

    def detach(self) -> None:
        """What nobody took is put into words: the dictionary may forget its terms from now on."""
        self._elements, self._kept = self._came()
        self._counted = []
        if self.parameterised is not None:
            self.parameterised.run.operator.measure(self, measured=False)
        self.parameterised = self.instance = None
        self._left = self._decoder.table(self.untaken)
        self._let_go()

    def count_from(self, stream: Stream) -> None:
        """From now on what comes in a stream counts as its own."""
        self._counted.append((stream, stream.elements, stream.kept))

    def _came(self) -> tuple[int, int]:
        """How many elements and kept triples its streams have had since it began to read them."""
        elements = self._elements + sum(stream.elements - before for stream, before, _ in self._counted)
        return elements, self._kept + sum(stream.kept - before for stream, _, before in self._counted)

    @property
    def pending(self) -> int:
        return len(self.untaken) if self._left is None else self._left.num_rows

    @property
    def keeps(self) -> bool:
        """Whether it keeps what it emits until somebody takes it."""
        return self._on_answer is None

    def hold_pending(self) -> None:
        """Keeps the terms of what was emitted and nobody took."""
        self.untaken.hold(self._core.dictionary)

    def only_count(self) -> None:
        """Counts what it emits as if somebody was called back."""
        self._on_answer = _nobody
        self._look_again()

    @property
    def is_new(self) -> bool:
        """Whether it is being registered, which is undone if it has more answers than may wait."""
        return self._is_new

    @is_new.setter
    def is_new(self, is_new: bool) -> None:
        self._is_new = is_new
        self._look_again()

    def _look_again(self) -> None:
        """Whether what it emits is just kept."""
        self.is_plain = self.keeps and not self._is_new

    def emit(self, rows: Deltas) -> None:
        """Takes rows of weight 1 and -1, by copying them."""
        self.emitted += len(rows)
        pending = self._core.pending
        if self._on_answer is not None:
            pending.pass_on(len(rows))
            if self._on_answer is not _nobody:
                self._core.callbacks.extend((self._on_answer, answer) for answer in self._decoder.answers(rows))
            return
        if self.is_new:
            pending.check(len(rows))
        self._keep(rows)

    def _keep(self, rows: Deltas) -> None:
        self.untaken.add(rows)
        self._core.pending.keep(len(rows))

    def _let_go(self, count: int = -1) -> None:
        """Forgets the first of what nobody took, or all."""
        self._core.pending.release(self.untaken.drop(self._core.dictionary, count))
