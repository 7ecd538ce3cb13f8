// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prologue of a product on matrix cores: rows of a tensor that are reduced and normalized before they are multiplied
// (compiler/fusion/matmul_prologue.hpp).  The rows of a tile are one slice of a, which goes straight to shared memory.

#pragma once

#include "compiler/codegen/matmul/matmul_body.hpp"
#include "compiler/fusion/matmul_prologue.hpp"

#include <optional>
#include <vector>

namespace hearth {

/// The prologue in the task's group, if it has one.
std::optional<MatmulPrologue> prologue_of(const KernelTask& task);

class MatmulRows : protected MatmulBody {
  protected:
    MatmulRows(const KernelTask& task, const MatmulTile& tile)
        : MatmulBody(task, tile), prologue_(prologue_of(task)) {}

    bool folds_rows() const { return prologue_.has_value(); }
    /// Writes the rows of a from first_m on into `slice`, fours of words, whose rows are `stride` of them apart.
    void make_rows(Expr slice, int64_t stride);

  private:
    int64_t lanes() const {
        return int64_t{body_->threads} / tile_.bm;
    }                         ///< invocations that hold a row
    int64_t chunks() const {  ///< of eight elements that an invocation holds
        return (tile_.bk / 8 + lanes() - 1) / lanes();
    }
    Expr fours_array(const char* name);
    void load_row();
    void load_params(Scalar operand);
    void fold_row(const Node& node);
    template <class Statement>
    void for_each_of_row(const Statement& statement);
    Expr k_of_four(Expr u) { return (u / 2 * lanes() + lane_) * 8 + u % 2 * 4; }
    ScalarPlace row_place(const Shape& shape);

    const std::optional<MatmulPrologue> prologue_;
    Scalar raw_, m_, k_;
    Expr lane_, row_;  ///< row: its elements that the invocation holds, as fours
    /// Loads of the operand besides the row, such as scale and bias, and arrays like `row_` that hold them.
    std::vector<std::pair<Scalar, Expr>> params_;
};

}  // namespace hearth
