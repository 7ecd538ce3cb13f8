// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Depthwise convolution: each thread sums ConvTile::strips rows of ConvTile::px pixels of one channel; what it reads of a
// row of x serves all of them.  All loads are on their way before the first is used.
// Bytes moved: x, w and y once; what neighbouring threads share comes from the cache.

#include "compiler/codegen/conv/gpu_conv_kernel.hpp"
#include "compiler/codegen/shared/extents.hpp"

namespace hearth {

namespace {

class Depthwise : GpuConvKernel {
  public:
    using GpuConvKernel::GpuConvKernel;

    KernelDraft run() {
        const int64_t blocks_y = blocks(kAlongY), blocks_x = blocks(kAlongX), out = p_.out;
        const Dim in_images = graph_.values[node_.inputs[kX]].shape[0];
        const Dim all{in_images.count * out * blocks_y * blocks_x, in_images.is_batch};
        grid_ = {work_of(all), static_cast<uint32_t>(t_.lanes)};
        const Expr items = w_.let("items", hearth::count_of(all, *body_));
        const Expr item = w_.for_(
            "item", body_->workgroup() * t_.lanes + thread_, [&](Expr at) { return at < items; },
            body_->workgroups() * t_.lanes);
        const Expr x0 = w_.let("x0", item % blocks_x * t_.px);
        const Expr y0 = w_.let("y0", item / blocks_x % blocks_y * t_.strips);
        const Expr o = w_.let("o", item / (blocks_x * blocks_y) % out);
        const Expr n = w_.let("n", item / (blocks_x * blocks_y * out));
        load_all(y0, x0, o, w_.let("plane", (n * p_.channels + o / p_.multiple) * plane()));
        sums_ = array("sum", t_.strips * t_.px);
        each_sum([&](Expr i, Expr j, Expr sum) { add(i, j, sum); });
        each_sum([&](Expr i, Expr j, Expr sum) {
            w_.if_(logical_and(y0 + i < p_.count[0], x0 + j < p_.count[1]));
            store(bound(n), o, bound(y0 + i), bound(x0 + j), sum);
            w_.end();
        });
        w_.end();
        return finish("conv_depthwise", t_.lanes);
    }

  private:
    int64_t results(size_t axis) const { return axis == kAlongY ? t_.strips : t_.px; }
    int64_t blocks(size_t axis) const {
        return (p_.count[axis] + results(axis) - 1) / results(axis);
    }
    int64_t covered(size_t axis) const { return p_.patch_extent(axis, results(axis)); }

    void load_all(Expr y0, Expr x0, Expr o, Expr plane_at) {
        weights_ = array("weight", p_.taps());
        xs_ = array("xs", covered(kAlongY) * covered(kAlongX));
        const Expr k = w_.unrolled_for_("k", p_.taps());
        w_.assign(body_->element(weights_, k), load(kWeights, o * p_.taps() + k));
        w_.end();
        const Expr r = w_.unrolled_for_("r", covered(kAlongY));
        const Expr y = w_.let("y", y0 * stride(kAlongY) - low(kAlongY) + r);
        const Expr s = w_.unrolled_for_("s", covered(kAlongX));
        const Expr x = w_.let("column", x0 * stride(kAlongX) - low(kAlongX) + s);
        const Expr inside = p_.is_padded()
                                ? logical_and(is_within(y, p_.size[0]), is_within(x, p_.size[1]))
                                : body_->constant(1, ScalarType::kBool);
        w_.assign(body_->element(xs_, r * covered(kAlongX) + s),
                  load_x(plane_at + y * p_.size[1] + x, inside));
        w_.end();
        w_.end();
    }

    template <class Statements>
    void each_sum(const Statements& statements) {
        const Expr i = w_.unrolled_for_("i", t_.strips);
        const Expr j = w_.unrolled_for_("j", t_.px);
        statements(i, j, body_->element(sums_, i * t_.px + j));
        w_.end();
        w_.end();
    }

    void add(Expr i, Expr j, Expr sum) {
        w_.assign(sum, number(0));
        const Expr k = w_.unrolled_for_("k", p_.taps());
        const Expr row = i * stride(kAlongY) + k / taps(kAlongX) * dilation(kAlongY);
        const Expr column = j * stride(kAlongX) + k % taps(kAlongX) * dilation(kAlongX);
        add_product(sum, body_->element(weights_, k),
                    body_->element(xs_, row * covered(kAlongX) + column));
        w_.end();
    }

    Expr weights_, xs_, sums_;
};

}  // namespace

KernelDraft gpu_conv_depthwise(const KernelTask& task, const ConvProblem& problem,
                               const ConvTile& tile) {
    return Depthwise(task, problem, tile).run();
}

}  // namespace hearth
