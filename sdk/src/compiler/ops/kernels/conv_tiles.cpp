// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Enumerates the kernel variants of a convolution and picks the shipped one by device size.

#include "compiler/ops/kernels/conv_tiles.hpp"

#include "core/device_model.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace hearth {

namespace {

int64_t parts_of(int64_t count, int64_t part) {
    return (count + part - 1) / part;
}

// From a sweep over layers of three networks and tiles on an H200 (docs/design/0007).
constexpr int64_t kBlock = 32;       // threads of a slice, if there are several
constexpr int64_t kLeastDepth = 12;  // minimum products per slice and result

/// Thresholds at which work fills the device.
struct Enough {
    int64_t groups;       ///< nearly one per compute unit
    int64_t many_groups;  ///< sixteen per compute unit
    int64_t pixels;       ///< enough for large tiles
    int64_t threads;      ///< with more, additional slices only add waiting

    explicit Enough(const DeviceCaps& caps) : Enough(device_model(caps)) {}

  private:
    explicit Enough(const DeviceModel& device)
        : groups(device.in_proportion(96)),
          many_groups(device.in_proportion(2112)),
          pixels(device.in_proportion(100000)),
          threads(device.in_proportion(90000)) {}
};

}  // namespace

ConvProblem::ConvProblem(const KernelRuleContext& call)
    : window(call.attrs, spatial_extents(call.shape(1))),
      size(spatial_extents(call.shape(0))),
      count(call.attrs.integers("extents")),
      channels(call.shape(0)[1].count),
      out(call.shape(1)[0].count),
      images(call.shape(0)[0].resolve(static_cast<int64_t>(call.max_batch_size))),
      pixels(images * count_of(count)),
      has_one_axis(window.rank() == 1),
      is_half(call.inputs[0].dtype == DType::kF16 && call.inputs[1].dtype == DType::kF16),
      is_narrow(size_bytes(call.inputs[0].dtype) < sizeof(float)),
      can_dot_halves(is_half && call.caps.mixed_float_dot_product) {
    if (call.attrs.integer("groups") == channels && channels > 1) multiple = out / channels;
    if (!has_one_axis) return;
    for (List* list : {&window.kernel, &window.strides, &window.dilations, &size, &count})
        list->insert(list->begin(), 1);
    window.low.insert(window.low.begin(), 0);
}

int64_t ConvProblem::patch_extent(size_t axis, int64_t places) const {
    return (places - 1) * window.strides[axis] +
           (window.kernel[axis] - 1) * window.dilations[axis] + 1;
}

bool ConvProblem::is_padded() const {
    for (size_t axis = 0; axis < 2; ++axis)
        if (window.starts_outside(axis) || window.low[axis] < 0 ||
            window.ends_outside(axis, count[axis], size[axis]))
            return true;
    return false;
}

int64_t ConvProblem::channels_by(int64_t elements) const {
    return elements / std::gcd(taps(), elements);
}

bool ConvProblem::has_weights_by_four() const {
    constexpr int64_t kMostUnrolled = 64;
    return channels % channels_by(4) == 0 && channels_by(4) * taps() <= kMostUnrolled;
}

bool ConvProblem::has_weights_by_eight() const {
    constexpr int64_t kMostUnrolled = 72;  // as many products of pairs as of elements above
    return can_dot_halves && channels % channels_by(8) == 0 &&
           channels_by(8) * taps() <= kMostUnrolled;
}

namespace {

// --- gpu_conv_tiled.cpp ---

int64_t most_threads(const DeviceCaps& caps) {
    return std::min<int64_t>(512, max_workgroup_size(caps));
}

bool fits_slices(const ConvProblem& p, const DeviceCaps& caps, const ConvTile& t, int64_t slices) {
    const int64_t of_group = std::max<int64_t>(usual_workgroup_size(caps), kBlock * slices);
    return of_group <= most_threads(caps) &&
           of_group * t.oc * 4 <= caps.max_compute_shared_memory_size &&
           p.depth() / slices >= kLeastDepth && 2 * p.channels / slices >= p.chunk() &&
           !p.is_shallow();
}

// Estimates of the registers of an invocation, comparable with DeviceModel::registers.
constexpr int64_t kAddressRegisters = 30;
constexpr int64_t kAheadRegisters = 14;  // elements of x that compilers load ahead

int64_t tiled_registers(const ConvProblem& p, int64_t px, int64_t oc) {
    const int64_t weights = p.has_weights_by_four() || p.has_weights_by_eight() ? 4 * oc : 2 * oc;
    return oc * px + weights + 3 * px + kAddressRegisters + kAheadRegisters;
}

/// Chooses the accumulators per thread: the most that still occupy all compute units.
void choose_sums(const ConvProblem& p, const DeviceCaps& caps, ConvTile& t) {
    const int64_t most_registers = device_model(caps).registers;
    if (p.is_shallow()) {
        constexpr int64_t kWideWindow = 100;  // elements
        t.px = 2;
        t.oc = p.depth() > kWideWindow ? 16 : p.out > 4 ? 8 : 4;
        if (tiled_registers(p, t.px, t.oc) > most_registers) t.oc = 8;
        return;
    }
    const Enough enough(caps);
    constexpr std::pair<int64_t, int64_t> kSums[] = {{2, 16}, {4, 8}, {4, 4}, {2, 4}, {1, 4}};
    for (const auto& [px, oc] : kSums) {
        t.px = px;
        t.oc = oc;
        if (oc > 4 && 4 * p.out < 3 * oc) continue;  // mostly empty
        if (tiled_registers(p, px, oc) > most_registers) continue;
        const int64_t groups = parts_of(p.pixels, px) * parts_of(p.out, oc) / kBlock;
        if (groups >= (oc == 16 ? enough.many_groups : enough.groups)) return;
    }
}

void choose_slices(const ConvProblem& p, const DeviceCaps& caps, ConvTile& t) {
    const int64_t threads = parts_of(p.pixels, t.px) * parts_of(p.out, t.oc);
    const Enough enough(caps);
    while (threads * 2 * t.slices <= enough.threads && fits_slices(p, caps, t, 2 * t.slices))
        t.slices *= 2;
}

/// Chooses the threads and what they share, for given accumulators and slices.
void choose_block(const ConvProblem& p, const DeviceCaps& caps, ConvTile& t) {
    const int64_t block = std::max<int64_t>(kBlock, usual_workgroup_size(caps) / t.slices);
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
    const int64_t staged = p.depth() * t.groups * t.oc * 4;
    t.shares_weights = t.slices == 1 && !p.has_weights_by_eight() &&
                       staged <= caps.max_compute_shared_memory_size && staged <= 24576 &&
                       staged <= device_model(caps).shared_budget(t.threads());
    const int64_t groups = parts_of(p.pixels, t.lanes * t.px) * parts_of(p.out, t.groups * t.oc);
    constexpr int64_t kMostRepeats = 8;
    if (t.shares_weights)
        t.repeat = std::clamp<int64_t>(groups / (Enough(caps).many_groups / 2), 1, kMostRepeats);
}

ConvTile shipped_tiled(const ConvProblem& p, const DeviceCaps& caps) {
    ConvTile t;
    choose_sums(p, caps, t);
    choose_slices(p, caps, t);
    choose_block(p, caps, t);
    return t;
}

void add_tiled(const ConvProblem& p, const DeviceCaps& caps, std::vector<ConvTile>& all) {
    all.push_back(shipped_tiled(p, caps));
    constexpr std::pair<int64_t, int64_t> kSums[] = {{2, 16}, {4, 8}, {2, 8},
                                                     {4, 4},  {2, 4}, {1, 4}};
    for (const auto& [px, oc] : kSums) {
        if (oc > 4 && 4 * p.out < 3 * oc) continue;
        for (const int64_t slices : {1, 2, 4, 8, 16}) {
            ConvTile t{.slices = slices, .px = px, .oc = oc};
            const int64_t threads = parts_of(p.pixels, px) * parts_of(p.out, oc);
            if (slices > 1 &&
                (threads > 2 * Enough(caps).threads || !fits_slices(p, caps, t, slices)))
                continue;
            choose_block(p, caps, t);
            all.push_back(t);
        }
    }
}

// --- gpu_conv_strips.cpp ---

int64_t strips_tiles(const ConvProblem& p, const ConvTile& t) {
    return p.images * parts_of(p.count[0], t.strips * t.px) * parts_of(p.count[1], t.lanes * 4);
}

/// True if x and the weights fit, and there are enough tiles for the whole device.
bool suits_strips(const ConvProblem& p, const DeviceCaps& caps, const ConvTile& t) {
    constexpr int64_t kMostTaps = 25, kMostLoads = 32, kMostOfChannel = 64, kMostHeld = 120;
    const int64_t outs = t.groups * t.turns * t.oc;
    const int64_t of_channel = p.patch_extent(0, t.px) * p.patch_extent(1, 4);
    const int64_t patch = p.channels * p.patch_extent(0, t.strips * t.px) *
                          (parts_of(p.patch_extent(1, t.lanes * 4), 4) + 1) * 4;
    const int64_t shared = 4 * ((t.holds_x ? 0 : patch) + p.depth() * outs);
    const int64_t registers =
        t.px * 4 * t.oc + t.oc + kAddressRegisters +
        (t.holds_x ? p.channels * of_channel : p.patch_extent(1, 4) + parts_of(patch, t.threads()));
    if (registers > device_model(caps).registers) return false;
    if (p.taps() > kMostTaps || t.threads() > most_threads(caps) ||
        shared > std::min<int64_t>(caps.max_compute_shared_memory_size, 49152) ||
        strips_tiles(p, t) * parts_of(p.out, outs) < 4 * Enough(caps).groups ||
        (t.turns > 1 && outs >= 2 * p.out))
        return false;
    return t.holds_x ? p.channels * of_channel <= kMostHeld
                     : of_channel <= kMostOfChannel && patch <= kMostLoads * t.threads();
}

void add_strips(const ConvProblem& p, const DeviceCaps& caps, std::vector<ConvTile>& all) {
    constexpr int64_t kMostRepeats = 4, kMostOuts = 64;
    // x held in registers, strips, groups, rows, channels: the fastest first, on an H200.
    constexpr int64_t kTiles[][5] = {{1, 16, 1, 2, 4}, {1, 16, 1, 2, 8}, {1, 8, 2, 2, 4},
                                     {1, 16, 1, 4, 2}, {1, 8, 2, 4, 2},  {1, 8, 2, 4, 4},
                                     {0, 8, 2, 4, 4},  {0, 8, 2, 2, 8},  {0, 4, 2, 2, 8},
                                     {0, 4, 2, 2, 4},  {0, 8, 1, 4, 4}};
    for (const auto& k : kTiles) {
        ConvTile t{.family = ConvFamily::kStrips, .lanes = 8, .strips = k[1], .groups = k[2]};
        t.px = k[3];
        t.oc = k[4];
        t.holds_x = k[0] == 1;
        t.turns = parts_of(std::min(p.out, kMostOuts), t.groups * t.oc);
        if (!suits_strips(p, caps, t)) continue;
        t.repeat = std::clamp<int64_t>(strips_tiles(p, t) / (Enough(caps).many_groups / 2), 1,
                                       kMostRepeats);
        all.push_back(t);
    }
}

// --- gpu_conv_matrix.cpp ---

bool has_matrices(const ConvProblem& p, const DeviceCaps& caps) {
    return p.is_half && caps.cooperative_matrix != CooperativeMatrixExt::kNone &&
           caps.storage_buffer_16bit_access;
}

int64_t matrix_shared_bytes(const ConvProblem& p, const MatrixShape& m, const ConvTile& t) {
    const int64_t patch =
        p.patch_extent(0, t.strips * t.px) * p.patch_extent(1, t.lanes * int64_t{m.n});
    constexpr int64_t kStep = kConvMatrixChunk / 8 + 1;
    return 16 *
           (kStep * (patch + p.taps() * t.oc) + t.strips * t.lanes * t.px * m.m * (m.n / 8 + 1));
}

/// Registers of an invocation that loads so many pieces of x ahead.
int64_t matrix_registers(const ConvProblem& p, const DeviceCaps& caps, const ConvTile& t,
                         int64_t pieces) {
    const int64_t lanes = caps.subgroup_size;
    const MatrixShape& m = caps.cooperative_matrix_shape;
    const int64_t sums = t.oc * m.n * t.px / lanes, pixels = int64_t{m.k} * m.n / 2 / lanes;
    const int64_t weights = t.oc * m.k * p.window.kernel[0] / 2 / lanes;
    return sums + weights + pixels + 8 * pieces + kAddressRegisters;
}

/// Adds the tiles that fit, if there are enough of them for the whole device.
void add_matrix(const ConvProblem& p, const DeviceCaps& caps, std::vector<ConvTile>& all) {
    constexpr int64_t kMostOut = 32, kMostRepeats = 8, kMostSums = 8;
    const int64_t most_loads = is_software(caps) ? 32 : 6;  // 16-byte loads per thread
    // Subgroups across and down, and matrices of each; the fastest first, on an H200.
    constexpr int64_t kTiles[][3] = {{2, 2, 4}, {2, 4, 2}, {4, 2, 2}, {2, 1, 8},
                                     {4, 1, 4}, {2, 2, 2}, {1, 4, 2}, {1, 2, 2}};
    const MatrixShape& m = caps.cooperative_matrix_shape;
    if (!has_matrices(p, caps)) return;
    if (m.k > 16 || 16 % m.k != 0 || m.n > 16 || 16 % m.n != 0 || kMostOut % m.m != 0 ||
        m.n % 8 != 0)
        return;
    for (const auto& k : std::span(kTiles).subspan(is_software(caps) ? std::size(kTiles) - 1 : 0)) {
        ConvTile t{.family = ConvFamily::kMatrix, .lanes = k[0], .strips = k[1], .px = k[2]};
        t.oc = std::min(kMostOut, parts_of(p.out, m.m) * m.m);
        const int64_t threads = t.lanes * t.strips * caps.subgroup_size;
        const int64_t rows = t.strips * t.px, columns = t.lanes * m.n;
        const int64_t tiles = p.images * parts_of(p.count[0], rows) *
                              parts_of(p.count[1], columns) * parts_of(p.out, t.oc);
        const int64_t pieces = p.patch_extent(0, rows) * (p.patch_extent(1, columns) / 8 + 2) * 8;
        if (threads > most_threads(caps) || t.oc / m.m * t.px > kMostSums ||
            matrix_shared_bytes(p, m, t) >
                std::min<int64_t>(caps.max_compute_shared_memory_size, 49152) ||
            pieces > most_loads * threads * (p.size[1] % 8 == 0 ? 1 : 4) ||
            tiles < Enough(caps).groups ||
            matrix_registers(p, caps, t, parts_of(pieces, threads)) >
                device_model(caps).fragment_registers)
            continue;
        t.repeat = std::clamp<int64_t>(tiles / (Enough(caps).many_groups / 4), 1, kMostRepeats);
        all.push_back(t);
    }
}

// --- gpu_conv_slices.cpp ---

/// Depth per chunk: whole channels (or the full depth) and whole matrices; 0 if too much for the
/// registers.
int64_t slices_chunk(const ConvProblem& p) {
    constexpr int64_t kMost = 160, kGood = 48;
    const int64_t least = std::lcm(int64_t{16}, p.taps());
    const int64_t all = parts_of(p.depth(), 16) * 16;
    if (least >= all) return all <= kMost ? all : 0;
    if (least > kMost) return 0;
    for (int64_t chunk = 3 * least; chunk > least; chunk -= least)
        if (chunk <= kGood && parts_of(p.depth(), least) * least % chunk == 0) return chunk;
    return least;
}

/// Registers of an invocation if its loads cover so much of the depth.
int64_t slices_registers(const DeviceCaps& caps, const ConvTile& t, int64_t held) {
    const int64_t lanes = caps.subgroup_size;
    const MatrixShape& m = caps.cooperative_matrix_shape;
    const int64_t pixels = t.lanes / lanes, weights = 4 * parts_of(t.oc * held / 8, lanes);
    const int64_t fragments = (t.oc + int64_t{m.n}) * m.k / 2 / lanes;
    return t.oc * t.lanes / lanes + pixels * (held / 2 + 2) + weights + fragments +
           kAddressRegisters;
}

/// Adds every tile with this number of slices and channels that fits; the least memory last.
void add_slices_of(const ConvProblem& p, const DeviceCaps& caps, ConvTile t,
                   std::vector<ConvTile>& all) {
    const int64_t shared = std::min<int64_t>(caps.max_compute_shared_memory_size, 49152);
    const int64_t most_registers = device_model(caps).fragment_registers;
    if (t.slices * caps.subgroup_size > most_threads(caps) ||
        (t.slices > 1 && t.slices * t.chunk > p.depth()) || (t.oc > 16 && p.out <= 16))
        return;
    for (t.stage = t.chunk; t.stage >= 16; t.stage -= 16) {
        const int64_t staged = (t.lanes + t.oc) * (t.stage / 8 + 1) * 16;
        t.loads_by_stage = slices_registers(caps, t, t.chunk) > most_registers;
        if (t.chunk % t.stage == 0 && t.slices * std::max(staged, t.oc * t.lanes * 4) <= shared &&
            slices_registers(caps, t, t.loads_by_stage ? t.stage : t.chunk) <= most_registers)
            all.push_back(t);
    }
}

void add_slices(const ConvProblem& p, const DeviceCaps& caps, std::vector<ConvTile>& all) {
    const DeviceModel device = device_model(caps);
    const int64_t many_subgroups = device.in_proportion(1600);  // twelve per compute unit
    const int64_t groups_at_once = device.in_proportion(264);   // limited by the registers of long
                                                                // chunks
    constexpr int64_t kGoodStage = 48, kGoodSlices = 10;
    const MatrixShape& m = caps.cooperative_matrix_shape;
    const int64_t chunk = slices_chunk(p);
    if (!has_matrices(p, caps) || chunk == 0 || p.depth() < 16) return;
    if (16 % m.m != 0 || 16 % m.n != 0 || 16 % m.k != 0) return;
    ConvTile t{.family = ConvFamily::kSlices, .chunk = chunk};
    // A CPU's driver compiles slowly if the loop is unrolled for many lanes.
    t.lanes = is_software(caps) ? 16 : std::max<int64_t>(32, caps.subgroup_size);
    std::vector<ConvTile> found;
    constexpr int64_t kMostSlices = 16;
    const int64_t chunks = parts_of(p.depth(), chunk);
    for (t.oc = 16; t.oc <= 32; t.oc *= 2)
        for (t.slices = kMostSlices; t.slices >= 1; --t.slices)
            if (chunks % t.slices == 0) add_slices_of(p, caps, t, found);
    const int64_t groups = parts_of(p.pixels, t.lanes) * parts_of(p.out, 16);
    const auto shipped = std::find_if(found.begin(), found.end(), [&](const ConvTile& f) {
        return (f.slices == 1 || (f.slices <= kGoodSlices && groups * f.slices < many_subgroups)) &&
               f.stage <= (groups > groups_at_once && chunk > kGoodStage ? 16 : kGoodStage);
    });
    if (shipped == found.end()) return;
    std::rotate(found.begin(), shipped, shipped + 1);
    all.insert(all.end(), found.begin(), found.end());
}

// --- gpu_conv_depthwise.cpp ---

void add_depthwise(const ConvProblem& p, const DeviceCaps& caps, std::vector<ConvTile>& all) {
    // Rows and pixels per thread: the most that still occupy the whole device first.
    constexpr std::pair<int64_t, int64_t> kSums[] = {{2, 4}, {1, 4}, {1, 2},
                                                     {2, 2}, {1, 1}, {4, 4}};
    constexpr int64_t kMostHeld = 100;  // elements of x
    const auto threads = [&](const ConvTile& t) {
        return p.images * p.out * parts_of(p.count[0], t.strips) * parts_of(p.count[1], t.px);
    };
    for (const auto& [rows, px] : kSums) {
        const ConvTile t{.family = ConvFamily::kDepthwise, .lanes = 128, .strips = rows, .px = px};
        if (rows * px > 1 && p.patch_extent(0, rows) * p.patch_extent(1, px) > kMostHeld) continue;
        all.push_back(t);
    }
    const auto shipped = std::find_if(all.begin(), all.end(), [&](const ConvTile& t) {
        return threads(t) >= Enough(caps).threads / 2 || t.strips * t.px == 1;
    });
    std::rotate(all.begin(), shipped, shipped + 1);
}

std::string_view name_of(ConvFamily family) {
    constexpr std::string_view kNames[] = {"tiled", "strips", "matrix", "slices", "depthwise"};
    return kNames[static_cast<size_t>(family)];
}

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

}  // namespace

std::string to_string(const ConvTile& t) {
    std::string text(name_of(t.family));
    const std::pair<const char*, int64_t> fields[] = {
        {" lanes ", t.lanes},          {", strips ", t.strips}, {", groups ", t.groups},
        {", slices ", t.slices},       {", px ", t.px},         {", oc ", t.oc},
        {", turns ", t.turns},         {", chunk ", t.chunk},   {", stage ", t.stage},
        {", held ", t.holds_x ? 1 : 0}};
    for (const auto& [name, value] : fields) text += name + std::to_string(value);
    return text;
}

std::vector<ConvTile> conv_candidates(const ConvProblem& p, const DeviceCaps& caps) {
    std::vector<ConvTile> all;
    if (p.is_depthwise()) {
        if (!is_software(caps)) add_depthwise(p, caps, all);
        return all;
    }
    const Enough enough(caps);
    if (p.pixels >= enough.pixels) add_matrix(p, caps, all);
    if (p.pixels < 10 * enough.pixels) add_slices(p, caps, all);
    if (p.pixels < enough.pixels) add_matrix(p, caps, all);
    if (is_software(caps)) return all;
    add_strips(p, caps, all);
    add_tiled(p, caps, all);
    // Different choices may give the same tile.
    std::vector<ConvTile> unique;
    for (const ConvTile& t : all)
        if (std::ranges::none_of(unique,
                                 [&](const ConvTile& u) { return to_string(u) == to_string(t); }))
            unique.push_back(t);
    return unique;
}

std::vector<ConvTile> conv_tiles(const KernelRuleContext& call) {
    if (device_model(call.caps).keeps_bodies || !suits(call)) return {};
    return conv_candidates(ConvProblem(call), call.caps);
}

}  // namespace hearth
