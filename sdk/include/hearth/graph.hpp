// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The dataflow graph: static single assignment, nodes in topological order.  Trace::build() makes
// it; executors (hearth/executor.hpp) run it.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/op/attrs.hpp>
#include <hearth/types.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

struct OpDef;

using ValueId = uint32_t;
using NodeId = uint32_t;
inline constexpr uint32_t kInvalidId = 0xffffffffu;

enum class ValueKind : uint8_t {
    kNode,      ///< computed by a node
    kInput,     ///< bound by the application at each recording
    kParam,     ///< trained; persists
    kState,     ///< persists and is updated in place, but not trained (moments, counters)
    kConstant,  ///< fixed when the graph is built
};

/// True if an Assignment may assign values of this kind.
constexpr bool may_be_updated(ValueKind kind) {
    return kind == ValueKind::kParam || kind == ValueKind::kState || kind == ValueKind::kInput;
}

struct Value {
    ValueKind kind = ValueKind::kNode;
    DType dtype = DType::kF32;
    Shape shape = {};
    NodeId node = kInvalidId;   ///< producer, for kNode
    uint32_t output = 0;        ///< index among the producer's outputs
    std::string name = {};      ///< for all kinds but kNode
    bool is_persistent = true;  ///< kState: false for states that brains do not hold
    /// Contents of a constant, initial value of a param or state (null: zeros).
    std::shared_ptr<const HostTensor> data = {};
};

struct Node {
    const OpDef* op = nullptr;
    Attrs attrs = {};
    std::vector<ValueId> inputs = {};
    std::vector<ValueId> outputs = {};
};

struct GraphOutput {
    std::string name = {};
    ValueId value = kInvalidId;
    std::vector<std::string> scalars = {};  ///< names, for a vector of named scalars
};

/// After a run, `target` (a param, state or input) holds the value that `value` had in it.
struct Assignment {
    ValueId target = kInvalidId;
    ValueId value = kInvalidId;
};

struct Graph {
    std::string name = {};  ///< of the entry
    std::vector<Value> values = {};
    std::vector<Node> nodes = {};
    std::vector<ValueId> inputs = {};  ///< in the order they were declared
    std::vector<GraphOutput> outputs = {};
    std::vector<Assignment> updates = {};

    const Value& value(ValueId id) const { return values[id]; }
    const Node* producer(ValueId id) const {
        return values[id].kind == ValueKind::kNode ? &nodes[values[id].node] : nullptr;
    }
    /// The value of a param, state, constant or input with this name, or kInvalidId.
    ValueId find(std::string_view wanted) const;
};

}  // namespace hearth
