// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of the four kinds of groups: the first two as bodies (compiler/kernel/body.hpp), the others as hand-written
// texts with functions of a body.
//
//   elementwise  one thread for each element, or for some that follow each other in memory (several
//                in turn when there are more than the grid holds)
//   reduction    each row belongs to one thread (short rows) or one workgroup (long ones).  For each
//                reduction: a loop over the row, then a tree through shared memory; then one more
//                loop writes what has the row's full length.  Trees are fixed: results are
//                deterministic.
//   matmul       a text of shaders/matmul with the group's prologue and epilogue as functions
//   custom       the text of an operator's custom kernel, with reads and writes as functions of a body
//
// Depth-first recomputation inside a loop costs arithmetic instead of memory; see compiler/fusion/fuse.hpp.

#pragma once

#include "compiler/codegen/group_expressions.hpp"
#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/lower_options.hpp"
#include "compiler/fusion/fuse.hpp"
#include "compiler/kernel/body.hpp"
#include "compiler/kernel/writer.hpp"

#include <hearth/op/op_def.hpp>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hearth {

/// A kernel's statements behind `group`, the workgroup's number, which may be all of a kernel or a
/// part of a larger one.
struct KernelPart {
    std::vector<uint32_t>
        replicated_scalars;  ///< functions that work out Group::replicated_scalars, to be called first
    std::vector<Statement> statements;
    std::vector<bool> is_elementwise;  ///< per operand of the body; see CallOperand
    uint32_t threads = 1;
    GridAxis grid;
    uint64_t flops = 0;
};
/// Adds to `body` what the group's statements need.  group: the local that holds the number.
KernelPart elementwise_part(const Graph& graph, const Group& group,
                            const std::vector<bool>& inlined, const LowerOptions& options,
                            Body& body, Expr workgroup);
KernelPart reduction_part(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                          const LowerOptions& options, Body& body, Expr workgroup);
/// Of a group that writes_distinct_rows().
KernelPart rows_part(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                     const LowerOptions& options, Body& body, Expr workgroup);
/// Whether it writes rows in place, no two of which are meant for one place.
bool writes_distinct_rows(const Graph& graph, const Group& group);
/// The shape of the rows that such a group writes.
Shape written_rows(const Graph& graph, const Group& group);

/// An elementwise kernel; a reduction; rows in place.
KernelDraft elementwise_kernel(const Graph& graph, const Group& group,
                               const std::vector<bool>& inlined, const LowerOptions& options);
KernelDraft reduction_kernel(const Graph& graph, const Group& group,
                             const std::vector<bool>& inlined, const LowerOptions& options);
KernelDraft rows_kernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                        const LowerOptions& options);
/// How a reduction deals out its work: short rows get a thread each, so that a workgroup
/// has many; long ones a workgroup.  Rows that lie across the memory get some threads each, side by
/// side, so that neighbouring threads read neighbouring elements.
struct ReductionLayout {
    Shape outer, row;      ///< extents that stay, and those that are reduced
    uint32_t lanes = 1;    ///< threads of each result
    uint32_t columns = 1;  ///< results of a workgroup, at a time
    bool is_looped = false;
};
ReductionLayout reduction_layout(const Group& group, const LowerOptions& options);

/// Functions of the body that work out replicated scalars (Group::replicated_scalars), in the order in which all threads
/// have to call them.
std::vector<uint32_t> replicated_scalar_functions(
    const Graph& graph, std::span<const std::shared_ptr<const Group>> numbers,
    const std::vector<bool>& inlined, const LowerOptions& options, uint32_t threads, Body& body);

/// The variable of the body that such a function sets.
Expr replicated_scalar_variable(const Graph& graph, ValueId v, Body& body);

/// Reads of replicated scalars that the group's kernel works out itself are of variables of their own.
void define_replicated_scalars(const Graph& graph, const Group& group,
                               GroupExpressions& expressions, KernelWriter& writer, Body& body);
/// Every workgroup reads all of what they are made of: none of it element by element.
void note_replicated_scalar_loads(const Graph& graph, const Group& group,
                                  const std::vector<bool>& inlined, const Body& body,
                                  std::vector<bool>& is_elementwise);

KernelDraft matmul_kernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                          const LowerOptions& options);

/// Parts of a sum on CPUs whose terms lie side by side: as many on all of them, for the same bits.
inline constexpr int64_t kSumParts = 16;

/// The same for CPUs, as a body: cpu_matmul_kernel.cpp.
struct ProductLayout {
    bool is_turned = false;  ///< panels are packed of the left operand instead of the right one
    double cycles = 0;       ///< estimated
};
/// The layouts that a product can have; the bits are the same.
std::vector<ProductLayout> cpu_product_layouts(const Graph& graph, const Group& group,
                                               const std::vector<bool>& inlined,
                                               const LowerOptions& options);
KernelDraft cpu_matmul_kernel(const Graph& graph, const Group& group,
                              const std::vector<bool>& inlined, const LowerOptions& options,
                              const ProductLayout& layout);

/// Of an operator with a custom kernel, as a body for CPUs: cpu_custom_kernel.cpp.  Only if it has one.
KernelDraft cpu_custom_kernel(const Graph& graph, const Group& group,
                              const std::vector<bool>& inlined, const LowerOptions& options);
bool has_cpu_kernel(const OpDef& op);

/// Of a convolution for which has_depthwise_kernel(): cpu_depthwise_kernel.cpp.
KernelDraft cpu_depthwise_kernel(const Graph& graph, const Group& group,
                                 const std::vector<bool>& inlined, const LowerOptions& options);

/// Of a convolution for which has_strip_kernel(): cpu_conv_kernel.cpp.
struct ConvStrip;
KernelDraft cpu_conv_kernel(const Graph& graph, const Group& group,
                            const std::vector<bool>& inlined, const LowerOptions& options,
                            const ConvStrip& strip);

/// Of windows for which has_unfold_kernel(): cpu_unfold_kernel.cpp.
KernelDraft cpu_unfold_kernel(const Graph& graph, const Group& group,
                              const std::vector<bool>& inlined, const LowerOptions& options);

/// Whether that kernel can have a MatmulPrologue.
bool folds_rows(const Graph& graph, const Node& product, const LowerOptions& options);

KernelDraft custom_kernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                          const LowerOptions& options);

/// The group's node of that class, of which it has one.
const Node& node_of(const Graph& graph, const Group& group, OpClass op_class);

/// A rough count of arithmetic: one operation for each element of each node.
uint64_t flops_of(const Graph& graph, const Group& group, const Shape& shape, uint64_t rows);

/// What a fold of elements of `dtype` starts with; and one step of it.
double fold_start(ReduceOp fold, DType dtype);
Expr fold_step(ReduceOp fold, Expr a, Expr b);

/// Elements as bytes-free work: Extent of a count.
Extent work_of(Dim count);

/// The count in GLSL: "64", "rows", "(4 * rows)".
std::string glsl_count(Dim count);

/// The count, of which that of rows is known when the kernel runs.
Expr count_of(Dim count, Body& body);

/// How scalar expressions of the graph find the operands of a body.
KernelWriter::Operand operands_of(const Graph& graph, const LowerOptions& options, Body& body);

/// For each operand (a value of the graph), whether all loads of it are of the element that the thread also writes.
std::vector<bool> elementwise_buffers(const ScalarArena& arena, std::span<const uint32_t> operands,
                                      Scalar element);

/// Stores `values` at one element.  All are worked out before the first store: a stored buffer may
/// have taken over the bytes of one that is loaded.
void store_all(KernelWriter& writer, const KernelWriter::Operand& operand,
               GroupExpressions& expressions, std::span<const ValueId> values,
               const ScalarPlace& place, Scalar element);

/// One work item a thread or group, at most `limit` of them: how many items each takes in turn.
uint32_t items_each(Dim count, uint64_t rows_capacity, uint64_t limit);

}  // namespace hearth
