#!/usr/bin/env python3
"""A worker in Python: claims shards of a run over manifest rows, checkpoints, splits what others could do, completes.

    protoc -I proto --python_out=STUBS --grpc_out=STUBS --plugin=protoc-gen-grpc=$(which grpc_python_plugin) \\
        cadastre/v1/coordination.proto google/rpc/status.proto
    python3 worker.py --server HOST:PORT --tenant NAME --run N --worker N --stubs STUBS
"""
import argparse, hashlib, json, secrets, struct, subprocess, sys, time
import grpc

CHUNK, SPLIT_MIN = 250, 2000  # Rows of one checkpoint; fewer than that many are not worth another worker.
parser = argparse.ArgumentParser()
for name in ("--server", "--tenant", "--run", "--worker", "--stubs"):
    parser.add_argument(name, required=True)
parser.add_argument("--slow", default="0..0", help="rows that cost ten times as much, FROM..TO")
options = parser.parse_args()
sys.path.insert(0, options.stubs)
from cadastre.v1 import coordination_pb2 as pb, coordination_pb2_grpc as rpc
from google.rpc import status_pb2

tenant = bytes.fromhex(subprocess.run(["b3sum", "--no-names", "--derive-key", "cadastre/tenant/v1"], check=True,
                                      input=options.tenant.encode(), capture_output=True).stdout.decode())
run, worker = int(options.run), int(options.worker)
slow = range(*map(int, options.slow.split("..")))
stub = rpc.CoordinationStub(grpc.insecure_channel(options.server))


def say(event, lease, **fields):
    print(json.dumps({"event": event, "shard": str(lease.shard), "fence": lease.fence, **fields}), flush=True)


def code_of(error):
    """The protocol's code of a refusal; gRPC's own where the registry did not answer."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            refusal = pb.Error()
            if status_pb2.Status.FromString(value).details[0].Unpack(refusal):
                return refusal.code
    return error.code().name.lower()


def call(method, request, tries=5):
    """Repeats what may not have arrived: the same operation id takes effect once."""
    for attempt in range(tries):
        try:
            return method(request, timeout=5)
        except grpc.RpcError as error:
            if attempt + 1 == tries or error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise


def row_key(manifest, row):
    return struct.pack(">QQ", manifest, row)


def read(start, end):
    """What a connector would do: fetch each row and digest it."""
    for row in range(start, end):
        for _ in range(100 if row in slow else 10):
            hashlib.blake2b(struct.pack(">Q", row)).digest()


def work(grant):
    lease, spec = grant.lease, grant.spec
    manifest, row = struct.unpack(">QQ", spec.start)
    end = struct.unpack(">QQ", spec.end)[1]
    if grant.cursor.HasField("last_key"):
        row = struct.unpack(">QQ", grant.cursor.last_key)[1] + 1
    available, renew_at = grant.capacity.available, time.monotonic()
    say("grant", lease, **{"from": row, "to": end})
    while row < end:
        to = min(row + CHUNK, end)
        chunk = {"from": row, "to": to}
        say("attempt", lease, **chunk)
        read(row, to)
        done = pb.CheckpointRequest(tenant=tenant, lease=lease, op_id=secrets.randbits(64),
                                    cursor=pb.Cursor(last_key=row_key(manifest, to - 1)))
        try:
            call(stub.Complete if to == end else stub.Checkpoint, done)
            say("accepted", lease, **chunk, code="complete" if to == end else "checkpoint")
            row = to
            if row < end and time.monotonic() >= renew_at:
                available = call(stub.Renew, pb.RenewRequest(tenant=tenant, lease=lease)).capacity.available
                renew_at = time.monotonic() + 0.25
            if row < end and available == 0 and end - row >= SPLIT_MIN:  # Others idle: give away the farther half.
                middle = row_key(manifest, row + (end - row) // 2)
                parts = [pb.Spec(start=low, end=high) for low, high in ((spec.start, middle), (middle, spec.end))]
                call(stub.SplitResidual, pb.SplitResidualRequest(tenant=tenant, lease=lease, new_parent=parts[0],
                                                                 residual=parts[1], op_id=secrets.randbits(64)))
                say("split", lease, at=row + (end - row) // 2, to=end)
                spec, end = parts[0], row + (end - row) // 2
        except grpc.RpcError as error:
            return say("rejected", lease, **chunk, code=code_of(error))


for grant in iter(lambda: next(stub.ClaimStream(pb.ClaimStreamRequest(tenant=tenant, run=run, worker=worker)), None), None):
    work(grant)
