"""Tier 0: what can be told of a run without a model, and decides before any judge is asked."""
