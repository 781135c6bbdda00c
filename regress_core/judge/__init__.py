"""Judging: so far the reference's contract types, which results and summaries carry."""
