// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution with all input channels in one group, as a product of weights [out, channels * taps] and patches that are
// never stored.
//
// Each thread sums px pixels by oc output channels in registers.  `lanes` threads stand side by side along pixels,
// `groups` of these along output channels; and each of `slices` such blocks takes a part of the input channels, so that
// small images have work for a whole GPU.  The parts are added in a fixed order through shared memory, as many pixels at a
// time as fit: deterministic.  Where one part is everything and weights fit, they are staged in shared memory; elsewhere
// four at a time come straight from the cache, as all lanes read the same ones.
// Pairs of f16, where the device multiplies and adds them up in one instruction, are loaded eight weights at a time, and
// made of elements of x in registers.
// Bytes moved: x times out / (groups * oc), w times pixels / (lanes * px), y once.

#include "compiler/codegen/conv/gpu_conv_kernel.hpp"
#include "core/device_model.hpp"

#include <algorithm>

namespace hearth {

namespace {

class Tiled : GpuConvKernel {
  public:
    using GpuConvKernel::GpuConvKernel;

    KernelDraft run() {
        const bool fits = t_.threads() * t_.oc * t_.px * 4 <= memory();
        pixels_each_ = fits ? t_.px : 1;
        chunk_ = t_.shares_weights ? 1 : p_.chunk();
        by_four_ = !t_.shares_weights && p_.has_weights_by_four();
        by_eight_ = !t_.shares_weights && p_.has_weights_by_eight();
        if (t_.shares_weights)
            staged_ = shared("staged", p_.depth() * tile_out() / 4, Chunk::kFour);
        if (t_.slices > 1) parts_ = shared("parts", t_.threads() * t_.oc * pixels_each_);
        lane_ = w_.let("lane", thread_ % t_.lanes);
        group_ = w_.let("group", thread_ % block() / t_.lanes);
        slice_ = w_.let("slice", thread_ / block());
        Tiles tiles = open_tiles(places(), t_.lanes * t_.px, tile_out());
        first_out_ = tiles.first_out;
        out_block_ = w_.let("out_block", tiles.first_out + group_ * t_.oc);
        if (t_.shares_weights) stage_weights();
        open_tile(tiles);
        compute(tiles);
        close_tiles();
        return finish("conv", t_.threads());
    }

  private:
    int64_t block() const { return t_.lanes * t_.groups; }
    int64_t tile_out() const { return t_.groups * t_.oc; }
    int64_t memory() const {
        return std::min<int64_t>(options_.caps.max_compute_shared_memory_size,
                                 device_model(options_.caps).shared_budget(t_.threads()));
    }
    /// True if there are many threads for each compute unit.  They hide each other's waits if enough of
    /// them are resident: written out, the taps of 64 to 64 channels take 214 registers instead of 128
    /// on an H200, and 682 us instead of 492.  With few threads it is the other way round (ResNet-18
    /// 580 us written out, 636 not).
    bool fills_device() const {
        constexpr int64_t kManyThreads = 1024;
        const DeviceModel device = device_model(options_.caps);
        const int64_t threads = p_.pixels / t_.px * p_.out / t_.oc;
        return t_.slices == 1 && !device.has_few_cores &&
               threads >= kManyThreads * device.enough_groups();
    }
    Expr weight_row(Expr out) const { return lesser(out, index(p_.out - 1)) * p_.depth(); }
    Expr sum(Expr j, Expr i) const { return body_->element(sums_, j * t_.px + i); }

    void stage_weights() {
        const Expr e = w_.for_(
            "e", thread_, [&](Expr at) { return at < p_.depth() * tile_out(); },
            index(t_.threads()));
        const Expr o = w_.let("o", e / p_.depth()), k = w_.let("k", e % p_.depth());
        const Expr four = body_->element(staged_, k * (tile_out() / 4) + o / 4);
        w_.assign(body_->chunk_element(four, o % 4),
                  load(kWeights, weight_row(first_out_ + o) + k));
        w_.end();
        w_.barrier();
    }

    void compute(const Tiles& tiles) {
        windows_ = declare_windows(t_.px);
        sums_ = array("sum", t_.oc * t_.px);
        const Expr i = w_.unrolled_for_("i", t_.px);
        set_window(windows_, i,
                   w_.let("pixel", lesser(tiles.first + lane_ + i * t_.lanes, tiles.count - 1)));
        const Expr j = w_.unrolled_for_("j", t_.oc);
        w_.assign(sum(j, i), number(0));
        w_.end();
        w_.end();
        const int64_t slice_channels =
            ((p_.channels + t_.slices - 1) / t_.slices + chunk_ - 1) / chunk_ * chunk_;
        const Expr end = w_.let("end", lesser(index(p_.channels), (slice_ + 1) * slice_channels));
        const Expr c = w_.for_(
            "c", slice_ * slice_channels, [&](Expr at) { return at < end; }, index(chunk_));
        if (by_eight_)
            add_by_eight(c);
        else if (by_four_)
            add_by_four(c);
        else
            add(c);
        w_.end();
        if (t_.slices > 1) return add_slices(tiles);
        const Expr at = w_.unrolled_for_("at", t_.px);
        const Pixel pixel = pixel_at(w_.let("q", tiles.first + lane_ + at * t_.lanes));
        const Expr out = w_.unrolled_for_("out", t_.oc);
        store_pixel(pixel, w_.let("o", out_block_ + out), tiles.count, sum(out, at));
        w_.end();
        w_.end();
    }

    /// The pixel's element of tap k, counted from the first of channel c.
    Expr element(Expr i, Expr c, Expr k) {
        const Expr ky = w_.let("ky", k % p_.taps() / taps(kAlongX));
        const Expr kx = w_.let("kx", k % taps(kAlongX));
        const Expr channel = c + k / p_.taps();
        return load_x(place_of_tap(body_->element(windows_.from, i), channel, ky, kx),
                      p_.is_padded() ? is_tap_inside(body_->element(windows_.bits, i), ky, kx)
                                     : body_->constant(1, ScalarType::kBool));
    }

    void add_by_four(Expr c) {
        const Expr turn = w_.unrolled_for_("turn", chunk_ * p_.taps() / 4);
        if (fills_device()) w_.keep_last_rolled();
        const Expr weights = w_.declare_chunks("w", Chunk::kFour, static_cast<uint32_t>(t_.oc));
        const Expr row = w_.unrolled_for_("row", t_.oc);
        w_.assign(body_->element(weights, row),
                  load_four(kWeights, weight_row(out_block_ + row) + c * p_.taps() + turn * 4));
        w_.end();
        const Expr e = w_.unrolled_for_("e", 4);
        const Expr i = w_.unrolled_for_("i", t_.px);
        const Expr x = element(i, c, turn * 4 + e);
        const Expr j = w_.unrolled_for_("j", t_.oc);
        add_product(sum(j, i), body_->chunk_element(body_->element(weights, j), e), x);
        for (int scope = 0; scope < 4; ++scope) w_.end();
    }

    void add_by_eight(Expr c) {
        const Expr turn = w_.unrolled_for_("turn", chunk_ * p_.taps() / 8);
        if (fills_device()) w_.keep_last_rolled();
        const Expr weights =
            w_.declare_chunks("w", Chunk::kFour, static_cast<uint32_t>(t_.oc), ScalarType::kU32);
        const Expr row = w_.unrolled_for_("row", t_.oc);
        w_.assign(body_->element(weights, row),
                  body_->reinterpret(load_eight(
                      kWeights, weight_row(out_block_ + row) + c * p_.taps() + turn * 8)));
        w_.end();
        const Expr i = w_.unrolled_for_("i", t_.px), eight = array("eight", 8);
        const Expr e = w_.unrolled_for_("e", 8);
        w_.assign(body_->element(eight, e), element(i, c, turn * 8 + e));
        w_.end();
        const Expr pairs = w_.let("pairs", body_->reinterpret(body_->pack(eight)));
        const Expr word = w_.unrolled_for_("word", 4), j = w_.unrolled_for_("j", t_.oc);
        w_.assign(sum(j, i),
                  body_->dot_halves(body_->chunk_element(body_->element(weights, j), word),
                                    body_->chunk_element(pairs, word), sum(j, i)));
        for (int scope = 0; scope < 4; ++scope) w_.end();
    }

    void add(Expr c) {
        const Expr k = w_.unrolled_for_("k", chunk_ * p_.taps());
        const Expr weights = w_.declare_chunks("w", Chunk::kFour, static_cast<uint32_t>(t_.oc / 4));
        const Expr row = w_.unrolled_for_("row", t_.oc / 4);
        const Expr four = body_->element(weights, row);
        if (t_.shares_weights) {
            const Expr at = (c * p_.taps() + k) * (tile_out() / 4) + group_ * (t_.oc / 4) + row;
            w_.assign(four, body_->element(staged_, at));
        } else {
            const Expr e = w_.unrolled_for_("e", 4);
            w_.assign(body_->chunk_element(four, e),
                      load(kWeights, weight_row(out_block_ + row * 4 + e) + c * p_.taps() + k));
            w_.end();
        }
        w_.end();
        const Expr i = w_.unrolled_for_("i", t_.px);
        const Expr x = element(i, c, k);
        const Expr j = w_.unrolled_for_("j", t_.oc);
        add_product(sum(j, i), body_->chunk_element(body_->element(weights, j / 4), j % 4), x);
        for (int scope = 0; scope < 3; ++scope) w_.end();
    }

    /// As many pixels of each thread at a time as fit.
    void add_slices(const Tiles& tiles) {
        const int64_t threads = t_.threads(), each = t_.oc * pixels_each_;
        const Expr turn = w_.unrolled_for_("turn", t_.px / pixels_each_);
        const Expr i0 = w_.let("i0", turn * pixels_each_);
        const Expr i = w_.unrolled_for_("i", pixels_each_);
        const Expr j = w_.unrolled_for_("j", t_.oc);
        w_.assign(body_->element(parts_, (i * t_.oc + j) * threads + thread_), sum(j, i0 + i));
        w_.end();
        w_.end();
        w_.barrier();
        const Expr e = w_.for_(
            "e", thread_, [&](Expr at) { return at < block() * each; }, index(threads));
        const Expr ij = w_.let("ij", e / block()), t = w_.let("t", e % block());
        const Expr total = w_.declare("total", ScalarType::kF32, number(0));
        const Expr s = w_.unrolled_for_("s", t_.slices);
        w_.accumulate(total, body_->element(parts_, ij * threads + s * block() + t));
        w_.end();
        store_pixel(
            pixel_at(w_.let("q", tiles.first + t % t_.lanes + (i0 + ij / t_.oc) * t_.lanes)),
            w_.let("o", first_out_ + t / t_.lanes * t_.oc + ij % t_.oc), tiles.count, total);
        w_.end();
        w_.barrier();
        w_.end();
    }

    int64_t pixels_each_ = 1, chunk_ = 1;
    bool by_four_ = false, by_eight_ = false;
    Expr staged_, parts_, lane_, group_, slice_, first_out_, out_block_, sums_;
    Windows windows_;
};

}  // namespace

KernelDraft gpu_conv_tiled(const KernelTask& task, const ConvProblem& problem,
                           const ConvTile& tile) {
    return Tiled(task, problem, tile).run();
}

}  // namespace hearth
