"""The rules that read facts out of a turn's tool calls without a model, one function each, by family. Pure."""
