#!/usr/bin/env python3
"""Red and green for every rule of check_layers and check_smells, and for how the demonstration counts.

Each case builds a tiny house in a temporary directory, changes one file, and compares what the checker says. A
rule that could not go red would pass here only by changing its case.
"""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
TOOLS = pathlib.Path(__file__).resolve().parent


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(TOOLS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


check_layers = load("check_layers")
check_smells = load("check_smells")
demo = load("demo")

HEADER = "// A header.\n\n#pragma once\n"
HOUSE = """\
# The house.
base:
shard:  base
kv:     base
node:   base shard kv
cli:    base shard node
"""
DOCUMENT = """\
| room | what | may include |
|---|---|---|
| `base` | ground | nothing |
| `shard` | algebra | base |
| `kv` | pairs | base |
| `node` | assembly | all above |
| `cli` | commands | base, shard, node |

| other | table |
|---|---|
| `attic` | is no room |
"""
CLEAN = {
    "cmake/house.txt": HOUSE,
    "docs/architecture.md": DOCUMENT,
    "src/base/DESIGN.md": "# base\n",
    "src/base/bytes.h": HEADER,
    "src/shard/DESIGN.md": "# shard\n",
    "src/shard/key.h": HEADER + '\n#include "base/bytes.h"\n',
    "src/kv/DESIGN.md": "# kv\n",
    "src/kv/store.h": HEADER + '\n#include "base/bytes.h"\n',
    "src/kv/lmdb/store.h": HEADER + '\n#include "kv/store.h"\n',
    "src/kv/lmdb/store.cc": '#include "kv/lmdb/store.h"\n\n#include <lmdb.h>\n',
    "src/node/DESIGN.md": "# node\n",
    "src/node/node.cc": '#include "kv/lmdb/store.h"\n#include "shard/key.h"\n',
    "src/cli/DESIGN.md": "# cli\n",
    "src/cli/main.h": HEADER,
    "cmd/cadastre.cc": '#include "cli/main.h"\n',
    "bench/baseline.h": HEADER,
    "bench/key_bench.cc": '#include <benchmark/benchmark.h>\n\n#include "bench/baseline.h"\n#include "shard/key.h"\n',
}


class Tree(unittest.TestCase):
    """A test that works on copies of the clean house."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.trees = 0

    def tree(self, changes):
        self.trees += 1
        root = self.scratch / str(self.trees)
        for name, text in {**CLEAN, **changes}.items():
            if text is not None:
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return root


class Layers(Tree):
    def said(self, changes):
        return sorted(str(finding) for finding in check_layers.check(self.tree(changes)))

    def assert_red(self, name, text, line, words):
        said = self.said({name: text})
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said[0].startswith(f"{name}:{line}: "), said)
        self.assertIn(words, said[0])

    def test_a_clean_house_is_green(self):
        self.assertEqual(self.said({}), [])

    def test_a_room_includes_only_its_row(self):
        self.assert_red("src/shard/a.cc", '\n#include "kv/store.h"\n', 2, "'shard' may not include 'kv'")
        self.assert_red("src/base/a.cc", '#include "shard/key.h"\n', 1, "'base' may not include 'shard'")
        self.assert_red("src/kv/lmdb/a.cc", '#include "shard/key.h"\n', 1, "'kv' may not include 'shard'")
        self.assert_red("src/cli/a.cc", '#include "kv/store.h"\n', 1, "'cli' may not include 'kv'")

    def test_a_rooms_tests_keep_to_its_row_too(self):
        self.assert_red("src/base/a_test.cc", '#include "shard/key.h"\n', 1, "may not include")

    def test_outer_folders_include_every_room(self):
        for folder in ("cmd", "sim", "tests", "bench", "fuzz", "examples"):
            self.assertEqual(self.said({f"{folder}/a.cc": '#include "kv/store.h"\n#include "cli/main.h"\n'}), [])

    def test_outer_folders_include_themselves_and_not_each_other(self):
        self.assert_red("fuzz/a.cc", '#include "bench/baseline.h"\n', 1, "no room is called 'bench'")
        self.assert_red("bench/a.cc", '#include "bench/absent.h"\n', 1, "no such file")
        self.assert_red("src/node/a.cc", '#include "bench/baseline.h"\n', 1, "no room is called 'bench'")

    def test_no_include_climbs(self):
        self.assert_red("src/shard/a.cc", '#include "../base/bytes.h"\n', 1, 'write "room/file.h"')
        self.assert_red("src/shard/a.cc", '#include "shard/../base/bytes.h"\n', 1, 'write "room/file.h"')

    def test_an_include_names_its_room(self):
        self.assert_red("src/shard/a.cc", '#include "key.h"\n', 1, "write its folder too")

    def test_an_unknown_room_is_an_error(self):
        self.assert_red("src/shard/a.cc", '#include "attic/box.h"\n', 1, "no room is called 'attic'")
        self.assert_red("tests/a.cc", '#include "attic/box.h"\n', 1, "no room is called 'attic'")

    def test_a_missing_file_is_an_error(self):
        self.assert_red("src/shard/a.cc", '#include "base/absent.h"\n', 1, "no such file")

    def test_a_macro_as_file_name_is_an_error(self):
        self.assert_red("src/shard/a.cc", "#include FILE_NAME\n", 1, "not by a macro")

    def test_a_backend_is_seen_from_inside_and_by_node(self):
        include = '#include "kv/lmdb/store.h"\n'
        self.assert_red("cmd/a.cc", include, 1, "a backend is seen from inside")
        self.assert_red("sim/a.cc", include, 1, "a backend is seen from inside")
        house = HOUSE.replace("cli:    base", "cli:    base kv")
        document = DOCUMENT.replace("base, shard, node", "base, shard, kv, node")
        said = self.said({"cmake/house.txt": house, "docs/architecture.md": document, "src/cli/a.cc": include})
        self.assertEqual(len(said), 1, said)
        for name in ("src/kv/a.cc", "src/node/a.cc", "tests/a.cc", "bench/a.cc", "fuzz/a.cc"):
            self.assertEqual(self.said({name: include}), [])

    def test_each_library_has_its_door(self):
        house = HOUSE + "".join(f"{room}: base\n" for room in (
            "log", "mvcc", "coord", "bitmap", "scan", "client", "server"))
        document = DOCUMENT.replace("\n\n", "\n" + "".join(f"| `{room}` | x | base |\n" for room in (
            "log", "mvcc", "coord", "bitmap", "scan", "client", "server")) + "\n")
        ground = {"cmake/house.txt": house, "docs/architecture.md": document}
        doors = [
            ("<rocksdb/db.h>", ["log/storage", "mvcc"], ["log", "kv"]),
            ("<lmdb.h>", ["kv/lmdb"], ["kv", "bitmap"]),
            ("<roaring/roaring.h>", ["bitmap"], ["shard"]),
            ("<grpcpp/grpcpp.h>", ["server", "client", "coord/etcd"], ["coord", "node"]),
            ("<google/protobuf/message.h>", ["server"], ["shard"]),
            ('"cadastre/v1/kv.pb.h"', ["server"], ["shard"]),
            ("<hs/hs.h>", ["scan"], ["cli"]),
            ("<hs.h>", ["scan"], ["cli"]),
            ("<re2/re2.h>", ["scan"], ["cli"]),
            ("<CLI/CLI.hpp>", ["cli"], ["base"]),
            ("<nlohmann/json.hpp>", ["cli"], ["shard", "base"]),
            ("<spdlog/spdlog.h>", ["base"], ["cli", "shard"]),
            ("<xxhash.h>", ["base"], ["shard"]),
            ("<blake3.h>", ["base"], ["shard"]),
            ("<gtest/gtest.h>", [], ["base"]),
            ("<rapidcheck.h>", [], ["shard"]),
            ("<fmt/format.h>", ["base", "shard", "cli"], []),
        ]
        for header, inside, outside in doors:
            for place in inside:
                with self.subTest(header=header, inside=place):
                    self.assertEqual(self.said({**ground, f"src/{place}/a.cc": f"#include {header}\n"}), [])
            for place in outside:
                with self.subTest(header=header, outside=place):
                    said = self.said({**ground, f"src/{place}/a.cc": f"#include {header}\n"})
                    self.assertEqual(len(said), 1, said)
                    self.assertIn("is included only in", said[0])

    def test_tests_of_a_room_use_test_libraries_and_json(self):
        text = "#include <gtest/gtest.h>\n#include <rapidcheck.h>\n\n#include <nlohmann/json.hpp>\n"
        self.assertEqual(self.said({"src/shard/a_prop_test.cc": text}), [])
        self.assertEqual(self.said({"src/shard/law_testing.h": HEADER + text}), [])

    def test_examiners_use_every_library_and_the_binary_none(self):
        for folder in ("tests", "bench", "fuzz", "sim"):
            self.assertEqual(self.said({f"{folder}/a.cc": "#include <rocksdb/db.h>\n"}), [])
        self.assert_red("cmd/a.cc", "#include <CLI/CLI.hpp>\n", 1, "CLI11 is included only in cli")

    def test_a_library_without_a_door_is_an_error(self):
        self.assert_red("src/base/a.cc", "#include <boost/any.hpp>\n", 1, "has no door")
        self.assertEqual(self.said({"src/base/a.cc": "#include <sys/mman.h>\n#include <vector>\n#include <unistd.h>\n"}), [])

    def test_comments_and_literals_are_no_includes(self):
        text = '// #include "kv/store.h"\n/*\n#include "kv/store.h"\n*/\nauto s = R"x(\n#include "kv/store.h"\n)x";\n'
        self.assertEqual(self.said({"src/shard/a.cc": text}), [])
        self.assert_red("src/shard/a.cc", text + '#include "kv/store.h"  // why\n', 8, "may not include")

    def test_a_folder_of_src_is_a_room(self):
        said = self.said({"src/attic/box.h": HEADER})
        self.assertEqual(said, ["src/attic:1: this folder has no row in cmake/house.txt"])
        self.assert_red("src/stray.h", HEADER, 1, "lies in a room")

    def test_arrows_of_the_table_point_down(self):
        document = DOCUMENT.replace("| ground | nothing |", "| ground | shard |")
        said = self.said({"cmake/house.txt": HOUSE.replace("base:\n", "base: shard\n"), "docs/architecture.md": document})
        self.assertEqual(said, ["cmake/house.txt:2: 'base' includes 'shard', which has no row above it"])

    def test_the_table_has_one_plain_row_for_each_room(self):
        self.assert_red("cmake/house.txt", HOUSE + "kv:     base\n", 7, "second row")
        self.assert_red("cmake/house.txt", HOUSE + "what is this\n", 7, "a row reads")

    def test_the_architecture_page_agrees_with_the_house(self):
        name = "docs/architecture.md"
        self.assert_red(name, DOCUMENT.replace("| algebra | base |", "| algebra | nothing |"), 4, "may include 'base'")
        self.assert_red(name, DOCUMENT.replace("all above", "base shard"), 6, "may include 'base shard kv'")
        self.assert_red(name, DOCUMENT.replace("| `kv` | pairs | base |\n", ""), 1, "'kv' is in cmake/house.txt")
        self.assert_red(name, DOCUMENT.replace("\n\n", "\n| `attic` | x | base |\n\n"), 8, "'attic' is not in")
        self.assert_red(name, DOCUMENT.replace("\n\n", "\n| `cli` | x | base shard node |\n\n"), 8, "second row")
        self.assertEqual(self.said({name: None}), [f"{name}:1: the architecture page is missing"])


class Smells(Tree):
    def said(self, changes):
        return sorted(str(finding) for finding in check_smells.check(self.tree(changes))[0])

    def assert_red(self, name, text, line, words):
        said = self.said({name: text})
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said[0].startswith(f"{name}:{line}: "), said)
        self.assertIn(words, said[0])

    def assert_green(self, name, text):
        self.assertEqual(self.said({name: text}), [])

    def test_a_clean_house_is_green(self):
        self.assertEqual(self.said({}), [])

    def test_no_file_passes_a_thousand_lines(self):
        self.assert_green("src/shard/a.cc", "int x;\n" * 1000)
        self.assert_red("src/shard/a.cc", "int x;\n" * 1001, 1001, "no file passes 1000")

    def test_a_file_past_five_hundred_lines_is_noted(self):
        for lines, notes in ((500, 0), (501, 1)):
            root = self.tree({"src/shard/a.cc": "int x;\n" * lines})
            self.assertEqual(len(check_smells.check(root)[1]), notes)

    def test_clocks_are_read_in_base_and_node_and_by_benchmarks(self):
        for call in ("std::chrono::system_clock::now();", "auto t = steady_clock :: now();", "time(nullptr);",
                     "return std::time(0);", "::time(&t);", "gettimeofday(&t, nullptr);",
                     "if (clock_gettime(CLOCK_MONOTONIC, &t) != 0) x();"):
            with self.subTest(call=call):
                for name in ("src/shard/a.cc", "src/shard/a_test.cc", "cmd/a.cc", "sim/a.cc", "tests/a.cc", "fuzz/a.cc"):
                    self.assert_red(name, f"\n{call}\n", 2, "base::Clock&")
                for name in ("src/base/a.cc", "src/node/a.cc", "bench/a.cc"):
                    self.assert_green(name, call + "\n")

    def test_chance_environment_and_threads_enter_through_base_and_node(self):
        for call, words in (("std::random_device d;", "base::Random&"), ("x = rand() % 6;", "base::Random&"),
                            ("std::srand(1);", "base::Random&"), ("const char* home = getenv(name);", "environment"),
                            ("f(std::getenv(name));", "environment"), ("std::thread t(f);", "threads"),
                            ("std::jthread t(f);", "threads"), ("auto f = std::async(g);", "threads")):
            with self.subTest(call=call):
                for name in ("src/shard/a.cc", "src/cli/a.cc", "tests/a.cc", "bench/a.cc"):
                    self.assert_red(name, call + "\n", 1, words)
                for name in ("src/base/a.cc", "src/node/a.cc"):
                    self.assert_green(name, call + "\n")

    def test_nothing_sleeps_and_no_test_does_anywhere(self):
        for call in ("std::this_thread::sleep_for(x);", "usleep(5);", "sleep(1);", "::sleep(1);", "sleep_until(x);"):
            with self.subTest(call=call):
                for name in ("src/shard/a.cc", "bench/a.cc", "src/base/a_test.cc"):
                    self.assert_red(name, call + "\n", 1, "nothing sleeps")
                self.assert_green("src/base/a.cc", call + "\n")

    def test_names_that_only_look_like_banned_calls(self):
        for text in ("Instant time() const;", "x.time(0);", "p->sleep(1);", "co::sleep(1);", "operand(3);", "int sleep(int);",
                     "entry.time(nullptr);", "mutex.getenv(x);", "std::thread_local_thing x;", "std::vector<int> rand(int n);",
                     "const Clock& gettimeofday(int);", "timeout(0);", "runtime(0);", "steady_clock::time_point t;"):
            with self.subTest(text=text):
                self.assert_green("src/shard/a.cc", text + "\n")

    def test_code_rules_hold_after_every_operator(self):
        for text in ("a > rand()", "a & rand()", "-rand()", "return rand()", "f(rand())", "a ? rand() : b", "{rand()}"):
            with self.subTest(text=text):
                self.assert_red("src/shard/a.cc", text + ";\n", 1, "base::Random&")

    def test_work_for_later_names_its_issue(self):
        for word in ("TODO", "FIXME", "XXX"):
            self.assert_red("src/shard/a.cc", f"int x;\n/* a\n   {word}: finish */\n", 3, "without its issue")
            self.assert_red("tests/a.cc", f"int x;  // {word}(me) finish\n", 1, "without its issue")
            self.assert_green("src/shard/a.cc", f"int x;  // {word}(#12): finish\n")
        self.assert_green("src/shard/a.cc", 'auto s = "TODO";\n')

    def test_every_test_runs(self):
        self.assert_red("src/shard/a_test.cc", "TEST(A, B) { GTEST_SKIP(); }\n", 1, "runs or is deleted")
        self.assert_red("tests/a_test.cc", "TEST(A, DISABLED_B) {}\n", 1, "runs or is deleted")

    def test_nothing_is_caught_unnamed(self):
        self.assert_red("src/shard/a.cc", "try { f(); } catch ( ... ) {}\n", 1, "by name")
        self.assert_green("tests/a.cc", "try { f(); } catch (const std::exception& error) {}\n")

    def test_nothing_is_thrown_outside_tests(self):
        self.assert_red("src/shard/a.cc", "throw 1;\n", 1, "we throw nothing")
        for name in ("tests/a.cc", "src/shard/a_test.cc"):
            self.assert_green(name, "throw 1;\n")

    def test_headers_open_no_namespace(self):
        self.assert_red("src/shard/a.h", HEADER + "using namespace std;\n", 4, "opens no namespace")
        self.assert_green("src/shard/a.cc", "using namespace std::chrono_literals;\n")

    def test_vague_names_are_refused(self):
        for name in ("src/shard/utils.cc", "src/shard/helpers.cc", "src/shard/common.cc", "src/shard/key_util.cc",
                     "src/shard/helpers_test.cc", "tools/common.py", "cmake/utils.cmake"):
            with self.subTest(name=name):
                self.assert_red(name, "\n", 1, "a name says what is inside")
        self.assertEqual(len(self.said({"src/kv/common/a.cc": "\n"})), 1)
        self.assert_green("src/shard/common_prefix.cc", "\n")

    def test_a_header_opens_with_its_purpose_and_once(self):
        self.assert_red("src/shard/a.h", "#pragma once\n// Late.\n", 1, "opens with what it is for")
        self.assert_red("src/shard/a.h", "// A header.\n", 1, "#pragma once")
        self.assert_red("src/shard/a.h", "// A header.\n// #pragma once\n", 1, "#pragma once")

    def test_a_room_has_its_design(self):
        said = self.said({"src/shard/DESIGN.md": None})
        self.assertEqual(said, ["src/shard:1: this room has no DESIGN.md"])

    def test_shard_calls_no_algorithm_that_allocates(self):
        for call in ("std::stable_sort(a, b);", "std::ranges::stable_sort(a);", "std::inplace_merge(a, b, c);"):
            self.assert_red("src/shard/a.cc", call + "\n", 1, "may allocate")
            self.assert_green("src/kv/a.cc", call + "\n")

    def test_comments_and_literals_are_no_code(self):
        self.assert_green("src/shard/a.h", """\
// throw, catch (...), using namespace std; rand() \\
   throw 1;

#pragma once

/* std::thread
   throw 1; */
inline auto a = "throw \\" rand()";
inline auto b = R"x(throw 1; " )" std::thread )x";
inline auto c = u8R"(throw)";
inline char d = '"', e = '\\'', f = 'x';
inline int g = 1'000'000;  // throw 'n
""")

    def test_code_between_comments_and_literals_is_code(self):
        for text in ('auto a = "//"; throw 1;', "char a = '\"'; throw 1; char b = '\"';", "int a = 1'000; throw 1'0;",
                     "/* a */ throw 1; /* b */", 'auto a = R"(x)"; throw 1; auto b = ")";', r'auto a = "\\"; throw 1;'):
            with self.subTest(text=text):
                self.assert_red("src/shard/a.cc", text + "\n", 1, "we throw nothing")


class CommandLine(Tree):
    def run_tool(self, name, root):
        return subprocess.run([TOOLS / name, "--root", root], capture_output=True, text=True, check=False)

    def test_findings_are_printed_and_exit_with_one(self):
        for name, text, words in (("check_layers", '#include "attic/box.h"\n', "no room is called"),
                                  ("check_smells", "throw 1;\n", "we throw nothing")):
            clean = self.run_tool(name, self.tree({}))
            self.assertEqual((clean.returncode, clean.stdout), (0, f"{name}: 0 findings in 10 files\n"))
            red = self.run_tool(name, self.tree({"src/shard/a.cc": text}))
            self.assertEqual(red.returncode, 1)
            self.assertIn("src/shard/a.cc:1: ", red.stdout)
            self.assertIn(words, red.stdout)


def worker(*events):
    return types.SimpleNamespace(events=[dict(zip(("event", "shard", "fence", "from", "to"), event)) for event in events])


def accepted(workers, done=()):
    shards = [{"id": shard, "status": "done"} for shard in done]
    return demo.Demo.accepted(types.SimpleNamespace(workers=workers, shards=shards))


class Demonstration(unittest.TestCase):
    def test_a_cover_has_every_row_once(self):
        self.assertTrue(demo.covered_once([(0, 10), (10, demo.ROWS)]))
        self.assertFalse(demo.covered_once([(0, 10), (11, demo.ROWS)]))
        self.assertFalse(demo.covered_once([(0, 10), (9, demo.ROWS)]))
        self.assertFalse(demo.covered_once([(0, demo.ROWS - 1)]))
        self.assertFalse(demo.covered_once([(0, 10), (0, 10), (10, demo.ROWS)]))

    def test_a_refused_write_covers_nothing(self):
        self.assertEqual(accepted([worker(("attempt", "1", 2, 0, 5), ("rejected", "1", 2, 0, 5))]), [])
        self.assertEqual(accepted([worker(("attempt", "1", 2, 0, 5), ("accepted", "1", 2, 0, 5))]), [(0, 5)])

    def test_an_answer_that_a_killed_worker_never_heard_shows_in_the_next_grant(self):
        killed = worker(("attempt", "1", 2, 0, 5))
        self.assertEqual(accepted([killed, worker(("grant", "1", 3, 5, 9))]), [(0, 5)])
        self.assertEqual(accepted([killed, worker(("grant", "1", 3, 0, 9))]), [])
        self.assertEqual(accepted([killed], done=[1]), [(0, 5)])
        self.assertEqual(accepted([killed]), [])


if __name__ == "__main__":
    unittest.main()
