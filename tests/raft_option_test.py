#!/usr/bin/env python3
"""CADASTRE_RAFT: what AUTO, ON and OFF do when cargo is there, missing, too old or without crates (L-28).

  raft_option_test.py TEST...      configures only; nothing is compiled and nothing is fetched
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS_MAX = 120


class RaftOption(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="raft-option-")
        self.addCleanup(self.folder.cleanup)

    def script(self, name, text):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        os.chmod(path, 0o755)
        return path

    def configure(self, mode, cargo=None, rustc=None):
        """Returns (exit status, everything printed). The stand-ins make the answer the same on every machine."""
        cargo = cargo or self.script("cargo", "exit 0")
        rustc = rustc or self.script("rustc", "echo rustc 1.63.0")
        protoc = self.script("protoc", "exit 0")
        build = pathlib.Path(self.folder.name) / "build"
        command = ["cmake", "-S", ROOT / "tests" / "raft_option", "-B", build, "-G", "Ninja",
                   f"-DRAFT_MODULE={ROOT / 'cmake' / 'raft.cmake'}", f"-DCADASTRE_RAFT={mode}",
                   f"-DCADASTRE_CARGO={cargo}", f"-DCADASTRE_RUSTC={rustc}", f"-DCADASTRE_PROTOC={protoc}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=SECONDS_MAX, check=False)
        return done.returncode, " ".join(done.stdout.split())

    def assert_left_out(self, said, reason):
        status, text = said
        self.assertEqual(status, 0, text)
        self.assertIn(f"raft: not built ({reason})", text)
        self.assertIn("shim: no target", text)

    def assert_fails(self, said, reason):
        status, text = said
        self.assertNotEqual(status, 0, text)
        self.assertIn(f"the raft shim cannot be built: {reason}", text)

    def test_off_asks_for_nothing(self):
        told = pathlib.Path(self.folder.name) / "told"
        spy = self.script("spy", f"touch {told}")
        self.assert_left_out(self.configure("OFF", cargo=spy, rustc=spy), "switched off")
        self.assertFalse(told.exists())

    def test_auto_leaves_the_engine_out_without_cargo(self):
        self.assert_left_out(self.configure("AUTO", cargo="/nowhere/cargo"), "cargo was not found")

    def test_on_fails_without_cargo(self):
        self.assert_fails(self.configure("ON", cargo="/nowhere/cargo"), "cargo was not found")

    def test_an_old_compiler_is_a_reason(self):
        old = self.script("old", "echo 'rustc 1.62.1 (e092d0b6b 2022-07-16)'")
        self.assert_left_out(self.configure("AUTO", rustc=old), "rustc is older than 1.63")
        self.assert_fails(self.configure("ON", rustc=old), "rustc is older than 1.63")

    def test_crates_that_cannot_be_had_are_a_reason(self):
        asked = pathlib.Path(self.folder.name) / "asked"
        poor = self.script("poor", f'echo "$@" >> {asked}; exit 101')
        self.assert_left_out(self.configure("AUTO", cargo=poor), "cargo could not fetch the crates")
        first, second = asked.read_text(encoding="utf-8").splitlines()
        self.assertIn("--offline", first)
        self.assertNotIn("--offline", second)
        for line in (first, second):
            self.assertIn("--locked", line)
        self.assert_fails(self.configure("ON", cargo=poor), "cargo could not fetch the crates")

    def test_with_everything_there_both_build_it(self):
        for mode in ("AUTO", "ON"):
            status, text = self.configure(mode)
            self.assertEqual(status, 0, text)
            self.assertIn("raft: raft-rs 0.7.0", text)
            self.assertIn("shim: a target", text)

    def test_another_word_is_refused(self):
        status, text = self.configure("MAYBE")
        self.assertNotEqual(status, 0)
        self.assertIn("CADASTRE_RAFT is AUTO, ON or OFF, not 'MAYBE'", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"RaftOption.{name}" for name in sys.argv[1:])])
