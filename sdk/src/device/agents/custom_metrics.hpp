// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The game's own metrics, averaged between two samples of a run log.

#pragma once

#include "core/fixed_text.hpp"

#include <hearth/hearth_agents.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace hearth::agents {

class CustomMetrics {
  public:
    static constexpr uint32_t kMost = HEARTH_AGENTS_MAX_CUSTOM_METRICS;
    static constexpr size_t kMaxNameBytes = 63;

    enum class Added : uint8_t { kYes, kNoRoom, kInfiniteSum };
    /// Adds a finite value.
    [[nodiscard]] Added add(const char* name, double value) {
        Entry* const found = find(name);
        if (found == nullptr) return Added::kNoRoom;
        if (!std::isfinite(found->sum + value)) return Added::kInfiniteSum;
        found->sum += value;
        found->last = value;
        ++found->count;
        return Added::kYes;
    }
    uint32_t size() const { return size_; }
    /// index: below size()
    hearth_agents_custom_metric at(uint32_t index) const {
        const Entry& e = entries_[index];
        const double mean = e.count > 0 ? e.sum / static_cast<double>(e.count) : e.last;
        return {e.name.c_str(), mean, e.last, e.count};
    }
    /// Begins the next period: names and last values stay.
    void restart() {
        for (Entry& e : entries_) e.sum = 0, e.count = 0;
    }

  private:
    struct Entry {
        FixedText<kMaxNameBytes + 1> name;
        double sum = 0, last = 0;
        uint64_t count = 0;
    };
    Entry* find(const char* name) {
        for (uint32_t i = 0; i < size_; ++i)
            if (std::string_view(entries_[i].name.c_str()) == name) return &entries_[i];
        if (size_ == kMost) return nullptr;
        entries_[size_].name.set("%s", name);
        return &entries_[size_++];
    }

    std::array<Entry, kMost> entries_;
    uint32_t size_ = 0;
};

}  // namespace hearth::agents
