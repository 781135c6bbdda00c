"""The deterministic comparison of two run records."""
