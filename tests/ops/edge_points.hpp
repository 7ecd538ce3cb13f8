// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Gradients at edge points: zeros of both signs, ones, numbers whose squares overflow or underflow,
// the ends of the element type, and infinities.  Where a value is finite its gradient must be, too.

#pragma once

#include "compiler/interpreter/gradcheck.hpp"
#include "compiler/ir/graph.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/op/op_def.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::test {

/// A function with the shapes and usual contents of its inputs.
struct EdgeCase {
    std::string name;  ///< of the operator or function
    TracedFunction build;
    std::vector<Shape> shapes = {};  ///< of the inputs; empty: those of `usual`
    std::vector<HostTensor> usual;   ///< contents away from the edges
    int64_t rows = 1;
    bool is_elementwise = false;  ///< the inputs hold all combinations of edges, one per element
};

/// Reason for which a gradient is not finite although the value is.
enum class EdgeCause {
    kPole,      ///< the gradient of finite operands is infinite or undefined
    kInfinity,  ///< an operand is infinite
    kOverflow,  ///< an intermediate result overflows, the gradient itself does not
};

/// A finite value whose gradient is not.
struct EdgeFault {
    size_t input = 0;        ///< whose gradient it is
    std::string point = {};  ///< the contents of all inputs
    double gradient = 0;
    double exact = 0;  ///< the gradient in double, of the same operands
    EdgeCause cause = EdgeCause::kPole;
    std::vector<double> operands = {};  ///< element-wise: the operands of this element
};

/// The smallest samples of an operator, with `dtype` in place of f32.  Empty for operators without
/// gradient.
std::vector<EdgeCase> edge_cases_of(const OpDef& op, DType dtype, bool subnormals = true);
std::vector<const OpDef*> ops_with_edge_cases(bool elementwise_only);

/// The graph of a function: outputs "y0", "y1", ..., then the gradients of its floating-point
/// inputs.
struct Differentiated {
    Graph graph;
    size_t output_count = 0;                  ///< 0: there is nothing to differentiate
    std::vector<size_t> wrt = {};             ///< the inputs whose gradients follow
    std::vector<HostTensor> cotangents = {};  ///< inputs of the graph, after those of the function

    NamedTensors named(std::span<const HostTensor> inputs) const;
};
Result<Differentiated> differentiate(const EdgeCase& c, DType dtype);

/// Faults of the reference interpreter at all edge points of `dtype`.
Result<std::vector<EdgeFault>> edge_faults_of(const EdgeCase& c, DType dtype);
/// Faults among a device's results of an element-wise case.
Result<std::vector<EdgeFault>> edge_faults_among(const EdgeCase& c, const Differentiated& d,
                                                 const NamedTensors& results);

/// An operator or function with an exception from the rule, and the reason for it.
struct EdgeException {
    std::string_view name;
    EdgeCause cause;
    std::string_view reason;
    /// Element-wise operators: the operands at which it holds; null: at all.
    bool (*holds)(std::span<const double> operands) = nullptr;
};
std::span<const EdgeException> edge_exceptions();
/// The exception that permits the fault, or null.
const EdgeException* exception_for(std::string_view name, const EdgeFault& fault);
std::string describe(std::string_view name, const EdgeFault& fault);

}  // namespace hearth::test
