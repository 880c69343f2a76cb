"""Campaigns with random input: sessions against the reference evaluator, and garbage into everything that reads.

Of garbage comes an error of ours or an answer: never anything else, never a crash, never a hang. `targets` has what is
tried, each a function of a seeded source of chance. The tests run each for a moment; `make fuzz MINUTES=30` for as long as
one likes, in processes that may die (`campaign`). What fails is told with its target and seed, and
`python -m tests.fuzz --target TARGET --seed SEED` repeats it.
"""
