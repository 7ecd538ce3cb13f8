// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compile/graph_file.hpp"
#include "model.hpp"
#include "native/native_net.hpp"
#include "runner.hpp"

namespace hearth::tool {

namespace {

class NativeRunner final : public Runner {
  public:
    std::string_view name() const override { return "native"; }
    Result<NamedTensors> run_graph(const Graph& graph, const NamedTensors& inputs,
                                   int64_t rows) override {
        CookCOptions options;
        options.cpu = native::this_cpu();
        options.rows_capacity = static_cast<uint64_t>(rows);
        options.weights_in_source = false;
        HEARTH_ASSIGN(const std::unique_ptr<native::NativeNet> net,
                      native::NativeNet::build({graph}, options, {.flags = "-O1"}));
        return net->run(graph.name, inputs, rows);
    }
    Result<NamedTensors> run_package(std::span<const std::byte> package, const std::string& entry,
                                     const NamedTensors& inputs, int64_t rows,
                                     const char*) override {
        HEARTH_ASSIGN(const PackageView view, open_package(package));
        HEARTH_ASSIGN(const std::vector<Graph> graphs, load_graphs(view.graph(), view.weights()));
        HEARTH_ASSIGN(const size_t index, find_entry(graphs, entry));
        return run_graph(graphs[index], inputs, rows);
    }
    Status check(const Status& fits_device) const override { return fits_device; }
    Status check(const NamedTensors&) const override { return {}; }
};

}  // namespace

std::unique_ptr<Runner> make_native_runner() {
    return std::make_unique<NativeRunner>();
}

}  // namespace hearth::tool
