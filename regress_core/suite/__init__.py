"""Suites: configuration, loading, classification, summary, gate."""
