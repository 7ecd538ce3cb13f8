// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Recomputation of marked regions of a trace in the backward pass (gradient checkpointing; Chen et
// al., "Training Deep Nets with Sublinear Memory Cost", 2016).

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/tensor.hpp>

#include <vector>

namespace hearth {

/// The regions that checkpoint() marked, and their recomputed values.
///
/// A region's nodes are applied again when the first gradient rule in it is about to run.  They
/// read values from outside through `compute_after`, which makes them depend on that rule's
/// cotangent and keeps common subexpression elimination from merging them with the first
/// computation.
class Recomputation {
  public:
    explicit Recomputation(Trace& trace);

    /// The value that gradient rules of `node` read in place of `value`.  cotangent: of an output
    /// of the node.
    Tensor value_for(NodeId node, ValueId value, const Tensor& cotangent);

  private:
    struct Part {
        NodeId first, last;          ///< nodes [first, last]
        std::vector<Tensor> values;  ///< recomputed, by ValueId; empty: not yet
    };
    Part* part_of(NodeId node);
    void compute(Part& part, const Tensor& after);
    bool is_inside(const Part& part, ValueId value) const;

    Trace& trace_;
    std::vector<Part> parts_;  ///< disjoint
    size_t value_count_;       ///< number of values before any gradient
};

}  // namespace hearth
