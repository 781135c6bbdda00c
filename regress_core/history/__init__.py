"""The history: every evaluation in Parquet, and questions over all of them."""
