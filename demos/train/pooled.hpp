// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Pools means and variances of several ranks (Chan, Golub and LeVeque, "Updating Formulae and a
// Pairwise Algorithm for Computing Sample Variances", 1979).

#pragma once

#include <span>
#include <vector>

namespace hearth::train {

/// The states NAME.mean, NAME.variance and NAME.count of running statistics.
struct Statistics {
    std::vector<float> mean, variance;
    float count = 0;
};

/// Updates `running` with the samples summarized by `parts`; parts with no samples have no effect.
/// At most a million earlier samples count, as on the device.
Statistics pooled(const Statistics& running, std::span<const Statistics> parts);

/// Pools the number of samples of each minibatch, their mean, and their std (n - 1): a row of the
/// state learn.minibatches. rows: [ranks][minibatches][3] -> [minibatches][3], over the samples of
/// all ranks.
std::vector<float> pooled_minibatches(std::span<const float> rows, size_t ranks);

}  // namespace hearth::train
