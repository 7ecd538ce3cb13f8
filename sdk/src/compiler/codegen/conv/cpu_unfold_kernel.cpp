// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Windows for CPUs, as bodies: of what they cover (cpu_window_kernel.hpp), each tap of a row of windows is copied as a
// whole, where element by element each would ask for its place.

#include "compiler/codegen/conv/conv_kernels.hpp"
#include "compiler/codegen/conv/cpu_window_kernel.hpp"
#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/extents.hpp"

namespace hearth {

namespace {

class UnfoldKernel : CpuWindowKernel {
  public:
    explicit UnfoldKernel(const KernelTask& task) : CpuWindowKernel(task, windows_of_unfold) {}

    KernelDraft run() {
        const Dim images = shape(0)[0];
        const int64_t channels = shape(0)[1].count, taps = count_of(windows_.window.kernel);
        const Expr plane = w_.let("plane", body_->workgroup());
        const Scalar image = bound("image", plane / channels);
        const Scalar channel = bound("channel", plane % channels);
        const Expr to_plane = w_.let("to_plane", plane * (taps * count_of(windows_.count)));
        const Block block = open_block(image, channel);
        for (int64_t y = 0; y < windows_.window.kernel[0]; ++y)
            for (int64_t x = 0; x < windows_.window.kernel[1]; ++x) copy_tap(y, x, to_plane, block);
        w_.end();
        KernelDraft kernel = finish("unfold");
        kernel.grid[0] = {work_of(Dim(images.count * channels, images.is_batch)), 1};
        return kernel;
    }

  private:
    void copy_tap(int64_t y, int64_t x, Expr to_plane, const Block& block) {
        const int64_t width = windows_.count[1];
        const int64_t tap = y * windows_.window.kernel[1] + x;
        const Expr row = w_.for_("row", index(0), [&](Expr at) { return at < block.count; });
        const Expr from = w_.let("from", place_of_tap(row, y, x));
        const Expr to =
            w_.let("to", to_plane + (block.first + row + tap * windows_.count[0]) * width);
        const Expr i = w_.for_("i", index(0), [&](Expr at) { return at < width; });
        w_.store(operand_(node_.outputs[0]), to + i, body_->element(covered_, from + i));
        w_.end();
        w_.end();
    }
};

}  // namespace

KernelDraft cpu_unfold_kernel(const KernelTask& task) {
    return UnfoldKernel(task).run();
}

}  // namespace hearth
