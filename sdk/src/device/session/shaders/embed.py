#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compiles this folder's shaders and writes them as ../image_kernels.inc, which is checked in: the
runtime's build needs no shader compiler.

usage: embed.py            writes the file anew (needs glslangValidator and spirv-opt)
       embed.py --check    fails if the sources are not those that it was made of
"""

import hashlib
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parent / "image_kernels.inc"
KERNELS = [("kFloatImageToTensor", "image_to_tensor.comp", ["TEXTURE=texture2D"]),
           ("kUintImageToTensor", "image_to_tensor.comp", ["TEXTURE=utexture2D"]),
           ("kIntImageToTensor", "image_to_tensor.comp", ["TEXTURE=itexture2D"]),
           ("kTensorToFloatImage", "tensor_to_image.comp", ["IMAGE=image2D", "TEXEL=vec4"]),
           ("kTensorToUintImage", "tensor_to_image.comp", ["IMAGE=uimage2D", "TEXEL=uvec4", "INTEGER"]),
           ("kTensorToIntImage", "tensor_to_image.comp", ["IMAGE=iimage2D", "TEXEL=ivec4", "INTEGER"])]


def source_hash():
    digest = hashlib.sha256()
    for source in sorted({source for _, source, _ in KERNELS}):
        digest.update((HERE / source).read_bytes())
    return digest.hexdigest()


def compile_kernel(source, macros):
    with tempfile.TemporaryDirectory() as folder:
        raw, small = pathlib.Path(folder) / "raw.spv", pathlib.Path(folder) / "small.spv"
        define = [f"-D{macro}" for macro in macros]
        subprocess.run(["glslangValidator", "--quiet", "-V", "--target-env", "vulkan1.1", *define,
                        "-o", raw, HERE / source], check=True)
        subprocess.run(["spirv-opt", "-O", "--strip-debug", "-o", small, raw], check=True)
        return small.read_bytes()


def main():
    head = f"// Sources: SHA-256 {source_hash()}\n"
    if sys.argv[1:] == ["--check"]:
        if head not in OUT.read_text(encoding="utf-8"):
            sys.exit(f"{OUT} is not made of the shaders beside embed.py: run it")
        return
    text = "// Made by shaders/embed.py: do not edit.\n" + head
    for name, source, macros in KERNELS:
        code = compile_kernel(source, macros)
        words = struct.unpack(f"<{len(code) // 4}I", code)
        text += f"\nconstexpr uint32_t {name}[] = {{\n"
        for i in range(0, len(words), 8):
            text += "    " + " ".join(f"0x{word:08x}," for word in words[i:i + 8]) + "\n"
        text += "};\n"
    OUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
