#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Describes the C interface in hearth.json, from which the bindings of other languages are made: describe.py [--check].

Declarations and comments are those of clang's syntax tree; sizes, offsets, constants and defaults are printed by a
program that includes the headers.  Sizes and offsets are those of 64-bit platforms.

    constants   [{name, type, value, doc}]   macros and typed constants
    enums       [{name, doc, values: [{name, value, doc}]}]
    aliases     [{name, type, doc}]          typedefs of integers
    handles     [{name, doc}]                opaque structs
    callbacks   [{name, result, parameters, doc, function?}]   parameters: types; function: no pointer to one
    structs     [{name, size, doc, fields: [{name, type, offset, doc}], tag?, defaults?: {path: value}}]
                tag: value of `type`; defaults: fields of NAME_default() that are not zero
    functions   [{name, result, parameters: [{name, type}], header, doc, inline?, experimental?}]
                inline: also a static inline function of the header

--check compares the file with the headers and exits with 1 if they differ, with 77 without clang.
"""

import difflib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = Path(__file__).with_name("hearth.json")
INCLUDES = ["sdk/include", "sdk/support/workbench"]
HEADERS = {"hearth/hearth.h": "sdk/include", "hearth/hearth_agents.h": "sdk/include",
           "hearth_workbench.h": "sdk/support/workbench"}
# Macros that are no numbers.
NO_CONSTANTS = re.compile(r"HEARTH_(API|EXPERIMENTAL|VKAPI_PTR|\w*H_|WARN_EXPERIMENTAL)$")
# Generators of bindings evaluate literals, operators and other macros, but no calls of macros.
EVALUATED = re.compile(r"(0x[0-9a-fA-F]+|\d+)?[uU]?|\s+|[()|+]|<<|HEARTH_\w+")
FORMATS = {"uint8_t": "B", "char": "B", "uint32_t": "I", "int32_t": "i", "uint64_t": "Q", "int64_t": "q", "size_t": "Q",
           "float": "f", "double": "d"}


def clang():
    for name in ("clang-14", "clang"):
        if shutil.which(name):
            return name
    print("not run: no clang (Debian: clang-14)")
    sys.exit(77)


def run_clang(*arguments, source):
    command = [clang(), "-x", "c", "-std=c11", *(f"-I{ROOT / folder}" for folder in INCLUDES), *arguments, "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def declarations(header):
    text = run_clang("-fsyntax-only", "-fparse-all-comments", "-Xclang", "-ast-dump=json", "-DHEARTH_WARN_EXPERIMENTAL",
                     source=f"#include <{header}>\n")
    return [node for node in json.loads(text)["inner"] if node.get("name", "").lower().startswith("hearth_")]


def inner(node, *kinds):
    return [child for child in node.get("inner", []) if child["kind"] in kinds]


def doc_of(node):
    """Returns the comment that clang attaches to a declaration, one line for each of the header's."""
    paragraphs = []
    for comment in inner(node, "FullComment"):
        for paragraph in inner(comment, "ParagraphComment"):
            lines, is_split = [], False
            for text in (child["text"] for child in inner(paragraph, "TextComment")):
                # clang splits lines at '<', which could begin a tag.
                if is_split or text == "<":
                    lines[-1] += text
                else:
                    lines.append(re.sub(r"^ ?\*? ?", "", text))
                is_split = text == "<"
            paragraphs.append("\n".join(line.rstrip() for line in lines).strip("\n"))
    text = "\n\n".join(paragraph for paragraph in paragraphs if paragraph.strip()).strip()
    return "" if text.startswith("---") else text  # headings of sections


def type_of(node):
    return node["type"]["qualType"].replace("struct ", "")


def signature(text):
    """Splits a function type: returns the result and the types of the parameters."""
    result, rest = text.split("(*)(" if "(*)(" in text else "(", 1)
    parameters, depth, start = [], 0, 0
    rest = rest[:rest.rindex(")")]
    for i, character in enumerate(rest + ","):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parameters.append(rest[start:i].strip())
            start = i + 1
    return result.strip(), [p for p in parameters if p not in ("", "void")]


def add_typedef(table, node):
    text = type_of(node)
    if "(" in text:
        result, parameters = signature(text)
        callback = {"name": node["name"], "result": result, "parameters": parameters, "doc": doc_of(node)}
        if "(*)(" not in text:
            callback["function"] = True
        table["callbacks"].append(callback)
    elif text.startswith("uint"):
        table["aliases"].append({"name": node["name"], "type": text, "doc": doc_of(node)})
    elif text == node["name"] and text not in {s["name"] for s in table["structs"]}:
        table["handles"].append({"name": node["name"], "doc": doc_of(node)})


def add_function(table, node, header):
    function = {"name": node["name"], "result": signature(type_of(node))[0],
                "parameters": [{"name": p["name"], "type": type_of(p)} for p in inner(node, "ParmVarDecl")],
                "header": header, "doc": doc_of(node)}
    if node.get("inline"):
        function["inline"] = True
    if inner(node, "DeprecatedAttr"):
        function["experimental"] = True
    table["functions"].append(function)


def add_declarations(table, header, known):
    for node in declarations(header):
        key = (node["kind"], node["name"])
        if key in known or (node["kind"] == "RecordDecl" and not node.get("completeDefinition")):
            continue
        known.add(key)
        if node["kind"] == "EnumDecl":
            values = []
            for value in inner(node, "EnumConstantDecl"):
                given = inner(value, "ConstantExpr")
                values.append({"name": value["name"], "value": int(given[0]["value"]), "doc": doc_of(value)})
            table["enums"].append({"name": node["name"], "doc": doc_of(node), "values": values})
        elif node["kind"] == "RecordDecl":
            fields = [{"name": f["name"], "type": type_of(f), "doc": doc_of(f)} for f in inner(node, "FieldDecl")]
            table["structs"].append({"name": node["name"], "doc": doc_of(node), "fields": fields})
        elif node["kind"] == "TypedefDecl":
            add_typedef(table, node)
        elif node["kind"] == "FunctionDecl":
            add_function(table, node, header)
        elif node["kind"] == "VarDecl":
            table["constants"].append({"name": node["name"], "doc": doc_of(node)})


def macro_doc(text, name):
    """Returns the comment behind or before a macro."""
    found = re.search(rf"^#define {name}\b[^\n]*?/\* (.*?) \*/$", text, re.M)
    if not found:
        found = re.search(rf"/\*((?:(?!\*/).)*)\*/\n#define {name}\b", text, re.S)
    return re.sub(r"\n \* ?", "\n", found[1]).strip() if found else ""


def add_macros(table, source):
    bodies = dict(re.findall(r"^#define (HEARTH_\w+)(?: (.*))?$", run_clang("-E", "-dM", source=source), re.M))
    texts = [(ROOT / folder / header).read_text(encoding="utf-8") for header, folder in HEADERS.items()]
    for text in texts:
        for name in re.findall(r"^#define (HEARTH_\w+)\b(?!\()", text, re.M):
            if NO_CONSTANTS.match(name) or name not in bodies or any(c["name"] == name for c in table["constants"]):
                continue
            if EVALUATED.sub("", bodies[name]):
                sys.exit(f"{name} is {bodies[name]}: write a literal or a typed constant, which generators of bindings "
                         "can evaluate")
            table["constants"].append({"name": name, "doc": macro_doc(text, name), "macro": True})


def measure(table, source):
    """Runs a program that prints what only a compiler knows; returns {key: text}."""
    kind = ('_Generic((%s), int: "int32_t", unsigned: "uint32_t", unsigned long: "uint64_t", '
            'unsigned long long: "uint64_t")')
    lines = ["#include <stdio.h>", "#include <stddef.h>", "static void bytes(const char* name, const void* data, size_t n) {",
             '    printf("default %s ", name);',
             '    for (size_t i = 0; i < n; ++i) printf("%02x", ((const unsigned char*)data)[i]);',
             '    printf("\\n");', "}", "int main(void) {"]
    for constant in table["constants"]:
        name = constant["name"]
        lines.append(f'    printf("constant {name} %s:%llu\\n", {kind % name}, (unsigned long long)({name}));')
    defaults = {f["name"] for f in table["functions"] if f["name"].endswith("_default")}
    for record in table["structs"]:
        name = record["name"]
        lines.append(f'    printf("size {name} %zu\\n", sizeof({name}));')
        for field in record["fields"]:
            lines.append(f'    printf("offset {name}.{field["name"]} %zu\\n", offsetof({name}, {field["name"]}));')
        if f"{name}_default" in defaults:
            lines.append(f'    {{ {name} value = {name}_default(); bytes("{name}", &value, sizeof value); }}')
    lines.append("    return 0;\n}\n")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "measure")
        run_clang("-o", program, source=source + "\n".join(lines))
        printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {" ".join(line.split(" ")[:2]): line.split(" ")[2] for line in printed.splitlines()}


def leaves(table, record, data, path=""):
    """Yields (path, value) of each number of a struct that is not zero."""
    structs = {s["name"]: s for s in table["structs"]}
    names = {e["name"]: "int32_t" for e in table["enums"]} | {a["name"]: a["type"] for a in table["aliases"]}
    for field in record["fields"]:
        text, _, count = field["type"].partition("[")
        text = names.get(text, text)
        for i in range(int(count[:-1]) if count else 1):
            where = path + field["name"] + (f"[{i}]" if count else "")
            if text in structs:
                at = field["offset"] + i * structs[text]["size"]
                yield from leaves(table, structs[text], data[at:], where + ".")
                continue
            form = FORMATS.get(text, "Q")
            value = struct.unpack_from("<" + form, data, field["offset"] + i * struct.calcsize(form))[0]
            if value != 0:
                yield where, value


def describe():
    table = {key: [] for key in ("constants", "enums", "aliases", "handles", "callbacks", "structs", "functions")}
    known = set()
    for header in HEADERS:
        add_declarations(table, header, known)
    source = "".join(f"#include <{header}>\n" for header in HEADERS)
    add_macros(table, source)
    measured = measure(table, source)
    for constant in table["constants"]:
        constant["type"], value = measured[f"constant {constant['name']}"].split(":")
        constant["value"] = int(value)
        if constant.pop("macro", False) and constant["value"] >= 1 << 32:
            sys.exit(f"{constant['name']} is a macro of 64 bits, which generators of bindings cut: write a typed constant")
    tags = {v["value"]: v["name"] for e in table["enums"] if e["name"] == "hearth_struct_type" for v in e["values"]}
    for record in table["structs"]:
        record["size"] = int(measured[f"size {record['name']}"])
        for field in record["fields"]:
            field["offset"] = int(measured[f"offset {record['name']}.{field['name']}"])
    for record in table["structs"]:
        data = measured.get(f"default {record['name']}")
        if data is None:
            continue
        values = dict(leaves(table, record, bytes.fromhex(data)))
        if values.pop("size") != record["size"]:
            sys.exit(f"{record['name']}_default() does not set the size")
        record["tag"] = tags[values.pop("type")]
        record["defaults"] = values
    return table


def write(value, indent=0):
    """JSON with one line for each object that holds no other."""
    pad = "\n" + " " * (indent + 1)
    is_flat = not any(isinstance(v, (list, dict)) and v for v in (value.values() if isinstance(value, dict) else value))
    if is_flat and (indent > 0 or not value):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(pad + (write(v, indent + 1) if isinstance(v, (list, dict)) else json.dumps(v))
                              for v in value) + "\n" + " " * indent + "]"
    return "{" + ",".join(pad + json.dumps(k) + ": " + (write(v, indent + 1) if isinstance(v, (list, dict))
                                                       else json.dumps(v, ensure_ascii=False))
                          for k, v in value.items()) + "\n" + " " * indent + "}"


def main():
    text = write(describe()) + "\n"
    if sys.argv[1:] != ["--check"]:
        OUT.write_text(text, encoding="utf-8")
        return 0
    stored = OUT.read_text(encoding="utf-8")
    if stored == text:
        return 0
    sys.stdout.writelines(difflib.unified_diff(stored.splitlines(True), text.splitlines(True), "hearth.json", "headers", n=1))
    print("hearth.json is not that of the headers: run ./dev bindings")
    return 1


if __name__ == "__main__":
    sys.exit(main())
