// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Base of the kernels of convolutions on GPUs: out[n, o, p] = sum over c, k of x[n, c, place(p, k)] w[o, c, k] with f32
// sums, over two spatial axes; with only one, the first has extent 1.
//
// x: [N, channels, size]    w: [out, channels / groups, kernel]    out: [N, out, count]

#pragma once

#include "compiler/codegen/shared/operator_kernel.hpp"
#include "compiler/ops/kernels/conv_tiles.hpp"

#include <hearth/op/op_def.hpp>

#include <span>
#include <string>

namespace hearth {

class GpuConvKernel : protected OperatorKernel {
  public:
    GpuConvKernel(const KernelTask& task, const ConvProblem& problem, const ConvTile& tile)
        : OperatorKernel(task), p_(problem), t_(tile) {
        thread_ = w_.let("thread", body_->invocation());
    }

  protected:
    static constexpr size_t kX = 0, kWeights = 1;  // inputs
    static constexpr size_t kAlongY = 0, kAlongX = 1;

    int64_t stride(size_t axis) const { return p_.window.strides[axis]; }
    int64_t dilation(size_t axis) const { return p_.window.dilations[axis]; }
    int64_t low(size_t axis) const { return p_.window.low[axis]; }
    int64_t taps(size_t axis) const { return p_.window.kernel[axis]; }
    int64_t plane() const { return p_.size[0] * p_.size[1]; }
    int64_t places() const { return count_of(p_.count); }

    /// sum += a * b, in one rounding where the device has that.
    void add_product(Expr sum, Expr a, Expr b) { w_.assign(sum, body_->multiply_add(a, b, sum)); }
    /// 0 <= i < count.
    Expr is_within(Expr i, int64_t count) const;
    Expr images();  ///< how many

    /// Element `i` of an input, in the order of memory.
    Expr load(size_t input, Expr i);
    Expr load_four(size_t input, Expr i);
    /// Eight f16 from element `i` on, a multiple of eight.
    Expr load_eight(size_t input, Expr i);
    /// The same of x; zero where the condition does not hold.
    Expr load_x(Expr i, Expr condition);
    void store(Scalar image, Expr out, Scalar y, Scalar x, Expr value);
    /// Four or eight neighbours.
    void store_vector(Scalar image, Expr out, Scalar y, Scalar x, std::span<const Expr> elements);
    /// Vectors of four words.
    Expr shared_words(const char* name, int64_t length);
    Expr array(const char* name, int64_t length);

    /// A tile of pixels and one of output channels after the other, as many workgroups as there are taking them in turns.
    struct Tiles {
        Expr count;      ///< of what tiles consist of, in all images
        Expr first;      ///< the tile's
        Expr first_out;  ///< output channel
    };
    /// Opens two loops: over groups of tiles, of which each has one tile of output channels; and, by open_tile(), over the
    /// group's tiles.  close_tiles() ends both.
    Tiles open_tiles(int64_t of_image, int64_t tile, int64_t tile_out);
    void open_tile(Tiles& tiles);
    void close_tiles();
    Expr across() const { return across_; }       ///< index of the group along pixels
    Expr group_count() const { return groups_; }  ///< along pixels

    /// Windows of pixels: where in x the first element is; and a bit for each row, and behind those for each column, that
    /// is in x.
    struct Windows {
        Expr from, bits;  ///< arrays
    };
    Windows declare_windows(int64_t count);
    void set_window(const Windows& windows, Expr i, Expr pixel);
    /// Whether tap (ky, kx) is in x, and its element of channel `c`.
    Expr is_tap_inside(Expr bits, Expr ky, Expr kx) const;
    Expr place_of_tap(Expr from, Expr c, Expr ky, Expr kx) const;
    /// A pixel of the result by its number among those of all images.
    struct Pixel {
        Expr number;
        Scalar image, y, x;
    };
    Pixel pixel_at(Expr number);
    /// Stores its value for an output channel if there are both.
    void store_pixel(const Pixel& pixel, Expr out, Expr count, Expr value);

    KernelDraft finish(const char* name, int64_t threads);

    const ConvProblem& p_;
    const ConvTile& t_;
    Expr thread_;
    GridAxis grid_;

  private:
    Coords<Scalar> result_at(Scalar image, Expr out, Scalar y, Scalar x);

    Expr across_, groups_;
    /// Tiles of a workgroup, where a device allows fewer workgroups than there are tiles.
    uint64_t items_each_ = 1;
    int64_t tile_ = 0;
};

KernelDraft gpu_conv_depthwise(const KernelTask& task, const ConvProblem& problem,
                               const ConvTile& tile);
KernelDraft gpu_conv_tiled(const KernelTask& task, const ConvProblem& problem,
                           const ConvTile& tile);
KernelDraft gpu_conv_matrix(const KernelTask& task, const ConvProblem& problem,
                            const ConvTile& tile);
KernelDraft gpu_conv_slices(const KernelTask& task, const ConvProblem& problem,
                            const ConvTile& tile);
KernelDraft gpu_conv_strips(const KernelTask& task, const ConvProblem& problem,
                            const ConvTile& tile);

}  // namespace hearth
