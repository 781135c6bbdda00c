"""The journal: what has been done and may not be done twice."""
