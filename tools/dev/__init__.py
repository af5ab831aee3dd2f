"""What stands behind ./dev. Python 3.11, standard library only: it must run before anything is
installed."""
