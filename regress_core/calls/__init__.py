"""The one place that retries, waits, limits and pays, for every call that goes over a network."""
