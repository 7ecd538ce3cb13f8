// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Pools means and variances of several ranks.

#include "train/pooled.hpp"

#include <algorithm>
#include <cmath>

namespace hearth::train {

namespace {

struct Moments {
    double count = 0, mean = 0, squares = 0;  ///< squares: sum of squared deviations from the mean

    void add(const Moments& other) {
        const double all = count + other.count;
        if (other.count <= 0 || all <= 0) return;
        const double apart = other.mean - mean;
        mean += apart * other.count / all;
        squares += other.squares + apart * apart * count * other.count / all;
        count = all;
    }
};

}  // namespace

Statistics pooled(const Statistics& running, std::span<const Statistics> parts) {
    constexpr double kMostSamples = 1e6;
    Statistics next = running;
    // The initial mean and variance are no samples.
    const double before = running.count < 1 ? 0 : static_cast<double>(running.count);
    double count = before;
    for (const Statistics& part : parts) count += static_cast<double>(part.count);
    for (size_t i = 0; i < running.mean.size(); ++i) {
        const auto of = [&](const Statistics& s, double n) {
            return Moments{n, static_cast<double>(s.mean[i]),
                           static_cast<double>(s.variance[i]) * n};
        };
        Moments all = of(running, before);
        for (const Statistics& part : parts) all.add(of(part, static_cast<double>(part.count)));
        if (all.count <= 0) continue;
        next.mean[i] = static_cast<float>(all.mean);
        next.variance[i] = static_cast<float>(all.squares / all.count);
    }
    next.count = static_cast<float>(std::min(count, kMostSamples));
    return next;
}

std::vector<float> pooled_minibatches(std::span<const float> rows, size_t ranks) {
    std::vector<float> pooled(rows.size() / ranks);
    for (size_t at = 0; at < pooled.size(); at += 3) {
        Moments all;
        for (size_t r = 0; r < ranks; ++r) {
            const std::span<const float> row = rows.subspan(r * pooled.size() + at, 3);
            const auto n = static_cast<double>(row[0]), deviation = static_cast<double>(row[2]);
            all.add({n, static_cast<double>(row[1]), deviation * deviation * std::max(n - 1, 0.0)});
        }
        pooled[at] = static_cast<float>(all.count);
        pooled[at + 1] = static_cast<float>(all.mean);
        pooled[at + 2] = static_cast<float>(std::sqrt(all.squares / std::max(all.count - 1, 1.0)));
    }
    return pooled;
}

}  // namespace hearth::train
