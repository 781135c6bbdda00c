"""Replaying a recorded run: where it begins, and where its tool outputs come from."""
