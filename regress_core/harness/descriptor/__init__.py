"""The harness descriptor: loading, checking, rendering, and building agents of it."""
