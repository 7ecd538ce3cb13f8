// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A learner's entries on the reference interpreter.

#pragma once

#include "compiler/interpreter/interpreter.hpp"

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
    explicit InterpretedLearner(const AgentGraphs& traces) {
        for (const auto& trace : traces) {
            auto graph = trace->build();
            EXPECT_TRUE(graph.ok()) << graph.status().message();
            if (!graph.ok()) continue;
            for (auto& [name, value] : initial_weights(*graph)) weights.try_emplace(name, value);
            graphs_.emplace(trace->graph().name, std::move(graph).value());
        }
    }

    /// Samples are added after the entry frame, which therefore counts those of the frame before.
    bool adds_samples() const { return graphs_.contains("add_samples"); }
    /// Runs the entry frame and, of learners that have it, add_samples, as a driver does.
    void frame(const NamedTensors& inputs, int64_t rows = 1) {
        run("frame", inputs, rows);
        if (!adds_samples()) return;
        HostTensor row(DType::kU32, {rows});
        for (int64_t i = 0; i < rows; ++i) row.set(i, static_cast<double>(i));
        run("add_samples", {{"row", row}}, rows);
    }
    NamedTensors run(const std::string& entry, const NamedTensors& inputs = {}, int64_t rows = 1) {
        auto outputs = interpret(graphs_.at(entry), inputs, weights, rows);
        EXPECT_TRUE(outputs.ok()) << entry << ": " << outputs.status().message();
        if (!outputs.ok()) return {};
        return std::move(outputs).value();
    }

    /// Of all roles; valid until the next call.
    StatusView status() const {
        std::vector<EntryStatus> roles;
        for (const char* role :
             {"store", "compute_advantages", "learn", "publish", "add_demonstrations"})
            if (const auto at = weights.find("agents.status." + std::string(role));
                at != weights.end())
                roles.push_back({at->second.as<float>(),
                                 weights.at("agents.counters." + std::string(role)).as<uint32_t>(),
                                 weights.at("agents.carries." + std::string(role)).as<uint32_t>()});
        words_ = sum_status(roles);
        const auto set = [&](Counter c, const HostTensor& value, int64_t index) {
            words_[kMetricCount + static_cast<size_t>(c)] = static_cast<uint32_t>(value.get(index));
        };
        if (const auto at = weights.find("learn.skipped_in_a_row"); at != weights.end())
            set(Counter::kSkippedInARow, at->second, 0);
        if (const auto at = weights.find("agents.recent"); at != weights.end())
            for (const Counter c : {Counter::kChoicesAllMasked, Counter::kActionsReplaced})
                set(c, at->second,
                    static_cast<int64_t>(c) - static_cast<int64_t>(kSavedCounterCount));
        return StatusView(words_);
    }

    /// The first state or param with an element that is not finite, or "".
    std::string first_not_finite() const {
        for (const auto& [name, value] : weights)
            for (int64_t i = 0; i < value.element_count(); ++i)
                if (!std::isfinite(value.get(i))) return name;
        for (size_t i = 0; i < kMetricCount; ++i)
            if (!std::isfinite(status()[static_cast<AgentMetric>(i)]))
                return std::string(kMetricNames[i]);
        return "";
    }

    NamedTensors weights;

  private:
    std::map<std::string, Graph> graphs_;
    mutable std::array<uint32_t, kStatusWords> words_{};
};

/// What "compute_advantages" finds out about minibatches of `size` samples each, all of which are
/// there: how many, and the mean and deviation of their advantages.  -> [minibatches, 3].
template <class Advantage>
HostTensor minibatch_statistics(const std::vector<double>& order, size_t size,
                                const Advantage& advantage) {
    std::vector<double> statistics;
    for (size_t begin = 0; begin < order.size(); begin += size) {
        double mean = 0, squares = 0;
        const auto at = [&](size_t i) { return advantage(static_cast<int64_t>(order[begin + i])); };
        for (size_t i = 0; i < size; ++i) mean += at(i) / static_cast<double>(size);
        for (size_t i = 0; i < size; ++i) squares += (at(i) - mean) * (at(i) - mean);
        statistics.insert(statistics.end(), {static_cast<double>(size), mean,
                                             std::sqrt(squares / static_cast<double>(size - 1))});
    }
    return HostTensor::of({static_cast<int64_t>(order.size() / size), 3}, statistics);
}

}  // namespace hearth::agents
