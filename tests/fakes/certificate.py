"""A certificate that signs itself, for fakes that speak TLS; whoever names it in `SSL_CERT_FILE` trusts it."""

import ssl
import subprocess
from shutil import which

import pytest


def make_certificate(folder, *, names="IP:127.0.0.1"):
    """Write `key.pem` and `cert.pem` for the `names` into a folder and return the server's context."""
    if which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    files = [str(folder / name) for name in ("key.pem", "cert.pem")]
    command = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    about = ["-subj", "/CN=localhost", "-addext", f"subjectAltName={names}", "-days", "2"]
    subprocess.run([*command, *about, "-keyout", files[0], "-out", files[1]], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files[1], files[0])
    return context
