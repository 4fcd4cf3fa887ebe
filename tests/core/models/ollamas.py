"""A short way to connect an Ollama, for the tests of this folder."""

from wisp_core.models.backend import Server
from wisp_core.models.ollama import OllamaBackend
from wisp_core.models.ollama_model import OllamaProfile
from wisp_core.settings import Timeouts


def connect(ollama, model="granite:8b", *, url="", timeouts=None, **profile):
    """Return the backend of a fake Ollama."""
    server = Server(url or ollama.url, timeouts=timeouts or Timeouts(connect=2.0))
    return OllamaBackend(f"ollama/{model}", server, model=model, profile=OllamaProfile(**profile))
