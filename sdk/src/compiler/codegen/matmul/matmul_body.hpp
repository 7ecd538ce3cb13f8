// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Base of the writers of matrix products for GPUs: out[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n].
// It reads operands' elements (the prologue), alone and in vectors, and stores what follows from sums (the epilogue).

#pragma once

#include "compiler/codegen/matmul/matmul_tiles.hpp"
#include "compiler/codegen/shared/operator_kernel.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hearth {

/// out[b, m, n] = sum over k of a[b, m, k] * b[b, k, n].
struct MatmulExtents {
    Shape batch;
    Dim m, n, k;

    MatmulExtents(const Graph& graph, const Node& product);
};

/// An operand that lies in memory as it is read, but for the order of its axes.
struct MemoryView {
    DType dtype = DType::kF32;
    Dim contiguous;                  ///< extent along which neighbours are neighbours in memory
    bool is_swapped = false;         ///< by a view
    bool is_cast = false;            ///< to the operand's type, once
    const Node* unpacked = nullptr;  ///< that makes the elements of packed words
};

class MatmulBody : protected OperatorKernel {
  public:
    explicit MatmulBody(const KernelTask& task);
    MatmulBody(const KernelTask& task, const MatmulTile& tile) : MatmulBody(task) { tile_ = tile; }

    /// The product, as the choice of a tile depends on it.
    MatmulProblem problem() const;

  protected:
    // ------------------------------------------------------------------------ numbers

    ScalarType number_type() const;  ///< in which the product multiplies and adds
    Expr zero() { return body_->constant(0, number_type()); }
    Expr four_zeros() { return body_->fill(Chunk::kFour, body_->constant(0, ScalarType::kF32)); }
    /// A variable of the type of its first value.
    Expr variable(std::string name, Expr first);
    /// sum += a * b, in one rounding if they are f32.
    void add_product(Expr sum, Expr a, Expr b);
    /// Closes `scopes` loops and branches.
    void end(int scopes);
    /// Opens nested loops that are written out; end(2) closes them.
    std::pair<Expr, Expr> for_each(int64_t rows, int64_t columns);
    /// for (e = thread; e < count; e += threads); end(1) closes it.
    Expr share_out(std::string name, int64_t count);

    // ------------------------------------------------------------------------ the workgroup

    /// Declares thread and counts.
    void declare_workgroup();
    /// Declares batch, first_m and first_n by the workgroup's place in the grid, and opens the scope of tiles with live
    /// rows and columns.
    void open_tile();
    /// The same of a tile that begins here.
    void open_tile(Expr first_m, Expr first_n);
    /// The stretch of the inner extent that the workgroup sums: all of k, or its part in a product in parts.
    void set_inner_range();
    /// True if the extent is a multiple of the tile's, so that nothing need be checked.
    static bool is_whole(Dim extent, int tile) {
        return !extent.is_batch && extent.count % tile == 0;
    }
    bool is_m_whole() const { return is_whole(extents_.m, tile_.bm); }
    bool is_n_whole() const { return is_whole(extents_.n, tile_.bn); }
    bool is_k_whole() const;
    /// The conjunction of the conditions that are not null; null if there is none.
    static Expr all_of(std::initializer_list<Expr> conditions);
    /// `inside` and m < m_count; `inside` alone if no tile reaches beyond the last row.
    Expr is_inside_m(Expr m) { return is_m_whole() ? Expr() : m < m_count_; }
    Expr is_inside_n(Expr n) { return is_n_whole() ? Expr() : n < n_count_; }
    Expr is_inside_k(Expr k) { return is_k_whole() ? Expr() : k < k_end_; }
    /// The kernel, once its statements are written.
    KernelDraft finish();

    // ------------------------------------------------------------------------ operands

    DType dtype_of(size_t input) const { return graph_.values[node_.inputs[input]].dtype; }
    DType held(DType dtype) const;
    /// True if the operand's last two axes are swapped in memory.
    bool is_swapped(size_t input) const;
    bool is_k_contiguous(size_t input) const { return is_swapped(input) == (input == 1); }
    /// True if vectors of `each` elements along the contiguous axis are aligned.
    bool loads_vectors(size_t input, int64_t each) const;
    bool loads_by_fours(size_t input) const;
    bool loads_by_eights(size_t input) const;
    bool is_packed_in_blocks_of(size_t input, int64_t each) const;
    /// True if the value's elements lie in memory as floats that are loaded four at a time.
    bool lies_in_fours(ValueId value) const;
    /// Four of them, from `at` on, a multiple of four.
    Expr load_four(ValueId value, Scalar at);
    /// True if the operand is f32 in memory and f16 to the product.
    bool rounds_to_half(size_t input) const;
    /// Bits of a packed element; 0: the operand is not packed.
    uint32_t packed_bits(size_t input) const;
    const std::optional<MemoryView>& view(size_t input) const { return views_[input]; }

    /// The place of the operand's element that the product calls (batch, i, j).
    ScalarPlace operand_place(size_t input, Scalar i, Scalar j);
    /// A variable that is `none`, and what `read` assigns to it where `inside` holds, which is always so without it.
    Expr read_where(Expr inside, Expr none, const std::function<void(Expr to)>& read);
    /// to = element (i, j) of the operand as the product calls it: (m, k) of a, (k, n) of b.
    void read(size_t input, Expr i, Expr j, Expr to);
    /// Fours of floats from element (i, j) on along the contiguous axis, which loads_vectors().
    void read_fours(size_t input, Expr i, Expr j, std::span<const Expr> to);
    /// The same along k or the other axis, element by element, with zeros beyond the last.
    void gather_fours(size_t input, Expr i, Expr j, bool along_k, std::span<const Expr> to);
    /// Words that hold f16 or packed integers from element (i, j) on, 16 bytes; to: kHalves or four words.
    void read_words(size_t input, Expr i, Expr j, Expr to);
    /// The scale of the packed elements from (i, j) on.
    void read_scale(size_t input, Expr i, Expr j, Expr to);
    /// Four integers of `width` bits of a word, times the scale.  which: of the fours of a word.
    Expr unpacked(uint32_t width, Expr word, Expr which, Expr scale);

    // ------------------------------------------------------------------------ results

    /// Stores what follows from one element of the product.
    void store(Expr m, Expr n, Expr sum);
    /// True if four elements along n from a multiple of four on are a vector of each stored value.
    bool stores_by_fours() const;
    /// Stores elements n to n + 3, n being a multiple of four, less those beyond the last.
    void store_four(Expr m, Expr n, Expr sums);
    /// Loads what the results of elements n to n + 3 are made of besides sums, where `inside` holds, so that it is on
    /// its way while the product is made.  From here on store_four() takes elements from there alone.
    void load_early(Expr inside, Expr m, Expr n);

    const KernelTask& task_;
    const MatmulExtents extents_;
    MatmulTile tile_;
    KernelDraft kernel_;

    Expr thread_, first_m_, first_n_, batch_, m_count_, n_count_, k_first_, k_end_;
    Scalar batch_index_;

  private:
    struct Symbols {
        Scalar i, j;
    };

    std::optional<MemoryView> memory_view(size_t input) const;
    std::string form_of(size_t input) const;
    bool keeps_vectors(int64_t each) const;
    GridAxis tiles_axis(Dim count, int each) const;
    bool takes_tiles_in_turn() const;

    /// Opens a scope in which the operand's element is `Scalar`; end(1) closes it.
    Scalar open_element(size_t input, Expr i, Expr j);
    /// The expression as one that can be bound: a local or a constant.
    Expr named(const char* name, Expr value);
    void make_contents();
    ScalarPlace result_place();
    const ScalarNode* find_load(Scalar in, ValueId value) const;
    ScalarNode load_of(Scalar element) const;
    /// The first word of a packed element, and which four of it the element begins.
    struct PackedPlace {
        Expr word, four;
    };
    PackedPlace packed_place(Scalar element, const Node& unpacked);
    Expr scale_of(Scalar element, const Node& unpacked);

    std::optional<MemoryView> views_[2];
    Symbols operands_[2];
    Scalar m_, n_, sum_;                          ///< of a result
    Scalar result_;                               ///< where the group's stores have it
    std::vector<Scalar> contents_;                ///< of them, one for each store
    std::vector<std::pair<Scalar, Expr>> early_;  ///< loads and the fours that hold them
    int open_scopes_ = 0;
    bool takes_turns_ = false;
};

}  // namespace hearth
