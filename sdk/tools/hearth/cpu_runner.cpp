// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "cpu/interpreter.hpp"
#include "runner.hpp"

namespace hearth::tool {

namespace {

class CpuRunner final : public Runner {
  public:
    std::string_view name() const override { return "cpu"; }
    Result<std::vector<HostTensor>> run(const ImportedModel& model,
                                        std::span<const HostTensor> inputs, int64_t rows) override {
        return evaluate(model.graph(), inputs, rows);
    }
};

}  // namespace

std::unique_ptr<Runner> make_cpu_runner() {
    return std::make_unique<CpuRunner>();
}

}  // namespace hearth::tool
