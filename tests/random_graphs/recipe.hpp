// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Random graphs.  A recipe is a list of steps, each a handful of random numbers; any list of any
// numbers can be followed, because what a number chooses is taken modulo what there is to choose
// from and operands are made to fit.  So a failing recipe is shrunk by leaving steps out.

#pragma once

#include "ops/op_cases.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hearth::test {

struct RecipeStep {
    std::array<uint32_t, 6> choices{};
};

struct Recipe {
    uint64_t seed = 0;  ///< names the graph, and makes the contents of its inputs
    int64_t rows = 3;
    bool with_gradient = false;
    std::vector<RecipeStep> steps;
};

/// A recipe that is a function of `seed` alone.
Recipe make_recipe(uint64_t seed);

/// The graph: any operator of the table that a device can hold, between element-wise arithmetic,
/// reductions, views and matrix products, some of it updating states; with gradients if asked for
/// and defined.
Result<Variant> follow(const Recipe& recipe);

/// The shortest recipe found that still fails.
Recipe shrink(Recipe recipe, const std::function<bool(const Recipe&)>& fails);

}  // namespace hearth::test
