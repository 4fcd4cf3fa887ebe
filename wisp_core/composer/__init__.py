"""Composes what a request carries from a thread's record. Pure."""
