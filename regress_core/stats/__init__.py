"""Statistics: how sure figures are that were counted on a few cases."""
