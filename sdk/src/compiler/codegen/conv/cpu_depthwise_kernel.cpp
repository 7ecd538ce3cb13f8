// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Depthwise convolutions for CPUs, as bodies: each row of results is lanes of sums, a multiply-add for each tap of what
// the windows cover (cpu_window_kernel.hpp).

#include "compiler/codegen/conv/conv_kernels.hpp"
#include "compiler/codegen/conv/cpu_window_kernel.hpp"
#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/group_access.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

class DepthwiseKernel : CpuWindowKernel {
  public:
    explicit DepthwiseKernel(const KernelTask& task) : CpuWindowKernel(task, windows_of_conv) {}

    KernelDraft run() {
        const int64_t out = shape(1)[0].count, each = out / shape(0)[1].count;
        const Expr plane = w_.let("plane", body_->workgroup());
        image_ = bound("image", plane / out);
        out_channel_ = bound("out_channel", plane % out);
        const Scalar in_channel = bound("in_channel", plane % out / each);
        load_weights();
        sums_ = w_.declare_array("sums", ScalarType::kF32,
                                 static_cast<uint32_t>(windows_.rounded_count()));
        const Block block = open_block(image_, in_channel);
        const Expr row = w_.for_("row", index(0), [&](Expr at) { return at < block.count; });
        sum_row(row);
        store_row(w_.let("to_row", block.first + row));
        w_.end();
        w_.end();
        KernelDraft kernel = finish("conv_depthwise");
        const Dim images = shape(0)[0];
        kernel.grid[0] = {work_of(Dim(images.count * out, images.is_batch)), 1};
        const Shape& y = graph_.values[node_.outputs[0]].shape;
        kernel.flops =
            static_cast<uint64_t>(2 * count_of(windows_.window.kernel) *
                                  y.element_count(static_cast<int64_t>(options_.rows_capacity)));
        return kernel;
    }

  private:
    void load_weights() {
        for (int64_t y = 0; y < windows_.window.kernel[0]; ++y)
            for (int64_t x = 0; x < windows_.window.kernel[1]; ++x) {
                const ScalarPlace tap = place(shape(1).rank(), out_channel_, arena_.index(0),
                                              arena_.index(y), arena_.index(x));
                weights_.push_back(w_.emit(expressions_.read(node_.inputs[1], tap)));
            }
    }

    void sum_row(Expr row) {
        const List& kernel = windows_.window.kernel;
        const auto lanes = static_cast<uint32_t>(windows_.lanes);
        const Expr x = w_.for_(
            "x", index(0), [&](Expr at) { return at < windows_.rounded_count(); }, index(lanes));
        const Expr sum = w_.declare_lanes("sum", lanes, body_->constant(0, ScalarType::kF32));
        size_t tap = 0;
        for (int64_t ky = 0; ky < kernel[0]; ++ky)
            for (int64_t kx = 0; kx < kernel[1]; ++kx) {
                const Expr at = place_of_tap(row, ky, kx) + x;
                const Expr elements =
                    w_.load_lanes("tap" + std::to_string(tap), covered_, at, lanes);
                w_.multiply_add(sum, weights_[tap++], elements);
            }
        w_.store_lanes(sums_, x, sum);
        w_.end();
    }

    void store_row(Expr row) {
        const Scalar y = bound(row);
        const Expr i = w_.for_("i", index(0), [&](Expr at) { return at < windows_.count[1]; });
        const Scalar x = bound("to_x", i);
        const Scalar sum = arena_.symbol(ScalarType::kF32);
        w_.bind(sum, w_.let("total", body_->element(sums_, i)));
        const Shape& space = graph_.values[node_.outputs[0]].shape;
        const ScalarPlace to = place(space.rank(), image_, out_channel_, y, x);
        store_result(*to.coords, sum, linear_of(arena_, to, space));
        w_.end();
    }

    Scalar image_, out_channel_;
    std::vector<Expr> weights_;
    Expr sums_;
};

}  // namespace

KernelDraft cpu_depthwise_kernel(const KernelTask& task) {
    return DepthwiseKernel(task).run();
}

}  // namespace hearth
