// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution of f16 with f32 sums on matrix cores, for images of few pixels: weights [out, depth] times patches [depth,
// pixels], depth being channels and taps in the order of memory.
//
// Each workgroup computes `lanes` pixels for `oc` output channels; each of its `slices` subgroups takes a part of the
// input channels, `chunk` of the depth at a time (whole channels, or all there are), and adds up sums of its own.  An
// invocation loads the elements of its pixels' windows, all before the first is waited for (with ConvTile::loads_by_stage
// those of a stage, which takes fewer registers), and stages them, `stage` of the depth at a time, in shared memory of its
// subgroup's, beside the weights; so subgroups wait for no other until the end, when the parts are added in a fixed order.
// Rows in shared memory lie a vector of eight apart more than they are long, so that they begin in different banks.
// Bytes moved: x once for each row of the window and out / oc times, mostly from the cache; w pixels / lanes times; y once;
// 2 each.

#include "compiler/codegen/conv/gpu_conv_kernel.hpp"

#include <algorithm>
#include <vector>

namespace hearth {

namespace {

int64_t parts_of(int64_t count, int64_t part) {
    return (count + part - 1) / part;
}

class Slices : GpuConvKernel {
  public:
    using GpuConvKernel::GpuConvKernel;

    KernelDraft run() {
        body_->matrix = shape_;
        body_->subgroup_size = options_.caps.subgroup_size;
        memory_ = shared_words("memory", t_.slices * std::max(staged(), parts()));
        slice_ = w_.let("slice", body_->subgroup());
        lane_ = w_.let("lane", body_->subgroup_invocation());
        pixels_ = w_.let("pixels", slice_ * staged());
        weights_ = w_.let("weights", pixels_ + t_.lanes * step());
        Tiles tiles = open_tiles(places(), t_.lanes, t_.oc);
        open_tile(tiles);
        sum_products(tiles);
        add_slices(tiles);
        close_tiles();
        return finish("conv_slices", t_.slices * subgroup());
    }

  private:
    int64_t subgroup() const { return options_.caps.subgroup_size; }
    int64_t each() const { return t_.lanes / subgroup(); }  // pixels of an invocation
    int64_t held() const { return t_.loads_by_stage ? t_.stage : t_.chunk; }  // of a row
    int64_t vectors() const { return held() / 8; }
    int64_t loads() const { return parts_of(t_.oc * vectors(), subgroup()); }
    int64_t step() const { return t_.stage / 8 + 1; }
    int64_t staged() const { return (t_.lanes + t_.oc) * step(); }  // vectors of a subgroup
    int64_t parts() const { return t_.oc * t_.lanes / 4; }          // likewise, at the end
    int64_t slice_chunks() const { return parts_of(parts_of(p_.depth(), t_.chunk), t_.slices); }
    bool is_whole() const { return t_.slices * slice_chunks() * t_.chunk == p_.depth(); }
    int64_t rows() const { return t_.oc / shape_.m; }
    int64_t columns() const { return t_.lanes / shape_.n; }
    Expr sum(Expr i, Expr j) const { return body_->element(sums_, i * columns() + j); }

    // ------------------------------------------------------------------------ operands

    /// Eight elements of the pixel's window from the k-th of channel c on.
    Expr eight_elements(Expr pixel, Expr c, Expr k) {
        std::vector<Expr> elements;
        for (int64_t e = 0; e < 8; ++e) {
            w_.block();
            const Expr at = w_.let("at", e == 0 ? k : k + e);
            const Expr channel = w_.let("channel", c + at / p_.taps());
            const Expr ky = w_.let("ky", at % p_.taps() / taps(kAlongX));
            const Expr kx = w_.let("kx", at % taps(kAlongX));
            Expr inside = is_whole() ? Expr{} : channel < p_.channels;
            if (p_.is_padded()) {
                const Expr in_x = is_tap_inside(body_->element(windows_.bits, pixel), ky, kx);
                inside = inside ? logical_and(in_x, inside) : in_x;
            }
            const Expr place = place_of_tap(body_->element(windows_.from, pixel), channel, ky, kx);
            w_.assign(body_->element(eight_, index(e)),
                      load_x(place, inside ? inside : body_->constant(1, ScalarType::kBool)));
            w_.end();
        }
        return body_->pack(eight_);
    }

    Expr eight_weights(Expr first_out, Expr chunk, Expr e) {
        const Expr o = w_.let("o", lesser(first_out + e / vectors(), index(p_.out - 1)));
        const Expr k = w_.let("k", chunk * held() + e % vectors() * 8);
        if (p_.depth() % 8 == 0) {
            const Expr words = w_.declare_chunk("eight_words", Chunk::kHalves,
                                                body_->fill(Chunk::kHalves, number(0)));
            if (!is_whole()) w_.if_(k < p_.depth());
            w_.assign(words, load_eight(kWeights, o * p_.depth() + k));
            if (!is_whole()) w_.end();
            return words;
        }
        for (int64_t i = 0; i < 8; ++i) {
            w_.block();
            const Expr exists = w_.let("exists", k + i < p_.depth());
            const Expr place = w_.let("place", select(exists, o * p_.depth() + k + i, index(0)));
            w_.assign(body_->element(eight_, index(i)),
                      select(exists, load(kWeights, place), number(0)));
            w_.end();
        }
        return body_->pack(eight_);
    }

    // ------------------------------------------------------------------------ sums

    void sum_products(const Tiles& tiles) {
        sums_ = w_.declare_chunks("sum", Chunk::kSums, static_cast<uint32_t>(rows() * columns()));
        const Expr zero = w_.unrolled_for_("zero", rows() * columns());
        w_.assign(body_->element(sums_, zero), body_->fill(Chunk::kSums, number(0)));
        w_.end();
        windows_ = declare_windows(each());
        const Expr i = w_.unrolled_for_("i", each());
        set_window(windows_, i,
                   w_.let("pixel", lesser(tiles.first + lane_ + i * subgroup(), tiles.count - 1)));
        w_.end();
        // All subgroups go round equally often: not every driver lets matrices be used otherwise.
        const Expr turn =
            w_.for_("turn", index(0), [&](Expr next) { return next < slice_chunks(); });
        const Expr chunk = w_.let("chunk", slice_ * slice_chunks() + turn);
        const int64_t of_chunk = t_.chunk / held();
        const Expr part = w_.unrolled_for_("part", of_chunk);
        fetch(tiles, chunk, part, of_chunk);
        const Expr stage = w_.unrolled_for_("stage", held() / t_.stage);
        put(stage);
        multiply();
        for (int scope = 0; scope < 3; ++scope) w_.end();
    }

    void fetch(const Tiles& tiles, Expr chunk, Expr part, int64_t of_chunk) {
        eight_ = array("eight", 8);
        patches_ =
            w_.declare_chunks("patches", Chunk::kHalves, static_cast<uint32_t>(each() * vectors()));
        const Expr i = w_.unrolled_for_("i", each()), v = w_.unrolled_for_("v", vectors());
        w_.assign(body_->element(patches_, i * vectors() + v),
                  eight_elements(i, w_.let("c", chunk * (t_.chunk / p_.taps())),
                                 w_.let("k", part * held() + v * 8)));
        w_.end();
        w_.end();
        fetched_ = w_.declare_chunks("fetched", Chunk::kHalves, static_cast<uint32_t>(loads()));
        const Expr u = w_.unrolled_for_("u", loads());
        w_.assign(body_->element(fetched_, u),
                  eight_weights(tiles.first_out, w_.let("held", chunk * of_chunk + part),
                                w_.let("e", lane_ + u * subgroup())));
        w_.end();
    }

    void put(Expr stage) {
        const int64_t of_stage = t_.stage / 8;
        w_.subgroup_barrier();
        const Expr i = w_.unrolled_for_("i", each()), v = w_.unrolled_for_("v", of_stage);
        w_.assign(
            body_->element(memory_, pixels_ + (lane_ + i * subgroup()) * step() + v),
            body_->reinterpret(body_->element(patches_, i * vectors() + stage * of_stage + v)));
        w_.end();
        w_.end();
        const Expr u = w_.unrolled_for_("u", loads());
        const Expr e = w_.let("e", lane_ + u * subgroup()), row = w_.let("row", e / vectors());
        const Expr at = w_.let("at", e % vectors() - stage * of_stage);
        w_.if_(logical_and(row < t_.oc, is_within(at, of_stage)));
        w_.assign(body_->element(memory_, weights_ + row * step() + at),
                  body_->reinterpret(body_->element(fetched_, u)));
        w_.end();
        w_.end();
        w_.subgroup_barrier();
    }

    void multiply() {
        const int64_t k_eights = shape_.k / 8, of_row = shape_.m * step();
        const Expr k = w_.unrolled_for_("k", t_.stage / shape_.k);
        const Expr a = w_.declare_chunks("a", Chunk::kLeft, static_cast<uint32_t>(rows()));
        Expr i = w_.unrolled_for_("i", rows());
        w_.load_fragment(body_->element(a, i),
                         {memory_, weights_ + i * of_row + k * k_eights, index(step())});
        w_.end();
        const Expr j = w_.unrolled_for_("j", columns());
        const Expr b = w_.declare_chunk("b", Chunk::kRight);
        w_.load_fragment(
            b, {memory_, pixels_ + j * (shape_.n * step()) + k * k_eights, index(step()), true});
        i = w_.unrolled_for_("i", rows());
        w_.assign(sum(i, j), body_->multiply_add(body_->element(a, i), b, sum(i, j)));
        for (int scope = 0; scope < 3; ++scope) w_.end();
    }

    void add_slices(const Tiles& tiles) {
        w_.barrier();
        const Expr i = w_.unrolled_for_("i", rows()), j = w_.unrolled_for_("j", columns());
        w_.store_fragment(
            sum(i, j),
            {memory_, slice_ * parts() + i * (shape_.m * t_.lanes / 4) + j * (shape_.n / 4),
             index(t_.lanes / 4)});
        w_.end();
        w_.end();
        w_.barrier();
        const Expr e = w_.for_(
            "e", thread_, [&](Expr next) { return next < t_.oc * t_.lanes; },
            index(t_.slices * subgroup()));
        const Expr total = w_.declare("total", ScalarType::kF32, number(0));
        const Expr s = w_.unrolled_for_("s", t_.slices);
        const Expr word = body_->chunk_element(body_->element(memory_, s * parts() + e / 4), e % 4);
        w_.accumulate(total, body_->operation(ScalarOp::kBitsToF32, word));
        w_.end();
        store_pixel(pixel_at(w_.let("q", tiles.first + e % t_.lanes)),
                    w_.let("o", tiles.first_out + e / t_.lanes), tiles.count, total);
        w_.end();
        w_.barrier();
    }

    const MatrixShape shape_ = options_.caps.cooperative_matrix_shape;
    Expr
        memory_;  ///< of a subgroup: its patches, [lanes, stage], and weights, [oc, stage]; then its sums
    Expr slice_, lane_, pixels_, weights_, sums_, eight_, patches_, fetched_;
    Windows windows_;
};

}  // namespace

KernelDraft gpu_conv_slices(const KernelTask& task, const ConvProblem& problem,
                            const ConvTile& tile) {
    return Slices(task, problem, tile).run();
}

}  // namespace hearth
