"""Witnesses: appends events to the log, finds them again, mends a torn line, rotates."""
