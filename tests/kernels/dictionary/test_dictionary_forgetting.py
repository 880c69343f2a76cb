"""What the dictionary forgets, and when.

A model keeps for each term how long it is needed; whatever the model needs must decode, whatever was forgotten must
be an error and never another term; and the number of terms held follows what is needed, not what was seen.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary, ForgottenError

relaxed = settings(deadline=None)  # other work on the machine must not fail a test


def iri(n: int) -> str:
    return f"<http://example.org/{n}>" if n % 7 else f'"{n * "x"}"'


def one(term_id: int) -> np.ndarray:
    return np.array([term_id], np.int64)


def is_gone(dictionary: Dictionary, term_id: int) -> bool:
    try:
        dictionary.decode_one(term_id)
    except ForgottenError:
        return True
    return False


def test_a_term_nobody_kept_is_forgotten_after_its_batch() -> None:
    dictionary = Dictionary()
    dictionary.forget_before(10)
    term_id = dictionary.encode_one(iri(1))
    assert dictionary.sweep(100) == 0
    dictionary.settle()
    assert dictionary.sweep(100) == 1
    assert is_gone(dictionary, term_id)


def test_a_term_is_kept_until_the_mark_has_passed_its_time() -> None:
    #  0    5    10
    #  x---------)        needed until 10
    #            ^ mark 10: kept        mark 11: forgotten
    dictionary = Dictionary()
    term_id = dictionary.encode_one(iri(1))
    dictionary.touch(one(term_id), 10)
    dictionary.touch(one(term_id), 5)
    dictionary.forget_before(10)
    dictionary.settle()
    assert dictionary.sweep(100) == 0
    dictionary.forget_before(11)
    assert dictionary.sweep(100) == 0, "the mark moves when the batch is settled"
    dictionary.settle()
    assert dictionary.sweep(100) == 1


def test_a_held_term_is_kept_until_the_last_release() -> None:
    dictionary = Dictionary()
    term_id = dictionary.encode_one(iri(1))
    dictionary.hold(one(term_id))
    dictionary.hold(one(term_id))
    dictionary.forget_before(100)
    dictionary.settle()
    dictionary.release(one(term_id), 50)
    dictionary.settle()
    assert dictionary.sweep(100) == 0
    dictionary.release(one(term_id), 100)
    dictionary.settle()
    assert dictionary.sweep(100) == 0
    dictionary.forget_before(101)
    dictionary.settle()
    assert dictionary.sweep(100) == 1


def test_a_release_takes_effect_with_the_end_of_the_batch() -> None:
    dictionary = Dictionary()
    term_id = dictionary.encode_one(iri(1))
    dictionary.hold(one(term_id))
    dictionary.forget_before(100)
    dictionary.settle()
    assert dictionary.encode_one(iri(1)) == term_id
    dictionary.release(one(term_id), 0)
    assert dictionary.sweep(100) == 0
    dictionary.touch(one(term_id), 200)
    dictionary.settle()
    assert dictionary.sweep(100) == 0


def test_a_forgettable_term_that_comes_again_is_safe_in_its_batch() -> None:
    dictionary = Dictionary()
    dictionary.forget_before(10)
    term_id = dictionary.encode_one(iri(1))
    dictionary.settle()
    assert dictionary.find(iri(1)) == -1
    assert dictionary.encode_one(iri(1)) == term_id
    assert dictionary.sweep(100) == 0
    assert dictionary.find(iri(1)) == term_id


def test_a_number_used_again_gives_another_id() -> None:
    dictionary = Dictionary()
    dictionary.forget_before(10)
    old = dictionary.encode_one("<http://old>")
    dictionary.settle()
    dictionary.sweep(1)
    new = dictionary.encode_one("<http://new>")
    assert old & 0xFFFFFFFF == new & 0xFFFFFFFF
    assert old != new
    for use in (
        lambda: dictionary.decode_one(old),
        lambda: dictionary.decode(one(old)),
        lambda: dictionary.touch(one(old), 5),
        lambda: dictionary.hold(one(old)),
        lambda: dictionary.release(one(old), 5),
    ):
        with pytest.raises(ForgottenError):
            use()


def test_releasing_what_is_not_held_is_an_error() -> None:
    dictionary = Dictionary()
    term_id = dictionary.encode_one(iri(1))
    with pytest.raises(ValueError, match="more often than held"):
        dictionary.release(one(term_id), 5)


def test_an_id_may_be_held_and_released_several_times_at_once() -> None:
    dictionary = Dictionary()
    a, b = dictionary.encode([iri(1), iri(2)]).tolist()
    dictionary.hold(np.array([a, a, b, a], np.int64))
    dictionary.forget_before(1)
    dictionary.release(np.array([a, a, b], np.int64), 0)
    with pytest.raises(ValueError, match="more often than held"):
        dictionary.release(np.array([a, a], np.int64), 0)
    dictionary.settle()
    dictionary.sweep(10)
    assert not is_gone(dictionary, a)
    assert is_gone(dictionary, b)
    dictionary.release(one(a), 0)
    dictionary.settle()
    dictionary.sweep(10)
    assert is_gone(dictionary, a)


def test_times_may_be_given_one_for_each_id() -> None:
    dictionary = Dictionary()
    ids = dictionary.encode([iri(1), iri(2), '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'])
    dictionary.touch(np.append(ids, -1), np.array([5, 20, 0, 0], np.int64))
    dictionary.forget_before(10)
    dictionary.settle()
    dictionary.sweep(100)
    assert [is_gone(dictionary, i) for i in ids.tolist()] == [True, False, False]
    with pytest.raises(ValueError, match="3 ids, but 1 times"):
        dictionary.touch(ids, np.zeros(1, np.int64))


steps = st.one_of(
    st.tuples(st.just("encode"), st.lists(st.integers(0, 60), max_size=20)),
    st.tuples(st.just("touch"), st.integers(0, 60), st.integers(0, 40)),
    st.tuples(st.just("hold"), st.integers(0, 60)),
    st.tuples(st.just("release"), st.integers(0, 60), st.integers(0, 40)),
    st.tuples(st.just("forget"), st.integers(0, 10)),
    st.tuples(st.just("settle")),
    st.tuples(st.just("sweep"), st.integers(0, 50)),
)


@relaxed
@given(st.lists(steps, max_size=120))
def test_what_the_model_needs_decodes_and_what_is_gone_never_names_another_term(script: list[tuple]) -> None:
    dictionary = Dictionary()
    ids: dict[int, int] = {}  # the id each term had last
    until: dict[int, int] = {}
    held: dict[int, int] = {}
    batch: set[int] = set()
    mark = asked = 0
    dictionary.forget_before(0)
    dictionary.settle()
    for step in script:
        needed = {n for n in ids if n in batch or held.get(n) or until.get(n, -1) >= mark}
        match step:
            case ("encode", terms):
                for n, term_id in zip(terms, dictionary.encode([iri(n) for n in terms]).tolist(), strict=True):
                    assert n not in needed or ids[n] == term_id
                    if ids.get(n) != term_id:
                        until.pop(n, None)
                    ids[n] = term_id
                    batch.add(n)
            case ("touch", n, time) if n in needed:
                dictionary.touch(one(ids[n]), time)
                until[n] = max(until.get(n, -1), time)
            case ("hold", n) if n in needed:
                dictionary.hold(one(ids[n]))
                held[n] = held.get(n, 0) + 1
            case ("release", n, time) if held.get(n):
                dictionary.release(one(ids[n]), time)
                held[n] -= 1
                until[n] = max(until.get(n, -1), time)
                batch.add(n)
            case ("forget", more):
                asked += more
                dictionary.forget_before(asked)
            case ("settle",):
                dictionary.settle()
                batch.clear()
                mark = asked
            case ("sweep", slots):
                dictionary.sweep(slots)
        for n, term_id in ids.items():
            if n in batch or held.get(n) or until.get(n, -1) >= mark:
                assert dictionary.decode_one(term_id) == iri(n)
                assert dictionary.find(iri(n)) == term_id
            elif not is_gone(dictionary, term_id):
                assert dictionary.decode_one(term_id) == iri(n)
    dictionary.sweep(1 << 20)
    needed = {n for n in ids if n in batch or held.get(n) or until.get(n, -1) >= mark}
    assert dictionary.stats()["live"] == len(needed)


def test_memory_follows_the_window_and_not_the_stream() -> None:
    dictionary = Dictionary()
    window, batch, batches = 20_000, 5_000, 200
    largest: dict[str, int] = {}
    first = dictionary.encode_one("<http://example.org/constant>")
    dictionary.hold(one(first))
    for k in range(batches):
        now = k * batch
        terms = [f"<http://example.org/{n}>" if n % 5 else f'"{"y" * (n % 300)}{n}"' for n in range(now, now + batch)]
        ids = dictionary.encode(terms)
        kept = ids[::2]  # the other half is dropped by everybody
        dictionary.touch(kept, now + window)
        dictionary.forget_before(now)
        dictionary.settle()
        if k in (20, batches - 1):
            largest[str(k)] = dictionary.stats()["reserved"]
        assert dictionary.decode(kept).to_pylist() == terms[::2]
        # needed: half of (window + batch); waiting: at most a third of that, beside the last batch
        assert dictionary.stats()["live"] <= (window + batch) // 2 * 4 // 3 + 2 * batch
    assert largest[str(batches - 1)] <= 1.2 * largest["20"]
    assert dictionary.decode_one(first) == "<http://example.org/constant>"


def test_what_a_peak_left_is_forgotten_as_the_stream_goes_on() -> None:
    dictionary = Dictionary()
    dictionary.encode([f"<http://example.org/peak/{n}>" for n in range(200_000)])
    for k in range(50):
        ids = dictionary.encode([f"<http://example.org/{n}>" for n in range(k * 1000, k * 1000 + 1000)])
        dictionary.touch(ids, k)
        dictionary.forget_before(k)
        dictionary.settle()
    assert dictionary.stats()["live"] < 10_000


def test_the_index_shrinks_and_grows_again() -> None:
    dictionary = Dictionary()
    for _ in range(3):
        ids = dictionary.encode([iri(n) for n in range(1, 30_000, 2)])
        assert dictionary.stats()["segments"] > 32
        assert len(set(ids.tolist())) == 15_000
        dictionary.forget_before(dictionary.mark + 1 if dictionary.mark > 0 else 1)
        dictionary.settle()
        assert dictionary.sweep(1 << 20) == 15_000
        assert dictionary.stats()["segments"] < 8
        assert dictionary.find(iri(1)) == -1
