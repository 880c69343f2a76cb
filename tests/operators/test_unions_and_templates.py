"""Unions, ASK and templates against recomputing them after every change."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.forms.ask import Ask
from millstream.kernels.forms.template import Origin, Template
from millstream.kernels.forms.union import Union
from tests.operators.deltas_model import UNBOUND, applied, begun, buffers, deltas, listed, recomputed
from tests.operators.histories import histories, instants

NO, YES = 70, 71
COLUMN, CONSTANT, MADE = Origin.COLUMN, Origin.CONSTANT, Origin.MADE


def sorted_rows(found):
    return sorted(found, key=lambda row: (row[1:3], row[0]))


@settings(deadline=None, max_examples=200)
@given(st.data(), st.booleans())
def test_a_union_has_the_rows_of_all_inputs(data, numbered):
    places = data.draw(st.sampled_from([[(0, 1), (1, 0)], [(0, -1, 1), (-1, 0, -1)], [(0,), (0,), (0,)], [()]]))
    widths = [max(own, default=-1) + 1 for own in places]
    times = data.draw(instants())
    inputs = [data.draw(histories(width, times, values=2)) for width in widths]
    cuts = data.draw(st.lists(st.integers(0, len(times)), max_size=4))

    def model(*held):
        found = Counter()
        for number, (rows, own) in enumerate(zip(held, places, strict=True)):
            for row, weight in rows.items():
                whole = tuple(UNBOUND if place < 0 else row[place] for place in own)
                found[(number, *whole) if numbered else whole] += weight
        return found

    operator = Union(buffers(*widths), len(places[0]) + numbered, places, numbered)
    assert sorted_rows(applied(operator, widths, inputs, cuts)) == recomputed(inputs, model)


@pytest.mark.parametrize("places", [[(0,)], [(0,), (1,)], [(0,), (-2,)], [(0,), (0, 0)]])
def test_a_union_of_columns_that_are_not_there_is_refused(places):
    with pytest.raises(ValueError, match=r"places|no column"):
        Union(buffers(1, 1), 1, places)


@settings(deadline=None)
@given(st.data())
def test_ask_says_whether_there_are_rows(data):
    times = data.draw(instants())
    history = data.draw(histories(0, times))
    cuts = data.draw(st.lists(st.integers(0, len(times)), max_size=4))
    operator = Ask(buffers(0), 1, (NO, YES))
    assert listed(begun(operator, 0, -1)) == [((NO,), 0, -1, 1)]
    found = applied(operator, [0], [history], cuts)
    assert sorted_rows(found) == recomputed([history], lambda rows: Counter({(YES if rows else NO,): 1}))


DICTIONARY = Dictionary()
TERMS = DICTIONARY.encode(["<x:a>", "<x:b>", "_:c", '"text"', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>']).tolist()
DICTIONARY.hold(np.array(TERMS))
IRI, OTHER, BLANK, TEXT, _ = TERMS
SOURCES = st.one_of(
    st.tuples(st.just(COLUMN), st.integers(0, 1)),
    st.tuples(st.just(CONSTANT), st.sampled_from([*TERMS, UNBOUND])),
    st.tuples(st.just(MADE), st.integers(0, 1)),
)


def doubled(rows):
    """Two terms made of each row: its first column where that is bound, and a constant."""
    made = np.column_stack([rows.columns[:, 0], np.full(len(rows), BLANK)])
    return Deltas(made, rows.tick, rows.change, rows.weight)


def is_triple(subject, predicate, object_):
    return subject in (IRI, OTHER, BLANK) and predicate in (IRI, OTHER) and object_ in TERMS


@settings(deadline=None, max_examples=200)
@given(st.data(), st.lists(st.tuples(*[SOURCES] * 4), max_size=3))
def test_a_template_makes_the_triples_of_each_row(data, template):
    times = data.draw(instants())
    history = [
        (at, {tuple(-1 if n < 0 else TERMS[n] for n in row): weight for row, weight in members.items()})
        for at, members in data.draw(histories(2, times, (0, 1), len(TERMS)))
    ]
    cuts = data.draw(st.lists(st.integers(0, len(times)), max_size=4))
    if not any(origin == MADE for row in template for origin, _ in row):
        make = None
    else:
        template = [*template, ((MADE, 0), (MADE, 0), (MADE, 0), (MADE, 1))]
        make = doubled

    def model(rows):
        found = Counter()
        for row, weight in rows.items():
            value = {COLUMN: row, MADE: (row[0], BLANK)}
            for sources in template:
                whole = tuple(which if origin == CONSTANT else value[origin][which] for origin, which in sources)
                if is_triple(*whole[1:]):
                    found[whole] += weight
        return found

    before = DICTIONARY.dump()[3].tolist()
    operator = Template(buffers(2), 4, template, TermReferences(DICTIONARY), make)
    assert applied(operator, [2], [history], cuts) == recomputed([history], model)
    operator.close(1000)
    assert DICTIONARY.dump()[3].tolist() == before


def test_terms_made_are_held_while_their_rows_are_there():
    dictionary = Dictionary()

    def make(rows):
        made = dictionary.encode([f"_:b{n}" for n in rows.columns[:, 0].tolist()])
        return Deltas(made.reshape(-1, 1), rows.tick, rows.change, rows.weight)

    (iri,) = dictionary.encode(["<x:p>"]).tolist()
    operator = Template(buffers(1), 3, [[(MADE, 0), (CONSTANT, iri), (MADE, 0)]], TermReferences(dictionary), make)
    assert len(operator.run(deltas(1, [((1, 0), {(5,): 1, (6,): 1})]))) == 2
    dictionary.forget_before(100)
    dictionary.settle()
    held = dictionary.dump()[1].to_pylist()
    assert sorted(held) == ["<x:p>", "_:b5", "_:b6"]
    operator.run(deltas(1, [((2, 0), {(5,): -1})]))
    assert sorted(dictionary.dump()[1].to_pylist()) == ["<x:p>", "_:b6"]
    operator.close(3)
    assert len(dictionary.dump()[1]) == 0


@pytest.mark.parametrize(
    "row", [[(COLUMN, 2), (CONSTANT, 1), (CONSTANT, 1)], [(MADE, 0)] * 3, [(7, 0)] * 3, [(CONSTANT, 1)] * 2]
)
def test_a_template_of_what_is_not_there_is_refused(row):
    with pytest.raises(ValueError, match=r"no column|nothing makes|three"):
        Template(buffers(2), 3, [row], TermReferences(DICTIONARY))


@pytest.mark.parametrize("made", [lambda rows: None, lambda rows: Deltas(width=2), lambda rows: Deltas(width=1)])
def test_terms_made_for_other_rows_are_refused(made):
    operator = Template(buffers(1), 3, [[(MADE, 0)] * 3], TermReferences(DICTIONARY), made)
    with pytest.raises((TypeError, ValueError), match="expected"):
        operator.run(deltas(1, [((1, 0), {(5,): 1})]))


@pytest.mark.parametrize("strange", [None, 7, [1, 2]])
def test_only_deltas_are_inputs(strange):
    with pytest.raises(TypeError, match="expected Deltas"):
        Ask([strange], 1, (NO, YES))
