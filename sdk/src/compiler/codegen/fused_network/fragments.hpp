// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Fragments of a fused network's values: how they come from memory and go there, and how a stage's expressions are
// worked out on elements of fragments wherever those are.  What an expression needs of other tensors
// comes as fragments too, a bias as one whose lines have a stride of 0, so nobody asks which element
// is which.  Only at the edge, where rows or columns end, fragments of numbers tell.

#pragma once

#include "compiler/codegen/fused_network/scope.hpp"

#include <map>

namespace hearth {

/// Which fragment of its value: `m` counts blocks of rows, `c` columns of fragments.
struct FragmentPlace {
    Expr m, c;
    Expr base;   ///< the tile's row with which block 0 begins
    Expr index;  ///< of the fragment among those that the subgroup has of the value
};

/// A fragment's kind by what it is rounded to.
Chunk fragment_of(const Graph& graph, ValueId v);
/// How many fragments a row of the value is.
int fragment_columns(const NetworkFrame& frame, ValueId v);

/// Goes through the elements that an invocation has of a fragment; end() ends it.
Expr each_element(KernelWriter& to, Expr fragment);

/// Statements that move fragments of one place.
class FragmentMemory {
  public:
    FragmentMemory(NetworkFrame& frame, KernelWriter& to, const FragmentPlace& place)
        : frame_(frame), body_(*frame.body), to_(to), place_(place) {}

    /// Declares sums "name" that are a value's in its buffer, loaded at once or, at the edge, element
    /// by element.
    Expr load(ValueId v, const std::string& name);
    /// Sets a fragment to a value's f16 as they lie in their buffer.
    void load_halves(ValueId v, Expr fragment);
    /// Stores a fragment of the value, if it is read outside of the program.
    void store(ValueId v, Expr fragment);

    /// Where it lies in a tile of shared memory; none if that is not in steps of 16 bytes.
    std::optional<KernelWriter::MatrixPlace> in_tile(const RowTile& tile) const;
    /// Sets sums in each line of which is the same part of the vector.
    void load_vector(const RowVector& vector, Expr sums);

    /// Makes zeros of what is beyond the last column; of rows that sums over rows leave out.
    void mask_columns(Expr sums, int width);
    void mask_rows(Expr sums);

  private:
    int lines() const { return static_cast<int>(body_.matrix.m); }
    int columns() const { return static_cast<int>(body_.matrix.n); }
    /// The fragment's first row.
    Expr first_row() const;
    /// The tile's rows from there on; may be negative.
    Expr rows_left() const;
    bool is_whole_line(ValueId v) const { return frame_.row_width(v) % columns() == 0; }
    /// Declares sums whose elements are the numbers of their lines (down) or columns (across).
    Expr positions(const char* name, bool is_down);
    Expr position(Expr positions, Expr e) const;
    void load_whole(ValueId v, Expr fragment);
    void load_elements(ValueId v, Expr sums);
    void store_elements(ValueId v, Expr fragment);

    NetworkFrame& frame_;
    Body& body_;
    KernelWriter& to_;
    const FragmentPlace& place_;
};

class FragmentScope final : public NetworkScope {
  public:
    FragmentScope(NetworkFrame& frame, const NetworkStage& stage, const FragmentPlace& place)
        : NetworkScope(frame, stage), stage_(stage), place_(place), memory_(frame, writer, place) {}

    /// Declares and works out sums "out12" of each value.  sums: of the product, if it is one.
    /// None if that needs to know which element is which.
    std::optional<std::vector<Expr>> work_out(std::span<const ValueId> values, Expr sums = {});

    FragmentMemory& memory() { return memory_; }

  private:
    std::optional<Scalar> resident(uint32_t level, ValueId v, const ScalarPlace& place) override;
    Expr near(uint32_t level, ValueId v);
    void note_vanishing(std::span<const ValueId> values, std::span<const Scalar> elements,
                        std::optional<Scalar> sum);
    bool vanishes(uint32_t id, std::span<const Scalar> zeros) const;

    const NetworkStage& stage_;
    const FragmentPlace& place_;
    FragmentMemory memory_;
    std::optional<Scalar> inner_;
    bool is_one_wide_ = false;   ///< so that coordinates along the row are 0
    bool needs_places_ = false;  ///< something cannot be read as a fragment
    std::map<ValueId, Scalar> near_;
    std::vector<std::pair<Scalar, Expr>> read_;  ///< elements, and of which fragments
};

/// Whether a sum over rows needs zeros of the value in rows that it leaves out: of a gradient's two
/// factors, the one that is made later, as it has more reason to vanish.
bool is_summed_over_rows(const NetworkPlan& plan, ValueId v);

/// The sum of a product and something else that is all that reads the product; or kNone.
ValueId sum_with_bias(const NetworkFrame& frame, const NetworkStage& product);
/// What that adds to each row, so that a product in registers can begin with it; or null.
const RowVector* bias_of(const NetworkFrame& frame, const NetworkStage& product);

}  // namespace hearth
