"""Importers: from logs and run records of other systems to run records of ours."""
