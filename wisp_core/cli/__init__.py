"""wisp on a plain terminal and for programs."""
