"""What the checkers know about C++ files: where they lie, and which of their characters are code.

Nothing here parses C++. It tells comments, literals and code apart, which is enough to ask whether a word
is code, and it keeps every line where it was, so that offsets still name lines.
"""

import dataclasses
import pathlib
import re

ROOM_FOLDER = "src"
OUTER_FOLDERS = ("cmd", "sim", "tests", "bench", "fuzz", "examples")  # May include any room.

_TOKEN = re.compile(
    r"""
    (?P<comment>//(?:[^\\\n]|\\.)*|/\*.*?(?:\*/|\Z))
  | (?P<literal>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
               |(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"
               |(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*')
  | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)      # 10'000 holds no character literal
  | (?P<word>[A-Za-z_]\w*)                        # nor does fooR"(x)" hold a raw string
    """,
    re.VERBOSE | re.DOTALL,
)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[ \t]*(.*)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Include:
    line: int
    path: str
    quoted: bool  # "path", not <path>


@dataclasses.dataclass(frozen=True)
class Finding:
    path: str  # Relative to the root.
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


class Source:
    """One file, seen three ways. All three have the same length and the same lines."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8", errors="replace")
        self.code = _blank(self.text, {"comment", "literal"})
        self.without_comments = _blank(self.text, {"comment"})

    @property
    def is_header(self):
        return self.path.endswith(".h")

    @property
    def is_test(self):
        return re.search(r"_(test|testing)\.(cc|h)$", self.path) is not None

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def comments(self):
        """Each comment as (offset, text)."""
        return [(m.start(), m.group()) for m in _TOKEN.finditer(self.text) if m.lastgroup == "comment"]

    def includes(self):
        """Every include directive. An Include whose path is empty names its file by a macro."""
        found = []
        for match in _INCLUDE.finditer(self.code):
            target = self.without_comments[match.start(1) : match.end(1)].strip()
            named = re.fullmatch(r'"([^"]*)"|<([^>]*)>', target)
            path = (named.group(1) or named.group(2) or "") if named else ""
            found.append(Include(self.line_of(match.start(1)), path, target.startswith('"')))
        return found


def _blank(text, kinds):
    """`text` with every token of these kinds turned into spaces; a literal keeps its quotes."""

    def spaces(match):
        token = match.group()
        if match.lastgroup not in kinds:
            return token
        blank = re.sub(r"[^\n]", " ", token)
        if match.lastgroup == "literal" and "\n" not in token:
            return token[-1] + blank[1:-1] + token[-1]
        return blank

    return _TOKEN.sub(spaces, text)


def source_paths(root):
    """Every C++ file of the project under `root`, in order."""
    paths = []
    for folder in (ROOM_FOLDER, *OUTER_FOLDERS):
        for pattern in ("*.cc", "*.h"):
            paths += (root / folder).rglob(pattern)
    return sorted(paths)


def sources(root):
    return [Source(root, path) for path in source_paths(root)]


def report(name, findings, files):
    """Prints the findings and a closing line; the exit status to leave with."""
    for finding in sorted(findings, key=lambda f: (f.path, f.line, f.message)):
        print(finding)
    print(f"{name}: {len(findings)} findings in {files} files")
    return 1 if findings else 0
