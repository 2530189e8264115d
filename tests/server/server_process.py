"""A real `cadastre serve` for tests: started on free ports in a directory of its own, ended with its test.

Stubs are made from proto/ when they are first needed; calls are made with grpcio directly.
"""

import importlib
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import grpc

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS_MAX = 60
DIES_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]  # No code of ours between fork and exec: gRPC has threads.


def messages():
    """The module of cadastre.v1's messages."""
    if "cadastre.v1.coordination_pb2" not in sys.modules:
        out = tempfile.mkdtemp(prefix="cadastre-stubs-")
        try:
            subprocess.run(["protoc", f"--python_out={out}", f"-I{ROOT / 'proto'}", "cadastre/v1/coordination.proto",
                            "google/rpc/status.proto"], check=True, timeout=SECONDS_MAX)
            sys.path.insert(0, out)
            importlib.invalidate_caches()
            # Debian's own google package has no google.rpc.
            import google
            google.__path__.append(str(pathlib.Path(out) / "google"))
            importlib.import_module("google.rpc.status_pb2")
            return importlib.import_module("cadastre.v1.coordination_pb2")
        finally:
            shutil.rmtree(out)
    return sys.modules["cadastre.v1.coordination_pb2"]


class Server:
    """One process. `start()` returns when it is ready. `surroundings` are Popen's: `env`, `cwd`."""

    def __init__(self, binary, data, *options, **surroundings):
        self.binary, self.data, self.options, self.surroundings = binary, data, options, surroundings
        self.process = None

    def start(self):
        command = [*DIES_WITH_PARENT, self.binary, "serve", "--data", str(self.data), *self.options]
        for option in ("--listen", "--http"):
            if option == "--listen" and "--topology" in self.options:
                continue  # It says where.
            if option not in self.options:
                command += [option, "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        start_new_session=True, **self.surroundings)
        readable, _, _ = select.select([self.process.stdout], [], [], SECONDS_MAX)
        line = self.process.stdout.readline() if readable else ""
        if not line:
            self.process.kill()
            raise AssertionError(f"no ready line: {self.process.stderr.read()}")
        self.ready = json.loads(line)
        return self

    @property
    def address(self):
        return self.ready["grpc"]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(SECONDS_MAX)
        self._close()

    def terminate(self):
        """SIGTERM; the exit status and how long it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(SECONDS_MAX)
        took = time.monotonic() - began
        self._close()
        return status, took

    def _close(self):
        self.process.stdout.close()
        self.process.stderr.close()

    def end(self):
        if self.process is None or self.process.stdout.closed:
            return
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(SECONDS_MAX)
        self._close()


class Caller:
    """Calls of one tenant over one channel."""

    METHODS = {
        "CreateRun": ("CreateRunRequest", "Run"),
        "RegisterShards": ("RegisterShardsRequest", "RegisterShardsResponse"),
        "GetRun": ("GetRunRequest", "Run"),
        "GetRunProgress": ("GetRunProgressRequest", "RunProgress"),
        "ListRuns": ("ListRunsRequest", "ListRunsResponse"),
        "GetShard": ("GetShardRequest", "Shard"),
        "ListShards": ("ListShardsRequest", "ListShardsResponse"),
        "ListClaimCandidates": ("ListClaimCandidatesRequest", "ListClaimCandidatesResponse"),
        "CompleteRun": ("EndRunRequest", "OutcomeResponse"),
        "FailRun": ("EndRunRequest", "OutcomeResponse"),
        "CancelRun": ("EndRunRequest", "OutcomeResponse"),
        "UnparkShard": ("UnparkShardRequest", "UnparkShardResponse"),
        "CollectTerminalRuns": ("CollectTerminalRunsRequest", "CollectTerminalRunsResponse"),
        "Acquire": ("AcquireRequest", "Grant"),
        "Claim": ("ClaimRequest", "Grant"),
        "ClaimStream": ("ClaimStreamRequest", "Grant"),
        "Renew": ("RenewRequest", "RenewResponse"),
        "RenewMany": ("RenewManyRequest", "RenewManyResponse"),
        "Checkpoint": ("CheckpointRequest", "OutcomeResponse"),
        "Complete": ("CheckpointRequest", "OutcomeResponse"),
        "Release": ("CheckpointRequest", "OutcomeResponse"),
        "Park": ("ParkRequest", "OutcomeResponse"),
        "SplitReplace": ("SplitReplaceRequest", "SplitReplaceResponse"),
        "SplitResidual": ("SplitResidualRequest", "SplitResidualResponse"),
    }

    def __init__(self, address, tenant=b"t" * 32, token=None, credentials=None, options=()):
        self.v1 = messages()
        self.tenant = tenant
        self.metadata = [("authorization", f"Bearer {token}")] if token else []
        options = [("grpc.use_local_subchannel_pool", 1), *options]
        if credentials is None:
            self.channel = grpc.insecure_channel(address, options=options)
        else:
            self.channel = grpc.secure_channel(address, credentials, options=options)

    def request(self, method, **fields):
        message = getattr(self.v1, self.METHODS[method][0])(tenant=self.tenant)
        for name, value in fields.items():
            if isinstance(value, (int, bytes)):
                setattr(message, name, value)
            elif isinstance(value, list):
                getattr(message, name).extend(value)
            else:
                getattr(message, name).CopyFrom(value)
        return message

    def stub(self, method, serialize=lambda message: message.SerializeToString()):
        answer = getattr(self.v1, self.METHODS[method][1])
        make = self.channel.unary_stream if method == "ClaimStream" else self.channel.unary_unary
        return make(f"/cadastre.v1.Coordination/{method}", serialize, answer.FromString)

    def call(self, method, **fields):
        return self.stub(method)(self.request(method, **fields), timeout=SECONDS_MAX, metadata=self.metadata)

    def refusal(self, method, **fields):
        """The status of a call that must fail; a stream's first answer counts."""
        try:
            answer = self.call(method, **fields)
            if method == "ClaimStream":
                answer = next(iter(answer))
        except grpc.RpcError as error:
            return error
        raise AssertionError(f"{method} succeeded: {answer}")

    def stream(self, timeout=SECONDS_MAX, **fields):
        return self.stub("ClaimStream")(self.request("ClaimStream", **fields), timeout=timeout,
                                        metadata=self.metadata)

    def make_run(self, run, shards, lease_ms=30_000):
        config = self.v1.RunConfig(cursor_semantics=1, lease_duration=lease_ms)
        self.call("CreateRun", run=run, config=config)
        parts = [self.v1.InitialShard(shard=i + 1, spec=self.v1.Spec(start=b"%04d" % i, end=b"%04d" % (i + 1)))
                 for i in range(shards)]
        self.call("RegisterShards", run=run, shards=parts, op_id=1)

    def close(self):
        self.channel.close()


def detail(error):
    """The cadastre.v1.Error of a status."""
    v1 = messages()
    status = sys.modules["google.rpc.status_pb2"].Status()
    found = dict(error.trailing_metadata())
    status.ParseFromString(found["grpc-status-details-bin"])
    out = v1.Error()
    if not status.details[0].Unpack(out):
        raise AssertionError("the detail is of another type")
    return out
