"""The executable parts of a candidate: adapters, agents of your own, and a candidate put together."""
