#!/usr/bin/env python3
"""`cadastre serve` as a process: what survives a kill, how it stops, whom it refuses, what it hands out.

  tests/server/server_process_test.py CADASTRE [TEST...]
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from server_process import SECONDS_MAX, Caller, Server, detail, messages  # noqa: E402

BINARY = None
Code = grpc.StatusCode


def run(*arguments):
    return subprocess.run([BINARY, "--json", *map(str, arguments)], capture_output=True, text=True, check=False,
                          timeout=SECONDS_MAX)


def error_of(done):
    return json.loads(done.stderr.splitlines()[-1])["error"]


class ServerTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.data = self.scratch / "data"
        self.v1 = messages()

    def serve(self, *options):
        self.server = Server(BINARY, self.data, *options)
        self.addCleanup(self.server.end)
        return self.server.start()

    def caller(self, server, **options):
        caller = Caller(server.address, **options)
        self.addCleanup(caller.close)
        return caller

    def http(self, server, path):
        try:
            with urllib.request.urlopen(f"http://{server.ready['http']}{path}", timeout=SECONDS_MAX) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def secret(self, name, text, mode=0o600):
        path = self.scratch / name
        path.write_text(text)
        path.chmod(mode)
        return path

    # ---- Life and death --------------------------------------------------------------------------------------------

    def test_what_was_acknowledged_is_there_after_kill_9(self):
        server = self.serve()
        caller = self.caller(server)
        caller.make_run(1, 3)
        lease = caller.call("Claim", run=1, worker=7).lease
        key = b"%04dx" % (lease.shard - 1)
        caller.call("Checkpoint", lease=lease, cursor=self.v1.Cursor(last_key=key), op_id=5)
        server.kill()
        caller = self.caller(self.serve())
        shard = caller.call("GetShard", run=1, shard=lease.shard)
        self.assertEqual((shard.cursor.last_key, shard.worker, shard.fence), (key, 7, lease.fence))
        again = caller.call("Checkpoint", lease=lease, cursor=self.v1.Cursor(last_key=key), op_id=5)
        self.assertEqual(again.outcome, self.v1.OUTCOME_REPLAYED)

    def test_sigterm_under_load_exits_0_within_10_seconds_and_loses_nothing(self):
        server = self.serve()
        setup = self.caller(server)
        setup.make_run(1, 8)
        setup.make_run(2, 1)
        setup.call("Claim", run=2, worker=1)
        acknowledged, errors, started = {}, [], threading.Barrier(9)

        def work(worker):
            caller = Caller(server.address)
            lease = caller.call("Claim", run=1, worker=worker).lease
            started.wait(SECONDS_MAX)
            for step in range(1_000_000):
                key = b"%04d%08d" % (lease.shard - 1, step)
                try:
                    caller.call("Checkpoint", lease=lease, cursor=self.v1.Cursor(last_key=key), op_id=step + 1)
                except grpc.RpcError as error:
                    errors.append(error.code())
                    break
                acknowledged[lease.shard] = key
            caller.close()

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
        for thread in threads:
            thread.start()
        waiting = self.caller(server).stream(run=2, worker=9)
        started.wait(SECONDS_MAX)
        deadline = time.monotonic() + SECONDS_MAX
        while len(acknowledged) < 8 and time.monotonic() < deadline:
            threads[0].join(0.01)
        status, took = server.terminate()
        for thread in threads:
            thread.join(SECONDS_MAX)
        self.assertEqual(status, 0)
        self.assertLess(took, 10)
        self.assertTrue(set(errors) <= {Code.UNAVAILABLE, Code.CANCELLED}, errors)
        with self.assertRaises(grpc.RpcError) as ended:
            next(waiting)
        self.assertEqual(ended.exception.code(), Code.UNAVAILABLE)
        caller = self.caller(self.serve())
        for shard, key in acknowledged.items():
            self.assertGreaterEqual(caller.call("GetShard", run=1, shard=shard).cursor.last_key, key)

    def test_a_second_server_names_the_holder_of_the_directory(self):
        server = self.serve()
        done = run("serve", "--data", self.data, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(error_of(done)["code"], "locked")
        self.assertIn(str(server.ready["pid"]), error_of(done)["detail"])

    def test_a_taken_port_is_refused(self):
        server = self.serve()
        for option, taken in (("--listen", server.ready["grpc"]), ("--http", server.ready["http"])):
            other = {"--listen": "127.0.0.1:0", "--http": "127.0.0.1:0", option: taken}
            done = run("serve", "--data", self.scratch / "other", *sum(other.items(), ()))
            self.assertEqual((done.returncode, error_of(done)["code"]), (1, "cannot_listen"), option)

    # ---- Claim streams ---------------------------------------------------------------------------------------------

    def test_a_release_reaches_a_waiting_stream_within_10_ms(self):
        caller = self.caller(self.serve())
        caller.make_run(1, 1)
        took = []
        for turn in range(15):
            lease = caller.call("Claim", run=1, worker=1).lease
            stream = caller.stream(run=1, worker=2)
            self.wait_for_streams(1)
            arrived = []
            reader = threading.Thread(target=lambda: arrived.append((next(stream), time.monotonic())))
            reader.start()
            began = time.monotonic()
            caller.call("Release", lease=lease, op_id=2 * turn + 1)
            reader.join(SECONDS_MAX)
            grant, at = arrived[0]
            took.append(at - began)
            caller.call("Release", lease=grant.lease, op_id=2 * turn + 2)
        self.assertLess(sorted(took)[len(took) // 2], 0.010, took)

    def wait_for_streams(self, count):
        """Until so many streams are open."""
        deadline = time.monotonic() + SECONDS_MAX
        while f"cadastre_claim_streams {count}\n" not in self.http(self.server, "/metrics")[1]:
            self.assertLess(time.monotonic(), deadline)

    def test_a_dead_workers_shard_is_claimed_at_the_end_of_its_lease(self):
        caller = self.caller(self.serve())
        caller.make_run(1, 1, lease_ms=1000)
        began = time.monotonic()
        caller.call("Claim", run=1, worker=1)
        grant = next(caller.stream(run=1, worker=2))
        took = time.monotonic() - began
        self.assertEqual(grant.lease.worker, 2)
        self.assertGreater(took, 0.99)
        self.assertLess(took, 1.5)

    def test_a_stream_ends_with_its_run_and_hands_out_many(self):
        caller = self.caller(self.serve())
        caller.make_run(1, 5)
        stream = caller.stream(run=1, worker=2, grants_max=10)
        shards = {next(stream).lease.shard for _ in range(5)}
        self.assertEqual(shards, {1, 2, 3, 4, 5})
        caller.call("CancelRun", run=1, op_id=2)
        self.assertEqual(list(stream), [])
        self.assertEqual(stream.code(), Code.OK)

    def test_a_caller_that_left_holds_nothing(self):
        caller = self.caller(self.serve())
        caller.make_run(1, 1)
        lease = caller.call("Claim", run=1, worker=1).lease
        gone = [caller.stream(run=1, worker=worker) for worker in range(10, 20)]
        self.wait_for_streams(10)
        for stream in gone:
            stream.cancel()
        self.wait_for_streams(0)
        caller.call("Release", lease=lease, op_id=1)
        self.assertEqual(caller.call("Claim", run=1, worker=3).lease.worker, 3)

    # ---- Lists -----------------------------------------------------------------------------------------------------

    def test_lists_of_the_command_line_leave_nothing_out(self):
        server = self.serve()
        self.caller(server).make_run(1, 2500)
        whom = ["--backend", server.address, "--tenant-id", (b"t" * 32).hex()]
        lines = run("coord", "shard", "list", 1, *whom).stdout.splitlines()
        self.assertEqual([json.loads(line)["id"] for line in lines], list(range(1, 2501)))
        self.assertEqual(len(run("coord", "shard", "list", 1, "--limit", 1700, *whom).stdout.splitlines()), 1700)
        self.assertEqual(len(run("coord", "shard", "list", 1, "--after", 1200, *whom).stdout.splitlines()), 1300)
        self.assertEqual(json.loads(run("runs", *whom).stdout)["total"], 2500)
        self.assertEqual(json.loads(run("coord", "run", "list", *whom).stdout)["counts"]["total"], 2500)

    # ---- Bad input -------------------------------------------------------------------------------------------------

    def test_malformed_requests_get_typed_errors_and_change_nothing(self):
        caller = self.caller(self.serve())
        caller.make_run(1, 1)
        lease = caller.call("Claim", run=1, worker=1).lease
        before = caller.call("GetShard", run=1, shard=1)
        cursor = self.v1.Cursor
        config = self.v1.RunConfig
        cases = [
            ("an unspecified enum", "CreateRun", {"run": 2, "config": config(lease_duration=5)}, "bad_request"),
            ("no config", "CreateRun", {"run": 2}, "bad_request"),
            ("a lease of 0", "CreateRun", {"run": 2, "config": config(cursor_semantics=1)}, "zero_lease_duration"),
            ("time 0", "Claim", {"run": 1, "worker": 1, "now": 0}, "bad_request"),
            ("no lease", "Renew", {}, "bad_request"),
            ("a lease that cannot be", "Renew", {"lease": self.v1.Lease(run=1, shard=1, worker=1)}, "bad_request"),
            ("an empty last key", "Checkpoint", {"lease": lease, "cursor": cursor(last_key=b"")}, "bad_request"),
            ("a token without key", "Checkpoint", {"lease": lease, "cursor": cursor(token=b"t")}, "bad_request"),
            ("no cursor", "Checkpoint", {"lease": lease}, "checkpoint_missing_key"),
            ("a large key", "Checkpoint", {"lease": lease, "cursor": cursor(last_key=b"0" * 5000)},
             "cursor_key_too_large"),
            ("a large token", "Checkpoint", {"lease": lease, "cursor": cursor(last_key=b"0000a", token=b"0" * 20000)},
             "cursor_token_too_large"),
            ("a key outside", "Checkpoint", {"lease": lease, "cursor": cursor(last_key=b"9")}, "cursor_out_of_bounds"),
            ("no reason", "Park", {"lease": lease}, "bad_request"),
            ("no run", "GetRun", {"run": 9}, "run_not_found"),
            ("many leases", "RenewMany", {"leases": [lease] * 1025}, "too_many_leases"),
            ("a long page", "ListRuns", {"limit": 100_000}, "bad_request"),
        ]
        for what, method, fields, code in cases:
            error = caller.refusal(method, **fields)
            self.assertEqual(detail(error).code, code, what)
            self.assertNotIn(error.code(), (Code.UNKNOWN, Code.INTERNAL), what)
        stale = self.v1.Lease()
        stale.CopyFrom(lease)
        stale.fence += 1
        self.assertEqual(detail(caller.refusal("Renew", lease=stale)).code, "stale_fence")
        self.assertEqual(caller.call("GetShard", run=1, shard=1), before)
        self.assertEqual(list(caller.call("ListRuns").runs), [1])

    def test_unknown_enums_bytes_and_sizes_do_not_end_the_process(self):
        server = self.serve()
        caller = self.caller(server)
        garbage = [b"", b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", bytes(range(256)) * 40]
        for method in Caller.METHODS:
            for body in garbage:
                with self.assertRaises(grpc.RpcError, msg=method) as caught:
                    list(caller.stub(method, serialize=lambda message: message)(body, timeout=SECONDS_MAX))
                self.assertIn(caught.exception.code(), (Code.UNIMPLEMENTED, Code.INVALID_ARGUMENT), method)
        config = self.v1.RunConfig(lease_duration=5)
        config.MergeFromString(b"\x08\x63")  # cursor_semantics 99
        self.assertEqual(detail(caller.refusal("CreateRun", run=2, config=config)).code, "bad_request")
        large = [self.v1.InitialShard(shard=1, spec=self.v1.Spec(metadata=b"m" * (40 << 20)))]
        self.assertEqual(caller.refusal("RegisterShards", run=1, shards=large, op_id=1).code(), Code.RESOURCE_EXHAUSTED)
        self.assertEqual(list(caller.call("ListRuns").runs), [])
        self.assertIsNone(server.process.poll())

    # A deadline travels as the time that is left, rounded up: the server may have been in time (handlers_test has one that
    # was not). Whoever did not wait asks again and learns which.
    def test_who_waits_no_longer_asks_again(self):
        caller = self.caller(self.serve())
        config = self.v1.RunConfig(cursor_semantics=1, lease_duration=5)
        with self.assertRaises(grpc.RpcError) as late:
            caller.stub("CreateRun")(caller.request("CreateRun", run=1, config=config), timeout=0)
        self.assertEqual(late.exception.code(), Code.DEADLINE_EXCEEDED)
        executed = list(caller.call("ListRuns").runs) == [1]
        try:
            caller.call("CreateRun", run=1, config=config)
            self.assertFalse(executed)
        except grpc.RpcError as refused:
            self.assertEqual(detail(refused).code, "run_already_exists")
        self.assertEqual(list(caller.call("ListRuns").runs), [1])

    # ---- Who may -----------------------------------------------------------------------------------------------------

    def tokens(self):
        mine, yours = bytes(31) + b"\1", bytes(31) + b"\2"
        path = self.secret("tokens", f"# two workers\ntoken-of-mine-00001 {mine.hex()}\n"
                                     f"token-of-yours-0002 {yours.hex()}\n")
        return path, mine, yours

    def test_no_method_answers_another_tenants_token(self):
        path, mine, yours = self.tokens()
        server = self.serve("--token-file", str(path))
        owner = self.caller(server, tenant=mine, token="token-of-mine-00001")
        owner.make_run(1, 2)
        before = owner.call("ListShards", run=1)
        thief = self.caller(server, tenant=mine, token="token-of-yours-0002")
        stranger = self.caller(server, tenant=mine)
        nowhere = self.caller(server, tenant=bytes(31) + b"\3", token="token-of-yours-0002")
        for method in Caller.METHODS:
            denied, elsewhere = thief.refusal(method), nowhere.refusal(method)
            self.assertEqual(denied.code(), Code.PERMISSION_DENIED, method)
            self.assertEqual((denied.details(), detail(denied)), (elsewhere.details(), detail(elsewhere)), method)
            self.assertEqual(stranger.refusal(method).code(), Code.UNAUTHENTICATED, method)
        other = self.caller(server, tenant=yours, token="token-of-yours-0002")
        self.assertEqual(list(other.call("ListRuns").runs), [])
        self.assertEqual(other.refusal("GetRun", run=1).code(), Code.NOT_FOUND)
        self.assertEqual(owner.call("ListShards", run=1), before)

    def test_sighup_reads_the_token_file_again_and_a_bad_one_changes_nothing(self):
        path, mine, yours = self.tokens()
        server = self.serve("--token-file", str(path), "--log-json")
        old = self.caller(server, tenant=mine, token="token-of-mine-00001")
        new = self.caller(server, tenant=mine, token="token-that-is-new-3")
        old.make_run(1, 1)

        def reload():
            """What the log says to it."""
            server.process.send_signal(signal.SIGHUP)
            return json.loads(server.process.stderr.readline())

        self.assertEqual(json.loads(server.process.stderr.readline())["event"], "ready")
        for text, mode, why in (("token-that-is-new-3\n", 0o600, "line 1"), ("", 0o600, "no token"),
                                (f"token-that-is-new-3 {mine.hex()}\n", 0o644, "chmod 600")):
            self.secret("tokens", text, mode)
            said = reload()
            self.assertEqual((said["level"], said["event"]), ("error", "the tokens stay as they were"))
            self.assertIn(why, said["reason"])
            self.assertNotIn("token-that", said["reason"])
            self.assertEqual(old.call("GetRun", run=1).run, 1)
            self.assertEqual(new.refusal("GetRun", run=1).code(), Code.UNAUTHENTICATED)
        path.unlink()
        self.assertEqual(reload()["level"], "error")
        self.assertEqual(old.call("GetRun", run=1).run, 1)
        self.secret("tokens", f"token-that-is-new-3 {mine.hex()}\ntoken-of-yours-0002 {yours.hex()}\n")
        said = reload()
        self.assertEqual((said["event"], said["tokens"]), ("tokens read again", 2))
        self.assertEqual(new.call("GetRun", run=1).run, 1)
        self.assertEqual(old.refusal("GetRun", run=1).code(), Code.UNAUTHENTICATED)

    def test_sighup_does_not_end_a_server_without_tokens(self):
        server = self.serve("--log-json")
        self.assertEqual(json.loads(server.process.stderr.readline())["event"], "ready")
        server.process.send_signal(signal.SIGHUP)
        self.assertEqual(json.loads(server.process.stderr.readline())["event"], "there is no token file to read again")
        self.assertEqual(server.terminate()[0], 0)

    def test_a_token_file_that_others_may_read_is_refused(self):
        path, _, _ = self.tokens()
        path.chmod(0o644)
        done = run("serve", "--data", self.data, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
                   "--token-file", path)
        self.assertEqual((done.returncode, error_of(done)["code"]), (1, "insecure"))
        self.assertNotIn("token-of", done.stderr)
        self.assertFalse(self.data.exists())

    def test_other_addresses_need_tls_or_a_word(self):
        for option in ("--listen", "--http"):
            other = {"--listen": "127.0.0.1:0", "--http": "127.0.0.1:0", option: "0.0.0.0:0"}
            done = run("serve", "--data", self.data, *sum(other.items(), ()))
            self.assertEqual((done.returncode, error_of(done)["code"]), (1, "insecure"), option)
        server = self.serve("--listen", "0.0.0.0:0", "--http", "0.0.0.0:0", "--insecure")
        self.assertEqual(server.terminate()[0], 0)

    def certificate(self, name, issuer=None):
        """A key and a certificate, its own issuer's or another's; paths."""
        key, cert = self.scratch / f"{name}.key", self.scratch / f"{name}.pem"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                   "-keyout", key, "-out", cert, "-days", "2", "-subj", f"/CN={name}",
                   "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        if issuer:
            command += ["-CA", self.scratch / f"{issuer}.pem", "-CAkey", self.scratch / f"{issuer}.key",
                        "-addext", "basicConstraints=critical,CA:FALSE"]
        subprocess.run(command, check=True, capture_output=True, timeout=SECONDS_MAX)
        key.chmod(0o600)
        return key, cert

    def test_tls_and_client_certificates(self):
        self.certificate("authority")
        key, cert = self.certificate("server", "authority")
        client_key, client_cert = self.certificate("worker", "authority")
        rogue_key, rogue_cert = self.certificate("rogue")
        root = (self.scratch / "authority.pem").read_bytes()
        server = self.serve("--tls-cert", str(cert), "--tls-key", str(key))
        options = {"options": (("grpc.enable_http_proxy", 0),)}
        trusted = self.caller(server, credentials=grpc.ssl_channel_credentials(root), **options)
        trusted.make_run(1, 1)
        self.assertEqual(self.caller(server, **options).refusal("GetRun", run=1).code(), Code.UNAVAILABLE)
        distrusting = grpc.ssl_channel_credentials(rogue_cert.read_bytes())
        self.assertEqual(self.caller(server, credentials=distrusting).refusal("GetRun", run=1).code(), Code.UNAVAILABLE)
        server.terminate()
        server = self.serve("--tls-cert", str(cert), "--tls-key", str(key), "--tls-client-ca",
                            str(self.scratch / "authority.pem"))
        known = grpc.ssl_channel_credentials(root, client_key.read_bytes(), client_cert.read_bytes())
        self.assertEqual(self.caller(server, credentials=known).call("GetRun", run=1).run, 1)
        for credentials in (grpc.ssl_channel_credentials(root),
                            grpc.ssl_channel_credentials(root, rogue_key.read_bytes(), rogue_cert.read_bytes())):
            refused = self.caller(server, credentials=credentials).refusal("GetRun", run=1)
            self.assertEqual(refused.code(), Code.UNAVAILABLE)

    def test_the_command_line_speaks_tls_with_a_certificate_and_a_token(self):
        self.certificate("authority")
        key, cert = self.certificate("server", "authority")
        own_key, own_cert = self.certificate("worker", "authority")
        root = self.scratch / "authority.pem"
        tokens = self.secret("tokens", "token-of-the-scanners acme\n")
        server = self.serve("--tls-cert", str(cert), "--tls-key", str(key), "--tls-client-ca", str(root), "--token-file",
                            str(tokens), "--log-json")
        word = self.secret("token", "token-of-the-scanners\n")
        listing = ["coord", "run", "list", "--backend", server.address, "--tenant", "acme"]
        known = ["--tls-ca", root, "--tls-cert", own_cert, "--tls-key", own_key]
        done = run(*listing, *known, "--token-file", word)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        error = error_of(run(*listing, *known))
        self.assertEqual(error["code"], "refused", error)
        self.assertIn("token", error["detail"])
        self.certificate("rogue")
        done = run(*listing, "--tls-ca", self.scratch / "rogue.pem")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(error_of(done)["code"], "refused", done.stderr)
        self.assertIn("name the authority", error_of(done)["detail"])
        server.process.send_signal(15)
        log = [json.loads(line)["event"] for line in server.process.stderr.read().splitlines()]
        self.assertEqual(log, ["ready", "stopping", "stopped"])

    def test_a_key_that_others_may_read_is_refused(self):
        key, cert = self.certificate("server")
        key.chmod(0o640)
        done = run("serve", "--data", self.data, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--tls-cert", cert,
                   "--tls-key", key)
        self.assertEqual((done.returncode, error_of(done)["code"]), (1, "insecure"))

    # ---- Operators -----------------------------------------------------------------------------------------------------

    def test_pages_health_and_reflection(self):
        server = self.serve()
        caller = self.caller(server)
        caller.make_run(1, 2)
        caller.refusal("GetRun", run=2)
        self.assertEqual(self.http(server, "/healthz"), (200, "ok\n"))
        self.assertEqual(self.http(server, "/readyz"), (200, "ready\n"))
        self.assertEqual(self.http(server, "/nothing")[0], 404)
        page = self.http(server, "/metrics")[1]
        for row in ('cadastre_calls_total{method="GetRun",code="NOT_FOUND"} 1', 'cadastre_runs{status="active"} 1',
                    'cadastre_call_seconds_count{method="CreateRun"} 1', "cadastre_shards 2",
                    'log_outcome_total{group="1",kind="applied"}', 'log_propose_seconds_bucket{group="1",stage="write"',
                    'log_propose_seconds_count{group="1",stage="commit"}', 'log_role{group="1"} 3', 'log_halted{group="1"} 0',
                    'log_leader_changes_total{group="1"} 1', 'log_system_refused_total{group="1"} 0', "log_set_groups_count",
                    "log_loop_pass_seconds_count", "log_sync_seconds_sum"):
            self.assertIn(row, page)
        health = caller.channel.unary_unary("/grpc.health.v1.Health/Check", bytes, bytes)
        self.assertEqual(health(b"", timeout=SECONDS_MAX), b"\x08\x01")
        reflection = caller.channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", bytes, bytes)
        self.assertIn(b"cadastre.v1.Coordination", next(reflection(iter([b"\x3a\x00"]), timeout=SECONDS_MAX)))

    def test_a_config_file_with_an_unknown_key_is_refused_and_flags_override(self):
        config = self.scratch / "server.toml"
        config.write_text(f'data = "{self.scratch / "elsewhere"}"\nlisten = "127.0.0.1:0"\nlog_json = true\n'
                          "[retention]\nterminal_runs_hours = 1\n")
        server = self.serve("--config", str(config))
        self.assertEqual(server.ready["data"], str(self.data))
        self.assertFalse((self.scratch / "elsewhere").exists())
        server.process.send_signal(15)
        log = server.process.stderr.read().splitlines()
        self.assertEqual([json.loads(line)["event"] for line in log], ["ready", "stopping", "stopped"])
        for text in ("lissten = 1\n", "[tls]\ncertificate = 'x'\n", "listen = 7\n", "listen = \n", "[retention]\n"
                     "terminal_runs_hours = -1\n"):
            config.write_text(text)
            done = run("serve", "--config", config)
            self.assertEqual((done.returncode, error_of(done)["code"]), (1, "bad_config"), text)

    def test_backup_and_restore(self):
        server = self.serve()
        caller = self.caller(server)
        caller.make_run(1, 3)
        copy, other = self.scratch / "copy", self.scratch / "other"
        done = run("backup", self.data, copy)
        self.assertEqual((done.returncode, error_of(done)["code"]), (1, "locked"))
        self.assertIn(str(server.ready["pid"]), error_of(done)["detail"])
        server.kill()
        done = run("backup", self.data, copy)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(error_of(run("backup", self.data, copy))["code"], "not_empty")
        self.assertEqual(error_of(run("restore", copy, self.data))["code"], "not_empty")
        self.assertEqual(error_of(run("backup", self.scratch / "none", other))["code"], "no_data")
        self.assertEqual(error_of(run("restore", self.scratch / "none", other))["code"], "no_data")
        done = run("restore", copy, other)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.data = other
        caller = self.caller(self.serve())
        self.assertEqual(len(caller.call("GetRun", run=1).root_shards), 3)

    def test_a_damaged_backup_makes_no_directory(self):
        server = self.serve()
        self.caller(server).make_run(1, 3)
        server.terminate()
        copy, target = self.scratch / "copy", self.scratch / "target"
        self.assertEqual(run("backup", self.data, copy).returncode, 0)
        files = [path for path in copy.rglob("*") if path.is_file() and path.stat().st_size > 0]
        files = [copy / "MANIFEST", copy / "files" / "log" / "CURRENT", max(files, key=lambda path: path.stat().st_size)]
        for path in files:
            content = path.read_bytes()
            damaged = bytearray(content)
            damaged[len(damaged) // 2] ^= 1
            path.write_bytes(damaged)
            done = run("restore", copy, target)
            self.assertEqual((done.returncode, error_of(done)["code"]), (1, "damaged"), path)
            self.assertFalse(target.exists(), path)
            path.write_bytes(content)
        files[1].unlink()
        self.assertNotEqual(run("restore", copy, target).returncode, 0)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main(argv=[sys.argv[0], *[f"ServerTest.{name}" for name in sys.argv[1:]]])
