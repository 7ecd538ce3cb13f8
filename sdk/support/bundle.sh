#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# bundle.sh PROGRAMS DIR: puts the programs of the folder PROGRAMS and every library they need into DIR.
# The result can be moved and runs on any x86-64 Linux with this C library or a newer one and a Vulkan
# driver. `./dev bundle DIR` builds first and then calls this.
#
#   bin/           the programs
#   lib/           the Vulkan loader, the validation layer, and the libraries of programs and layer
#   lib/fallback/  libraries that drivers use too; taken only where the system has none
#   share/         the layer's manifest, licences, README
#
# Everything finds its libraries by RUNPATH, relative to itself; there is no wrapper script.
set -euo pipefail

# What goes in, as names or patterns below PROGRAMS; a pattern that matches nothing is an error.
programs=(hearth hearth_gates hearth_train hearth_perf ghost_lap hatchlings hello_agents hello_inference hello_training loom vulkan_minimal '*_test' 'hearth_test_*')
# Libraries that no ldd shows because they are opened while running.
opened_libraries=(libvulkan.so.1 libVkLayer_khronos_validation.so)
# Debian packages of what is compiled into the programs; their licences go along.
compiled_in=(fonts-dejavu-core glslang-dev libcli11-dev libfmt-dev libglm-dev libgtest-dev libimgui-dev
    libonnx-dev libprotobuf-dev libstb-dev nlohmann-json3-dev)
layer_manifest=/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json

# Not carried: the C library belongs to the kernel and the driver of the machine it runs on.
c_library='^(ld-linux-x86-64|libc|libm|libpthread|libdl|librt|libresolv|libutil|libanl|libmvec)\.so'
# Carried apart: a driver is loaded into the same process and may need a newer one than ours. (Tried: with
# this libstdc++ in first place, Debian 13's Mesa does not load, "GLIBCXX_3.4.31 not found".)
shared_with_drivers='^(libstdc\+\+|libgcc_s|libz|libzstd|libexpat|libelf|libffi|libxml2|liblzma|libdrm.*)\.so'
# The headless programs must start where there is no display system at all.
display_library='^(libX|libxcb|libxkb|libwayland|libSDL|libGL|libEGL|libdecor|libgbm)'

# Where the common distributions keep 64-bit libraries.
system_folders=/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:/usr/lib64:/lib64:/usr/lib:/lib

fail() { echo "bundle: $*" >&2; exit 1; }

# needed FILE...: the libraries that the files ask for themselves, one name a line.
needed() { for file; do patchelf --print-needed "$file"; done | sort -u; }

# closure FILE: `name path` of each library that gets loaded with the file, the C library aside.
closure() {
    ldd "$1" | awk -v skip="$c_library" '$2 == "=>" && $1 !~ skip { print $1, ($3 == "not" ? "" : $3) }'
}

find_system_library() {
    local folder
    for folder in ${system_folders//:/ }; do
        [ -e "$folder/$1" ] && echo "$folder/$1" && return
    done
    return 1
}

copy_programs() {
    local pattern file
    for pattern in "${programs[@]}"; do
        # shellcheck disable=SC2206  # the pattern is to be expanded
        local found=("$from"/$pattern)
        [ -e "${found[0]}" ] || fail "there is no $from/$pattern"
        for file in "${found[@]}"; do
            [ -f "$file" ] && [ -x "$file" ] && install -s -m 755 "$file" "$to/bin/"
        done
    done
}

copy_libraries() {
    local name path folder
    for name in "${opened_libraries[@]}"; do
        path=$(find_system_library "$name") || fail "$name is not installed"
        install -s -m 644 "$path" "$to/lib/$name"
        keep_licence "$path"
    done
    for file in "$to"/bin/* "$to"/lib/*.so*; do closure "$file"; done | sort -u | while read -r name path; do
        [ -n "$path" ] || fail "$name is needed and not found"
        folder=$to/lib
        [[ $name =~ $shared_with_drivers ]] && folder=$to/lib/fallback
        install -s -m 644 "$path" "$folder/$name"
        keep_licence "$path"
    done
}

# keep_licence FILE: the licence of the Debian package that the file comes from.
keep_licence() {
    local package
    package=$(dpkg-query -S "*/x86_64-linux-gnu/$(basename "$(readlink -f "$1")")" 2>/dev/null | sed -n '1s/:.*//p') || true
    [ -z "$package" ] || keep_licence_of_package "$package"  # else built here
}

keep_licence_of_package() {
    install -m 644 "/usr/share/doc/$1/copyright" "$to/share/licences/$1"
}

set_library_paths() {
    local file
    for file in "$to"/bin/*; do
        patchelf --set-rpath "\$ORIGIN/../lib:$system_folders:\$ORIGIN/../lib/fallback" "$file"
    done
    for file in "$to"/lib/*.so*; do
        patchelf --set-rpath "\$ORIGIN:$system_folders:\$ORIGIN/fallback" "$file"
    done
    for file in "$to"/lib/fallback/*; do
        patchelf --set-rpath "$system_folders:\$ORIGIN" "$file"
    done
}

copy_layer_manifest() {
    sed 's#"library_path": "#&../../../lib/#' "$layer_manifest" >"$to/share/vulkan/explicit_layer.d/$(basename "$layer_manifest")"
}

write_readme() {
    cat >"$to/README" <<README
Hearth, bundled: programs in bin/, run directly. This folder may be moved. Needed besides it: an x86-64 Linux
with glibc $(getconf GNU_LIBC_VERSION | cut -d' ' -f2) or newer, and a Vulkan driver.

  bin/hearth info                                      devices and the features that Hearth would adopt
  bin/ghost_lap --headless --seed 1                    the demo without a display
  bin/hearth_perf                                      benchmarks
  for test in bin/*test*; do \$test; done               the tests (GoogleTest programs)

The tests look for the validation layer; let the Vulkan loader find the one in here, and tell them where the
reference cases are if you have them:

  export VK_LAYER_PATH=\$PWD/share/vulkan/explicit_layer.d HEARTH_CASES=/path/to/cases

runtime_test and no_alloc_test cover one setting at a time: HEARTH_TEST_BINDING=address|descriptor,
HEARTH_TEST_FEATURES=required|optional.

share/licences/ holds the licences of the libraries in lib/ and of what is compiled into the programs.
README
}

# Reports each name that would not be found on a machine which has only the C library, each library that is
# not the bundle's own here, and each display library; says how many problems there are.
check() {
    local file name path
    for file in "$to"/bin/* "$to"/lib/*.so* "$to"/lib/fallback/*; do
        for name in $(needed "$file"); do
            [[ $name =~ $c_library ]] || [ -e "$to/lib/$name" ] || [ -e "$to/lib/fallback/$name" ] ||
                echo "${file#"$to/"}: needs $name, which is not in the bundle"
        done
        while read -r name path; do
            if [ -z "$path" ]; then
                echo "${file#"$to/"}: ldd does not find $name"
            elif [ -e "$to/lib/$name" ] && [ "$(realpath "$path")" != "$to/lib/$name" ]; then
                echo "${file#"$to/"}: $name is taken from $path"
            fi
            if [[ $file == "$to"/bin/* && $name =~ $display_library ]]; then
                echo "${file#"$to/"}: loads the display library $name at its start"
            fi
        done < <(env -u LD_LIBRARY_PATH -u LD_PRELOAD bash -c "$(declare -f closure); c_library='$c_library' closure '$file'")
    done
}

[ $# = 2 ] || fail "usage: bundle.sh PROGRAMS DIR"
from=$(realpath "$1")
to=$(realpath -m "$2")
mark=share/hearth-bundle
if [ -d "$to" ] && [ -n "$(ls -A "$to")" ]; then
    [ -e "$to/$mark" ] || fail "$to is not empty and no bundle; name a new folder"
    rm -rf "${to:?}"
fi
mkdir -p "$to"/{bin,lib/fallback,share/licences,share/vulkan/explicit_layer.d}
touch "$to/$mark"

copy_programs
copy_libraries
for package in "${compiled_in[@]}"; do keep_licence_of_package "$package"; done
set_library_paths
copy_layer_manifest
write_readme
problems=$(check)
[ -z "$problems" ] || fail "$to does not stand on its own:"$'\n'"$problems"
echo "bundle: $(ls "$to/bin" | wc -l) programs, $(ls "$to"/lib/*.so* "$to"/lib/fallback/* | wc -l) libraries," \
    "$(du -sh "$to" | cut -f1) in $to"
