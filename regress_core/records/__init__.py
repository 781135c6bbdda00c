"""Run records: model, canonical JSON, tool calls, loading, importing."""
