// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The dataflow graph: static single assignment, nodes in an order that respects data flow.

#pragma once

#include <hearth/host_tensor.hpp>
#include <hearth/op/attrs.hpp>
#include <hearth/types.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

/// For each value, the nodes that read it (a node once, however often it reads).
std::vector<std::vector<NodeId>> readers_of(const Graph& graph);

/// For each value, whether it leaves the graph: as an output or an update.
std::vector<bool> leaves_graph(const Graph& graph);

/// Whether a node whose operator writes in place (OpDef::writes_in_place) may: its result is nothing
/// but the one update of what it reads first.
bool writes_in_place(const Graph& graph, const Node& node);
/// The same without asking whether the operator does.
bool updates_first_input(const Graph& graph, const Node& node);

/// A graph with only what outputs and updates need, values and nodes renumbered in a canonical
/// order (post-order from outputs, then updates), so that equal computations hash equal.
Graph canonical(const Graph& graph);

/// Content hash of a canonical graph; constants included, first contents of params not.
uint64_t content_hash(const Graph& graph);

/// Text form, one node a line.
std::string print(const Graph& graph);

/// Checks everything a graph must satisfy: references in range and in order, one producer per
/// value, shapes and types equal to what the operators' rules infer, updates of equal shape.
Status verify(const Graph& graph);

}  // namespace hearth
