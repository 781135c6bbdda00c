"""How evaluations are run: the `regress` command and the Dagster definitions."""
