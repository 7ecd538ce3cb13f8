// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A learner's entries on the reference interpreter.

#pragma once

#include "cpu/interpreter.hpp"

#include <hearth/agents/learners.hpp>
#include <hearth/agents/status.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace hearth::agents {

class InterpretedLearner {
  public:
    explicit InterpretedLearner(const Traces& traces) {
        for (const auto& trace : traces) {
            auto graph = trace->finish();
            EXPECT_TRUE(graph.ok()) << graph.status().message();
            if (!graph.ok()) continue;
            for (auto& [name, value] : initial_weights(*graph)) weights.try_emplace(name, value);
            graphs_.emplace(trace->graph().name, std::move(graph).value());
        }
    }

    NamedTensors run(const std::string& entry, const NamedTensors& inputs = {}, int64_t rows = 1) {
        auto outputs = interpret(graphs_.at(entry), inputs, weights, rows);
        EXPECT_TRUE(outputs.ok()) << entry << ": " << outputs.status().message();
        if (!outputs.ok()) return {};
        return std::move(outputs).value();
    }

    /// Of all roles; valid until the next call.
    StatusView status() const {
        std::vector<std::span<const uint32_t>> roles;
        for (const auto& [name, value] : weights)
            if (name.starts_with("agents.status.")) roles.push_back(value.as<uint32_t>());
        words_ = sum_of_status(roles);
        return StatusView(words_);
    }

    /// The first state or param with an element that is not finite, or "".
    std::string first_not_finite() const {
        for (const auto& [name, value] : weights)
            for (int64_t i = 0; i < value.element_count(); ++i)
                if (!std::isfinite(value.get(i))) return name;
        for (size_t i = 0; i < kDiagnosticCount; ++i)
            if (!std::isfinite(status()[static_cast<Diagnostic>(i)]))
                return std::string(kDiagnosticNames[i]);
        return "";
    }

    NamedTensors weights;

  private:
    std::map<std::string, Graph> graphs_;
    mutable std::array<uint32_t, kStatusWords> words_{};
};

}  // namespace hearth::agents
