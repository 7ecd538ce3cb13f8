// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The functions around a matrix product, as functions of a body: what an element of an operand is
// (the product's prologue), and what becomes of a sum (its epilogue).  The texts of shaders/matmul call
// them.

#pragma once

#include "compiler/codegen/lower_options.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"
#include "compiler/fusion/fuse.hpp"
#include "compiler/kernel/body.hpp"
#include "compiler/kernel/function_writer.hpp"
#include "compiler/kernel/writer.hpp"

#include <hearth/op/op_def.hpp>

#include <array>
#include <string>
#include <vector>

namespace hearth {

/// out[b, m, n] = sum over k of a[b, m, k] * b[b, k, n].
struct MatmulExtents {
    Shape batch;
    Dim m, n, k;

    MatmulExtents(const Graph& graph, const Node& product);
};

class MatmulFunctions {
  public:
    MatmulFunctions(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                    const LowerOptions& options, Body& body);

    const MatmulExtents& extents() const { return extents_; }
    /// In which the product multiplies and adds.
    ScalarType number_type() const;

    /// "load_a(batch, m, k)" or "load_b(batch, k, n)": an element as the product sees it.
    uint32_t add_load(size_t input);
    /// A function of this name and of (batch, first, second, counts of these two), by `load`: a chunk
    /// along one of them, kFour or kEight, whose elements beyond the count are zeros.
    uint32_t add_gather(std::string name, size_t input, uint32_t load, Chunk chunk, bool along_k);

    /// "store(batch, m, n, sum)": stores what follows from one element of the product; by "results",
    /// which gives that and where it belongs.
    uint32_t add_store();
    /// That, and "fetch_early(batch, m, n)", which reads what the results of elements n to n + 3 are
    /// made of besides the sum, into variables, so that it is on its way while the product is made;
    /// "results" has the element, from 0 to 3, as a parameter more.
    void add_early_results();
    /// "store4(batch, m, n, sum)": stores elements n to n + 3, less those beyond the last; n is a
    /// multiple of four.  are_vectors: they are one vector of each value that is stored.
    void add_store4(bool are_vectors);

    /// Per operand of the body, once all functions are there; see CallOperand.
    std::vector<bool> is_elementwise() const;

    // What functions are made of:

    GroupExpressions& expressions() { return expressions_; }
    FunctionWriter begin(std::string name) {
        return {body_, expressions_.arena(), operand_, std::move(name)};
    }
    /// The body's operand that is the value.
    uint32_t operand(ValueId value) const { return operand_(value); }
    /// The place of the operand's element that the product calls (batch, i, j).
    ScalarPlace operand_place(size_t input, Scalar batch, Scalar i, Scalar j);
    /// Whether the value's elements lie in memory as floats that are loaded four at a time.
    bool lies_in_vec4(ValueId value) const;
    /// Four of them, from `index` on, a multiple of four.
    Expr load_four(KernelWriter& writer, ValueId value, Scalar index);
    /// The names of those in functions: of a, m and k; of b, k and n.
    static std::array<const char*, 2> axes_of(size_t input);

  private:
    /// Where the group's stores have the product's element; `linear` is always there.
    ScalarPlace result_place(Scalar batch, Scalar m, Scalar n);
    void add_results(bool is_early);
    void add_fetch_early(KernelWriter& results, Expr element, std::span<const Scalar> values,
                         const std::array<Scalar, 3>& place);
    std::vector<Expr> add_place(FunctionWriter& f);

    const Graph& graph_;
    const Group& group_;
    const Node& node_;
    Body& body_;
    KernelWriter::Operand operand_;
    NarrowStorage storage_;
    MatmulExtents extents_;
    GroupExpressions expressions_;
    ScalarArena& arena_;
    Scalar result_element_;
    bool is_early_ = false;
    uint32_t results_ = 0, store_ = 0;  ///< functions
};

}  // namespace hearth
