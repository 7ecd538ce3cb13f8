// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Means and variances of what several ranks have seen, from those that each of them has (Chan, Golub and LeVeque,
// "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979).

#pragma once

#include <span>
#include <vector>

namespace hearth::train {

/// As the states NAME.mean, NAME.variance and NAME.count of running statistics.
struct Statistics {
    std::vector<float> mean, variance;
    float count = 0;
};

/// What `running` becomes when samples that these parts sum up are added; parts of no samples count for nothing.
/// Of samples so far a million count at most, as on the device.
Statistics pooled(const Statistics& running, std::span<const Statistics> parts);

/// How many samples a minibatch has, their mean, and their deviation (n - 1): a row of the state learn.minibatches.
/// rows: [ranks][minibatches][3] -> [minibatches][3], of the samples of all ranks.
std::vector<float> pooled_minibatches(std::span<const float> rows, size_t ranks);

}  // namespace hearth::train
