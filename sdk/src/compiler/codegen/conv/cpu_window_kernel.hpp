// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What kernels for CPUs that go along windows of images have in common.
//
// A workgroup, which is one invocation, takes one channel of one image, a block of rows of windows at a time.  It copies
// what the block's windows cover into an array, with zeros where they reach beyond the image.  Of windows that are s
// elements apart, the array has the elements of each row in s parts: those at places 0, s, 2 s, ..., then those at
// places 1, s + 1, ... and so on, so that one tap of neighbouring windows is always elements side by side.

#pragma once

#include "compiler/codegen/shared/operator_kernel.hpp"
#include "compiler/ops/kernels/cpu_windows.hpp"

#include <hearth/op/op_def.hpp>

namespace hearth {

class CpuWindowKernel : protected OperatorKernel {
  protected:
    CpuWindowKernel(const KernelTask& task,
                    CpuWindows (*windows_of)(const Graph&, const Node&, const DeviceCaps&))
        : OperatorKernel(task), windows_(windows_of(graph_, node_, options_.caps)) {}

    /// Declares the array and opens the loop over blocks, which the caller ends.
    struct Block {
        Expr first, count;  ///< rows
    };
    Block open_block(Scalar image, Scalar channel) {
        image_ = image;
        in_channel_ = channel;
        covered_ = w_.declare_array(
            "covered", ScalarType::kF32,
            static_cast<uint32_t>(windows_.covered_rows() * windows_.row_length()));
        const Expr all = index(windows_.count[0]);
        Block block;
        block.first = w_.for_(
            "first_row", index(0), [&](Expr at) { return at < all; }, index(windows_.rows));
        block.count = w_.let("row_count", lesser(index(windows_.rows), all - block.first));
        copy_covered(block.first, block.count);
        return block;
    }

    /// Where tap (y, x) of the block's first window of this row is in the array; that of the next one follows it.
    Expr place_of_tap(Expr row, int64_t y, int64_t x) const {
        const Window& w = windows_.window;
        const int64_t away = x * w.dilations[1], stride = w.strides[1];
        return row * (w.strides[0] * windows_.row_length()) +
               (y * w.dilations[0] * windows_.row_length() + away % stride * windows_.part +
                away / stride);
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

    const CpuWindows windows_;
    Expr covered_;

  private:
    void copy_covered(Expr first, Expr row_count) {
        const Window& w = windows_.window;
        const Expr reach = index((w.kernel[0] - 1) * w.dilations[0] + 1);
        const Expr covered_rows = w_.let("covered_rows", (row_count - 1) * w.strides[0] + reach);
        const Expr r = w_.for_("r", index(0), [&](Expr at) { return at < covered_rows; });
        const Expr from = w_.let("from_row", first * w.strides[0] + r - w.low[0]);
        const Expr to = w_.let("to", r * windows_.row_length());
        w_.if_(logical_and(from >= index(0), from < windows_.size[0]));
        const Scalar y = bound(from);
        for (int64_t p = 0; p < w.strides[1]; ++p) copy_part(p, y, to);
        w_.end();
        w_.else_();
        fill({0, windows_.row_length() - 1}, to);
        w_.end();
        w_.end();
    }

    void copy_part(int64_t p, Scalar y, Expr row) {
        const CpuWindows::Places inside = windows_.inside(p);
        const Expr to = w_.let("to_part" + std::to_string(p), row + p * windows_.part);
        fill({0, inside.first - 1}, to);
        if (inside.first <= inside.last) {
            const Expr i = w_.for_("i", index(inside.first),
                                   [&](Expr at) { return at < index(inside.last + 1); });
            const Scalar x =
                bound("from", i * windows_.window.strides[1] + (p - windows_.window.low[1]));
            const Expr element = w_.emit(expressions_.read(
                node_.inputs[0], place(shape(0).rank(), image_, in_channel_, y, x)));
            w_.assign(body_->element(covered_, to + i), element);
            w_.end();
        }
        fill({inside.last + 1, windows_.part - 1}, to);
    }

    void fill(CpuWindows::Places places, Expr to) {
        if (places.first > places.last) return;
        const Expr i =
            w_.for_("i", index(places.first), [&](Expr at) { return at < index(places.last + 1); });
        w_.assign(body_->element(covered_, to + i), body_->constant(0, ScalarType::kF32));
        w_.end();
    }

    Scalar image_, in_channel_;
};

}  // namespace hearth
