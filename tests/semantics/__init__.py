"""What millstream means, as tests by hand: each states one fact, draws its time and runs on every machine."""
