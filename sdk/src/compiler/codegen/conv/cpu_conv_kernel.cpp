// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolutions for CPUs, as bodies: implicit GEMM whose right operand, the windows, is never stored.
//
// A workgroup, which is one invocation, computes a strip of windows for a block of output channels. It copies what the
// strip covers of the input into an array that fits a cache, with zeros around it and one phase of the stride after
// another (compiler/ops/kernels/cpu_conv_strips.hpp).  There, a tap of neighbouring windows is contiguous, at a distance from
// the window that is the same for all windows: so the sums of a register tile, some output channels times some vectors
// of windows, take unaligned loads of the array, and the windows of a strip are one row, of which some columns between
// two rows of the image are computed for nothing.
//
// Where all input channels of a strip do not fit the array, sums wait in memory between blocks of channels.  Weights that
// are no f32 in memory are computed once for each tile of a strip.
//
// The order of additions is that of input channels and taps, whatever the strip and the tile.

#include "compiler/codegen/conv/conv_kernels.hpp"
#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/group_access.hpp"
#include "compiler/codegen/shared/known_ranges.hpp"
#include "compiler/codegen/shared/operator_kernel.hpp"
#include "compiler/ops/kernels/cpu_conv_strips.hpp"
#include "compiler/ops/shared/windows.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <array>

namespace hearth {

namespace {

class ConvKernel : OperatorKernel {
  public:
    ConvKernel(const KernelTask& task, const ConvStrip& strip)
        : OperatorKernel(task),
          conv_(graph_, node_),
          strip_(strip),
          has_blocks_(strip.channels < conv_.in_each),
          are_weights_plain_(has_plain_weights()) {}

    KernelDraft run() {
        place_workgroup();
        declare_arrays();
        if (has_blocks_) {
            fill(sums_, strip_.outputs * strip_.sums_length());
            first_channel_ = w_.for_(
                "first_channel", index(0), [&](Expr at) { return at < conv_.in_each; },
                index(strip_.channels));
            channel_count_ = w_.let("channel_count", lesser(index(strip_.channels),
                                                            index(conv_.in_each) - first_channel_));
        }
        copy_covered();
        for_each_tile([&] {
            multiply_tile();
            if (!has_blocks_) store_tile();
        });
        if (has_blocks_) {
            w_.end();
            for_each_tile([&] { store_tile(); });
        }
        return finished();
    }

  private:
    static int64_t parts(int64_t count, int64_t each) { return (count + each - 1) / each; }

    KernelDraft finished() {
        KernelDraft kernel = finish("conv", 1, element_);
        const Dim images = shape(0)[0];
        kernel.grid[0] = {work_of(Dim(images.count * jobs_, images.is_batch)), 1};
        const Shape& y = graph_.values[node_.outputs[0]].shape;
        kernel.flops = static_cast<uint64_t>(
            2 * conv_.inner() * y.element_count(static_cast<int64_t>(options_.rows_capacity)));
        return kernel;
    }

    std::string fresh(const char* name) { return name + std::to_string(names_++); }

    /// The strip and the output channels of the workgroup: strips along x first, then y and z, blocks of output
    /// channels, groups and images.
    void place_workgroup() {
        Expr rest = w_.let("job", body_->workgroup());
        const auto next = [&](const char* name, int64_t count) {
            jobs_ *= count;
            if (count == 1) return index(0);
            const Expr at = w_.let(name, rest % count);
            rest = w_.let(fresh("rest"), rest / count);
            return at;
        };
        const Expr x = next("strip_x", parts(conv_.count[2], strip_.columns));
        const Expr y = next("strip_y", parts(conv_.count[1], strip_.rows));
        z_ = bound("to_z", next("plane", conv_.count[0]));
        const Expr block = next("out_block", parts(conv_.out_each, strip_.outputs));
        const Expr group = next("channel_group", conv_.groups);
        image_ = bound("image", rest);
        first_column_ = w_.let("first_column", x * strip_.columns);
        column_count_ = w_.let(
            "column_count", lesser(index(strip_.columns), index(conv_.count[2]) - first_column_));
        first_row_ = w_.let("first_row", y * strip_.rows);
        row_count_ =
            w_.let("row_count", lesser(index(strip_.rows), index(conv_.count[1]) - first_row_));
        first_in_ = w_.let("first_in", group * conv_.in_each);
        group_out_ = w_.let("group_out", group * conv_.out_each);
        first_out_ = w_.let("first_out", block * strip_.outputs);
        out_count_ =
            w_.let("out_count", lesser(index(strip_.outputs), index(conv_.out_each) - first_out_));
        first_channel_ = index(0);
        channel_count_ = index(conv_.in_each);
    }

    void declare_arrays() {
        const int64_t length = strip_.array_length(conv_);
        covered_ = declare_floats("covered", length);
        sums_ = declare_floats("sums", strip_.sums_rows(conv_) * strip_.sums_length());
        if (!are_weights_plain_)
            weights_ = declare_floats("weights",
                                      int64_t{strip_.tile.rows} * strip_.channels * conv_.taps());
        const int64_t copied = strip_.channels * strip_.channel_length(conv_);
        if (length > copied) fill(covered_, length, copied);
    }
    Expr declare_floats(const char* name, int64_t length) {
        return w_.declare_array(name, ScalarType::kF32, static_cast<uint32_t>(length));
    }

    void fill(Expr array, int64_t end, int64_t first = 0) { fill(array, index(first), index(end)); }
    void fill(Expr array, Expr first, Expr end, Expr base = {}) {
        const Expr i = w_.for_(fresh("i"), first, [&](Expr at) { return at < end; });
        w_.assign(body_->element(array, base ? base + i : i), body_->constant(0, ScalarType::kF32));
        w_.end();
    }

    // ------------------------------------------------------------------ the input

    /// A loop over `count` things, if they are several.  Returns the counter; end_loop() closes it.
    Expr loop(const char* name, int64_t count) {
        if (count == 1) return index(0);
        return w_.for_(fresh(name), index(0), [&](Expr at) { return at < count; });
    }
    void end_loop(int64_t count) {
        if (count > 1) w_.end();
    }

    /// The position in the input along an axis of position `at` in phase `phase`, for windows from `first` on.
    Expr from_of(size_t axis, Expr first, Expr at, Expr phase) {
        return (first + at) * conv_.stride[axis] + phase - conv_.low[axis];
    }

    void copy_covered() {
        for (const IndexRange segment : channel_segments()) copy_channels(segment);
    }

    /// Ranges of input channels, within each of which the input is one tensor of a concatenation.
    std::vector<IndexRange> channel_segments() {
        const IndexRange all = indices_of(conv_.in_each);
        if (conv_.groups > 1) return {all};
        const Scalar channel = arena_.symbol(ScalarType::kI32);
        KnownRanges known(arena_);
        known.set(channel, all);
        const Scalar other = arena_.symbol(ScalarType::kI32);
        return split(all, known.thresholds(input(channel, other, other, other), channel));
    }

    Scalar input(Scalar channel, Scalar z, Scalar y, Scalar x) {
        return expressions_.read(node_.inputs[0], place(shape(0).rank(), image_, channel, z, y, x));
    }

    /// A place in a tensor of as many spatial axes as the convolution has.
    static ScalarPlace place(int rank, Scalar first, Scalar channel, Scalar z, Scalar y, Scalar x) {
        Coords<Scalar> at;
        at.axis.push_back(first);
        at.axis.push_back(channel);
        if (rank == 5) at.axis.push_back(z);
        if (rank >= 4) at.axis.push_back(y);
        at.axis.push_back(x);
        return {{}, at};
    }

    void copy_channels(IndexRange segment) {
        Expr first = index(0), end = channel_count_;
        if (segment.first > 0) first = larger(index(segment.first) - first_channel_, first);
        if (segment.last + 1 < conv_.in_each)
            end = lesser(index(segment.last + 1) - first_channel_, end);
        const Expr c = w_.for_(fresh("c"), first, [&](Expr at) { return at < end; });
        const Scalar channel = bound(fresh("channel"), first_in_ + first_channel_ + c);
        const Expr kz = loop("kz", conv_.kernel[0]);
        const Scalar z =
            bound(fresh("from_z"), from_of(0, expr_z(), index(0), kz * conv_.dilation[0]));
        const Expr py = loop("py", conv_.phases(1)), px = loop("px", conv_.phases(2));
        const Expr r =
            w_.for_(fresh("r"), index(0), [&](Expr at) { return at < strip_.covered_rows; });
        const Expr to =
            w_.let(fresh("to"),
                   c * strip_.channel_length(conv_) +
                       (((kz * conv_.phases(1) + py) * conv_.phases(2) + px) * strip_.plane() +
                        r * strip_.pitch));
        const Scalar y = bound(fresh("from_y"), from_of(1, first_row_, r, py));
        const Expr from_z = w_.emit(z), from_y = w_.emit(y);
        w_.if_(logical_and(logical_and(from_z >= index(0), from_z < conv_.size[0]),
                           logical_and(from_y >= index(0), from_y < conv_.size[1])));
        copy_row(segment, channel, z, y, px, to);
        w_.end();
        w_.else_();
        fill(covered_, index(0), index(strip_.pitch), to);
        w_.end();
        w_.end();
        end_loop(conv_.phases(2));
        end_loop(conv_.phases(1));
        end_loop(conv_.kernel[0]);
        w_.end();
    }

    Expr expr_z() { return w_.emit(z_); }

    void copy_row(IndexRange segment, Scalar channel, Scalar z, Scalar y, Expr px, Expr to) {
        const int64_t stride = conv_.stride[2];
        // Positions i of the phase with 0 <= i * stride + begin < size.
        const Expr begin = w_.let(fresh("begin"), from_of(2, first_column_, index(0), px));
        const auto steps = [&](Expr distance) {
            return lesser((larger(distance, index(0)) + (stride - 1)) / stride,
                          index(strip_.pitch));
        };
        const Expr inside = w_.let(fresh("inside"), steps(index(0) - begin));
        const Expr outside =
            w_.let(fresh("outside"), larger(steps(index(conv_.size[2]) - begin), inside));
        fill(covered_, index(0), inside, to);
        const Expr i = w_.for_(fresh("i"), inside, [&](Expr at) { return at < outside; });
        const Scalar x = bound(fresh("from_x"), i * stride + begin);
        KnownRanges known(arena_);
        if (conv_.groups == 1) known.set(channel, segment);
        known.set(z, indices_of(conv_.size[0]));
        known.set(y, indices_of(conv_.size[1]));
        known.set(x, indices_of(conv_.size[2]));
        w_.assign(body_->element(covered_, to + i),
                  w_.emit(known.simplified(input(channel, z, y, x))));
        w_.end();
        fill(covered_, outside, index(strip_.pitch), to);
    }

    // ------------------------------------------------------------------ the product

    /// Calls write() in a loop over the block's tiles of output channels.  The last one begins earlier where their
    /// number is no multiple of the tile's; it computes some sums again and stores them once.
    template <class Write>
    void for_each_tile(Write write) {
        const int64_t rows = strip_.tile.rows;
        tile_ = w_.for_(
            fresh("tile"), index(0), [&](Expr at) { return at < out_count_; }, index(rows));
        const Expr first = first_out_ + tile_;
        tile_out_ = first;
        repeated_ = index(0);
        if (conv_.out_each % rows != 0) {
            tile_out_ = w_.let(fresh("tile_out"), lesser(first, index(conv_.out_each - rows)));
            repeated_ = w_.let(fresh("repeated"), first - tile_out_);
        }
        write();
        w_.end();
    }

    /// Sums of row i of the tile begin here.
    Expr sums_at(Expr i) const { return (has_blocks_ ? tile_ + i : i) * strip_.sums_length(); }

    void multiply_tile() {
        const int64_t inner = conv_.inner();
        weights_at_ = w_.let(fresh("weights_at"),
                             (group_out_ + tile_out_) * inner + first_channel_ * conv_.taps());
        if (!are_weights_plain_) convert_weights();
        const auto columns = index(strip_.tile.columns());
        if (strip_.by_rows) {
            const Expr y = w_.for_(fresh("y"), index(0), [&](Expr at) { return at < row_count_; });
            const Expr x = w_.for_(
                fresh("x"), index(0), [&](Expr at) { return at < column_count_; }, columns);
            multiply(y * strip_.pitch + x, y * strip_.sums_pitch() + x);
            w_.end();
            w_.end();
            return;
        }
        const Expr end = w_.let(fresh("end"), (row_count_ - 1) * strip_.pitch + column_count_);
        const Expr at = w_.for_(
            fresh("q"), index(0), [&](Expr q) { return q < end; }, columns);
        multiply(at, at);
        w_.end();
    }

    /// The tile's weights [channels * taps, rows] of the block of input channels.
    void convert_weights() {
        const int64_t rows = strip_.tile.rows;
        const Expr c = w_.for_(fresh("c"), index(0), [&](Expr at) { return at < channel_count_; });
        const Scalar in = bound(fresh("weight_in"), first_channel_ + c);
        Expr tap = c;
        std::array<Scalar, 3> taps;
        for (size_t axis = 0; axis < taps.size(); ++axis) {
            const Expr k = loop("k", conv_.kernel[axis]);
            taps[axis] = bound(fresh("weight_tap"), k);
            tap = tap * conv_.kernel[axis] + k;
        }
        const Expr to = w_.let(fresh("to"), tap * rows);
        const Expr i = w_.for_(fresh("i"), index(0), [&](Expr at) { return at < rows; });
        const Scalar out = bound(fresh("weight_out"), group_out_ + tile_out_ + i);
        const ScalarPlace at = place(shape(1).rank(), out, in, taps[0], taps[1], taps[2]);
        w_.assign(body_->element(weights_, to + i),
                  w_.emit(expressions_.read(node_.inputs[1], at)));
        w_.end();
        for (const int64_t count : conv_.kernel) end_loop(count);
        w_.end();
    }

    /// The weight at this linear index.
    Scalar weight(Scalar linear) { return expressions_.read(node_.inputs[1], {linear, {}}); }

    /// True if each weight is an f32 in memory, in the order of the operand.
    bool has_plain_weights() {
        const Scalar linear = arena_.symbol(ScalarType::kI32);
        const ScalarNode node = weight(linear).node();
        return node.op == ScalarOp::kLoad && node.a == linear.id &&
               device_dtype(graph_.values[node.bits].dtype, options_.caps.narrow_storage()) ==
                   DType::kF32;
    }

    /// One register tile: windows from `from` of the array, whose sums are at `to`.
    void multiply(Expr from, Expr to) {
        const uint32_t lanes = strip_.tile.lanes;
        std::vector<Expr> sums, places;
        for (uint32_t i = 0; i < strip_.tile.rows; ++i)
            for (uint32_t j = 0; j < strip_.tile.vectors; ++j) {
                places.push_back(sums_at(index(i)) + to + int64_t{j} * lanes);
                const std::string name = fresh("sum");
                sums.push_back(
                    has_blocks_
                        ? w_.load_lanes(name, sums_, places.back(), lanes)
                        : w_.declare_lanes(name, lanes, body_->constant(0, ScalarType::kF32)));
            }
        const Expr c = w_.for_(fresh("c"), index(0), [&](Expr at) { return at < channel_count_; });
        const Expr kz = loop("kz", conv_.kernel[0]);
        const Expr plane = w_.let(fresh("plane"), c * conv_.kernel[0] + kz);
        const Expr planes = w_.let(
            fresh("from"), plane * (strip_.plane() * conv_.phases(1) * conv_.phases(2)) + from);
        const Expr taps = w_.let(fresh("taps"), plane * (conv_.kernel[1] * conv_.kernel[2]));
        const Expr ky = loop("ky", conv_.kernel[1]);
        const Expr row = w_.let(fresh("from_row"),
                                planes + (tap_phase(1, ky) * (strip_.plane() * conv_.phases(2)) +
                                          tap_step(1, ky) * strip_.pitch));
        const Expr tap_row = w_.let(fresh("tap_row"), taps + ky * conv_.kernel[2]);
        const Expr kx = loop("kx", conv_.kernel[2]);
        add_tap(sums, row + (tap_phase(2, kx) * strip_.plane() + tap_step(2, kx)), tap_row + kx);
        end_loop(conv_.kernel[2]);
        end_loop(conv_.kernel[1]);
        end_loop(conv_.kernel[0]);
        w_.end();
        for (size_t s = 0; s < sums.size(); ++s) w_.store_lanes(sums_, places[s], sums[s]);
    }

    /// Phase of a tap, and its position in that phase.
    Expr tap_phase(size_t axis, Expr k) {
        if (conv_.phases(axis) == 1) return index(0);
        return k * conv_.dilation[axis] % conv_.stride[axis];
    }
    Expr tap_step(size_t axis, Expr k) { return k * conv_.dilation[axis] / conv_.stride[axis]; }

    void add_tap(const std::vector<Expr>& sums, Expr from, Expr tap) {
        const uint32_t vectors = strip_.tile.vectors, rows = strip_.tile.rows;
        const int64_t lanes = strip_.tile.lanes;
        const Expr at = w_.let(fresh("at"), from);
        std::vector<Expr> right;
        for (uint32_t j = 0; j < vectors; ++j)
            right.push_back(
                w_.load_lanes(fresh("right"), covered_, at + j * lanes, strip_.tile.lanes));
        const Scalar left = are_weights_plain_ ? bound(fresh("left"), weights_at_ + tap) : Scalar{};
        for (uint32_t i = 0; i < rows; ++i) {
            const Expr factor = are_weights_plain_
                                    ? w_.emit(weight(left + arena_.index(i * conv_.inner())))
                                    : body_->element(weights_, tap * rows + i);
            for (uint32_t j = 0; j < vectors; ++j)
                w_.multiply_add(sums[i * vectors + j], factor, right[j]);
        }
    }

    // ------------------------------------------------------------------ the results

    void store_tile() {
        const Expr i =
            w_.for_(fresh("i"), repeated_, [&](Expr at) { return at < int64_t{strip_.tile.rows}; });
        const Scalar channel = bound(fresh("to_channel"), group_out_ + tile_out_ + i);
        const Expr sums = w_.let(fresh("sums_at"), sums_at(i));
        const Expr r = w_.for_(fresh("r"), index(0), [&](Expr at) { return at < row_count_; });
        const Scalar y = bound(fresh("to_y"), first_row_ + r);
        const Expr row = w_.let(fresh("sums_row"), sums + r * strip_.sums_pitch());
        const Expr column =
            w_.for_(fresh("x"), index(0), [&](Expr at) { return at < column_count_; });
        const Scalar x = bound(fresh("to_x"), first_column_ + column);
        const Scalar sum = arena_.symbol(ScalarType::kF32);
        w_.bind(sum, w_.let(fresh("total"), body_->element(sums_, row + column)));
        const Shape& space = graph_.values[node_.outputs[0]].shape;
        const ScalarPlace to = place(space.rank(), image_, channel, z_, y, x);
        element_ = linear_of(arena_, to, space);
        store_result(*to.coords, sum, element_);
        w_.end();
        w_.end();
        w_.end();
    }

    const ConvExtents conv_;
    const ConvStrip strip_;
    const bool has_blocks_;         ///< of input channels
    const bool are_weights_plain_;  ///< see has_plain_weights()
    int64_t jobs_ = 1;              ///< of an image
    int names_ = 0;
    Scalar image_, z_, element_;
    Expr first_column_, column_count_, first_row_, row_count_;
    Expr first_in_, group_out_, first_out_, out_count_;  ///< channels
    Expr first_channel_, channel_count_;                 ///< of the input, in the group
    Expr tile_, tile_out_, repeated_;                    ///< see for_each_tile()
    Expr covered_, sums_, weights_, weights_at_;
};

}  // namespace

KernelDraft cpu_conv_kernel(const KernelTask& task, const ConvStrip& strip) {
    return ConvKernel(task, strip).run();
}

}  // namespace hearth
