"""An authority and what it signs, for tests of nodes with TLS. Files are FOLDER/NAME.key and FOLDER/NAME.pem."""

import pathlib
import ssl
import subprocess

import grpc

TOOL_SECONDS_MAX = 60


class Authority:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.make("authority")

    def make(self, name, names=None):
        """A key and a certificate: by the authority if it has names, else by itself."""
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                   "-keyout", self.key(name), "-out", self.cert(name), "-days", "2", "-subj", f"/CN={name}"]
        if names:
            command += ["-CA", self.cert("authority"), "-CAkey", self.key("authority"), "-addext",
                        f"subjectAltName={names}", "-addext", "basicConstraints=critical,CA:FALSE"]
        subprocess.run(command, check=True, capture_output=True, timeout=TOOL_SECONDS_MAX)
        self.key(name).chmod(0o600)

    def make_node(self, name, address, uri):
        self.make(name, f"IP:{address},URI:{uri}")

    def key(self, name):
        return self.folder / f"{name}.key"

    def cert(self, name):
        return self.folder / f"{name}.pem"

    def server_options(self, name):
        return ["--tls-cert", str(self.cert(name)), "--tls-key", str(self.key(name)),
                "--tls-client-ca", str(self.cert("authority"))]

    def client_options(self, name):
        return ["--tls-ca", str(self.cert("authority")), "--tls-cert", str(self.cert(name)), "--tls-key", str(self.key(name))]

    def credentials(self, name):
        """A gRPC client's."""
        return grpc.ssl_channel_credentials(self.cert("authority").read_bytes(), self.key(name).read_bytes(),
                                            self.cert(name).read_bytes())

    def https(self, name):
        context = ssl.create_default_context(cafile=self.cert("authority"))
        context.load_cert_chain(self.cert(name), self.key(name))
        return context
