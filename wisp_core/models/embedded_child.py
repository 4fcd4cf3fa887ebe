"""The embedded model's process: takes one JSON line, serves HTTP on a loopback port, ends when standard input closes.

It runs as a script, without the rest of wisp. In: {"path", "window", "threads", "batch", "cache_mib", "key"}, sizes in
tokens and MiB. Out, as its only line: {"address"} once it is ready, else {"error"}.
"""

import json
import os
import signal
import sys
from typing import Any


def load(config: dict[str, Any]) -> Any:
    """Return the running server; this blocks, and holds the interpreter's lock, until the model is loaded.

    Raises:
        ImportError: the runtime is not installed.
        RuntimeError: the model cannot be loaded.
    """
    import xllamacpp  # inside, so that a missing wheel becomes the one line that the parent reads

    params = xllamacpp.CommonParams()
    params.model.path = config["path"]
    params.n_ctx = config["window"]
    params.n_parallel = 1
    # Cancelling is heard between batches only.
    params.n_batch = params.n_ubatch = config["batch"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = config["threads"]
    params.cache_ram_mib = config["cache_mib"]
    params.verbosity = -1
    params.use_jinja = True
    params.ui = False
    params.endpoint_slots = False
    params.api_keys = [config["key"]]
    return xllamacpp.Server(params)


def main() -> None:
    """Load, say so, and serve until standard input closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line = sys.stdin.buffer.readline()
    if not line:
        return
    # The runtime may print; what it prints must not be taken for the one line.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    status = 0
    try:
        server = load(json.loads(line))
        print(json.dumps({"address": server.listening_address}), file=out, flush=True)
        while os.read(0, 4096):
            pass
    except (ImportError, RuntimeError, AttributeError, TypeError, KeyError, OSError, ValueError) as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=out, flush=True)
        status = 1
    # Tearing the server down while it generates can hang for ever.
    os._exit(status)


if __name__ == "__main__":
    main()
