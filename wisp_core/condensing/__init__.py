"""Shortens: brings a composition down to its goal. Pure; filled by the plan's step 7."""
