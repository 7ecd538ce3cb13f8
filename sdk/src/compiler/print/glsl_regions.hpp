// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Regions of memory in GLSL, for kernels that bind descriptors and have more operands than a device
// can bind.
//
// The arena is binding 0 and the weights are binding 1, each as a whole.  An operand within them is
// a place (program/program.hpp, locate()): a specialization constant, or a parameter of a function.
// The region of a place that is a constant is known when a driver compiles the kernel, which
// removes the branch.

#pragma once

#include "compiler/print/glsl_elements.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth {

/// Elements, or vectors of them, that a region consists of.
struct RegionView {
    std::string_view block;    ///< "F32", "F32x4"
    std::string_view element;  ///< in memory
    std::string_view value;    ///< outside of it: narrow elements are a float, int or uint
    uint32_t bytes;            ///< of an element; divides kLocationUnit

    friend bool operator==(const RegionView&, const RegionView&) = default;
};
RegionView region_view(const HeldType& held);

/// Declares both regions as such elements, and the functions that reach element i from a place on:
/// hearth_load_F32(place, i), hearth_store_F32(place, i, value).
std::string region_functions(const RegionView& view);

/// Calls of these functions.
std::string region_load(std::string_view block, const std::string& place, const std::string& index);
std::string region_store(std::string_view block, const std::string& place, const std::string& index,
                         const std::string& value);

/// A region as an array of such elements, and the index of element i from a place on: for what
/// takes arrays.
std::string region_array(std::string_view block, bool is_weights);
std::string region_index(const RegionView& view, const std::string& place,
                         const std::string& index);

}  // namespace hearth
