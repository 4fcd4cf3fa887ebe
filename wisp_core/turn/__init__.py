"""One turn: the loop from a prompt to a reply, handed everything that touches the world."""
