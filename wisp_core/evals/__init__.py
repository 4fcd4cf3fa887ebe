"""Measures: runs conversations with planted values through real threads and scores the requests they would send."""
