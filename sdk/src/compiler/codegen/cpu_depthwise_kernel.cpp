// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Depthwise convolutions for CPUs, as bodies.
//
// A workgroup, which is one invocation, computes one channel of one image, a block of rows at a time.  It copies what
// the block's windows cover into an array, with zeros where they reach beyond the image.  Of windows that are s
// elements apart, the array has the elements of each row in s parts: those at places 0, s, 2 s, ..., then those at
// places 1, s + 1, ... and so on, so that one tap of neighbouring windows is always elements side by side.  Each
// row of results is then lanes of sums, a multiply-add for each tap.

#include "compiler/codegen/cpu_kernel.hpp"
#include "compiler/ops/cpu_depthwise.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

class DepthwiseKernel : CpuKernel {
  public:
    DepthwiseKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                    const LowerOptions& options)
        : CpuKernel(graph, group, inlined, options, OpClass::kKernel),
          problem_(node_.attrs, shape(0), shape(1), options.caps) {}

    KernelDraft run() {
        const int64_t out = shape(1)[0].count, each = out / shape(0)[1].count;
        const Expr plane = writer_.let("plane", body_->workgroup());
        image_ = bound("image", plane / out);
        out_channel_ = bound("out_channel", plane % out);
        in_channel_ = bound("in_channel", plane % out / each);
        load_weights();
        covered_ = writer_.declare_array(
            "covered", ScalarType::kF32,
            static_cast<uint32_t>(problem_.covered_rows() * problem_.row_length()));
        sums_ = writer_.declare_array("sums", ScalarType::kF32,
                                      static_cast<uint32_t>(problem_.rounded_count()));
        const Expr first = writer_.for_(
            "first_row", index(0), [&](Expr at) { return at < problem_.count[0]; },
            index(problem_.rows));
        const Expr end =
            writer_.let("row_count", smaller(index(problem_.rows), count_of_rows() - first));
        copy_covered(first, end);
        const Expr row = writer_.for_("row", index(0), [&](Expr at) { return at < end; });
        sum_row(row);
        store_row(writer_.let("to_row", first + row));
        writer_.end();
        writer_.end();
        KernelDraft kernel;
        kernel.name = "conv_depthwise";
        body_->statements = writer_.take();
        set_body(kernel, body_);
        kernel.is_elementwise.assign(kernel.buffers.values.size(), false);
        const Dim images = shape(0)[0];
        kernel.grid[0] = {work_of(Dim(images.count * out, images.per_row)), 1};
        const Shape& y = graph_.values[node_.outputs[0]].shape;
        kernel.flops =
            static_cast<uint64_t>(2 * count_of(problem_.window.kernel) *
                                  y.element_count(static_cast<int64_t>(options_.rows_capacity)));
        return kernel;
    }

  private:
    Expr count_of_rows() const { return index(problem_.count[0]); }
    Scalar bound(const char* name, Expr value) {
        const Scalar variable = arena_.variable(ScalarType::kI32);
        writer_.bind(variable, writer_.let(name, value));
        return variable;
    }
    /// Coordinates of a tensor of as many spatial axes as the convolution has.
    static ScalarPlace place(int rank, Scalar first, Scalar channel, Scalar y, Scalar x) {
        Coords<Scalar> at;
        at.axis.push_back(first);
        at.axis.push_back(channel);
        if (rank == 4) at.axis.push_back(y);
        at.axis.push_back(x);
        return {{}, at};
    }

    void load_weights() {
        for (int64_t y = 0; y < problem_.window.kernel[0]; ++y)
            for (int64_t x = 0; x < problem_.window.kernel[1]; ++x) {
                const ScalarPlace tap = place(shape(1).rank(), out_channel_, arena_.index(0),
                                              arena_.index(y), arena_.index(x));
                weights_.push_back(writer_.emit(expressions_.read(node_.inputs[1], tap)));
            }
    }

    void copy_covered(Expr first, Expr row_count) {
        const Window& w = problem_.window;
        const Expr reach = index((w.kernel[0] - 1) * w.dilations[0] + 1);
        const Expr covered_rows =
            writer_.let("covered_rows", (row_count - 1) * w.strides[0] + reach);
        const Expr r = writer_.for_("r", index(0), [&](Expr at) { return at < covered_rows; });
        const Expr from = writer_.let("from_row", first * w.strides[0] + r - w.low[0]);
        const Expr to = writer_.let("to", r * problem_.row_length());
        writer_.if_(both(from >= index(0), from < problem_.size[0]));
        const Scalar y = arena_.variable(ScalarType::kI32);
        writer_.bind(y, from);
        for (int64_t p = 0; p < w.strides[1]; ++p) copy_part(p, y, to);
        writer_.end();
        writer_.else_();
        fill({0, problem_.row_length() - 1}, to);
        writer_.end();
        writer_.end();
    }

    void copy_part(int64_t p, Scalar y, Expr row) {
        const CpuDepthwise::Places inside = problem_.inside(p);
        const Expr to = writer_.let("to_part" + std::to_string(p), row + p * problem_.part);
        fill({0, inside.first - 1}, to);
        if (inside.first <= inside.last) {
            const Expr i = writer_.for_("i", index(inside.first),
                                        [&](Expr at) { return at < index(inside.last + 1); });
            const Scalar x =
                bound("from", i * problem_.window.strides[1] + (p - problem_.window.low[1]));
            const Expr element = writer_.emit(expressions_.read(
                node_.inputs[0], place(shape(0).rank(), image_, in_channel_, y, x)));
            writer_.assign(body_->element(covered_, to + i), element);
            writer_.end();
        }
        fill({inside.last + 1, problem_.part - 1}, to);
    }

    void fill(CpuDepthwise::Places places, Expr to) {
        if (places.first > places.last) return;
        const Expr i = writer_.for_("i", index(places.first),
                                    [&](Expr at) { return at < index(places.last + 1); });
        writer_.assign(body_->element(covered_, to + i), body_->constant(0, ScalarType::kF32));
        writer_.end();
    }

    void sum_row(Expr row) {
        const Window& w = problem_.window;
        const auto lanes = static_cast<uint32_t>(problem_.lanes);
        const Expr top = writer_.let("top", row * (w.strides[0] * problem_.row_length()));
        const Expr x = writer_.for_(
            "x", index(0), [&](Expr at) { return at < problem_.rounded_count(); }, index(lanes));
        const Expr sum = writer_.declare_lanes("sum", lanes, body_->constant(0, ScalarType::kF32));
        size_t tap = 0;
        for (int64_t ky = 0; ky < w.kernel[0]; ++ky)
            for (int64_t kx = 0; kx < w.kernel[1]; ++kx) {
                const int64_t away = kx * w.dilations[1], stride = w.strides[1];
                const int64_t at = ky * w.dilations[0] * problem_.row_length() +
                                   away % stride * problem_.part + away / stride;
                const Expr elements =
                    writer_.load_lanes("tap" + std::to_string(tap), covered_, top + x + at, lanes);
                writer_.multiply_add(sum, weights_[tap++], elements);
            }
        writer_.store_lanes(sums_, x, sum);
        writer_.end();
    }

    void store_row(Expr row) {
        const Scalar y = arena_.variable(ScalarType::kI32);
        writer_.bind(y, row);
        const Expr i = writer_.for_("i", index(0), [&](Expr at) { return at < problem_.count[1]; });
        const Scalar x = bound("to_x", i);
        const Scalar sum = arena_.variable(ScalarType::kF32);
        writer_.bind(sum, writer_.let("total", body_->element(sums_, i)));
        expressions_.define(node_.outputs[0], sum);
        const Shape& space = graph_.values[node_.outputs[0]].shape;
        ScalarPlace to = place(space.rank(), image_, out_channel_, y, x);
        const Scalar element = linear_of(arena_, to, space);
        to.linear = element;
        // Behind a reshape coordinates mean nothing; the linear index still does.
        if (!std::ranges::all_of(group_.stores,
                                 [&](ValueId v) { return graph_.values[v].shape == space; }))
            to.coords.reset();
        store_all(writer_, operand_, expressions_, group_.stores, to, element);
        writer_.end();
    }

    CpuDepthwise problem_;
    Scalar image_, out_channel_, in_channel_;
    std::vector<Expr> weights_;
    Expr covered_, sums_;
};

}  // namespace

KernelDraft cpu_depthwise_kernel(const Graph& graph, const Group& group,
                                 const std::vector<bool>& inlined, const LowerOptions& options) {
    return DepthwiseKernel(graph, group, inlined, options).run();
}

}  // namespace hearth
