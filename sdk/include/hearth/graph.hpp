// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The dataflow graph: static single assignment, nodes in an order that respects data flow.  Trace::finish()
// makes it; executors (hearth/executor.hpp) run it.

#pragma once

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
inline constexpr uint32_t kNone = 0xffffffffu;

enum class ValueKind : uint8_t {
    kNode,      ///< computed by a node
    kInput,     ///< bound by the host at each recording
    kParam,     ///< trained; persists
    kState,     ///< persists and is updated in place, but not trained (moments, counters)
    kConstant,  ///< fixed when the graph is built
};

/// Whether a GraphUpdate may give values of this kind new contents.
constexpr bool may_be_updated(ValueKind kind) {
    return kind == ValueKind::kParam || kind == ValueKind::kState || kind == ValueKind::kInput;
}

struct Value {
    ValueKind kind = ValueKind::kNode;
    DType dtype = DType::kF32;
    Shape shape;
    NodeId node = kNone;  ///< producer, for kNode
    uint32_t output = 0;  ///< which of the producer's outputs
    std::string name;     ///< for all kinds but kNode
    bool is_kept = true;  ///< kState: false for one that no brain holds
    /// Contents of a constant, first contents of a param or state (null: zeros).
    std::shared_ptr<const HostTensor> data;
};

struct Node {
    const OpDef* op = nullptr;
    Attrs attrs;
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
};

struct GraphOutput {
    std::string name;
    ValueId value = kNone;
    std::vector<std::string> elements = {};  ///< their names, for a vector of named numbers
};

/// After a run, `target` (a param or state) holds what `value` was.
struct GraphUpdate {
    ValueId target = kNone;
    ValueId value = kNone;
};

struct Graph {
    std::string name;  ///< of the entry
    std::vector<Value> values;
    std::vector<Node> nodes;
    std::vector<ValueId> inputs;  ///< in the order they were declared
    std::vector<GraphOutput> outputs;
    std::vector<GraphUpdate> updates;

    const Value& value(ValueId id) const { return values[id]; }
    const Node* producer(ValueId id) const {
        return values[id].kind == ValueKind::kNode ? &nodes[values[id].node] : nullptr;
    }
    /// The value of a param, state, constant or input with this name, or kNone.
    ValueId find(std::string_view wanted) const;
};

}  // namespace hearth
