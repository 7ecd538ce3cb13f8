// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The kernels of convolutions on GPUs with tiles of each family, executed on the CPU at shapes that no tile divides: they
// give what the interpreter gives, without races, stray accesses and reads of nothing.

#include "compiler/codegen/kernel_problem.hpp"
#include "compiler/ir/custom_kernel.hpp"
#include "compiler/ops/kernels/conv_tiles.hpp"
#include "support/random_tensor.hpp"
#include "unit/kernel/op_kernels.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::test {
namespace {

struct ConvCase {
    const char* name;
    Dim images;
    int64_t channels, out;
    std::vector<int64_t> size, kernel;
    ConvOptions window = {};
    std::vector<std::string> families;
    DType dtype = DType::kF32;
};

void PrintTo(const ConvCase& c, std::ostream* out) {
    *out << c.name;
}

const ConvCase kCases[] = {
    {"FewChannels", kBatch, 3, 13, {20, 21}, {3, 3}, {.pad_begin = {1}}, {"tiled", "strips"}},
    {"Fours", kBatch, 3, 16, {18, 24}, {3, 3}, {.pad_begin = {1}}, {"tiled", "strips"}},
    {"Strided",
     kBatch,
     2,
     7,
     {20, 31},
     {3, 3},
     {.strides = {2, 1}, .dilations = {1, 2}, .pad_begin = {0, 2}},
     {"tiled", "strips"}},
    {"Narrow", 1, 3, 5, {12, 9}, {3, 2}, {.pad_begin = {1}}, {"tiled"}, DType::kF16},
    {"Deep", 1, 40, 9, {5, 6}, {3, 1}, {.pad_begin = {1, 0}}, {"tiled"}},
    {"ManyChannels", kBatch, 19, 17, {9, 12}, {3, 3}, {.pad_begin = {1, 0}}, {"tiled"}},
    {"OneAxis", kBatch, 7, 9, {30}, {5}, {.strides = {2}, .pad_begin = {2}}, {"tiled"}},
    {"MatricesOfManyPixels",
     kBatch,
     20,
     19,
     {13, 40},
     {3, 3},
     {.pad_begin = {1}},
     {"matrix"},
     DType::kF16},
    {"MatricesStrided",
     2,
     5,
     9,
     {17, 21},
     {3, 2},
     {.strides = {2, 1}, .pad_begin = {1, 0}},
     {"matrix", "slices"},
     DType::kF16},
    {"MatricesOfOneAxis", 1, 80, 21, {40}, {3}, {.pad_begin = {1}}, {"slices"}, DType::kF16},
    {"MatricesOfOneTap", kBatch, 24, 40, {5, 9}, {1, 1}, {}, {"slices"}, DType::kF16},
    {"PairsOfManyTaps",
     kBatch,
     16,
     13,
     {9, 12},
     {3, 3},
     {.pad_begin = {1, 0}},
     {"tiled"},
     DType::kF16},
    {"PairsOfOneTap", 2, 24, 40, {5, 9}, {1, 1}, {.strides = {2, 1}}, {"tiled"}, DType::kF16},
    {"PairsOfOneAxis", 1, 4, 21, {40}, {2}, {.pad_begin = {1}}, {"tiled"}, DType::kF16},
    {"Depthwise",
     2,
     3,
     6,
     {11, 10},
     {3, 3},
     {.strides = {2}, .pad_begin = {1}, .groups = 3},
     {"depthwise"}},
};

/// A GPU so small that few pixels occupy it; with matrix cores, or dot products of pairs of f16, if the
/// case is for them.
DeviceCaps small_gpu(const ConvCase& c) {
    const auto is_for = [&](const char* what) {
        return std::string_view(c.name).starts_with(what);
    };
    DeviceCaps caps = is_for("Matrices") ? matrix_caps() : gpu_caps();
    if (is_for("Pairs"))
        caps.shader_float16 = caps.storage_buffer_16bit_access = caps.mixed_float_dot_product =
            true;
    caps.device_type = DeviceType::kOther;
    caps.compute_units = 1;
    caps.max_compute_shared_memory_size = 32 << 10;
    return caps;
}

class ConvBodies : public testing::TestWithParam<ConvCase> {};

TEST_P(ConvBodies, OfEachFamilyGiveWhatTheInterpreterGives) {
    const ConvCase& c = GetParam();
    Trace trace("run");
    const auto shape = [](Dim first, Dim second, const std::vector<int64_t>& spatial) {
        Shape result{first, second};
        for (const int64_t extent : spatial) result.push_back(Dim(extent));
        return result;
    };
    const Tensor x = trace.input("x", shape(c.images, Dim(c.channels), c.size), c.dtype);
    const Tensor w =
        trace.input("w", shape(Dim(c.out), Dim(c.channels / c.window.groups), c.kernel), c.dtype);
    trace.output("y", relu(conv(x, w, {}, c.window)));
    Variant variant{c.name, trace.build().value(), {}, 3};
    variant.inputs = random_inputs(variant.graph, variant.rows);
    const Node& node = variant.graph.nodes[0];
    // Room for many images makes kernels for many pixels worth while, of which few are computed.
    constexpr uint64_t kCapacity = 400;
    const KernelProblem problem = kernel_problem(variant.graph, node, kCapacity);
    // The first and the last tile of each family.
    std::map<std::string, std::vector<std::string>> tiles;
    const DeviceCaps caps = small_gpu(c);
    const NodeContext call(variant.graph, node, caps, kCapacity);
    for (const ConvTile& of_call : conv_tiles(call.context)) {
        const std::string tile = to_string(of_call);
        std::vector<std::string>& of_family = tiles[tile.substr(0, tile.find(' '))];
        if (of_family.size() > 1) of_family.pop_back();
        of_family.push_back(tile);
    }
    for (const std::string& family : c.families) {
        ASSERT_FALSE(tiles[family].empty()) << family;
        for (const std::string& tile : tiles[family]) {
            std::vector<OpKernel> kernels = kernels_of(
                variant, caps, {.rows_capacity = kCapacity, .variants = {{problem.key(), tile}}});
            ASSERT_EQ(kernels.size(), 1u) << tile;
            const Status status =
                run_kernel(*kernels[0].body, kernels[0].launch, kernels[0].operands);
            EXPECT_TRUE(status.ok()) << tile << ": " << status.message();
            const double tolerance = c.dtype == DType::kF16 ? 4e-3 : 2e-5;
            for (const auto& [index, expected] : kernels[0].expected)
                EXPECT_EQ(difference(kernels[0].operands[index].tensor, expected, tolerance), "")
                    << tile;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvBodies, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hearth::test
