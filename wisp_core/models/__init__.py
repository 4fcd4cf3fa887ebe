"""Asks: one backend a model, each a stream of `ModelEvent`s."""
