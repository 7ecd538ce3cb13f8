// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution of f16 with f32 sums on matrix cores, for images of many pixels: for each tap, weights [out, channels] times
// pixels [channels, pixels], the pixels being those of the tile, shifted.
//
// Each workgroup computes tiles of strips * px x lanes * n pixels for `oc` output channels, n being the columns of a
// fragment.  kConvMatrixChunk input channels at a time, it stages the part of x that the tile's windows cover, channels
// innermost so that a shift is a step in memory, and the weights, by taps.  Each of its strips * lanes subgroups takes px
// pieces of rows, one below the other, so that a fragment of pixels serves all rows of the window.  What comes next of x
// is on its way while fragments are multiplied.  Pixels and rows of weights lie a vector of eight apart more than they are
// long, so that they begin in different banks.  The order of sums is fixed.
// Bytes moved: x (1 + halo) * out / oc times, w once for each workgroup, y once; 2 each.

#include "compiler/codegen/conv/gpu_conv_kernel.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace hearth {

namespace {

constexpr int64_t kChunk = kConvMatrixChunk, kPairs = kChunk / 2;
constexpr int64_t kStep =
    kChunk / 8 + 1;  // vectors from pixel to pixel, and from weights to weights

int64_t parts_of(int64_t count, int64_t part) {
    return (count + part - 1) / part;
}

class Matrix : GpuConvKernel {
  public:
    using GpuConvKernel::GpuConvKernel;

    KernelDraft run() {
        body_->matrix = shape_;
        body_->subgroup_size = options_.caps.subgroup_size;
        patch_ = shared_words("patch_of_x", patch_y() * patch_x() * kStep);
        weights_ = shared_words("weights", p_.taps() * t_.oc * kStep);
        results_ = shared_words("results", subgroups() * t_.px * results_of_fragment());
        subgroup_ = w_.let("subgroup", body_->subgroup());
        lane_ = w_.let("lane", body_->subgroup_invocation());
        right_ = w_.let("right", subgroup_ % t_.lanes * shape_.n);
        down_ = w_.let("down", subgroup_ / t_.lanes * t_.px);
        Tiles tiles = open_tiles(tiles_y() * tiles_x(), 1, t_.oc);
        declare_pieces();
        if (has_one_chunk()) stage_weights(tiles.first_out, index(0));
        w_.block();
        fetch(across(), index(0));
        w_.end();
        open_tile(tiles);
        sum_products(tiles);
        store_results(tiles);
        close_tiles();
        return finish("conv_matrix", threads());
    }

  private:
    int64_t subgroup_size() const { return options_.caps.subgroup_size; }
    int64_t subgroups() const { return t_.strips * t_.lanes; }
    int64_t threads() const { return subgroups() * subgroup_size(); }
    int64_t tile_y() const { return t_.strips * t_.px; }
    int64_t tile_x() const { return t_.lanes * shape_.n; }
    int64_t tiles_y() const { return parts_of(p_.count[0], tile_y()); }
    int64_t tiles_x() const { return parts_of(p_.count[1], tile_x()); }
    int64_t patch_y() const { return p_.patch_extent(0, tile_y()); }
    int64_t patch_x() const { return p_.patch_extent(1, tile_x()); }
    bool has_one_chunk() const { return p_.channels <= kChunk; }
    int64_t rows_out() const { return t_.oc / shape_.m; }
    int64_t step_out() const { return shape_.n / 8 + 1; }
    int64_t results_of_fragment() const { return shape_.m * step_out(); }  // vectors
    Expr sum(Expr i, int64_t m) const { return body_->element(sums_, i * t_.px + m); }

    // ------------------------------------------------------------------------ x

    // A piece of x: of two channels, eight elements of a row where these are 16 bytes of memory, which begin shift()
    // before the first window, or one element.
    bool loads_eight() const { return p_.size[1] % 8 == 0 && tile_x() * stride(kAlongX) % 8 == 0; }
    int64_t shift() const { return ((-low(kAlongX)) % 8 + 8) % 8; }
    int64_t pieces() const {  // of a row
        return loads_eight() ? (shift() + patch_x() + 7) / 8 : patch_x();
    }
    int64_t loads() const { return parts_of(patch_y() * pieces() * kPairs, threads()); }

    void declare_pieces() {
        const auto count = static_cast<uint32_t>(loads());
        for (size_t which = 0; which < 2; ++which) {
            const char* const name = which == 0 ? "first_held" : "second_held";
            pieces_[which] = loads_eight() ? w_.declare_chunks(name, Chunk::kHalves, count)
                                           : w_.declare_array(name, ScalarType::kF32, count);
        }
    }

    /// Neighbouring threads have pairs of channels, then rows: words of different banks.
    struct Piece {
        Expr pair, row, at;
    };
    Piece piece_at(Expr u) {
        const Expr e = w_.let("e", thread_ + u * threads());
        return {w_.let("pair", e % kPairs), w_.let("row", e / kPairs % patch_y()),
                w_.let("at", e / (kPairs * patch_y()))};
    }

    /// All loads of the patch of a tile, from channel c on.
    void fetch(Expr tile, Expr c) {
        const int64_t of_image = tiles_y() * tiles_x();
        const Expr now = w_.let("tile_now", tile), c_now = w_.let("c_now", c);
        const Expr image = w_.let("n", now / of_image), place = w_.let("p", now % of_image);
        const Expr y =
            w_.let("py", place / tiles_x() * (tile_y() * stride(kAlongY)) - low(kAlongY));
        const Expr x =
            w_.let("px", place % tiles_x() * (tile_x() * stride(kAlongX)) - low(kAlongX));
        const Expr u = w_.unrolled_for_("u", loads());
        const Piece piece = piece_at(u);
        const Expr sy = w_.let("sy", y + piece.row);
        const Expr sx = w_.let("sx", loads_eight() ? x - shift() + piece.at * 8 : x + piece.at);
        const Expr has_row =
            w_.let("has_row",
                   logical_and(logical_and(is_within(sy, p_.size[0]), is_within(sx, p_.size[1])),
                               piece.at < pieces()));
        for (int64_t which = 0; which < 2; ++which) {
            w_.block();
            const Expr channel = w_.let("channel", c_now + piece.pair * 2 + which);
            const Expr inside = w_.let("inside", logical_and(has_row, channel < p_.channels));
            const Expr from =
                w_.let("from", (image * p_.channels + channel) * plane() + sy * p_.size[1] + sx);
            const Expr to = body_->element(pieces_[static_cast<size_t>(which)], u);
            if (loads_eight()) {
                w_.assign(to, body_->fill(Chunk::kHalves, number(0)));
                w_.if_(inside);
                w_.assign(to, load_eight(kX, from));
                w_.end();
            } else {
                w_.assign(to, load_x(from, inside));
            }
            w_.end();
        }
        w_.end();
    }

    /// Two f16 as a word.
    Expr word_of(Expr low_half, Expr high_half) {
        const Expr pair[] = {low_half, high_half, number(0), number(0)};
        const Expr zeros = body_->fill(Chunk::kFour, number(0));
        const Expr words = w_.let(
            "words", body_->reinterpret(body_->join(Chunk::kHalves, body_->compose(pair), zeros)));
        return body_->chunk_element(words, index(0));
    }

    void stage_pair(const Piece& piece, Expr x, Expr both) {
        const Expr vector =
            body_->element(patch_, (piece.row * patch_x() + x) * kStep + piece.pair / 4);
        w_.assign(body_->chunk_element(vector, piece.pair % 4), both);
    }
    void stage_pieces() {
        const Expr u = w_.unrolled_for_("u", loads());
        const Piece piece = piece_at(u);
        w_.if_(piece.at < pieces());
        const Expr first = body_->element(pieces_[0], u), second = body_->element(pieces_[1], u);
        if (!loads_eight()) {
            stage_pair(piece, piece.at, word_of(first, second));
        } else {
            const Expr a = w_.let("first_words", body_->reinterpret(first));
            const Expr b = w_.let("second_words", body_->reinterpret(second));
            const auto apply = [&](ScalarOp op, Expr word, uint32_t by) {
                return body_->operation(op, word, body_->constant(by, ScalarType::kU32));
            };
            for (int64_t i = 0; i < 8; ++i) {
                const Expr low_word = body_->chunk_element(a, index(i / 2));
                const Expr high_word = body_->chunk_element(b, index(i / 2));
                const Expr low_half = i % 2 == 0 ? apply(ScalarOp::kBitAnd, low_word, 0xffff)
                                                 : apply(ScalarOp::kShiftRight, low_word, 16);
                const Expr high_half = i % 2 == 0
                                           ? apply(ScalarOp::kShiftLeft, high_word, 16)
                                           : apply(ScalarOp::kBitAnd, high_word, 0xffff0000u);
                w_.block();
                const Expr x = w_.let("x", piece.at * 8 - shift() + i);
                w_.if_(is_within(x, patch_x()));
                stage_pair(piece, x, body_->operation(ScalarOp::kBitOr, low_half, high_half));
                w_.end();
                w_.end();
            }
        }
        w_.end();
        w_.end();
    }

    void stage_weights(Expr first_out, Expr c) {
        const Expr e = w_.for_(
            "e", thread_, [&](Expr at) { return at < p_.taps() * t_.oc * kPairs; },
            index(threads()));
        const Expr tap = w_.let("tap", e % p_.taps());
        const Expr pair = w_.let("pair", e / p_.taps() % kPairs);
        const Expr o = w_.let("o", e / (p_.taps() * kPairs));
        const Expr channel = w_.let("channel", c + pair * 2);
        const Expr from =
            w_.let("from", ((first_out + o) * p_.channels + channel) * p_.taps() + tap);
        std::array<Expr, 2> weights;
        for (int64_t which = 0; which < 2; ++which) {
            const Expr exists =
                w_.let(which == 0 ? "has_first" : "has_second",
                       logical_and(first_out + o < p_.out, channel + which < p_.channels));
            const Expr place = w_.let(which == 0 ? "at_first" : "at_second",
                                      select(exists, from + which * p_.taps(), index(0)));
            weights[static_cast<size_t>(which)] = w_.let(
                which == 0 ? "first" : "second", select(exists, load(kWeights, place), number(0)));
        }
        const Expr vector = body_->element(weights_, (tap * t_.oc + o) * kStep + pair / 4);
        w_.assign(body_->chunk_element(vector, pair % 4), word_of(weights[0], weights[1]));
        w_.end();
    }

    // ------------------------------------------------------------------------ sums

    void sum_products(const Tiles& tiles) {
        sums_ = w_.declare_chunks("sum", Chunk::kSums, static_cast<uint32_t>(rows_out() * t_.px));
        const Expr zero = w_.unrolled_for_("zero", rows_out() * t_.px);
        w_.assign(body_->element(sums_, zero), body_->fill(Chunk::kSums, number(0)));
        w_.end();
        const Expr c = w_.for_(
            "c", index(0), [&](Expr at) { return at < p_.channels; }, index(kChunk));
        w_.barrier();
        stage_pieces();
        if (!has_one_chunk()) stage_weights(tiles.first_out, c);
        w_.barrier();
        const Expr is_last = w_.let("is_last", c + kChunk >= index(p_.channels));
        w_.block();
        fetch(lesser(select(is_last, tiles.first + group_count(), tiles.first), tiles.count - 1),
              select(is_last, index(0), c + kChunk));
        w_.end();
        multiply();
        w_.end();
    }

    void multiply() {
        const int64_t k_eights = shape_.k / 8, rows = p_.patch_extent(0, t_.px);
        const int64_t taps_y = taps(kAlongY), taps_x = taps(kAlongX);
        const Expr kx = w_.unrolled_for_("kx", taps_x);
        const Expr k = w_.unrolled_for_("k", kChunk / shape_.k);
        const Expr a =
            w_.declare_chunks("a", Chunk::kLeft, static_cast<uint32_t>(rows_out() * taps_y));
        Expr i = w_.unrolled_for_("i", rows_out());
        const Expr ky = w_.unrolled_for_("ky", taps_y);
        w_.load_fragment(
            body_->element(a, i * taps_y + ky),
            {weights_, ((ky * taps_x + kx) * t_.oc + i * shape_.m) * kStep + k * k_eights,
             index(kStep)});
        w_.end();
        w_.end();
        for (int64_t r = 0; r < rows; ++r) {
            w_.block();
            const Expr from = w_.let("from", (down_ * stride(kAlongY) + r) * patch_x() +
                                                 right_ * stride(kAlongX) + kx * dilation(kAlongX));
            const Expr b = w_.declare_chunk("b", Chunk::kRight);
            w_.load_fragment(
                b, {patch_, from * kStep + k * k_eights, index(stride(kAlongX) * kStep), true});
            for (int64_t tap = 0; tap < taps_y; ++tap) {
                const int64_t away = r - tap * dilation(kAlongY);
                if (away < 0 || away % stride(kAlongY) != 0 || away / stride(kAlongY) >= t_.px)
                    continue;
                i = w_.unrolled_for_("i", rows_out());
                const Expr to = sum(i, away / stride(kAlongY));
                w_.assign(to, body_->multiply_add(body_->element(a, i * taps_y + tap), b, to));
                w_.end();
            }
            w_.end();
        }
        w_.end();
        w_.end();
    }

    // ------------------------------------------------------------------------ results

    void store_results(const Tiles& tiles) {
        const int64_t of_image = tiles_y() * tiles_x(), eights = shape_.m * (shape_.n / 8);
        const Expr image = w_.let("image", tiles.first / of_image);
        const Expr place = w_.let("of_image", tiles.first % of_image);
        const Expr y = w_.let("y0", place / tiles_x() * tile_y() + down_);
        const Expr x = w_.let("x0", place % tiles_x() * tile_x() + right_);
        const Expr base = w_.let("base", subgroup_ * (t_.px * results_of_fragment()));
        const Expr i = w_.unrolled_for_("i", rows_out());
        for (int64_t m = 0; m < t_.px; ++m) {
            w_.block();
            // As the operator's result is f16, whatever follows it.
            const Expr rounded = w_.declare_chunk("rounded", Chunk::kHalfSums);
            w_.assign(rounded, body_->convert(Chunk::kHalfSums, sum(i, m)));
            w_.store_fragment(rounded,
                              {results_, base + m * results_of_fragment(), index(step_out())});
            w_.end();
        }
        w_.subgroup_barrier();
        const Expr e = w_.for_(
            "e", lane_, [&](Expr at) { return at < t_.px * eights; }, index(subgroup_size()));
        w_.keep_last_rolled();
        const Expr m = w_.let("m", e / eights), row = w_.let("row", e % eights / (shape_.n / 8));
        const Expr eight = w_.let("eight", e % (shape_.n / 8));
        const Expr v = w_.let("v", body_->element(results_, base + m * results_of_fragment() +
                                                                row * step_out() + eight));
        const Expr halves = body_->reinterpret(v);
        store_eight(image, w_.let("o", tiles.first_out + i * shape_.m + row), w_.let("y", y + m),
                    w_.let("x", x + eight * 8), w_.let("low", body_->part(halves, 0)),
                    w_.let("high", body_->part(halves, 1)));
        w_.end();
        w_.subgroup_barrier();
        w_.end();
    }

    void store_eight(Expr image, Expr o, Expr y, Expr x, Expr low_four, Expr high_four) {
        Expr exists = logical_and(y < p_.count[0], x < p_.count[1]);
        if (p_.out % t_.oc != 0) exists = logical_and(o < p_.out, exists);
        w_.if_(exists);
        std::vector<Expr> elements;
        for (int64_t i = 0; i < 8; ++i)
            elements.push_back(body_->chunk_element(i < 4 ? low_four : high_four, index(i % 4)));
        if (p_.count[1] % 8 == 0) {
            store_vector(bound(image), o, bound(y), bound(x), elements);
        } else {
            for (int64_t i = 0; i < 8; ++i) {
                w_.if_(x + i < p_.count[1]);
                store(bound(image), o, bound(y), bound(w_.let("to_x", x + i)),
                      elements[static_cast<size_t>(i)]);
                w_.end();
            }
        }
        w_.end();
    }

    const MatrixShape shape_ = options_.caps.cooperative_matrix_shape;
    Expr patch_, weights_, results_, subgroup_, lane_, right_, down_, sums_;
    std::array<Expr, 2> pieces_;  ///< that are on their way, of either channel of a pair
};

}  // namespace

KernelDraft gpu_conv_matrix(const KernelTask& task, const ConvProblem& problem,
                            const ConvTile& tile) {
    return Matrix(task, problem, tile).run();
}

}  // namespace hearth
