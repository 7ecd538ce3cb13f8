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
    UnfoldKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                 const LowerOptions& options)
        : CpuWindowKernel(graph, group, inlined, options, OpClass::kInjective, windows_of_unfold) {}

    KernelDraft run() {
        const Dim images = shape(0)[0];
        const int64_t channels = shape(0)[1].count, taps = count_of(windows_.window.kernel);
        const Expr plane = writer_.let("plane", body_->workgroup());
        const Scalar image = bound("image", plane / channels);
        const Scalar channel = bound("channel", plane % channels);
        const Expr to_plane = writer_.let("to_plane", plane * (taps * count_of(windows_.count)));
        const Block block = open_block(image, channel);
        for (int64_t y = 0; y < windows_.window.kernel[0]; ++y)
            for (int64_t x = 0; x < windows_.window.kernel[1]; ++x) copy_tap(y, x, to_plane, block);
        writer_.end();
        KernelDraft kernel;
        kernel.name = "unfold";
        body_->statements = writer_.take();
        set_body(kernel, body_);
        kernel.is_elementwise.assign(kernel.buffers.values.size(), false);
        kernel.grid[0] = {work_of(Dim(images.count * channels, images.is_batch)), 1};
        return kernel;
    }

  private:
    void copy_tap(int64_t y, int64_t x, Expr to_plane, const Block& block) {
        const int64_t width = windows_.count[1];
        const int64_t tap = y * windows_.window.kernel[1] + x;
        const Expr row = writer_.for_("row", index(0), [&](Expr at) { return at < block.count; });
        const Expr from = writer_.let("from", place_of_tap(row, y, x));
        const Expr to =
            writer_.let("to", to_plane + (block.first + row + tap * windows_.count[0]) * width);
        const Expr i = writer_.for_("i", index(0), [&](Expr at) { return at < width; });
        writer_.store(operand_(node_.outputs[0]), to + i, body_->element(covered_, from + i));
        writer_.end();
        writer_.end();
    }
};

}  // namespace

KernelDraft cpu_unfold_kernel(const KernelTask& task) {
    return UnfoldKernel(task.graph, task.group, task.inlined, task.options).run();
}

}  // namespace hearth
