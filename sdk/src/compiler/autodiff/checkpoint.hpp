// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Parts of a trace whose values the backward pass computes again (gradient checkpointing; Chen et
// al., "Training Deep Nets with Sublinear Memory Cost", 2016).

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/tensor.hpp>

#include <vector>

namespace hearth {

/// The parts that checkpoint() marked, and their second computation.
///
/// A part's nodes are applied again when the first gradient rule in it is about to run.  They read
/// what comes from outside through `compute_after`, which makes them wait for that rule's
/// cotangent and keeps them from being found equal to the first computation.
class Recomputation {
  public:
    explicit Recomputation(Trace& trace);

    /// What gradient rules of `node` read in place of `value`.  cotangent: of an output of the node.
    Tensor value_for(NodeId node, ValueId value, const Tensor& cotangent);

  private:
    struct Part {
        NodeId first, last;          ///< nodes [first, last]
        std::vector<Tensor> values;  ///< computed again, by ValueId; empty: not yet
    };
    Part* part_of(NodeId node);
    void compute(Part& part, const Tensor& after);
    bool is_inside(const Part& part, ValueId value) const;

    Trace& trace_;
    std::vector<Part> parts_;  ///< disjoint
    size_t value_count_;       ///< before any gradient
};

}  // namespace hearth
