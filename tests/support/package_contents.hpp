// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Takes packages apart, so that tests can change what is in them and save them again.

#pragma once

#include "program/package.hpp"

namespace hearth::testing {

/// What save_package() would need to write the package again. Its weights stay where they are.
inline Result<PackageContents> package_contents(const PackageView& view) {
    PackageContents contents;
    HEARTH_ASSIGN(contents.graph, contents_of(view, view.graph_section()));
    contents.graph_hash = view.header().graph_hash;
    contents.notes = view.notes();
    contents.agents.assign(view.agents().begin(), view.agents().end());
    (void)contents.pool.add(view.weights());
    for (uint32_t i = 0; i < view.device_targets().size(); ++i) {
        HEARTH_ASSIGN(Program program, load_program(view, i));
        const file::DeviceTargetRecord& target = view.device_targets()[i];
        contents.device_targets.push_back(
            {target.name, std::move(program), target.shared_memory_bytes, target.subgroup_size});
    }
    return contents;
}

/// The package without compression, so that changed bytes reach the readers of its sections.
inline Result<std::vector<std::byte>> without_compression(std::span<const std::byte> package) {
    PackageView view;
    ViewError error;
    if (!view.open(package, &error)) return Status(error.code, error.text.c_str());
    HEARTH_ASSIGN(PackageContents contents, package_contents(view));
    contents.compress = false;
    return save_package(std::move(contents));
}

}  // namespace hearth::testing
