"""The one place that retries, waits and limits, for every call that costs money or goes over a network."""
