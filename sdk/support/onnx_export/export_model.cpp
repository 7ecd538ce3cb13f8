// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/driver/compile.hpp"
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

/// The tensor in the value's element type, if both are floating point.
HostTensor converted(HostTensor&& tensor, const Value& value) {
    const bool converts = is_floating(tensor.dtype()) && is_floating(value.dtype);
    return converts ? tensor.cast(value.dtype) : std::move(tensor);
}

/// A package with its graphs.
struct OpenGraphs {
    std::vector<uint64_t> aligned;  ///< views need aligned bytes
    std::span<const std::byte> bytes;
    PackageView view;
    std::vector<Graph> graphs;
};

Result<OpenGraphs> open_graphs(std::span<const std::byte> package) {
    OpenGraphs open;
    open.aligned.resize((package.size() + 7) / 8);
    if (!package.empty()) std::memcpy(open.aligned.data(), package.data(), package.size());
    open.bytes = std::as_bytes(std::span(open.aligned)).first(package.size());
    ViewError error;
    if (!open.view.open(open.bytes, &error)) return Status(error.code, error.text.c_str());
    HEARTH_ASSIGN(open.graphs, load_graphs(open.view));
    return open;
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
        used.emplace(v.name, converted(std::move(found->second), v));
    }
    return export_onnx(graph, used);
}

Result<std::vector<Graph>> package_graphs(std::span<const std::byte> package) {
    HEARTH_ASSIGN(OpenGraphs open, open_graphs(package));
    return std::move(open.graphs);
}

Result<std::vector<std::byte>> export_package_entry(std::span<const std::byte> package,
                                                    const std::string& entry,
                                                    std::span<const std::byte> weights) {
    HEARTH_ASSIGN(const OpenGraphs open, open_graphs(package));
    const std::vector<Graph>& graphs = open.graphs;
    std::string names;
    for (const Graph& graph : graphs) {
        const bool is_meant =
            graph.name == (entry.empty() ? "main" : entry) || (entry.empty() && graphs.size() == 1);
        if (is_meant) return export_with_weights(graph, weights, open.bytes);
        names += (names.empty() ? "" : ", ") + graph.name;
    }
    return not_found(
        (entry.empty() ? "there are several entries" : "no entry is named '" + entry + "'") +
        "; expected one of: " + names);
}

Result<Cooked> recook_with_weights(std::span<const std::byte> package,
                                   std::span<const std::byte> weights, const CookOptions& options) {
    HEARTH_ASSIGN(OpenGraphs open, open_graphs(package));
    HEARTH_ASSIGN(const NamedTensors tensors, read_tensors(weights, open.bytes));
    bool has_param = false;
    for (Graph& graph : open.graphs) {
        for (Value& v : graph.values) {
            if (v.kind != ValueKind::kParam && v.kind != ValueKind::kState) continue;
            auto found = tensors.find(v.name);
            // Weights that games ship are those that act reads, under the names of the copies.
            if (found == tensors.end() && v.kind == ValueKind::kParam)
                found = tensors.find("published.param." + v.name);
            if (found == tensors.end()) continue;
            HostTensor value = converted(HostTensor(found->second), v);
            const bool fits = value.shape() == v.shape && value.dtype() == v.dtype;
            if (!fits && v.kind == ValueKind::kState) continue;
            if (!fits)
                return invalid_argument("the weights' tensor '" + v.name + "' is " +
                                        std::string(name_of(value.dtype())) + " " +
                                        to_string(value.shape()) + ", the package's " +
                                        std::string(name_of(v.dtype)) + " " + to_string(v.shape) +
                                        "; give those of this model");
            v.data = std::make_shared<const HostTensor>(std::move(value));
            has_param = has_param || v.kind == ValueKind::kParam;
        }
    }
    if (!has_param) return not_found("the weights have no param of the package; give its own");
    CookOptions kept = options;
    if (kept.agents.empty())
        kept.agents.assign(open.view.agents().begin(), open.view.agents().end());
    if (kept.max_batch_size == 0) {
        HEARTH_ASSIGN(const OpenProgram program, open_program(open.view, 0));
        kept.max_batch_size = program.view.header().max_batch_size;
    }
    return cook_graphs(std::move(open.graphs), kept);
}

}  // namespace hearth
