"""Garbage in, an error of ours or an answer out: never anything else, and never a crash.

`targets` has the things that are fed, each a function of a seeded source of chance; the tests run each for a moment, and
`python -m tests.fuzz --seconds 60` for as long as one likes, saying which seed failed.
"""
