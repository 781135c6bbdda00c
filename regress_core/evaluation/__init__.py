"""Evaluations: the one orchestration that library, command line and Dagster share."""
