// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/driver/graph_file.hpp"
#include "program/brain.hpp"
#include "program/package.hpp"

#include <hearth/brain.hpp>
#include <hearth/io.hpp>
#include <hearth/weights.hpp>

#include <onnx_export/export_model.hpp>

#include <cstring>
#include <utility>

namespace hearth {

namespace {

bool is_brain(std::span<const std::byte> bytes) {
    uint32_t magic = 0;
    if (bytes.size() >= sizeof magic) std::memcpy(&magic, bytes.data(), sizeof magic);
    return magic == file::kBrainMagic;
}

/// A .safetensors file begins with a length and a JSON object.
bool is_safetensors(std::span<const std::byte> bytes) {
    return bytes.size() > sizeof(uint64_t) && bytes[sizeof(uint64_t)] == std::byte{'{'};
}

Result<NamedTensors> read_tensors(std::span<const std::byte> bytes,
                                  std::span<const std::byte> package) {
    if (!is_brain(bytes))
        return is_safetensors(bytes) ? read_safetensors(bytes) : read_torch(bytes);
    if (package.empty())
        return invalid_argument("a brain belongs to a package; export the package");
    HEARTH_ASSIGN(const Brain initial, initial_brain(package));
    HEARTH_ASSIGN(Brain brain, load_brain(bytes, &initial));
    NamedTensors tensors;
    for (BrainTensor& tensor : brain.tensors)
        tensors.emplace(std::move(tensor.name), std::move(tensor.value));
    return tensors;
}

}  // namespace

Result<std::vector<std::byte>> export_with_weights(const Graph& graph,
                                                   std::span<const std::byte> weights,
                                                   std::span<const std::byte> package) {
    if (weights.empty()) return export_onnx(graph);
    HEARTH_ASSIGN(NamedTensors tensors, read_tensors(weights, package));
    NamedTensors used;
    for (const Value& v : graph.values) {
        if (v.kind != ValueKind::kParam && v.kind != ValueKind::kState) continue;
        const auto found = tensors.find(v.name);
        if (found == tensors.end() && v.kind == ValueKind::kState) continue;
        if (found == tensors.end())
            return not_found("the weights have no tensor '" + v.name + "', which entry '" +
                             graph.name + "' needs; give those of this model");
        const bool converts = is_floating(found->second.dtype()) && is_floating(v.dtype);
        used.emplace(v.name, converts ? found->second.cast(v.dtype) : std::move(found->second));
    }
    return export_onnx(graph, used);
}

Result<std::vector<std::byte>> export_package_entry(std::span<const std::byte> package,
                                                    const std::string& entry,
                                                    std::span<const std::byte> weights) {
    std::vector<uint64_t> aligned((package.size() + 7) / 8);  // views need aligned bytes
    if (!package.empty()) std::memcpy(aligned.data(), package.data(), package.size());
    const auto bytes = std::as_bytes(std::span(aligned)).first(package.size());
    PackageView view;
    ViewError error;
    if (!view.open(bytes, &error)) return Status(error.code, error.text.c_str());
    HEARTH_ASSIGN(const std::vector<Graph> graphs, load_graphs(view.graph(), view.weights()));
    std::string names;
    for (const Graph& graph : graphs) {
        const bool is_meant =
            graph.name == (entry.empty() ? "main" : entry) || (entry.empty() && graphs.size() == 1);
        if (is_meant) return export_with_weights(graph, weights, bytes);
        names += (names.empty() ? "" : ", ") + graph.name;
    }
    return not_found(
        (entry.empty() ? "there are several entries" : "no entry is named '" + entry + "'") +
        "; expected one of: " + names);
}

}  // namespace hearth
