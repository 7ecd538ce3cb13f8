// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution with 3 x 3 windows, one apart, by Winograd's minimal filtering F(2 x 2, 3 x 3) (Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2016, section 4.1): a block of 2 x 2 results takes 16 products for each
// channel instead of 36.
//
// Each workgroup computes kWinogradBlocks blocks for kWinogradOuts output channels.  kWinogradChunk input channels at a
// time, each thread transforms the 4 x 4 elements of one block and one kernel into shared memory; then 16 threads for each
// of the 16 products of matrices sum 8 x 8 elements each.  At the end all 16 meet in shared memory and are transformed
// back.  f32 sums in a fixed order; infinities give NaN, as differences of elements are multiplied.
// Bytes moved: x 4 out / kWinogradOuts times, mostly from the cache; w once for each kWinogradBlocks blocks; y once.

#include "compiler/codegen/conv/gpu_conv_kernel.hpp"

#include <array>

namespace hearth {

namespace {

using Four = std::array<Expr, 4>;
using Matrix = std::array<Four, 4>;  ///< rows

constexpr int64_t kBlocks = kWinogradBlocks, kOuts = kWinogradOuts, kThreads = kWinogradThreads;
constexpr int64_t kChunk = kWinogradChunk, kSide = 8;  // a thread's sums along either axis
constexpr int64_t kHalf = kOuts / 2;                   // output channels that fit at the end

class Winograd : GpuConvKernel {
  public:
    using GpuConvKernel::GpuConvKernel;

    KernelDraft run() {
        // [16, kChunk, kBlocks] and [16, kChunk, kOuts] while summing, [16, kHalf, kBlocks] at the end.
        memory_ = shared("memory", 16 * kChunk * (kBlocks + kOuts) / 4, Chunk::kFour);
        product_ = w_.let("product", thread_ / 16);
        down_ = w_.let("down", thread_ / 4 % 4 * kSide);
        right_ = w_.let("right", thread_ % 4 * kSide);
        Tiles tiles = open_tiles(of_image(), kBlocks, kOuts);
        open_tile(tiles);
        sum_products(tiles);
        store_results(tiles);
        close_tiles();
        return finish("conv_winograd", kThreads);
    }

  private:
    int64_t blocks_x() const { return (p_.count[1] + 1) / 2; }
    int64_t of_image() const { return blocks_x() * ((p_.count[0] + 1) / 2); }
    Expr at(Expr e) const { return body_->chunk_element(body_->element(memory_, e / 4), e % 4); }
    Expr let(Expr value) { return w_.let("m" + std::to_string(names_++), value); }

    // ------------------------------------------------------------------------ transforms

    Matrix block_of_x(Expr block, Expr c) {
        const Expr n = w_.let("image", block / of_image()),
                   place = w_.let("of_image", block % of_image());
        const Expr y = w_.let("y", place / blocks_x() * 2 - low(kAlongY));
        const Expr x = w_.let("x0", place % blocks_x() * 2 - low(kAlongX));
        const Expr from = w_.let("from", (n * p_.channels + c) * plane() + y * p_.size[1] + x);
        const Expr d = array("d", 16);
        const Expr i = w_.unrolled_for_("i", 4), j = w_.unrolled_for_("j", 4);
        const Expr inside =
            logical_and(logical_and(is_within(y + i, p_.size[0]), is_within(x + j, p_.size[1])),
                        c < p_.channels);
        w_.assign(body_->element(d, i * 4 + j), load_x(from + i * p_.size[1] + j, inside));
        w_.end();
        w_.end();
        return matrix_of(d);
    }
    Matrix matrix_of(Expr array) {
        Matrix m;
        for (size_t i = 0; i < 16; ++i)
            m[i / 4][i % 4] = let(body_->element(array, index(static_cast<int64_t>(i))));
        return m;
    }

    /// The four sums and differences of four: along columns, then along rows.
    Four spread_x(const Four& d) {
        return {let(d[0] - d[2]), let(d[1] + d[2]), let(d[2] - d[1]), let(d[1] - d[3])};
    }
    Matrix transformed_x(const Matrix& d) {
        Matrix t, v;
        for (size_t j = 0; j < 4; ++j) {
            const Four column = spread_x({d[0][j], d[1][j], d[2][j], d[3][j]});
            for (size_t i = 0; i < 4; ++i) t[i][j] = column[i];
        }
        for (size_t i = 0; i < 4; ++i) v[i] = spread_x(t[i]);
        return v;
    }

    Four spread_kernel(Expr first, Expr second, Expr third) {
        const Expr ends = let(number(0.5) * (first + third)), middle = let(number(0.5) * second);
        return {first, let(ends + middle), let(ends - middle), third};
    }
    Matrix transformed_kernel(Expr o, Expr c) {
        const Expr g = array("g", 9);
        const Expr from = w_.let(
            "of_kernel",
            (lesser(o, index(p_.out - 1)) * p_.channels + lesser(c, index(p_.channels - 1))) * 9);
        const Expr i = w_.unrolled_for_("i", 9);
        w_.assign(body_->element(g, i), load(kWeights, from + i));
        w_.end();
        std::array<Four, 3> columns;
        const auto tap = [&](int64_t row, int64_t column) {
            return let(body_->element(g, index(3 * row + column)));
        };
        for (int64_t j = 0; j < 3; ++j)
            columns[static_cast<size_t>(j)] = spread_kernel(tap(0, j), tap(1, j), tap(2, j));
        Matrix u;
        for (size_t row = 0; row < 4; ++row)
            u[row] = spread_kernel(columns[0][row], columns[1][row], columns[2][row]);
        return u;
    }

    // ------------------------------------------------------------------------ products

    void sum_products(const Tiles& tiles) {
        const int64_t weights = 16 * kChunk * kBlocks;
        const Expr lane = w_.let("lane", thread_ % kBlocks);
        const Expr channel = w_.let("channel", thread_ / kBlocks);
        sums_ = array("sum", kSide * kSide);
        const Expr zero = w_.unrolled_for_("zero", kSide * kSide);
        w_.assign(body_->element(sums_, zero), number(0));
        w_.end();
        const Expr c0 = w_.for_(
            "c0", index(0), [&](Expr next) { return next < p_.channels; }, index(kChunk));
        const Expr c_own = w_.let("c_own", c0 + channel);
        const Matrix v = transformed_x(
            block_of_x(w_.let("block", lesser(tiles.first + lane, tiles.count - 1)), c_own));
        const Matrix u = transformed_kernel(w_.let("o", tiles.first_out + lane), c_own);
        w_.barrier();
        for (size_t k = 0; k < 16; ++k) {
            const Expr row = channel + static_cast<int64_t>(k) * kChunk;
            w_.assign(at(row * kBlocks + lane), v[k / 4][k % 4]);
            w_.assign(at(row * kOuts + lane + weights), u[k / 4][k % 4]);
        }
        w_.barrier();
        const Expr c = w_.unrolled_for_("c", kChunk);
        const Expr row = w_.let("row", product_ * kChunk + c);
        const Expr a = w_.declare_chunks("a", Chunk::kFour, 2);
        const Expr b = w_.declare_chunks("b", Chunk::kFour, 2);
        const Expr h = w_.unrolled_for_("h", 2);
        w_.assign(body_->element(a, h),
                  body_->element(memory_, (row * kOuts + down_ + weights) / 4 + h));
        w_.assign(body_->element(b, h), body_->element(memory_, (row * kBlocks + right_) / 4 + h));
        w_.end();
        const Expr i = w_.unrolled_for_("i", kSide), j = w_.unrolled_for_("j", kSide);
        add_product(body_->element(sums_, i * kSide + j),
                    body_->chunk_element(body_->element(a, i / 4), i % 4),
                    body_->chunk_element(body_->element(b, j / 4), j % 4));
        for (int scope = 0; scope < 4; ++scope) w_.end();
    }

    void store_results(const Tiles& tiles) {
        const Expr half = w_.unrolled_for_("half", 2);
        w_.barrier();
        w_.if_(down_ / kHalf == half);
        const Expr i = w_.unrolled_for_("i", kSide), j = w_.unrolled_for_("j", kSide);
        const Expr row = product_ * kHalf + down_ - half * kHalf + i;
        w_.assign(at(row * kBlocks + right_ + j), body_->element(sums_, i * kSide + j));
        for (int scope = 0; scope < 3; ++scope) w_.end();
        w_.barrier();
        const Expr e = w_.for_(
            "e", thread_, [&](Expr next) { return next < kHalf * kBlocks; }, index(kThreads));
        const Expr m = array("m", 16);
        const Expr k = w_.unrolled_for_("k", 16);
        w_.assign(body_->element(m, k), at(k * (kHalf * kBlocks) + e));
        w_.end();
        store_block(w_.let("block", tiles.first + e % kBlocks), tiles.count,
                    w_.let("o", tiles.first_out + half * kHalf + e / kBlocks), matrix_of(m));
        w_.end();
        w_.end();
    }

    void store_block(Expr block, Expr count, Expr o, const Matrix& m) {
        Four above, below;
        for (size_t j = 0; j < 4; ++j) {
            above[j] = let(m[0][j] + m[1][j] + m[2][j]);
            below[j] = let(m[1][j] - m[2][j] - m[3][j]);
        }
        w_.if_(logical_and(block < count, o < p_.out));
        const Expr n = w_.let("image", block / of_image()),
                   place = w_.let("of_image", block % of_image());
        const Expr y = w_.let("y0", place / blocks_x() * 2),
                   x = w_.let("x0", place % blocks_x() * 2);
        for (int64_t i = 0; i < 2; ++i)
            for (int64_t j = 0; j < 2; ++j) {
                const Four& row = i == 0 ? above : below;
                const Expr result = j == 0 ? row[0] + row[1] + row[2] : row[1] - row[2] - row[3];
                w_.if_(logical_and(y + i < p_.count[0], x + j < p_.count[1]));
                store(bound(n), o, bound(w_.let("y", y + i)), bound(w_.let("x", x + j)),
                      w_.let("result", result));
                w_.end();
            }
        w_.end();
    }

    Expr memory_, product_, down_, right_, sums_;
    int names_ = 0;
};

}  // namespace

KernelDraft gpu_conv_winograd(const KernelTask& task, const ConvProblem& problem,
                              const ConvTile& tile) {
    return Winograd(task, problem, tile).run();
}

}  // namespace hearth
