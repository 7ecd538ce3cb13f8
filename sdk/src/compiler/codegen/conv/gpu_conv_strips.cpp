// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution for few channels and large images: all weights fit in shared memory; what a thread's windows cover of x fits
// in its registers (ConvTile::holds_x), or what a tile's cover in shared memory.
//
// Each workgroup computes tiles of strips * px x lanes * 4 pixels for groups * turns * oc output channels.  A thread sums
// px rows of four pixels by oc channels, `turns` times: what it reads of a row of x serves all of the window's columns,
// and four results are one store.  f32 sums in a fixed order.
// Bytes moved: x (1 + halo) * out / (groups * turns * oc) times, y once.

#include "compiler/codegen/conv/gpu_conv_kernel.hpp"

namespace hearth {

namespace {

int64_t parts_of(int64_t count, int64_t part) {
    return (count + part - 1) / part;
}

class Strips : GpuConvKernel {
  public:
    using GpuConvKernel::GpuConvKernel;

    KernelDraft run() {
        weights_ = shared("weights", p_.depth() * tile_out() / wide(),
                          wide() == 4 ? Chunk::kFour : Chunk::kTwo);
        if (!t_.holds_x) patch_ = shared("patch_of_x", patch(), Chunk::kFour);
        lane_ = w_.let("lane", thread_ % t_.lanes);
        strip_ = w_.let("strip", thread_ / t_.lanes % t_.strips * t_.px);
        group_ = w_.let("group", thread_ / (t_.lanes * t_.strips));
        Tiles tiles = open_tiles(tiles_y() * tiles_x(), 1, tile_out());
        stage_weights(tiles.first_out);
        if (t_.holds_x) w_.barrier();
        open_tile(tiles);
        compute(tiles);
        close_tiles();
        return finish("conv_strips", t_.threads());
    }

  private:
    int64_t wide() const { return t_.oc % 4 == 0 ? 4 : 2; }
    int64_t tile_out() const { return t_.groups * t_.turns * t_.oc; }
    int64_t tile_y() const { return t_.strips * t_.px; }
    int64_t tile_x() const { return t_.lanes * 4; }
    int64_t tiles_y() const { return parts_of(p_.count[0], tile_y()); }
    int64_t tiles_x() const { return parts_of(p_.count[1], tile_x()); }
    /// Rows of the patch begin at a multiple of four of x, so much before the first window.
    int64_t shift() const { return ((-low(kAlongX)) % 4 + 4) % 4; }
    int64_t patch_y() const { return p_.patch_extent(0, tile_y()); }
    int64_t pitch() const { return (shift() + p_.patch_extent(1, tile_x()) + 3) / 4; }  // vectors
    int64_t patch() const { return p_.channels * patch_y() * pitch(); }
    int64_t rows() const { return p_.patch_extent(0, t_.px); }
    int64_t span() const { return p_.patch_extent(1, 4); }
    Expr sum(Expr j, Expr i) const { return body_->element(sums_, j * t_.px + i); }
    Expr channel_at(Expr image, Expr c) const { return (image * p_.channels + c) * plane(); }

    void stage_weights(Expr first_out) {
        const Expr e = w_.for_(
            "e", thread_, [&](Expr at) { return at < p_.depth() * tile_out(); },
            index(t_.threads()));
        const Expr o = w_.let("o", lesser(first_out + e % tile_out(), index(p_.out - 1)));
        const Expr k = w_.let("k", e / tile_out());
        const Expr vector = body_->element(weights_, e / wide());
        w_.assign(body_->chunk_element(vector, e % wide()), load(kWeights, o * p_.depth() + k));
        w_.end();
    }

    // ------------------------------------------------------------------------ x

    Expr one_of_x(Expr from, Expr x) { return load_x(from + x, is_within(x, p_.size[1])); }

    /// From a multiple of four on, of the row that begins at `from`; zeros where the condition does not hold.
    Expr four_of_x(Expr from, Expr x, Expr condition) {
        const Expr four =
            w_.declare_chunk("four", Chunk::kFour, body_->fill(Chunk::kFour, number(0)));
        w_.if_(condition);
        if (p_.size[1] % 4 == 0) {
            w_.if_(is_within(x, p_.size[1]));
            w_.assign(four, load_four(kX, from + x));
            w_.end();
        } else {
            for (int64_t i = 0; i < 4; ++i) {
                w_.block();
                w_.assign(body_->chunk_element(four, index(i)), one_of_x(from, x + i));
                w_.end();
            }
        }
        w_.end();
        return four;
    }

    /// Fills a thread's row: `four` gives what begins at element `e`, a multiple of four less shift(), of which there are
    /// whole ones, and `one` a single element.
    template <class FourOf, class OneOf>
    void read_row(Expr xs, Expr row, const FourOf& four_at, const OneOf& one_at) {
        const int64_t whole = (shift() + span()) / 4 * 4 - shift();
        for (int64_t i = 0; i < span(); ++i) {
            const int64_t e = shift() + i;
            const bool is_four = e % 4 == 0 && i + 3 < span();
            if (!is_four && i >= (4 - shift()) % 4 && i < whole) continue;
            w_.block();
            const Expr four = is_four ? four_at(e) : Expr{};
            for (int64_t lane = 0; lane < (is_four ? 4 : 1); ++lane)
                w_.assign(body_->element(xs, row + (i + lane)),
                          is_four ? body_->chunk_element(four, index(lane)) : one_at(e));
            w_.end();
        }
    }

    /// What the thread's windows cover, from memory.
    void hold_x(Expr image, Expr from_y, Expr from_x) {
        xs_ = array("held", p_.channels * rows() * span());
        const Expr c = w_.unrolled_for_("c", p_.channels);
        const Expr r = w_.unrolled_for_("r", rows());
        const Expr sy = w_.let("sy", from_y + strip_ * stride(kAlongY) + r);
        const Expr sx = w_.let("sx", from_x + lane_ * (4 * stride(kAlongX)));
        const Expr from = w_.let("from", channel_at(image, c) + sy * p_.size[1]);
        const Expr has_row = w_.let("has_row", is_within(sy, p_.size[0]));
        read_row(
            xs_, (c * rows() + r) * span(),
            [&](int64_t e) { return four_of_x(from, w_.let("at", sx + e), has_row); },
            [&](int64_t e) {
                const Expr x = w_.let("at", sx + e);
                return load_x(from + x, logical_and(has_row, is_within(x, p_.size[1])));
            });
        w_.end();
        w_.end();
    }

    /// What the tile's windows cover, into shared memory: all loads are on their way before the first is waited for.
    void stage_x(Expr image, Expr y, Expr x) {
        const int64_t loads = parts_of(patch(), t_.threads()), of_channel = patch_y() * pitch();
        const Expr held = w_.declare_chunks("held", Chunk::kFour, static_cast<uint32_t>(loads));
        const Expr u = w_.unrolled_for_("u", loads);
        const Expr e = w_.let("e", thread_ + u * t_.threads());
        const Expr at = w_.let("at", e % of_channel), sy = w_.let("sy", y + at / pitch());
        const Expr from = w_.let("from", channel_at(image, e / of_channel) + sy * p_.size[1]);
        const Expr column = w_.let("column", x + at % pitch() * 4);
        w_.assign(body_->element(held, u),
                  four_of_x(from, column, logical_and(is_within(sy, p_.size[0]), e < patch())));
        w_.end();
        w_.barrier();
        const Expr v = w_.unrolled_for_("v", loads);
        const Expr to = w_.let("to", thread_ + v * t_.threads());
        w_.if_(to < patch());
        w_.assign(body_->element(patch_, to), body_->element(held, v));
        w_.end();
        w_.end();
        w_.barrier();
    }

    /// What the thread's windows cover of a channel, from shared memory.
    void read_patch(Expr c) {
        xs_ = array("xs", rows() * span());
        const Expr r = w_.unrolled_for_("r", rows());
        const Expr row = w_.let("row", (c * patch_y() + strip_ * stride(kAlongY) + r) * pitch() +
                                           lane_ * stride(kAlongX));
        read_row(
            xs_, r * span(),
            [&](int64_t e) { return w_.let("all", body_->element(patch_, row + e / 4)); },
            [&](int64_t e) {
                return body_->chunk_element(body_->element(patch_, row + e / 4), index(e % 4));
            });
        w_.end();
    }

    // ------------------------------------------------------------------------ sums

    void compute(const Tiles& tiles) {
        const int64_t of_image = tiles_y() * tiles_x();
        const Expr image = w_.let("image", tiles.first / of_image);
        const Expr at = w_.let("of_image", tiles.first % of_image);
        const Expr first_y = w_.let("first_y", at / tiles_x() * tile_y());
        const Expr first_x = w_.let("first_x", at % tiles_x() * tile_x());
        const Expr from_y = w_.let("from_y", first_y * stride(kAlongY) - low(kAlongY));
        const Expr from_x = w_.let("from_x", first_x * stride(kAlongX) - (low(kAlongX) + shift()));
        if (t_.holds_x)
            hold_x(image, from_y, from_x);
        else
            stage_x(image, from_y, from_x);
        const Expr turn = w_.for_("turn", index(0), [&](Expr next) { return next < t_.turns; });
        const Expr block = w_.let("block", (group_ * t_.turns + turn) * t_.oc);
        sums_ = w_.declare_chunks("sum", Chunk::kFour, static_cast<uint32_t>(t_.oc * t_.px));
        const Expr zero = w_.unrolled_for_("zero", t_.oc * t_.px);
        w_.assign(body_->element(sums_, zero), body_->fill(Chunk::kFour, number(0)));
        w_.end();
        add_channels(block);
        const Expr i = w_.unrolled_for_("i", t_.px);
        const Expr y = w_.let("y", first_y + strip_ + i), x = w_.let("x0", first_x + lane_ * 4);
        const Scalar image_at = bound(image), y_at = bound(y), x_at = bound(x);
        const Expr j = w_.unrolled_for_("j", t_.oc);
        const Expr o = w_.let("o", tiles.first_out + block + j);
        Expr exists = logical_and(y < p_.count[0], x < p_.count[1]);
        if (p_.out % tile_out() != 0) exists = logical_and(o < p_.out, exists);
        w_.if_(exists);
        const Expr v = w_.let("v", sum(j, i));
        if (p_.count[1] % 4 == 0) {
            const Expr elements[] = {
                body_->chunk_element(v, index(0)), body_->chunk_element(v, index(1)),
                body_->chunk_element(v, index(2)), body_->chunk_element(v, index(3))};
            store_vector(image_at, o, y_at, x_at, elements);
        } else {
            const Expr e = w_.unrolled_for_("e", 4);
            w_.if_(x + e < p_.count[1]);
            store(image_at, o, y_at, bound(w_.let("x", x + e)), body_->chunk_element(v, e));
            w_.end();
            w_.end();
        }
        for (int scope = 0; scope < 4; ++scope) w_.end();
    }

    void add_channels(Expr block) {
        const auto is_next = [&](Expr next) { return next < p_.channels; };
        const Expr c =
            t_.holds_x ? w_.unrolled_for_("c", p_.channels) : w_.for_("c", index(0), is_next);
        if (!t_.holds_x) read_patch(c);
        const Expr base = t_.holds_x ? c * (rows() * span()) : index(0);
        const Expr k = w_.unrolled_for_("k", p_.taps());
        const Expr row = k / taps(kAlongX) * dilation(kAlongY);
        const Expr column = k % taps(kAlongX) * dilation(kAlongX);
        const Expr part = w_.unrolled_for_("part", t_.oc / wide());
        const Expr weights = w_.let(
            "w",
            body_->element(weights_, ((c * p_.taps() + k) * tile_out() + block) / wide() + part));
        const Expr i = w_.unrolled_for_("i", t_.px);
        const Expr from = w_.let("at", base + (i * stride(kAlongY) + row) * span() + column);
        std::vector<Expr> four;
        for (int64_t e = 0; e < 4; ++e)
            four.push_back(body_->element(xs_, from + e * stride(kAlongX)));
        const Expr x = w_.let("x", body_->compose(four));
        for (int64_t e = 0; e < wide(); ++e)
            add_product(sum(part * wide() + e, i), x,
                        body_->fill(Chunk::kFour, body_->chunk_element(weights, index(e))));
        for (int scope = 0; scope < 4; ++scope) w_.end();
    }

    Expr weights_, patch_, lane_, strip_, group_, xs_, sums_;
};

}  // namespace

KernelDraft gpu_conv_strips(const KernelTask& task, const ConvProblem& problem,
                            const ConvTile& tile) {
    return Strips(task, problem, tile).run();
}

}  // namespace hearth
