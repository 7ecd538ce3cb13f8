#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Names in pages and comments exist in the tree: claims.py [--root DIR].

- Paths that pages and comments name exist: from the root, from the page's folder, or as the end of a longer path.
- `./dev NAME` is a command, and folders given to `./dev mutate` are in sdk/src.
- Symbols that pages name are in the sources: hearth_*, HEARTH_*, `Class`, `Class::member`, `hearth::name`.
- Decisions (docs/design) have numbers of their own, and a page links each; docs/README.md links all other pages.
- A block of code after the line `<!-- from PATH -->` is in that file, apart from white space.
- A number that several pages state is the same in all of them (SAME_NUMBERS).

The changelog is exempt: it names things as they were."""

import collections
import fnmatch
import re
import sys
from pathlib import PurePosixPath

import tree

EXEMPT = ("CHANGELOG.md", "sdk/support/renames.tsv", "sdk/support/checks/", "tests/checks/")
TEXT = tuple(".c .cpp .h .hpp .inc .comp .glsl .cmake .py .sh .md .txt .json .toml .yml .yaml .js .ts .html .lua .gd "
             ".cs .rs .def .exports".split())
# A comment, and the files that have them.
COMMENT = {r"//(.*)": (".c", ".cpp", ".h", ".hpp", ".inc", ".comp", ".glsl"),
           r"(?:^|\s)#(?!include)(.*)": (".cmake", ".py", ".sh", ".txt")}
INLINE_CODE = r"`([^`\n]+)`"
PATH = re.compile(r"(?<![\w/.:<\"$*}>-])((?:[\w.*-]+/)+[\w.*-]*)")
NAMES_FILE = re.compile(r"\.(?:c|cpp|h|hpp|inc|comp|glsl|cmake|py|sh|md)$")
FILE = re.compile(r"`([\w.-]+\.(?:cpp|hpp|inc|comp|glsl|py))`")  # other bare names are often of what the reader makes
COMMAND = re.compile(r"(?<![\w./])\./dev ([a-z0-9]+)")
# Paths of other projects, and of build outputs.
FOREIGN_PATHS = ("onnx/", "torch/", "numpy/", "glslang/", "vulkan/", "Lib/", "build/", "out/", "share/", "lib/", "bin/",
                 "docs/syncval_usage.md", "docs/ContribOperators.md")
FOREIGN_CLASSES = re.compile(r"(Vk|VK_|SPV_|GL_|ID3D|RHI)|.*(Test|Case)$")
# These pages name classes and files of engines and of the reader's project; that one shows names that are made up.
OTHERS_NAMES = re.compile(r"engine_bridge/|docs/(.*/)?engines\.md$")
EXAMPLES = re.compile(r"docs/(.*/)?style\.md$")
SAME_NUMBERS = {
    "calls of two frames of Ghost Lap": r"(\d+) calls of two frames",
    "minutes of the tests on two cores": r"[Oo]n two cores[^.]{0,60}? tests take (\d+|\w+) minutes",
}


class Claims:
    def __init__(self, root):
        self.root, self.found = root, []
        self.files = set(tree.files(root))
        self.folders = {str(parent) for path in self.files for parent in PurePosixPath(path).parents} - {"."}
        self.names = {PurePosixPath(path).name for path in self.files}
        self.top = {path.split("/")[0] for path in self.files if "/" in path}
        readable = [path for path in sorted(self.files) if path.endswith(TEXT) or "." not in PurePosixPath(path).name]
        self.text = {path: tree.read(root, path) for path in readable if not path.startswith(EXEMPT)}
        self.pages = {path: text for path, text in self.text.items() if path.endswith(".md")}
        self.words = [set(re.findall(r"\w+", text)) for path, text in self.text.items() if path not in self.pages]
        self.all_words = set().union(*self.words)

    def run(self):
        for path, text in self.text.items():
            self.path, self.here = path, text
            self.paths()
            self.commands()
            if path in self.pages:
                self.mutated_folders()
                self.quotations()
                if not EXAMPLES.match(path):
                    self.c_symbols()
                    if not OTHERS_NAMES.match(path):
                        self.files_by_name()
                        self.classes()
        self.decisions()
        self.index()
        self.numbers()
        return self.found

    def false(self, match, what):
        line = self.here.count("\n", 0, match.start()) + 1
        self.found.append(f"{self.path}:{line}: {what}")

    def exists(self, name):
        """Whether there is such a file or folder; words in capitals stand for any name."""
        name = re.sub(r"(?<![A-Za-z_])[A-Z]{2,}(?![A-Za-z_])", "*", name)
        beside = str(PurePosixPath(self.path).parent / name)
        if {name, beside} & (self.files | self.folders):
            return True
        if "*" in name:
            return any(fnmatch.fnmatch(path, "*" + name) for path in self.files | self.folders)
        return any(path.endswith("/" + name) for path in self.files | self.folders)

    def paths(self):
        is_page = self.path in self.pages
        patterns = [INLINE_CODE] if is_page else [p for p, endings in COMMENT.items() if self.path.endswith(endings)]
        for piece in (m for pattern in patterns for m in re.finditer(pattern, self.here, re.M)):
            for name in PATH.findall("" if "://" in piece.group() else piece.group(1)):
                name = name.rstrip("/.")
                is_file = NAMES_FILE.search(name)
                is_ours = name.split("/")[0] in self.top
                if name.startswith(FOREIGN_PATHS) or not (is_file or (is_page and is_ours)):
                    continue
                if not (is_ours or is_page or name.islower()) or (not is_ours and OTHERS_NAMES.match(self.path)):
                    continue
                if not self.exists(name):
                    self.false(piece, f"names {name}, which does not exist")

    def files_by_name(self):
        for match in FILE.finditer(self.here):
            if match.group(1) not in self.names:
                self.false(match, f"names {match.group(1)}; no file has that name")

    def commands(self):
        known = {PurePosixPath(f).stem for f in self.files if re.fullmatch(r"sdk/support/dev/\w+\.sh", f)}
        for match in COMMAND.finditer(self.here):
            if match.group(1) not in known - {"common"} | {"help"}:
                self.false(match, f"there is no ./dev {match.group(1)}")

    def mutated_folders(self):
        for match in re.finditer(r"`\./dev\s+mutate\s([^`]+)`", self.here):
            for word in re.sub(r"--\w+ [\w.]+|\[[^\]]*\]", "", match.group(1)).split():
                if f"sdk/src/{word.rstrip('/')}" not in self.folders | self.files:
                    self.false(match, f"./dev mutate {word}: there is no sdk/src/{word}")

    def c_symbols(self):
        for match in re.finditer(r"(?<![\w/.-])((?:hearth|HEARTH)_\w+)(\*?)", self.here):
            name, star = match.groups()
            is_start = (star or name.endswith("_")) and any(word.startswith(name) for word in self.all_words)
            if name not in self.all_words and not is_start:
                self.false(match, f"names {name}; no source has that symbol")

    def classes(self):
        for match in re.finditer(INLINE_CODE, self.here):
            code = match.group(1)
            for name in re.findall(r"(?<![\w:.])(?:hearth|[A-Z]\w*[a-z]\w*)(?:::\w+)+", code):
                parts = name.split("::")
                if not FOREIGN_CLASSES.match(name) and not any(words.issuperset(parts) for words in self.words):
                    self.false(match, f"names {name}; no source has all of it")
            is_class = re.fullmatch(r"[A-Z][a-z]\w*[A-Z]\w*", code) and not FOREIGN_CLASSES.match(code)
            if is_class and code not in self.all_words:
                self.false(match, f"names {code}; no source has that symbol")

    def quotations(self):
        for match in re.finditer(r"<!-- from (\S+) -->\s*```\w*\n(.*?)^```$", self.here, re.M | re.S):
            source, block = match.groups()
            if source not in self.files:
                self.false(match, f"quotes {source}, which does not exist")
            elif re.sub(r"\s+", "", block) not in re.sub(r"\s+", "", tree.read(self.root, source)):
                self.false(match, f"the block below is not in {source}")

    def decisions(self):
        designs = [path for path in self.pages if re.fullmatch(r"docs/design/\d.*\.md", path)]
        numbers = collections.Counter(PurePosixPath(path).name[:4] for path in designs)
        self.found += [f"docs/design: {n} decisions have the number {number}" for number, n in numbers.items() if n > 1]
        for path in designs:
            link = re.compile(rf"\]\([^)]*\b{re.escape(PurePosixPath(path).name)}")
            if not any(link.search(text) for page, text in self.pages.items() if page != path):
                self.found.append(f"{path}: no page links it")

    def index(self):
        index = self.pages.get("docs/README.md", "")
        for path in self.pages:
            inner = path.removeprefix("docs/")
            is_listed = f"]({inner}" in index or inner == "README.md" or re.match(r"design/\d", inner)
            if inner != path and not is_listed:
                self.found.append(f"docs/README.md: does not link {inner}")

    def numbers(self):
        for what, pattern in SAME_NUMBERS.items():
            stated = {}
            for path, text in self.pages.items():
                for number in re.findall(pattern, re.sub(r"\s+", " ", text)):
                    stated.setdefault(number, path)
            if len(stated) > 1:
                told = ", ".join(f"{number} ({path})" for number, path in sorted(stated.items()))
                self.found.append(f"pages disagree on the {what}: {told}")


def main(argv=None):
    options = tree.arguments(__doc__).parse_args(argv)
    claims = Claims(options.root.resolve())
    if not claims.pages:
        print(f"claims: no pages found under {options.root}")
        return 1
    found = claims.run()
    print("".join(f"{line}\n" for line in found), end="")
    print(f"claims: {len(found)} are false, expected none, in {len(claims.pages)} pages and {len(claims.text)} files"
          + ("; correct the page or comment, or what it names" if found else ""))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
