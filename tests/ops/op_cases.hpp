// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The samples of every operator's record, as cases that any way of running a graph can be tested
// on.

#pragma once

#include "ir/graph.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/op/op_def.hpp>

#include <string>
#include <vector>

namespace hearth::test {

/// One sample of one record.
struct OpCase {
    const OpDef* op = nullptr;
    size_t index = 0;  ///< which sample
    Sample sample;

    int64_t rows() const { return sample.rows; }
};

/// "reduce_sum sample 3: f32[rows, 5] {axes=(0)}"
std::string describe(const OpCase& c);

/// All records, in the order of the table, and those of own_kernel_ops.hpp.
std::vector<const OpDef*> all_ops();
/// The samples of one record.
std::vector<OpCase> cases_of(const OpDef& op);

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

/// Samples with their f32 inputs and attributes as `dtype` (a narrow float), alone and between
/// other operators.  Empty if the operator takes no f32.
Result<std::vector<Variant>> narrow_variants_of(const OpDef& op, DType dtype);

/// The attributes with another type in place of f32.
Attrs in_type(const Attrs& attrs, DType dtype);
inline Attrs in_double(const Attrs& attrs) {
    return in_type(attrs, DType::kF64);
}

/// Empty if the tensors agree to tolerance * max(1, |expected|) (NaN equals NaN, equal infinities
/// are equal), else type, shape or the first differing element with both values.
std::string difference(const HostTensor& found, const HostTensor& expected, double tolerance);

}  // namespace hearth::test
