"""Regression evaluation of LLM agents: recorded runs in, comparison, classification, history."""
