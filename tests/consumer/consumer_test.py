#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Configures and builds a project that uses Hearth, and runs what it built:
consumer_test.py TEST SOURCE_DIR BINARY_DIR WORK_DIR C_COMPILER CXX_COMPILER LAUNCHER SANITIZERS."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What an engine sets for all that it builds, Hearth's sources and headers among it.
STRICT_C = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion"]
STRICT_CXX = STRICT_C + ["-Wno-sign-conversion", "-Wold-style-cast", "-Wzero-as-null-pointer-constant",
                         "-Wshadow", "-Wextra-semi", "-Wnon-virtual-dtor"]
STRICT_GCC = ["-Wuseless-cast", "-Wno-restrict", "-Wno-missing-field-initializers"]

# Every member function of the wrapper is compiled by using it, and spans of all that has data and size.
CPP17_HOST = """
#include <hearth/hearth_runtime.hpp>
#include <hearth/network.hpp>
#include <array>
using namespace hearth;
Status host(const hearth_context_create_info& info, VkCommandBuffer commands) {
    HEARTH_ASSIGN(Context context, Context::create(info));
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file("net.hearth"));
    HEARTH_ASSIGN(LoadedProgram program, LoadedProgram::load_package(context, bytes, true, "baseline"));
    HEARTH_ASSIGN(Session session, Session::create(context, program));
    HEARTH_ASSIGN(Model model, Model::load(context, bytes));
    HEARTH_TRY(context.begin_frame(1, 0));
    HEARTH_TRY(session.record_initialize(commands));
    const std::array<float, 2> pair{1, 2};
    const float list[] = {1, 2, 3};
    std::vector<int> numbers(4);
    const hearth_tensor_binding bindings[] = {bind_values(0, span<const float>(pair)),
                                              bind_values(1, span<const float>(list)),
                                  bind_values(2, span<const int>(numbers))};
    HEARTH_TRY(session.record(commands, 0, 1, bindings).status());
    HEARTH_TRY(session.record_update_variable(commands, 0, as_bytes(span<const int>(numbers))));
    HEARTH_ASSIGN(const hearth_readback id, session.record_readback(commands, 0));
    HEARTH_ASSIGN(const std::optional<ReadbackData> data, session.poll(id));
    for (const float value : data->as<float>())
        if (value < 0) return invalid_argument("negative");
    HEARTH_ASSIGN(const std::vector<std::byte> brain, program.serialize_brain(data->bytes));
    HEARTH_TRY(program.validate_brain(brain));
    HEARTH_TRY(model.record(commands, "act", 1, {bind_value("x", list, sizeof list)}).status());
    return write_file_atomically("net.brain", brain);
}
"""


# What lies outside sdk/ and a game needs of the sources.
SOURCES = ["CMakeLists.txt", "LICENSE", "LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md", "sdk", "shaders"]


def run(*command, **settings):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                            **settings)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def expect(claim, otherwise):
    if not claim:
        sys.exit(otherwise)


def headers_of(include):
    return "".join(f"#include <{h.relative_to(include)}>\n" for h in sorted((include / "hearth").rglob("*.h*")))


# What a game says only because of Hearth.
TOUCHES_HEARTH = re.compile(
    r"hearth|HEARTH_|Agents\b|AgentId|AgentSpec|ObservationSpec|ActionSpec|make_agents|mlp_network|Ppo|cpu::|run_log|"
    r"\bbrain\b|EpisodeEnd|begin_frame|\bdevice\b|\bcontext\b|VkCommandBuffer|Status\b|Result<")


class Consumer:
    def __init__(self, name, source, binary, work, c, cxx, launcher, sanitizers):
        self.name, self.source, self.binary, self.work = name, Path(source), Path(binary), Path(work)
        self.c, self.cxx, self.launcher, self.sanitizers = c, cxx, launcher, sanitizers
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)

    def flags(self, strict):
        words = list(strict)
        for sanitizer in filter(None, self.sanitizers.split(";")):
            words.append(f"-fsanitize={sanitizer}")
        return " ".join(words)

    def configure(self, project, options, c_flags=(), cxx_flags=None):
        """Returns what will be compiled, and how."""
        folder = self.work / "build"
        settings = [f"-DCMAKE_C_COMPILER={self.c}", f"-DCMAKE_C_FLAGS={self.flags(c_flags)}",
                    "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_BUILD_TYPE=Debug"]
        if cxx_flags is not None:
            settings += [f"-DCMAKE_CXX_COMPILER={self.cxx}", f"-DCMAKE_CXX_FLAGS={self.flags(cxx_flags)}"]
            if self.launcher:
                settings.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={self.launcher}")
        run("cmake", "-G", "Ninja", "-S", HERE / project, "-B", folder, *settings, *options)
        return json.loads((folder / "compile_commands.json").read_text())

    def build(self, project, options, c_flags=(), cxx_flags=None):
        self.configure(project, options, c_flags, cxx_flags)
        folder = self.work / "build"
        run("cmake", "--build", folder, "--target", "game")
        said = run(folder / "game")
        expect(said.startswith("hearth "), f"the program said {said!r}, expected Hearth's version")

    def c_only_from_the_folder(self):
        """A C project adds the folder; no flag of ours reaches it, and no warning of ours is an error.  What is
        built so is built by fetched_without_agents, where the same folder is an archive's."""
        commands = self.configure("c_game", [f"-DHEARTH_FOLDER={self.source}"], STRICT_C + ["-Werror"], [])
        ours = sum(str(self.source / "sdk") in command["file"] for command in commands)
        expect(ours > 20, f"only {ours} of the folder's sources would be compiled")
        for command in commands:
            is_ours = str(self.source / "sdk") in command["file"]
            words = command["command"].split()
            if is_ours and "-Werror" in words:
                sys.exit(f"{command['file']} is compiled with -Werror, which the game did not ask for")
            if not is_ours and any(word in words for word in ("-fno-exceptions", "-ffp-contract=off")):
                sys.exit(f"{command['file']} got flags of ours: {command['command']}")

    def engine_with_strict_warnings(self):
        """A C++ engine adds the folder, with warnings as errors for all that it builds."""
        cxx = STRICT_CXX + ["-Werror"]
        if "Free Software Foundation" in run(self.cxx, "--version"):  # GCC's
            cxx += STRICT_GCC
        include = self.source / "sdk/include"
        text = headers_of(include)
        # Macros warn only where they are used.
        header = (include / "hearth/hearth.h").read_text()
        macros = re.findall(r"^#define (HEARTH_\w+) (?=[(\dU])", header, re.M)
        macros = [name for name in macros if f"#undef {name}" not in header]
        if len(macros) < 15:
            sys.exit(f"only {len(macros)} constants found in hearth.h")
        text += "".join(f"inline const auto use_of_{name} = {name};\n" for name in macros)
        (self.work / "all_headers.hpp").write_text(text)
        # The compiler column takes minutes, so it is for nights.
        whole = "ON" if os.environ.get("HEARTH_CONSUMER_WHOLE") else "OFF"
        self.build("engine", [f"-DHEARTH_FOLDER={self.source}", f"-DALL_HEADERS={self.work}",
                              f"-DHEARTH_COMPILER={whole}"], STRICT_C + ["-Werror"], cxx)

    def cpp17_host(self):
        """The runtime's headers in C++17, from code that uses all of them, with an engine's warnings."""
        source = self.work / "host.cpp"
        source.write_text(CPP17_HOST)
        words = STRICT_CXX + ["-Werror", "-fsyntax-only", f"-I{self.source / 'sdk/include'}"]
        for standard in ("c++17", "c++20"):
            run(self.cxx, f"-std={standard}", *words, source)

    def install(self, *components):
        """Installs those components, or all; returns the folder."""
        prefix = self.work / "prefix"
        for component in components or [None]:
            run("cmake", "--install", self.binary, "--prefix", prefix,
                *(["--component", component] if component else []))
        return prefix

    def c_only_installed(self):
        """A C project finds an installed Hearth and links its static library."""
        prefix = self.install("runtime", "development")
        self.build("c_game", [f"-DCMAKE_PREFIX_PATH={prefix}"], STRICT_C + ["-Werror"])

    def runtime_alone_installed(self):
        """The runtime is installed without the compiler, its headers need nothing else, and whoever asks for
        the compiler is told."""
        prefix = self.install("runtime", "development")
        shutil.move(prefix, self.work / "moved")  # an installation can be moved
        prefix = self.work / "moved"
        for name in ("tensor.hpp", "compile.hpp", "agents/learners.hpp", "op/op_def.hpp"):
            expect(not (prefix / "include/hearth" / name).exists(), f"{name} was installed with the runtime")
        for name in ("LICENSE", "LICENSE-MIT", "LICENSE-APACHE"):
            expect((prefix / "share/doc/hearth" / name).exists(), f"{name} was not installed")
        (self.work / "all_headers.hpp").write_text(headers_of(prefix / "include"))
        self.build("engine", [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DALL_HEADERS={self.work}",
                              "-DHEARTH_COMPONENTS=runtime;agents"], [], STRICT_CXX + ["-Werror"])
        result = subprocess.run(
            ["cmake", "-G", "Ninja", "-S", HERE / "engine", "-B", self.work / "refused",
             f"-DCMAKE_PREFIX_PATH={prefix}", "-DHEARTH_COMPONENTS=runtime;compiler;cat"],
            capture_output=True, text=True, check=False)
        said = " ".join(result.stderr.split())
        for problem in ("component compiler is not installed in", "component cat is unknown; there are runtime,"):
            expect(result.returncode != 0 and problem in said, f"expected '{problem}', found:\n{said}")

    def c_only_by_pkg_config(self):
        """A C compiler alone, with what pkg-config says: the shared library, by its versioned name."""
        prefix = self.install("runtime", "development")
        libraries = prefix / "lib"
        environment = dict(os.environ, PKG_CONFIG_PATH=str(libraries / "pkgconfig"), LD_LIBRARY_PATH=str(libraries))
        flags = run("pkg-config", "--cflags", "--libs", "hearth", env=environment).split()
        game = self.work / "game"
        sanitizers = self.flags([]).split()
        run(self.c, *STRICT_C, *sanitizers, HERE / "c_game/main.c", "-o", game, *flags)
        said = run(game, env=environment)
        expect(said.startswith("hearth "), f"the program said {said!r}")
        version = run("pkg-config", "--modversion", "hearth", env=environment).strip()
        expect(version == said.split()[1].rstrip(","), f"pkg-config says {version}, the library {said!r}")
        needed = re.findall(r"NEEDED.*\[(libhearth.*)\]", run("readelf", "-d", game))
        major, minor, _ = version.split(".")
        abi = f"0.{minor}" if major == "0" else major
        expect(needed == [f"libhearth_runtime.so.{abi}"], f"the program needs {needed}")

    def hello_agents_copied_out(self):
        """The example of an installation is copied out, builds there by CMake and by pkg-config, and its carts
        learn on the CPU; so does a panel for Dear ImGui compile, if that is there."""
        prefix = self.install("runtime", "development", "compiler")
        mine, built = self.work / "mine", self.work / "built"
        shutil.copytree(prefix / "share/hearth/examples/hello_agents", mine)
        run("cmake", "-G", "Ninja", "-S", mine, "-B", built, f"-DCMAKE_PREFIX_PATH={prefix}",
            "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_COMPILER={self.cxx}",
            f"-DCMAKE_CXX_FLAGS={self.flags(['-Wall', '-Wextra', '-Wno-missing-field-initializers', '-Werror'])}",
            *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={self.launcher}"] if self.launcher else []))
        run("cmake", "--build", built)
        log, caches = self.work / "run.jsonl", dict(os.environ, XDG_CACHE_HOME=str(self.work / "caches"))
        result = subprocess.run([built / "hello_agents", "--device", "cpu", log], env=caches, capture_output=True,
                                text=True, check=False)
        expect(result.returncode == 0, result.stdout + result.stderr)
        said = result.stderr
        expect(re.search(r"^hearth: compiling \d+ kernels$", said, re.M), f"the first start said {said!r}")
        expect(re.search(r"^hearth: compiled \d+ kernels in [\d.]+ s$", said, re.M), f"the first start said {said!r}")
        samples = [json.loads(line) for line in log.read_text().splitlines()][1:]
        expect(samples[-1]["episode_return"] > 3 * samples[0]["episode_return"], f"the curve: {samples}")

        environment = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "hearth-cpu", "hearth-standalone", env=environment).split()
        launcher = [self.launcher] if self.launcher else []
        run(*launcher, self.cxx, "-std=c++20", *self.flags([]).split(), "-c", mine / "main.cpp", "-o",
            self.work / "main.o", *[flag for flag in flags if not flag.startswith("-l")])
        run(self.cxx, *self.flags([]).split(), self.work / "main.o", "-o", self.work / "by_pkg_config", *flags)
        for name in ("include/hearth/hearth_environment.h", "share/hearth/imgui/agents_panel.hpp",
                     "share/doc/hearth/docs/tutorials/getting_started.md"):
            expect((prefix / name).exists(), f"{name} was not installed")
        panel = prefix / "share/hearth/imgui/agents_panel.cpp"
        if Path("/usr/include/imgui/imgui.h").exists():
            run(self.cxx, "-std=c++20", f"-I{prefix / 'include'}", "-isystem", "/usr/include/imgui", "-fsyntax-only",
                panel)

    def two_brains_from_an_installation(self):
        """A game with two brains, outside of the tree and without a GPU: few of its lines touch Hearth, and its
        wolves learn to catch deer."""
        lines = [re.sub("//.*", "", line) for line in (HERE / "two_brains/main.cpp").read_text().splitlines()]
        touching = [line.strip() for line in lines if TOUCHES_HEARTH.search(line)]
        print(len([line for line in lines if line.strip()]), "lines,", len(touching), "of them touch Hearth")
        expect(len(touching) <= 30, f"{len(touching)} lines touch Hearth, expected at most 30: {touching}")
        prefix = self.install("runtime", "development", "compiler")
        built = self.work / "built"
        run("cmake", "-G", "Ninja", "-S", HERE / "two_brains", "-B", built, f"-DCMAKE_PREFIX_PATH={prefix}",
            "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_COMPILER={self.cxx}", f"-DCMAKE_CXX_FLAGS={self.flags([])}",
            *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={self.launcher}"] if self.launcher else []))
        run("cmake", "--build", built)
        logs = [self.work / "wolves.jsonl", self.work / "deer.jsonl"]
        run(built / "two_brains", *logs, env=dict(os.environ, XDG_CACHE_HOME=str(self.work / "caches")))
        catches = [json.loads(line)["game"]["catches"] for line in logs[0].read_text().splitlines()[1:]]
        print("catches of wolves a frame:", catches)
        # The wolves learn to hunt first, the deer to flee from wolves that hunt after them.
        first, best = sum(catches[:2]) / 2, max(sum(catches[i:i + 5]) / 5 for i in range(len(catches) - 4))
        expect(best > 2 * first, f"the wolves caught {first} deer a frame at first, {best} at best")
        kept = os.environ.get("HEARTH_CONSUMER_KEEP")
        if kept:
            shutil.copy(logs[0], kept)

    def refused_by_hearth_new(self, hearth):
        """What cannot be made is refused by name, and leaves nothing behind."""
        folder = self.work / "refused"
        folder.mkdir()
        (folder / "taken").mkdir()
        (folder / "not_a_model").write_text("text")
        for words, said in (("../fox", "'../fox' cannot name a project"), ("7fox", "'7fox' cannot name"),
                            ("test", "CMake reserves it"), ("x" * 65, "at most 64 characters"),
                            ("taken", "exists already"), ("fox --model missing.onnx", "missing.onnx"),
                            ("fox --model not_a_model", "'not_a_model' cannot be cooked"),
                            ("fox --model .", "is a folder"), ("fox --engine unity", "{sdl2,vulkan}"),
                            ("fox --agents --model not_a_model", "excludes")):
            result = subprocess.run([hearth, "new", *words.split()], cwd=folder, capture_output=True, text=True,
                                    check=False)
            expect(result.returncode != 0 and said in result.stderr, f"hearth new {words}: {result.stderr}")
        # Nobody can write here, root included.
        result = subprocess.run([hearth, "new", "fox"], cwd="/proc", capture_output=True, text=True, check=False)
        expect("cannot make the folder '/proc/fox'" in result.stderr, result.stderr)
        expect(sorted(p.name for p in folder.iterdir()) == ["not_a_model", "taken"], "something was left behind")

    def made_by_hearth_new(self):
        """Each kind of project is made by the installed tool, builds, passes its test and shows a rising curve."""
        prefix = self.install("runtime", "development", "compiler", "tool")
        hearth, place = prefix / "bin/hearth", self.work / "games"
        place.mkdir()
        self.refused_by_hearth_new(hearth)
        environment = dict(os.environ, XDG_CACHE_HOME=str(self.work / "caches"), SDL_VIDEODRIVER="dummy",
                           SDL_RENDER_DRIVER="software")
        model = self.source / "tests/data/torch/digits/digits_cnn_script.onnx"
        kinds = {"fox": ["--agents"], "digit-reader": ["--model", model], "hare": ["--engine", "vulkan"]}
        if shutil.which("sdl2-config"):
            kinds["stoat"] = ["--engine", "sdl2"]
        for name, words in kinds.items():
            run(hearth, "new", name, *words, cwd=place)
            built, warnings = place / name / "build", ["-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror"]
            text = "".join(f.read_text() for f in (place / name).rglob("*.?pp"))
            expect("my_game" not in text and "SPDX" not in text, f"{name} has words of its template")
            run("cmake", "-G", "Ninja", "-S", place / name, "-B", built, f"-DCMAKE_PREFIX_PATH={prefix}",
                f"-DCMAKE_CXX_COMPILER={self.cxx}", f"-DCMAKE_CXX_FLAGS={self.flags(warnings)}",
                *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={self.launcher}"] if self.launcher else []))
            run("cmake", "--build", built)
            run("ctest", "--test-dir", built, "--output-on-failure", env=environment)
            if name == "hare" and not os.environ.get("HEARTH_CONSUMER_WHOLE"):
                continue  # software drivers translate its kernels for half a minute
            said = run(built / name, *(["5"] if name == "digit-reader" else ["2500"]), env=environment,
                       cwd=self.work)
            if name == "digit-reader":
                expect("output logits, 40 bytes: -5.909, 4.895" in said, said)
            else:
                curve = [float(x) for x in re.findall(r"return +([-\d.]+) #*", said)]
                expect(len(curve) == 10 and curve[-1] > 2 * curve[0], f"the curve of {name}: {curve}")

    def fetched_without_agents(self):
        """A C project fetches an archive of the sources, and switches everything off but the runtime."""
        archive = self.work / "hearth.tar.gz"
        with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
            for name in SOURCES:
                tar.add(self.source / name, f"hearth/{name}")
        self.build("c_game", [f"-DHEARTH_ARCHIVE={archive}"], STRICT_C + ["-Werror"], [])
        library = next((self.work / "build").rglob("libhearth_runtime.a"))
        names = run("nm", library)
        expect("T hearth_context_create" in names, "the library has no hearth_context_create")
        expect("hearth_agents_create" not in names, "HEARTH_AGENTS=OFF, and the library has agents")

    def whole_from_packages(self):
        """What cpack makes: checksums are right, and a C++ game builds with what Debian's packages hold, the
        tool among it."""
        made = self.work / "packages"
        # Its archive with gzip, for xz takes half a minute.
        run("cpack", "-G", "TGZ;DEB", "--config", self.binary / "CPackConfig.cmake", "-B", made)
        archives, packages = sorted(made.glob("*.tar.gz")), sorted(made.glob("*.deb"))
        expect(len(archives) == 1 and len(packages) == 5, f"cpack made {sorted(made.iterdir())}")
        for file in archives + packages:
            told = Path(f"{file}.sha256").read_text().split()
            expect(told == [hashlib.sha256(file.read_bytes()).hexdigest(), file.name], f"{told} is not of {file.name}")
        root = self.work / "root"
        for package in packages:
            run("dpkg-deb", "-x", package, root)
        with tarfile.open(archives[0]) as tar:
            in_archive = {Path(*Path(m.name).parts[1:]) for m in tar.getmembers() if not m.isdir()}
        in_packages = {p.relative_to(root / "usr") for p in root.rglob("*") if not p.is_dir()}
        expect(in_archive == in_packages, f"only in one kind of package: {in_archive ^ in_packages}")
        fields = {p.name.split("_")[0]: run("dpkg-deb", "-f", p) for p in packages}
        runtime = next(name for name in fields if name.startswith("libhearth0"))
        expect("libc6" in fields[runtime] and "libprotobuf" not in fields[runtime], fields[runtime])
        expect("libprotobuf" in fields["hearth-tool"], fields["hearth-tool"])
        expect(f"{runtime} (=" in fields["libhearth-dev"], fields["libhearth-dev"])
        # find_package(glslang) fails where a program that its files name is not installed.
        for file in Path("/usr/lib").glob("*/cmake/glslang/*.cmake"):
            for program in re.findall(r'IMPORTED_LOCATION\w* "\${_IMPORT_PREFIX}(/bin/[^"]+)"', file.read_text()):
                owner = run("dpkg", "-S", f"/usr{program}").split(":")[0]
                expect(f" {owner}," in fields["libhearth-compiler-dev"], f"{file} names {program} of {owner}")

        notices = {c: (root / f"usr/share/doc/hearth/THIRD_PARTY_NOTICES-{c}.txt").read_text()
                   for c in ("runtime", "compiler", "import", "tool")}
        inside = {c: set(re.findall(r"^  (\S+)$", text.split("=====")[0], re.M)) for c, text in notices.items()}
        expect(inside["runtime"] == {"libvulkan-dev"}, f"the runtime's notices name {inside['runtime']}")
        for name in ("glslang-dev", "spirv-tools", "libcli11-dev", "libfmt-dev", "libonnx-dev", "libprotobuf-dev", "nlohmann-json3-dev"):
            expect(name in inside["tool"], f"the tool's notices name {inside['tool']}, without {name}")
        expect("Permission is hereby granted" in notices["tool"], "the tool's notices have no licence's text")

        model = self.source / "tests/data/torch/digits/digits_cnn_script.onnx"
        # As if Debian's compiler packages were installed in a prefix of their own.
        self.build("whole_game", [f"-DCMAKE_PREFIX_PATH={root / 'usr'}", f"-DMODEL={model}"], [],
                   ["-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror"])

        source = self.work / "by_pkg_config.cpp"
        source.write_text("#include <hearth/compile.hpp>\n#include <hearth/ops.hpp>\nint main() {\n"
                          "    hearth::Trace trace(\"act\");\n"
                          "    trace.output(\"y\", hearth::relu(trace.input(\"x\", {4})));\n"
                          "    return hearth::compile({&trace}, {}).ok() ? 0 : 1;\n}\n")
        environment = dict(os.environ, PKG_CONFIG_PATH=str(root / "usr/lib/pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "hearth-compiler", env=environment).split()
        run(self.cxx, "-std=c++20", *self.flags([]).split(), source, "-o", self.work / "by_pkg_config", *flags)
        run(self.work / "by_pkg_config")
        source.write_text("#include <hearth/io.hpp>\nint main(int, char** arguments) {\n"
                          "    return hearth::import_onnx_file(arguments[1]).ok() ? 0 : 1;\n}\n")
        flags = run("pkg-config", "--cflags", "--libs", "hearth-import", env=environment).split()
        run(self.cxx, "-std=c++20", *self.flags([]).split(), source, "-o", self.work / "importing", *flags)
        run(self.work / "importing", model)


def main():
    consumer = Consumer(*sys.argv[1:])
    os.environ.pop("DESTDIR", None)
    getattr(consumer, consumer.name)()
    shutil.rmtree(consumer.work, ignore_errors=True)


if __name__ == "__main__":
    main()
