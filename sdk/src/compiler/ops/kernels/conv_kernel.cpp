// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds the GLSL kernels of the operator `conv` on matrix cores from the texts of shaders/conv; the others are bodies
// (compiler/codegen/conv).

#include "compiler/ops/kernels/conv_kernel.hpp"

#include "compiler/ops/kernels/conv_tiles.hpp"
#include "compiler/shaders/define.hpp"
#include "compiler/shaders/shader_text.hpp"

#include <algorithm>
#include <string>

namespace hearth {

namespace {

bool suits(const KernelRuleContext& call) {
    constexpr int64_t kMostTaps = 64, kMostSides = 32;
    const Shape &x = call.shape(0), &w = call.shape(1);
    const int64_t groups = call.attrs.integer("groups");
    if (!is_floating(call.inputs[0].dtype) || (groups != 1 && groups != x[1].count)) return false;
    if (x.rank() > 4) return false;
    const List kernel = spatial_extents(w);
    if (count_of(kernel) > kMostTaps || kernel[0] + kernel.back() > kMostSides) return false;
    const auto rows = static_cast<int64_t>(call.max_batch_size);
    return std::max(x.element_count(rows), call.outputs[0].shape.element_count(rows)) <= INT32_MAX;
}

/// Collects macro definitions of GLSL.
class Defines {
  public:
    void text(const std::string& name, const std::string& value) { text_ += define(name, value); }
    void number(const std::string& name, int64_t value) {
        text(name, "(" + std::to_string(value) + ")");
    }
    void flag(const std::string& name, bool value) { text(name, value ? "1" : "0"); }
    const std::string& all() const { return text_; }

  private:
    std::string text_;
};

/// Macros that all convolution kernels use.
Defines constants(const ConvProblem& p) {
    Defines d;
    for (size_t axis = 0; axis < 2; ++axis) {
        const std::string end = axis == 0 ? "_Y" : "_X";
        d.number("SIZE" + end, p.size[axis]);
        d.number("COUNT" + end, p.count[axis]);
        d.number("TAPS" + end, p.window.kernel[axis]);
        d.number("STRIDE" + end, p.window.strides[axis]);
        d.number("DILATION" + end, p.window.dilations[axis]);
        d.number("LOW" + end, p.window.low[axis]);
    }
    d.number("CHANNELS", p.channels);
    d.number("OUT", p.out);
    d.text("IS_PADDED", p.is_padded() ? "true" : "false");
    d.flag("READS_ALWAYS", p.is_narrow);
    d.text("STORE(n, o, y, x, v)",
           p.has_one_axis ? "out0_at(n, o, x, v)" : "out0_at(n, o, y, x, v)");
    return d;
}

/// Grid axis for tiles of pixels, whose count depends on the batch size.
CustomKernel::Axis tiles_axis(const KernelRuleContext& call, int64_t of_image, int64_t each) {
    const Dim images = call.shape(0)[0];
    return {Dim(images.count * of_image, images.is_batch), static_cast<uint32_t>(each)};
}

int64_t parts_of(int64_t count, int64_t part) {
    return (count + part - 1) / part;
}

CustomKernel matrix_kernel(const KernelRuleContext& call, const ConvProblem& p, const ConvTile& t) {
    const int64_t rows = t.strips * t.px, columns = t.lanes * call.caps.cooperative_matrix_shape.n;
    Defines d = constants(p);
    d.number("ACROSS", t.lanes);
    d.number("DOWN", t.strips);
    d.number("MATRICES", t.px);
    d.number("TILE_OUT", t.oc);
    d.number("CHUNK", kConvMatrixChunk);
    d.number("SUBGROUP", call.caps.subgroup_size);
    d.number("SHIFT", ((-p.window.low[1]) % 8 + 8) % 8);
    d.flag("LOADS_EIGHT", p.size[1] % 8 == 0 && columns * p.window.strides[1] % 8 == 0);
    d.flag("STORES_EIGHT", p.count[1] % 8 == 0);
    d.text("STORE_EIGHT(n, o, y, x, v, w)",
           p.has_one_axis ? "out0_eight_at(n, o, x, v, w)" : "out0_eight_at(n, o, y, x, v, w)");
    CustomKernel kernel;
    kernel.name = "conv_matrix";
    kernel.glsl = d.all() + std::string(shader_text("conv/conv_matrix.comp"));
    kernel.helpers = {"in0_eight", "out0_at", "out0_eight_at"};
    kernel.has_matrices = true;
    kernel.local_size[0] = static_cast<uint32_t>(t.strips * t.lanes) * call.caps.subgroup_size;
    kernel.grid[0] =
        tiles_axis(call, parts_of(p.count[0], rows) * parts_of(p.count[1], columns), t.repeat);
    kernel.grid[1] = {Dim(p.out), static_cast<uint32_t>(t.oc)};
    return kernel;
}

CustomKernel slices_kernel(const KernelRuleContext& call, const ConvProblem& p, const ConvTile& t) {
    Defines d = constants(p);
    d.number("PIXELS", t.lanes);
    d.number("TILE_OUT", t.oc);
    d.number("SLICES", t.slices);
    d.number("SLICE_CHUNKS", parts_of(parts_of(p.depth(), t.chunk), t.slices));
    d.number("CHUNK", t.chunk);
    d.number("STAGE", t.stage);
    d.flag("LOADS_BY_STAGE", t.loads_by_stage);
    d.flag("WEIGHTS_BY_EIGHT", p.depth() % 8 == 0);
    d.number("SUBGROUP", call.caps.subgroup_size);
    CustomKernel kernel;
    kernel.name = "conv_slices";
    kernel.glsl = d.all() + std::string(shader_text("conv/conv_slices.comp"));
    kernel.helpers = {"in0_half", "in1_half", "in1_eight", "out0_at"};
    kernel.has_matrices = true;
    kernel.local_size[0] = static_cast<uint32_t>(t.slices) * call.caps.subgroup_size;
    kernel.grid[0] = tiles_axis(call, count_of(p.count), t.lanes);
    kernel.grid[1] = {Dim(p.out), static_cast<uint32_t>(t.oc)};
    return kernel;
}

CustomKernel kernel_of(const KernelRuleContext& call, const ConvProblem& p, const ConvTile& tile) {
    if (tile.family == ConvFamily::kMatrix) return matrix_kernel(call, p, tile);
    if (tile.family == ConvFamily::kSlices) return slices_kernel(call, p, tile);
    return {};  // a body, which its kernel family writes
}

}  // namespace

std::vector<ConvTile> conv_tiles(const KernelRuleContext& call) {
    return suits(call) ? conv_candidates(ConvProblem(call), call.caps) : std::vector<ConvTile>();
}

std::optional<CustomKernel> conv_kernel(const KernelRuleContext& call) {
    const std::vector<ConvTile> all = conv_tiles(call);
    if (all.empty()) return {};
    const ConvProblem p(call);
    std::vector<std::string> variants;
    for (const ConvTile& t : all) variants.push_back(to_string(t));
    const auto known = std::find(variants.begin(), variants.end(), call.variant);
    const auto index = known == variants.end() ? 0 : static_cast<size_t>(known - variants.begin());
    CustomKernel kernel = kernel_of(call, p, all[index]);
    kernel.variants = std::move(variants);
    kernel.flops =
        static_cast<uint64_t>(2 * p.pixels * p.out * (p.is_depthwise() ? p.taps() : p.depth()));
    return kernel;
}

}  // namespace hearth
