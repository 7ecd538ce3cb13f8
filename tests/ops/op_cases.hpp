// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The samples of every operator's record, as cases that any way of running a graph can be tested
// on.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/op/op_def.hpp>

#include <span>
#include <string>
#include <vector>

namespace hearth::test {

/// One sample of one record.
struct OpCase {
    const OpDef* op = nullptr;
    size_t index = 0;  ///< which sample
    Sample sample;

    int64_t rows() const { return sample.batch_size; }
};

/// "reduce_sum sample 3: f32[batch, 5] {axes=(0)}"
std::string describe(const OpCase& c);

/// All records, in the order of the table, and those of custom_kernel_ops.hpp.
std::vector<const OpDef*> all_ops();
/// The samples of one record.
std::vector<OpCase> cases_of(const OpDef& op);

/// Samples with another element type in place of one of theirs: each type that the operator's
/// record admits, narrow floats excepted (narrow_variants_of has those), in a sample of fixed
/// shapes and in one of rows.
std::vector<OpCase> typed_cases_of(const OpDef& op);
/// Samples with extents of 0, wherever the operator admits them; of a reduction, of every type.
std::vector<OpCase> empty_cases_of(const OpDef& op);

/// The operators of which `cases` gives some that a device can hold.
std::vector<const OpDef*> ops_with(std::vector<OpCase> (*cases)(const OpDef&));

/// Whether a device can hold its tensors and has a kernel for it.
bool runs_on_device(const OpCase& c);

/// Contents for the case's inputs, at its number of rows: a function of operator, sample and input.
std::vector<HostTensor> make_inputs(const OpCase& c);

/// A graph of the one operator (a composite without gradient: of its decomposition) with inputs
/// "x0", "x1", ... and outputs "y0", "y1", ...
Result<Graph> make_graph(const OpCase& c);

/// A sample as an entry of a program: its graph and what to run it on.
struct Variant {
    std::string text;  ///< which sample, and how it is used
    Graph graph;       ///< named uniquely among all variants, and so are its inputs and outputs
    NamedTensors inputs;
    int64_t rows = 1;
};

/// Every way of compiling an operator's samples that a device can hold: alone; between other
/// operators, so that it is fused; and with the gradient of a weighted sum of its outputs.
Result<std::vector<Variant>> variants_of(const OpDef& op);

/// The cases that a device can hold, alone and between other operators.
Result<std::vector<Variant>> variants_of(std::span<const OpCase> cases);

/// Element types of matrix products that a device can hold.
inline constexpr DType kProductTypes[] = {DType::kF32, DType::kF16, DType::kBF16,
                                          DType::kI32, DType::kI16, DType::kI8,
                                          DType::kU32, DType::kU16, DType::kU8};

/// Products of `dtype`, each with one operator that works element by element behind it: one variant
/// for each such operator that takes the type.
std::vector<Variant> epilogues_behind_products_of(DType dtype);

/// Samples with their f32 inputs and attributes as `dtype` (a narrow float), alone and between
/// other operators.  Empty if the operator takes no f32.
Result<std::vector<Variant>> narrow_variants_of(const OpDef& op, DType dtype);
/// The same between other operators, with the gradient of a weighted sum of the outputs.
Result<std::vector<Variant>> narrow_gradients_of(const OpDef& op, DType dtype);

/// The attributes with another type in place of `from`.
Attrs in_type(const Attrs& attrs, DType from, DType to);
inline Attrs in_double(const Attrs& attrs) {
    return in_type(attrs, DType::kF32, DType::kF64);
}

/// Empty if the tensors agree to tolerance * max(1, |expected|) (NaN equals NaN, equal infinities
/// are equal), else type, shape or the first differing element with both values.
std::string difference(const HostTensor& found, const HostTensor& expected, double tolerance);

}  // namespace hearth::test
