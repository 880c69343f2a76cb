"""The monitor against what a lock is for: no two threads are in, and everybody gets in."""

import threading
import time

import pytest

from millstream.kernels.engine.monitor import Monitor


def in_thread(run):
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_no_two_threads_are_in():
    monitor, inside, seen = Monitor(), [], []

    def enter_often(name):
        for turn in range(300):
            with monitor, monitor:
                inside.append(name)
                if turn % 30 == 0:
                    time.sleep(0.0001)
                seen.append(list(inside))
                inside.remove(name)

    threads = [in_thread(lambda name=name: enter_often(name)) for name in range(6)]
    for thread in threads:
        thread.join(60)
    assert len(seen) == 6 * 300
    assert all(len(names) == 1 for names in seen)


def test_a_thread_is_in_until_it_has_left_as_often_as_it_entered():
    monitor, entered = Monitor(), threading.Event()
    monitor.acquire()
    monitor.acquire()

    def enter():
        with monitor:
            entered.set()

    thread = in_thread(enter)
    monitor.release()
    assert not entered.wait(0.05)
    monitor.release()
    assert entered.wait(60)
    thread.join(60)
    with monitor:
        pass


def test_nobody_leaves_for_another():
    monitor, errors = Monitor(), []

    def leave():
        try:
            monitor.release()
        except RuntimeError as error:
            errors.append(error)

    with pytest.raises(RuntimeError, match="only the thread that is in"):
        monitor.release()
    with monitor:
        in_thread(leave).join(60)
    assert len(errors) == 1


def test_who_waits_is_refused_as_well():
    monitor, told = Monitor(), []

    def enter():
        try:
            monitor.acquire()
        except ValueError as error:
            told.append(str(error))

    with monitor:
        threads = [in_thread(enter) for _ in range(3)]
        time.sleep(0.05)
        monitor.refuse(lambda: ValueError("stopped"))
    for thread in threads:
        thread.join(60)
    assert told == ["stopped"] * 3
    with pytest.raises(ValueError, match="stopped"):
        monitor.acquire()
