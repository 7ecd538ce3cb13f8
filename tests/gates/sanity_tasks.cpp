// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gates/sanity_tasks.hpp"

#include <array>

namespace hearth::gates {

namespace {

class Bandit final : public classic::Task {
  public:
    const classic::TaskInfo& info() const override {
        static constexpr classic::TaskInfo kInfo{"bandit", 0, 1, 4, 0, 0, 2, 0.95};
        return kInfo;
    }
    void reset(uint64_t) override {}
    classic::Outcome step(float action) override { return {action == 2.0f ? 1.0 : 0.0, true}; }
    void observe(std::span<float> out) const override { out[0] = 1; }
};

class Password final : public classic::Task {
  public:
    const classic::TaskInfo& info() const override {
        static constexpr classic::TaskInfo kInfo{"password", 0, 6, 2, 0, 0, 10, 0.95};
        return kInfo;
    }
    void reset(uint64_t) override {
        at_ = 0;
        is_right_ = true;
    }
    classic::Outcome step(float action) override {
        constexpr std::array<int, 5> kSecret = {1, 0, 0, 1, 1};
        is_right_ = is_right_ && static_cast<int>(action) == kSecret[at_];
        ++at_;
        const bool is_over = at_ == kSecret.size();
        return {is_over && is_right_ ? 1.0 : 0.0, is_over};
    }
    void observe(std::span<float> out) const override {
        for (size_t i = 0; i < 6; ++i) out[i] = i == at_ ? 1.0f : 0.0f;
    }

  private:
    size_t at_ = 0;
    bool is_right_ = true;
};

class Stochastic final : public classic::Task {
  public:
    static constexpr int kLength = 20;
    const classic::TaskInfo& info() const override {
        static constexpr classic::TaskInfo kInfo{"stochastic", 0, 1, 2, 0, 0, 2 * kLength, 0.93};
        return kInfo;
    }
    void reset(uint64_t) override { firsts_ = steps_ = 0; }
    // Paid at the end, by how often the first action was taken; it cannot count.
    classic::Outcome step(float action) override {
        firsts_ += action == 0.0f;
        if (++steps_ < kLength) return {0, false};
        const double off = static_cast<double>(firsts_) / kLength - 0.75;
        return {1 - 4 * off * off, true};
    }
    void observe(std::span<float> out) const override { out[0] = 1; }

  private:
    int firsts_ = 0, steps_ = 0;
};

class Memory final : public classic::Task {
  public:
    const classic::TaskInfo& info() const override {
        static constexpr classic::TaskInfo kInfo{"memory", 0, 3, 2, 0, 0, 10, 0.95};
        return kInfo;
    }
    void reset(uint64_t seed) override {
        bit_ = static_cast<int>((seed * 0x9e3779b97f4a7c15u) >> 63);
        at_ = 0;
    }
    classic::Outcome step(float action) override {
        const bool is_asked = at_ == 4;
        ++at_;
        return {is_asked && static_cast<int>(action) == bit_ ? 1.0 : 0.0, is_asked};
    }
    void observe(std::span<float> out) const override {
        out[0] = at_ == 0 && bit_ == 0 ? 1.0f : 0.0f;
        out[1] = at_ == 0 && bit_ == 1 ? 1.0f : 0.0f;
        out[2] = at_ == 4 ? 1.0f : 0.0f;
    }

  private:
    int bit_ = 0, at_ = 0;
};

}  // namespace

std::unique_ptr<classic::Task> make_sanity_task(std::string_view name) {
    if (name == "bandit") return std::make_unique<Bandit>();
    if (name == "password") return std::make_unique<Password>();
    if (name == "stochastic") return std::make_unique<Stochastic>();
    if (name == "memory") return std::make_unique<Memory>();
    return nullptr;
}

}  // namespace hearth::gates
