"""Example inputs found by trying: guesses, what torch says about them, repairs."""
