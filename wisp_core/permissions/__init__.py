"""Permits: whether a call is allowed, denied or asked about."""
