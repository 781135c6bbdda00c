"""Judging: the reference's contract, three judges that ask a model, and an application's own."""
