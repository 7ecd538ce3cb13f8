// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/glsl_regions.hpp"

#include "program/program.hpp"

namespace hearth {

namespace {

std::string_view value_type(const HeldType& held) {
    if (size_bytes(held.dtype) >= 4) return held.element;
    if (held.dtype == DType::kF16) return "float";
    return held.dtype == DType::kBF16 || is_unsigned(held.dtype) ? "uint" : "int";
}

}  // namespace

RegionView region_view(const HeldType& held) {
    return {held.block, held.element, value_type(held),
            static_cast<uint32_t>(size_bytes(held.dtype))};
}

std::string region_array(std::string_view block, bool is_weights) {
    return (is_weights ? "weights_" : "arena_") + std::string(block) + ".at";
}

std::string region_index(const RegionView& view, const std::string& place,
                         const std::string& index) {
    return "(" + place + " >> 1) * " + std::to_string(kLocationUnit / view.bytes) + "u + uint(" +
           index + ")";
}

std::string region_functions(const RegionView& view) {
    const std::string block(view.block), element(view.element), value(view.value);
    const auto region = [&](const char* binding, const char* name, bool is_weights) {
        const std::string array = region_array(view.block, is_weights);
        return "layout(set = 0, binding = " + std::string(binding) + ", std430) buffer " + name +
               block + " { " + element + " at[]; } " + array.substr(0, array.find('.')) + ";\n";
    };
    const std::string at = "    const uint at = " + region_index(view, "place", "i") + ";\n";
    const auto load = [&](bool is_weights) {
        return "return " + value + "(" + region_array(view.block, is_weights) + "[at]);\n";
    };
    const auto store = [&](bool is_weights) {
        return region_array(view.block, is_weights) + "[at] = " + element + "(value);\n";
    };
    return region("0", "Arena", false) + region("1", "Weights", true) +  //
           value + " hearth_load_" + block + "(uint place, int i) {\n" + at +
           "    if ((place & 1u) != 0u) " + load(true) + "    " + load(false) + "}\n" +  //
           "void hearth_store_" + block + "(uint place, int i, " + value + " value) {\n" + at +
           "    if ((place & 1u) != 0u)\n        " + store(true) + "    else\n        " +
           store(false) + "}\n";
}

std::string region_load(std::string_view block, const std::string& place,
                        const std::string& index) {
    return "hearth_load_" + std::string(block) + "(" + place + ", " + index + ")";
}

std::string region_store(std::string_view block, const std::string& place, const std::string& index,
                         const std::string& value) {
    return "hearth_store_" + std::string(block) + "(" + place + ", " + index + ", " + value + ");";
}

}  // namespace hearth
