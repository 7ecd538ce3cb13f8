#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# usage: windows_libraries.sh FOLDER
#
# Puts into FOLDER what Hearth's compiler, importer and tool take from Debian, for Windows: glslang and protobuf are
# cross-compiled from Debian's source packages, and so are fmt and ONNX's schema; libraries that are headers alone are
# linked.  A second call with the same script does nothing.
#
# Who asks apt for sources here neither needs to be root nor to have them in the system's list.
set -euo pipefail

out=$(realpath -m "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
toolchain=$here/../cmake/toolchains/windows.cmake
stamp=$out/made_by_$(cat "$0" "$toolchain" | sha256sum | cut -c -16)
[ ! -f "$stamp" ] || exit 0

work=$out/work
rm -rf "$work" "$out"/made_by_*
mkdir -p "$out/include" "$out/lib/cmake" "$work"/{lists,cache/archives}/partial "$work/sources"

# The sources of the distribution that the system's packages come from.
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    sort -u >"$work/sources.list"
apt=(apt-get -q -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=-
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=)
(cd "$work/sources" && "${apt[@]}" update && "${apt[@]}" source fmtlib glslang protobuf &&
    apt-get -q -o APT::Sandbox::User= download python3-onnx)

# cross SOURCE OPTION...: configures a source package.
cross() {
    local name=$1
    shift
    cmake -G Ninja -S "$(echo "$work/sources/$name"-*/)" -B "$work/$name" -D CMAKE_TOOLCHAIN_FILE="$toolchain" \
        -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$out" -D CMAKE_INSTALL_LIBDIR=lib "$@"
}
if command -v ccache >/dev/null; then export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

# Hearth has its kernels optimized by nobody but the driver.
cross glslang -D ENABLE_OPT=OFF -D ENABLE_HLSL=OFF -D ENABLE_SPVREMAPPER=OFF \
    -D ENABLE_CTEST=OFF -D BUILD_EXTERNAL=OFF
cmake --build "$work/glslang" --target install

cross protobuf -D protobuf_BUILD_TESTS=OFF -D protobuf_BUILD_PROTOC_BINARIES=OFF -D protobuf_WITH_ZLIB=OFF
cmake --build "$work/protobuf" --target libprotobuf
cp "$work/protobuf/libprotobuf.a" "$out/lib"
(cd "$work"/sources/protobuf-*/src && find google -name '*.h' -o -name '*.inc' | tar -c -T -) | tar -x -C "$out/include"

# cxx OPTION...: compiles one file.
cxx() {
    x86_64-w64-mingw32-g++-posix -O2 -I "$out/include" -c "$@"
}

ln -sfn /usr/include/fmt "$out/include/"
cxx "$work"/sources/fmtlib-*/src/format.cc -o "$work/format.o"
x86_64-w64-mingw32-ar rcs "$out/lib/libfmt.a" "$work/format.o"

# ONNX's own headers declare the schema as part of a DLL.
onnx=$work/onnx
dpkg-deb --fsys-tarfile "$work"/sources/python3-onnx_*.deb |
    tar -x -C "$work" --wildcards --transform 's,.*/onnx/,onnx/,' '*/onnx/onnx-ml.proto'
sed -i '/^option optimize_for = LITE_RUNTIME;$/d' "$onnx/onnx-ml.proto"  # Debian's own build does so, too
protoc -I "$work" --cpp_out="$work" onnx/onnx-ml.proto
mkdir -p "$out/include/onnx"
cp "$onnx/onnx-ml.pb.h" "$out/include/onnx"
echo '#include <onnx/onnx-ml.pb.h>' >"$out/include/onnx/onnx_pb.h"
cxx "$onnx/onnx-ml.pb.cc" -o "$onnx/onnx_proto.o"
x86_64-w64-mingw32-ar rcs "$out/lib/libonnx_proto.a" "$onnx/onnx_proto.o"

# headers PACKAGE TARGET PATH [LIBRARY]: a library of which only that has to be linked.
headers() {
    mkdir -p "$out/lib/cmake/$1"
    ln -sfn "$3" "$out/include/"
    cat >"$out/lib/cmake/$1/$1Config.cmake" <<CONFIG
if(NOT TARGET $2)
    add_library($2 INTERFACE IMPORTED)
    set_target_properties($2 PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "$out/include"
        INTERFACE_LINK_LIBRARIES "${4-}")
endif()
CONFIG
}
headers CLI11 CLI11::CLI11 /usr/include/CLI
headers fmt fmt::fmt /usr/include/fmt "$out/lib/libfmt.a"
headers nlohmann_json nlohmann_json::nlohmann_json /usr/include/nlohmann
ln -sfn /usr/include/stb "$out/include/stb"

rm -rf "$work"
touch "$stamp"
