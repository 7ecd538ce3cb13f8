// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ops/conv_kernel.hpp"

#include "kernels/library.hpp"
#include "ops/windows.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace hearth {

namespace {

int64_t parts_of(int64_t count, int64_t part) {
    return (count + part - 1) / part;
}

/// A convolution of two spatial axes; one of one has a first extent of 1.
struct Problem {
    Window window;
    List size, count;
    int64_t channels, out, pixels;
    bool has_one_axis;

    explicit Problem(const KernelRuleCall& call)
        : window(call.attrs, spatial_extents(call.shape(1))),
          size(spatial_extents(call.shape(0))),
          count(call.attrs.integers("extents")),
          channels(call.shape(0)[1].count),
          out(call.shape(1)[0].count),
          pixels(call.shape(0)[0].at(static_cast<int64_t>(call.rows_capacity)) * count_of(count)),
          has_one_axis(window.rank() == 1) {
        if (!has_one_axis) return;
        for (List* list : {&window.kernel, &window.strides, &window.dilations, &size, &count})
            list->insert(list->begin(), 1);
        window.low.insert(window.low.begin(), 0);
    }

    int64_t taps() const { return count_of(window.kernel); }
    int64_t depth() const { return channels * taps(); }
    /// Elements of x that `places` neighbouring windows cover along an axis.
    int64_t patch_extent(size_t axis, int64_t places) const {
        return (places - 1) * window.strides[axis] +
               (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    }
    bool is_padded() const {
        for (size_t axis = 0; axis < 2; ++axis)
            if (window.starts_outside(axis) || window.low[axis] < 0 ||
                window.ends_outside(axis, count[axis], size[axis]))
                return true;
        return false;
    }
    /// The fewest channels whose weights for one output channel are whole vectors of four.
    int64_t channels_by_four() const { return 4 / std::gcd(taps(), int64_t{4}); }
    /// Channels that a thread of conv_tiled.comp takes at a time.
    int64_t chunk() const { return has_weights_by_four() ? channels_by_four() : 1; }
    /// The first layer of a network: there is nothing to cut into slices.
    bool is_shallow() const { return channels <= 4 && !has_weights_by_four(); }
    bool has_weights_by_four() const {
        constexpr int64_t kMostUnrolled = 64;
        return channels % channels_by_four() == 0 && channels_by_four() * taps() <= kMostUnrolled;
    }
};

bool suits(const KernelRuleCall& call) {
    constexpr int64_t kMostTaps = 64, kMostSides = 32;
    const Shape &x = call.shape(0), &w = call.shape(1);
    if (!is_floating(call.inputs[0].dtype) || call.attrs.integer("groups") != 1) return false;
    if (x.rank() > 4 || call.caps.subgroup_size <= 8) return false;  // vectors of a CPU
    const List kernel = spatial_extents(w);
    if (count_of(kernel) > kMostTaps || kernel[0] + kernel.back() > kMostSides) return false;
    const auto rows = static_cast<int64_t>(call.rows_capacity);
    return std::max(x.element_count(rows), call.outputs[0].shape.element_count(rows)) <= INT32_MAX;
}

struct Tile {
    int64_t lanes = 32, groups = 1, slices = 1, px = 4, oc = 8;
    bool shares_weights = false;
    int64_t repeat = 1;  ///< tiles of pixels that one workgroup takes in turn

    int64_t threads() const { return lanes * groups * slices; }
};

// From a sweep over layers of three networks and tiles on an H200 (docs/design/0007).
constexpr int64_t kBlock = 32;           // threads of a slice, where there are several
constexpr int64_t kEnoughGroups = 96;    // nearly one for each multiprocessor
constexpr int64_t kManyGroups = 2112;    // sixteen
constexpr int64_t kLeastDepth = 12;      // products of a slice for each result
constexpr int64_t kManyThreads = 90000;  // more slices than make so many wait for each other

/// Registers of a thread: as many sums as leave work for all multiprocessors.
void choose_sums(const Problem& p, Tile& t) {
    if (p.is_shallow()) {
        constexpr int64_t kWideWindow = 100;  // elements
        t.px = 2;
        t.oc = p.depth() > kWideWindow ? 16 : p.out > 4 ? 8 : 4;
        return;
    }
    constexpr std::pair<int64_t, int64_t> kSums[] = {{2, 16}, {4, 8}, {4, 4}, {2, 4}, {1, 4}};
    for (const auto& [px, oc] : kSums) {
        t.px = px;
        t.oc = oc;
        if (oc > 4 && 4 * p.out < 3 * oc) continue;  // mostly empty
        const int64_t groups = parts_of(p.pixels, px) * parts_of(p.out, oc) / kBlock;
        if (groups >= (oc == 16 ? kManyGroups : kEnoughGroups)) return;
    }
}

void choose_slices(const Problem& p, const DeviceCaps& caps, Tile& t) {
    const int64_t most_threads = std::min<int64_t>(512, caps.max_workgroup_invocations);
    const int64_t threads = parts_of(p.pixels, t.px) * parts_of(p.out, t.oc);
    const auto fits = [&](int64_t slices) {
        const int64_t of_group = std::max<int64_t>(256, kBlock * slices);
        return of_group <= most_threads && of_group * t.oc * 4 <= caps.shared_memory_bytes &&
               p.depth() / slices >= kLeastDepth && 2 * p.channels / slices >= p.chunk() &&
               !p.is_shallow();
    };
    while (threads * 2 * t.slices <= kManyThreads && fits(2 * t.slices)) t.slices *= 2;
}

void choose_block(const Problem& p, Tile& t) {
    const int64_t block = std::max<int64_t>(kBlock, 256 / t.slices);
    int64_t least = INT64_MAX;
    for (const int64_t lanes : {32, 16, 8}) {
        const int64_t padded = parts_of(p.pixels, lanes * t.px) * lanes * t.px;
        if (padded + padded / 16 >= least) continue;
        least = padded;
        t.lanes = lanes;
    }
    t.groups = block / t.lanes;
    while (t.groups > 1 && t.groups / 2 * t.oc >= p.out) t.groups /= 2;
    t.lanes = block / t.groups;
}

Tile choose_tile(const Problem& p, const DeviceCaps& caps) {
    Tile t;
    choose_sums(p, t);
    choose_slices(p, caps, t);
    choose_block(p, t);
    const int64_t staged = p.depth() * t.groups * t.oc * 4;
    t.shares_weights = t.slices == 1 && staged <= caps.shared_memory_bytes && staged <= 24576;
    const int64_t groups = parts_of(p.pixels, t.lanes * t.px) * parts_of(p.out, t.groups * t.oc);
    constexpr int64_t kMostRepeats = 8;
    if (t.shares_weights)
        t.repeat = std::clamp<int64_t>(groups / (kManyGroups / 2), 1, kMostRepeats);
    return t;
}

/// Text of macros.
class Defines {
  public:
    void text(const std::string& name, const std::string& value) {
        text_ += "#define " + name + " " + value + "\n";
    }
    void number(const std::string& name, int64_t value) {
        text(name, "(" + std::to_string(value) + ")");
    }
    void flag(const std::string& name, bool value) { text(name, value ? "1" : "0"); }
    const std::string& all() const { return text_; }

  private:
    std::string text_;
};

/// What every kernel has to know of the convolution.
Defines constants(const Problem& p) {
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
    d.text("STORE(n, o, y, x, v)",
           p.has_one_axis ? "out0_at(n, o, x, v)" : "out0_at(n, o, y, x, v)");
    return d;
}

KernelText tiled_kernel(const KernelRuleCall& call, const Problem& p) {
    const Tile t = choose_tile(p, call.caps);
    const bool by_four = !t.shares_weights && p.has_weights_by_four();
    const int64_t chunk = t.shares_weights ? 1 : p.chunk();
    Defines d = constants(p);
    d.number("LANES", t.lanes);
    d.number("GROUPS", t.groups);
    d.number("SLICES", t.slices);
    d.number("PX", t.px);
    d.number("OC", t.oc);
    const bool all_fit = t.threads() * t.oc * t.px * 4 <= call.caps.shared_memory_bytes;
    d.number("PX_EACH", all_fit ? t.px : 1);
    d.number("CHUNK", chunk);
    d.number("SLICE_CHANNELS", parts_of(parts_of(p.channels, t.slices), chunk) * chunk);
    d.text("IS_PADDED", p.is_padded() ? "true" : "false");
    d.flag("READS_ALWAYS", size_bytes(call.inputs[0].dtype) < sizeof(float));
    d.flag("WEIGHTS_SHARED", t.shares_weights);
    d.flag("WEIGHTS_BY_FOUR", by_four);
    const Dim images = call.shape(0)[0];
    KernelText kernel;
    kernel.name = "conv";
    kernel.glsl = "#extension GL_EXT_control_flow_attributes : require\n" + d.all() +
                  std::string(shader_text("conv/conv_tiled.comp"));
    kernel.local_size = {static_cast<uint32_t>(t.threads()), 1, 1};
    kernel.grid[0] = {Dim(images.count * count_of(p.count), images.per_row),
                      static_cast<uint32_t>(t.lanes * t.px * t.repeat)};
    kernel.grid[1] = {Dim(p.out), static_cast<uint32_t>(t.groups * t.oc)};
    return kernel;
}

/// Of conv_shallow.comp.
struct ShallowTile {
    int64_t lanes = 32, y = 0, groups = 1, px = 8, oc = 8;
    int64_t repeat = 1;  ///< tiles that one workgroup takes in turn

    int64_t threads() const { return lanes * groups * y / px; }
};

/// Nothing where there are too few tiles for a whole GPU, or x or the weights do not fit.
std::optional<ShallowTile> choose_shallow_tile(const Problem& p, const DeviceCaps& caps) {
    constexpr int64_t kThreads = 256, kMostTaps = 25, kMostLoads = 24, kMostRepeats = 4;
    constexpr int64_t kEnoughTiles = 4 * kEnoughGroups, kLeastWidth = 24;
    ShallowTile t;
    if (p.taps() > kMostTaps || p.count[1] < kLeastWidth) return {};
    // As many pixels as channels: weights are read from shared memory four at a time, which takes
    // it four times as long as one element of a column.
    if (p.out <= 4) t.oc = 4;
    while (t.groups < 8 && t.groups * t.oc < p.out) t.groups *= 2;
    t.y = kThreads / (t.lanes * t.groups) * t.px;
    const int64_t patch = p.channels * p.patch_extent(0, t.y) * p.patch_extent(1, t.lanes);
    const int64_t shared_bytes = 4 * (patch + p.depth() * t.groups * t.oc);
    const int64_t tiles = p.pixels / count_of(p.count) * parts_of(p.count[0], t.y) *
                          parts_of(p.count[1], t.lanes) * parts_of(p.out, t.groups * t.oc);
    if (shared_bytes > caps.shared_memory_bytes || patch > kMostLoads * kThreads ||
        tiles < kEnoughTiles)
        return {};
    t.repeat = std::clamp<int64_t>(tiles / (kManyGroups / 2), 1, kMostRepeats);
    return t;
}

std::optional<KernelText> shallow_kernel(const KernelRuleCall& call, const Problem& p) {
    const auto t = choose_shallow_tile(p, call.caps);
    if (!t) return {};
    Defines d = constants(p);
    d.number("LANES", t->lanes);
    d.number("TILE_Y", t->y);
    d.number("GROUPS", t->groups);
    d.number("PX", t->px);
    d.number("OC", t->oc);
    const Dim images = call.shape(0)[0];
    KernelText kernel;
    kernel.name = "conv_shallow";
    kernel.glsl = d.all() + std::string(shader_text("conv/conv_shallow.comp"));
    kernel.local_size = {static_cast<uint32_t>(t->threads()), 1, 1};
    const int64_t tiles = parts_of(p.count[0], t->y) * parts_of(p.count[1], t->lanes);
    kernel.grid[0] = {Dim(images.count * tiles, images.per_row), static_cast<uint32_t>(t->repeat)};
    kernel.grid[1] = {Dim(p.out), static_cast<uint32_t>(t->groups * t->oc)};
    return kernel;
}

/// Of conv_matrix.comp.
struct MatrixTile {
    int64_t x = 32, y = 0, out = 0, chunk = 16;
    int64_t subgroups = 8, matrices = 2;  ///< rows of pixels of each subgroup
    int64_t repeat = 1;                   ///< tiles that one workgroup takes in turn

    int64_t shared_bytes(const Problem& p, const MatrixShape& m) const {
        const int64_t patch = p.patch_extent(0, y) * p.patch_extent(1, x);
        const int64_t step = chunk / 8 + 1;
        return 16 * (step * (patch + p.taps() * out) + subgroups * m.m * m.n / 4);
    }
};

/// Nothing where the tile does not fit or there are too few for a whole GPU.
std::optional<MatrixTile> choose_matrix_tile(const Problem& p, const DeviceCaps& caps) {
    constexpr int64_t kMostOut = 32, kMostRepeats = 4;
    const MatrixShape& m = caps.matrix;
    MatrixTile t;
    if (m.k > 16 || 16 % m.k != 0 || m.n > 16 || 16 % m.n != 0 || kMostOut % m.m != 0) return {};
    const auto subgroups =
        std::min<int64_t>(8, caps.max_workgroup_invocations / caps.subgroup_size);
    t.subgroups = subgroups;
    t.x = p.count[1] >= 24 ? 32 : 16;
    t.out = std::min(kMostOut, parts_of(p.out, m.m) * m.m);
    t.y = t.subgroups * t.matrices * m.n / t.x;
    if (t.y == 0 || t.shared_bytes(p, m) > caps.shared_memory_bytes) return {};
    const int64_t tiles = p.pixels / count_of(p.count) * parts_of(p.count[0], t.y) *
                          parts_of(p.count[1], t.x) * parts_of(p.out, t.out);
    if (tiles < kEnoughGroups) return {};
    t.repeat = std::clamp<int64_t>(tiles / (kManyGroups / 2), 1, kMostRepeats);
    return t;
}

bool is_half_precision(const KernelRuleCall& call) {
    return call.caps.matrix_cores != MatrixCores::kNone && call.caps.fp16_storage &&
           call.inputs[0].dtype == DType::kF16 && call.inputs[1].dtype == DType::kF16;
}

std::optional<KernelText> matrix_kernel(const KernelRuleCall& call, const Problem& p) {
    if (!is_half_precision(call)) return {};
    const auto t = choose_matrix_tile(p, call.caps);
    if (!t) return {};
    Defines d = constants(p);
    d.number("TILE_Y", t->y);
    d.number("TILE_X", t->x);
    d.number("TILE_OUT", t->out);
    d.number("CHUNK", t->chunk);
    d.number("SUBGROUPS", t->subgroups);
    d.number("SUBGROUP", call.caps.subgroup_size);
    d.number("MATRICES", t->matrices);
    const Dim images = call.shape(0)[0];
    KernelText kernel;
    kernel.name = "conv_matrix";
    kernel.glsl = d.all() + std::string(shader_text("conv/conv_matrix.comp"));
    kernel.local_size = {static_cast<uint32_t>(t->subgroups * call.caps.subgroup_size), 1, 1};
    const int64_t tiles = parts_of(p.count[0], t->y) * parts_of(p.count[1], t->x);
    kernel.grid[0] = {Dim(images.count * tiles, images.per_row), static_cast<uint32_t>(t->repeat)};
    kernel.grid[1] = {Dim(p.out), static_cast<uint32_t>(t->out)};
    return kernel;
}

}  // namespace

std::optional<KernelText> conv_kernel(const KernelRuleCall& call) {
    if (!suits(call)) return {};
    const Problem p(call);
    std::optional<KernelText> kernel = matrix_kernel(call, p);
    if (!kernel) kernel = shallow_kernel(call, p);
    if (!kernel) kernel = tiled_kernel(call, p);
    kernel->flops = static_cast<uint64_t>(2 * p.pixels * p.out * p.depth());
    return kernel;
}

}  // namespace hearth
