// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/conv/gpu_conv_kernel.hpp"

#include "compiler/codegen/shared/extents.hpp"

#include <utility>
#include <vector>

namespace hearth {

namespace {

int64_t parts_of(int64_t count, int64_t part) {
    return (count + part - 1) / part;
}

}  // namespace

Expr GpuConvKernel::is_within(Expr i, int64_t count) const {
    return body_->as(ScalarType::kU32, i) <
           body_->constant(static_cast<double>(count), ScalarType::kU32);
}

Expr GpuConvKernel::images() {
    return count_of(shape(kX)[0], *body_);
}

Expr GpuConvKernel::load(size_t input, Expr i) {
    return w_.emit(expressions_.read(node_.inputs[input], {bound(i), {}}));
}

Expr GpuConvKernel::load_four(size_t input, Expr i) {
    return access_.load_four(w_, node_.inputs[input], bound(i));
}

Expr GpuConvKernel::load_eight(size_t input, Expr i) {
    const ValueId value = node_.inputs[input];
    const Scalar first = bound(i);
    const ScalarNode load = expressions_.read(value, {first, {}}).node();
    const bool is_load = load.op == ScalarOp::kLoad && load.a == first.id;
    const Dim count = graph_.values[is_load ? load.bits : value].shape.element_count();
    const bool is_half = is_load && device_dtype(graph_.values[load.bits].dtype,
                                                 options_.caps.narrow_storage()) == DType::kF16;
    if (is_half && !count.is_batch && count.count % 8 == 0)
        return body_->load_chunk(Chunk::kHalves, operand_(static_cast<ValueId>(load.bits)), i);
    const Expr low = w_.let("low", access_.load_four(w_, value, first));
    const Expr high = w_.let("high", access_.load_four(w_, value, bound(i + 4)));
    return body_->join(Chunk::kHalves, low, high);
}

/// Of narrow elements others are read and not used: skipping them is faster, but not where a conversion follows the load,
/// which then is waited for before the next one.
Expr GpuConvKernel::load_x(Expr i, Expr condition) {
    if (p_.is_narrow) {
        const Expr x = load(kX, w_.let("place", select(condition, i, index(0))));
        return w_.let("x", select(condition, x, number(0)));
    }
    // Ahead of the branch: what neighbouring elements' places have in common is computed once.
    const Expr place = w_.let("place", i);
    const Expr x = w_.declare("x", ScalarType::kF32, number(0));
    w_.if_(condition);
    w_.assign(x, load(kX, place));
    w_.end();
    return x;
}

Coords<Scalar> GpuConvKernel::result_at(Scalar image, Expr out, Scalar y, Scalar x) {
    Coords<Scalar> at;
    at.axis.push_back(image);
    at.axis.push_back(bound(out));
    if (!p_.has_one_axis) at.axis.push_back(y);
    at.axis.push_back(x);
    return at;
}

void GpuConvKernel::store(Scalar image, Expr out, Scalar y, Scalar x, Expr value) {
    const ValueId result = node_.outputs[0];
    access_.store(w_, node_, result,
                  access_.store_place(node_, result, result_at(image, out, y, x), 0), value);
}

void GpuConvKernel::store_vector(Scalar image, Expr out, Scalar y, Scalar x,
                                 std::span<const Expr> elements) {
    access_.store_vector(w_, node_, node_.outputs[0], result_at(image, out, y, x), elements);
}

Expr GpuConvKernel::shared_words(const char* name, int64_t length) {
    return body_->global(name, LocalKind::kShared, ScalarType::kU32, static_cast<uint32_t>(length),
                         Chunk::kFour);
}

Expr GpuConvKernel::array(const char* name, int64_t length) {
    return w_.declare_array(name, ScalarType::kF32, static_cast<uint32_t>(length));
}

// ------------------------------------------------------------------------ tiles

GpuConvKernel::Tiles GpuConvKernel::open_tiles(int64_t of_image, int64_t tile, int64_t tile_out) {
    const Dim in_images = shape(kX)[0];
    const Dim all{in_images.count * of_image, in_images.is_batch};
    const int64_t out_tiles = parts_of(p_.out, tile_out), each = tile * t_.repeat;
    tile_ = tile;
    Tiles tiles;
    tiles.count = w_.let("count", hearth::count_of(all, *body_));
    groups_ = all.is_batch ? w_.let("groups", (tiles.count + (each - 1)) / each)
                           : index(parts_of(all.count, each));
    // Not fewer than the groups, rounded up, of any number of rows.
    const auto outs = static_cast<uint64_t>(out_tiles), part = static_cast<uint64_t>(each);
    if (all.is_batch)
        grid_ = {{outs * (part - 1), outs * static_cast<uint64_t>(all.count)},
                 static_cast<uint32_t>(each)};
    else
        grid_ = {{outs * static_cast<uint64_t>(parts_of(all.count, each)), 0}, 1};
    const uint64_t workgroups = grid_.work.at(options_.rows_capacity) / grid_.tile + 1;
    const uint64_t most = options_.caps.max_compute_work_group_count_x;
    items_each_ = workgroups / most + 1;
    grid_.tile *= static_cast<uint32_t>(items_each_);
    const auto exists = [&](Expr item) { return item < groups_ * out_tiles; };
    Expr item = body_->workgroup();
    // A loop of one turn costs 4 to 14 % on an H200.
    if (items_each_ == 1)
        w_.if_(exists(item));
    else
        item = w_.for_("item", item, exists, body_->workgroups());
    tiles.first_out = out_tiles == 1 ? index(0) : w_.let("first_out", item / groups_ * tile_out);
    across_ = out_tiles == 1 ? item : w_.let("across", item % groups_);
    return tiles;
}

void GpuConvKernel::open_tile(Tiles& tiles) {
    tiles.first = w_.for_(
        "first", across_ * tile_, [&](Expr at) { return at < tiles.count; }, groups_ * tile_);
}

void GpuConvKernel::close_tiles() {
    w_.end();
    if (items_each_ > 1 && body_requirements(*body_).shared_bytes > 0) w_.barrier();
    w_.end();
}

// ------------------------------------------------------------------------ windows

GpuConvKernel::Windows GpuConvKernel::declare_windows(int64_t count) {
    const auto length = static_cast<uint32_t>(count);
    return {w_.declare_array("from", ScalarType::kI32, length),
            w_.declare_array("bits", ScalarType::kI32, length)};
}

void GpuConvKernel::set_window(const Windows& windows, Expr i, Expr pixel) {
    const Expr n = w_.let("n", pixel / places()), place = w_.let("place", pixel % places());
    const Expr y = w_.let("y", place / p_.count[1] * stride(kAlongY) - low(kAlongY));
    const Expr x = w_.let("x", place % p_.count[1] * stride(kAlongX) - low(kAlongX));
    const Expr from = n * (p_.channels * plane()) + y * p_.size[1] + x;
    w_.assign(body_->element(windows.from, i), from);
    if (!p_.is_padded()) return;
    const Expr bits = w_.declare("inside", ScalarType::kI32, index(0));
    for (size_t axis = 0; axis < 2; ++axis) {
        const Expr k = w_.unrolled_for_("k", taps(axis));
        const Expr at = (axis == kAlongY ? y : x) + k * dilation(axis);
        const Expr bit = body_->operation(ScalarOp::kShiftLeft, index(1),
                                          axis == kAlongY ? k : k + taps(kAlongY));
        w_.if_(is_within(at, p_.size[axis]));
        w_.assign(bits, body_->operation(ScalarOp::kBitOr, bits, bit));
        w_.end();
        w_.end();
    }
    w_.assign(body_->element(windows.bits, i), bits);
}

Expr GpuConvKernel::is_tap_inside(Expr bits, Expr ky, Expr kx) const {
    if (!p_.is_padded()) return body_->constant(1, ScalarType::kBool);
    const auto bit = [&](Expr at) { return body_->operation(ScalarOp::kShiftLeft, index(1), at); };
    const Expr needed = body_->operation(ScalarOp::kBitOr, bit(ky), bit(kx + taps(kAlongY)));
    return body_->operation(ScalarOp::kBitAnd, bits, needed) == needed;
}

Expr GpuConvKernel::place_of_tap(Expr from, Expr c, Expr ky, Expr kx) const {
    return from + c * plane() + ky * (dilation(kAlongY) * p_.size[1]) + kx * dilation(kAlongX);
}

GpuConvKernel::Pixel GpuConvKernel::pixel_at(Expr number) {
    const Expr n = w_.let("n", number / places()), place = w_.let("place", number % places());
    return {number, bound(n), bound(w_.let("y", place / p_.count[1])),
            bound(w_.let("x", place % p_.count[1]))};
}

void GpuConvKernel::store_pixel(const Pixel& pixel, Expr out, Expr count, Expr value) {
    w_.if_(logical_and(pixel.number < count, out < p_.out));
    store(pixel.image, out, pixel.y, pixel.x, value);
    w_.end();
}

// ------------------------------------------------------------------------ the whole

KernelDraft GpuConvKernel::finish(const char* name, int64_t threads) {
    KernelDraft kernel = OperatorKernel::finish(name, threads);
    kernel.grid[0] = grid_;
    kernel.flops = static_cast<uint64_t>(2 * p_.pixels * p_.out *
                                         (p_.is_depthwise() ? p_.taps() : p_.depth()));
    return kernel;
}

}  // namespace hearth
