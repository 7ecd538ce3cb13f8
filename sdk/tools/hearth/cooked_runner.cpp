// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A runner that checks that cooked packages give the same bits as the graphs they were cooked from.

#include "compare.hpp"
#include "compiler/driver/compile.hpp"
#include "runner.hpp"

namespace hearth::tool {

namespace {

class CookedRunner final : public Runner {
  public:
    explicit CookedRunner(std::unique_ptr<Runner> inner) : inner_(std::move(inner)) {}

    Executor& executor() override { return inner_->executor(); }

    Result<NamedTensors> run_graph(Graph graph, const NamedTensors& inputs,
                                   int64_t batch_size) override {
        HEARTH_ASSIGN(const NamedTensors expected, inner_->run_graph(graph, inputs, batch_size));
        CookOptions options;
        options.device_targets.push_back({"cooked", inner_->compile_options()});
        options.max_batch_size = static_cast<uint64_t>(batch_size);
        HEARTH_ASSIGN(const Cooked cooked, cook_graphs({graph}, options));
        HEARTH_ASSIGN(NamedTensors found,
                      inner_->run_package(cooked.bytes, graph.name, inputs, batch_size,
                                          {.trusts_kernels = true}));
        for (const auto& [output, tensor] : expected) {
            const auto at = found.find(output);
            if (at == found.end()) return internal_error("cooked: there is no '" + output + "'");
            if (at->second == tensor) continue;
            return internal_error(
                "cooked: '" + output + "' " +
                first_difference(at->second, tensor, {0, 0}).value_or("differs in its last bits"));
        }
        return found;
    }
    Result<NamedTensors> run_package(std::span<const std::byte> package, const std::string& entry,
                                     const NamedTensors& inputs, int64_t batch_size,
                                     const PackageOptions& options) override {
        return inner_->run_package(package, entry, inputs, batch_size, options);
    }
    CompileOptions compile_options() const override { return inner_->compile_options(); }

  private:
    std::unique_ptr<Runner> inner_;
};

}  // namespace

std::unique_ptr<Runner> make_cooked_runner(std::unique_ptr<Runner> inner) {
    return std::make_unique<CookedRunner>(std::move(inner));
}

}  // namespace hearth::tool
