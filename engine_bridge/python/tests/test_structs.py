# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The bindings match the description of the C interface, which abi.interface compares with the headers."""

import ctypes
import json
from pathlib import Path

import pytest

from hearth import _interface
from hearth._library import lib

INTERFACE = json.loads((Path(__file__).parents[2] / "interface/hearth.json").read_text(encoding="utf-8"))


def struct_of(name):
    return getattr(_interface, "".join(word.capitalize() for word in name.removeprefix("hearth_").split("_")))


@pytest.mark.parametrize("record", INTERFACE["structs"], ids=lambda record: record["name"])
def test_each_struct_has_the_size_and_offsets_of_the_header(record):
    struct = struct_of(record["name"])
    assert ctypes.sizeof(struct) == record["size"]
    for field in record["fields"]:
        assert getattr(struct, field["name"]).offset == field["offset"], field["name"]


@pytest.mark.parametrize("record", [s for s in INTERFACE["structs"] if "tag" in s], ids=lambda record: record["name"])
def test_each_default_is_that_of_the_library(record):
    ours = struct_of(record["name"])()
    theirs = getattr(lib(), f"{record['name']}_default")()
    assert bytes(ours) == bytes(theirs)
