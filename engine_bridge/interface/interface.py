# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the generators of bindings share: hearth.json, its types, and writing or checking a file."""

import difflib
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Interface:
    def __init__(self):
        table = json.loads(Path(__file__).with_name("hearth.json").read_text(encoding="utf-8"))
        self.constants, self.enums, self.aliases = table["constants"], table["enums"], table["aliases"]
        self.handles, self.callbacks = table["handles"], table["callbacks"]
        self.structs, self.functions = table["structs"], table["functions"]
        self.names = {kind: {item["name"] for item in table[kind]} for kind in table}
        self.alias_of = {a["name"]: a["type"] for a in self.aliases}
        used = json.dumps([self.structs, self.functions, self.callbacks])
        self.vulkan_handles = sorted(set(re.findall(r"\bVk\w+", used)) - {"VkAllocationCallbacks"})


def array_of(text):
    """Splits "T[4]" into ("T", 4); (text, None) for another type."""
    found = re.fullmatch(r"([^(]*?)\[(\d+)\]", text)
    return (found[1].strip(), int(found[2])) if found else (text, None)


def pointee_of(text):
    """Splits "const T *" into ("T", True), const-ness being that of T; None for another type."""
    found = re.fullmatch(r"(.*?)\s*\*\s*(const)?", text)
    if not found:
        return None
    inner = found[1].strip()
    is_const = inner.startswith("const ") and "*" not in inner or inner.endswith("*const")
    return (inner.removeprefix("const ") if "*" not in inner else inner.removesuffix("const").strip()), is_const


def function_of(text):
    """Splits "R (*)(A, B)" into ("R", ["A", "B"]); None for another type."""
    found = re.fullmatch(r"(.*?)\(\*\)\((.*)\)", text)
    return (found[1].strip(), [p.strip() for p in found[2].split(",") if p.strip() != "void"]) if found else None


def declare(text, name):
    """Returns the C declaration of a name."""
    element, count = array_of(text)
    if count is not None:
        return f"{element} {name}[{count}]"
    return text.replace("(*)", f"(*{name})", 1) if "(*)" in text else f"{text} {name}"


def pascal(name):
    """hearth_record_info: RecordInfo."""
    return "".join(word.capitalize() for word in name.removeprefix("hearth_").split("_"))


def finish(path, text, arguments):
    """Writes the file, or with --check compares it; returns the exit code."""
    if arguments != ["--check"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return 0
    stored = path.read_text(encoding="utf-8") if path.is_file() else ""
    if stored == text:
        return 0
    for line in difflib.unified_diff(stored.splitlines(), text.splitlines(), str(path), "hearth.json", lineterm="", n=1):
        print(line)
    print(f"{path.name} is not that of hearth.json: run ./dev bindings")
    return 1
