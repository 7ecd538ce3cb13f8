// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Groups the nodes of a graph greedily, from its outputs to its inputs, into kernels (fuse.hpp).

#include "compiler/fusion/fuse.hpp"

#include "compiler/fusion/matmul_prologue.hpp"
#include "compiler/ops/kernels/gru_walk.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <optional>

namespace hearth {

namespace {

constexpr int64_t kMaxFusedRow = 8192;  // longer rows would be read again in each phase: no gain

const Shape& output_shape(const Graph& graph, const Node& node) {
    return graph.values[node.outputs[0]].shape;
}

bool is_single_number(const Shape& shape) {
    const Dim count = shape.element_count();
    return !count.is_batch && count.count == 1;
}

bool is_reshape(const Node& node) {
    return node.op->is_reshape;
}

bool is_view(const Node& node) {
    return node.op->op_class == OpClass::kInjective && node.op->is_view;
}

bool converts_leaf(const Graph& graph, const Node& node);

/// True if the value is in memory anyway (input, param, state), or is a view or conversion of such
/// values.
bool is_read_from_leaves(const Graph& graph, ValueId v) {
    const Node* node = graph.producer(v);
    return node == nullptr ||
           ((is_view(*node) || converts_leaf(graph, *node)) &&
            std::all_of(node->inputs.begin(), node->inputs.end(),
                        [&](ValueId in) { return is_read_from_leaves(graph, in); }));
}

/// True if converting the elements at each read costs less than storing them converted: the cast
/// widens values that are in memory anyway, such as f16 weights, or rounds them to f16, or rounds
/// the result of a node that reads whole buffers.
bool converts_leaf(const Graph& graph, const Node& node) {
    if (!node.op->is_cast) return false;
    const Value& from = graph.values[node.inputs[0]];
    const DType to = graph.values[node.outputs[0]].dtype;
    if (is_floating(from.dtype) && is_floating(to)) {
        const Node* maker = graph.producer(node.inputs[0]);
        return (maker != nullptr && maker->op->is_opaque) ||
               is_read_from_leaves(graph, node.inputs[0]);
    }
    return from.kind != ValueKind::kNode && size_bytes(from.dtype) <= size_bytes(to);
}

uint64_t bytes_of(const Value& value) {
    return static_cast<uint64_t>(value.shape.element_count(1)) * size_bytes(value.dtype);
}

/// Constants and params that a value is computed from.
struct WeightsBehind {
    uint64_t bytes = 0;  ///< each occurrence counts
    bool are_narrow = false;
};

/// Finds the weights that the value is computed from, element by element or by views. Nothing if it
/// depends on anything else, or takes more than `steps` values.
std::optional<WeightsBehind> weights_behind(const Graph& graph, ValueId v, int& steps) {
    const Value& value = graph.values[v];
    if (value.shape.has_batch() || --steps < 0) return {};
    if (value.kind == ValueKind::kConstant || value.kind == ValueKind::kParam)
        return WeightsBehind{bytes_of(value), size_bytes(value.dtype) < 4};
    const Node* node = graph.producer(v);
    if (node == nullptr || node->inputs.empty()) return {};
    if (node->op->op_class != OpClass::kElementwise && !is_view(*node)) return {};
    WeightsBehind all;
    for (ValueId in : node->inputs) {
        const std::optional<WeightsBehind> behind = weights_behind(graph, in, steps);
        if (!behind) return {};
        all.bytes += behind->bytes;
        all.are_narrow = all.are_narrow || behind->are_narrow;
    }
    const DType from = graph.values[node->inputs[0]].dtype;
    const bool is_unpacked = is_view(*node) && size_bytes(value.dtype) < size_bytes(from);
    all.are_narrow = all.are_narrow || is_unpacked;
    return all;
}

/// True if the node dequantizes weights: storing its result would take more memory than the
/// narrow weights, scales and zero points that it is computed from.
bool dequantizes(const Graph& graph, const Node& node) {
    if (node.op->op_class != OpClass::kElementwise) return false;
    const ValueId v = node.outputs[0];
    int steps = 32;  // blocks with zero points take 16: casts, reshapes, expands and a slice
    const std::optional<WeightsBehind> weights = weights_behind(graph, v, steps);
    return weights && weights->are_narrow && bytes_of(graph.values[v]) > weights->bytes;
}

/// True if each reader recomputes the node instead of loading it.
bool should_inline(const Graph& graph, const Node& node) {
    if (node.outputs.size() != 1) return false;
    if (is_view(node) || node.inputs.empty() || converts_leaf(graph, node) ||
        dequantizes(graph, node))
        return true;
    return node.op->op_class == OpClass::kElementwise &&
           is_single_number(output_shape(graph, node));
}

/// Per node: true if it is scalar arithmetic of which exactly one input comes from another kernel.
/// It is cheaper as the epilogue of that kernel than recomputed by each reader.
std::vector<bool> find_epilogues(const Graph& graph) {
    std::vector<std::vector<NodeId>> sources(graph.nodes.size());
    std::vector<bool> is_epilogue(graph.nodes.size(), false);
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
        const Node& node = graph.nodes[n];
        if (!should_inline(graph, node)) continue;
        std::vector<NodeId>& found = sources[n];
        for (ValueId v : node.inputs) {
            if (graph.values[v].kind != ValueKind::kNode) continue;
            const NodeId from = graph.values[v].node;
            if (should_inline(graph, graph.nodes[from]))
                found.insert(found.end(), sources[from].begin(), sources[from].end());
            else
                found.push_back(from);
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        if (found.size() > 2) found.resize(2);
        is_epilogue[n] = node.op->op_class == OpClass::kElementwise && found.size() == 1 &&
                         is_single_number(graph.values[node.outputs[0]].shape);
    }
    return is_epilogue;
}

/// True if a kernel of the group has no more addresses or descriptors than it may.
bool can_bind(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
              const std::vector<bool>& is_external, int most) {
    if (most == 0) return true;
    std::vector<ValueId> touched = loads_of(graph, group, inlined);
    touched.insert(touched.end(), group.stores.begin(), group.stores.end());
    const auto external =
        static_cast<int>(std::ranges::count_if(touched, [&](ValueId v) { return is_external[v]; }));
    constexpr int kRegions = 2, kRunBlock = 1;
    return std::min(static_cast<int>(touched.size()), external + kRegions) + kRunBlock <= most;
}

class Fuser {
  public:
    /// is_stored: per node, true if readers may not recompute it.
    Fuser(const Graph& graph, const FusionOptions& options, const std::vector<bool>& is_stored)
        : graph_(graph),
          options_(options),
          is_stored_(is_stored),
          readers_(readers_of(graph)),
          leaves_(leaves_graph(graph)),
          is_external_(external_values(graph)),
          group_of_(graph.nodes.size(), kInvalidId) {
        plan_.inlined.resize(graph.nodes.size());
        is_prologue_.resize(graph.nodes.size());
        is_update_.resize(graph.values.size());
        find_reads_of_replaced();
        for (const Assignment& u : graph.updates) is_update_[u.value] = true;
        options_.spare_memory = options_.spare_memory || spares_memory(graph);
    }

    FusionPlan run() {
        const std::vector<bool> is_epilogue = find_epilogues(graph_);
        if (options_.enabled)
            for (NodeId n = static_cast<NodeId>(graph_.nodes.size()); n-- > 0;)
                plan_.inlined[n] =
                    !is_read_while_replaced_[n] && !is_stored_[n] &&
                    ((should_inline(graph_, graph_.nodes[n]) && !is_epilogue[n] &&
                      !has_stored_windows(n)) ||
                     feeds_one_reader(n) || is_read_as_parts(n) || joins_numbers(n) ||
                     is_ahead_of_rows(n) || (options_.region.has_walks() && feeds_walks(n)));
        break_inlined_chains();
        for (NodeId n = static_cast<NodeId>(graph_.nodes.size()); n-- > 0;)
            if (group_of_[n] == kInvalidId &&
                (!plan_.inlined[n] || leaves(n) || is_read_as_buffer(n)))
                place(n);
        finish();
        return std::move(plan_);
    }

  private:
    /// Stores one value in each long chain of arithmetic that readers would otherwise recompute.
    void break_inlined_chains() {
        std::vector<size_t> length(graph_.nodes.size());
        for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
            if (!plan_.inlined[n]) continue;
            for (ValueId v : graph_.nodes[n].inputs)
                if (graph_.values[v].kind == ValueKind::kNode)
                    length[n] = std::max(length[n], length[graph_.values[v].node]);
            const bool is_storable = graph_.nodes[n].op->op_class == OpClass::kElementwise;
            if (++length[n] < options_.max_nodes || !is_storable) continue;
            plan_.inlined[n] = false;
            length[n] = 0;
        }
    }

    /// Marks the inputs that must be stored before a kernel writes rows of a state in place: those
    /// that derive from the state's old contents, which the kernel overwrites (write-after-read).
    void find_reads_of_replaced() {
        is_read_while_replaced_.resize(graph_.nodes.size());
        for (const Node& node : graph_.nodes) {
            if (!node.op->writes_in_place) continue;
            for (size_t k = 1; k < node.inputs.size(); ++k)
                if (const Node* maker = graph_.producer(node.inputs[k]);
                    maker != nullptr && depends_on(*maker, node.inputs[0]))
                    is_read_while_replaced_[graph_.value(node.inputs[k]).node] = true;
        }
    }

    bool depends_on(const Node& node, ValueId leaf) const {
        std::vector<bool> seen(graph_.nodes.size());
        std::vector<const Node*> stack{&node};
        while (!stack.empty()) {
            const Node* at = stack.back();
            stack.pop_back();
            for (ValueId v : at->inputs) {
                if (v == leaf) return true;
                const Value& value = graph_.value(v);
                if (value.kind != ValueKind::kNode || seen[value.node]) continue;
                seen[value.node] = true;
                stack.push_back(&graph_.nodes[value.node]);
            }
        }
        return false;
    }

    /// True if only one node reads `n`, each element once, so that computing it there costs
    /// nothing.
    bool feeds_one_reader(NodeId n) const {
        const Node& node = graph_.nodes[n];
        if (node.op->op_class != OpClass::kElementwise || leaves(n)) return false;
        const std::vector<NodeId>& readers = readers_[node.outputs[0]];
        if (readers.size() != 1) return false;
        if (feeds_blocks(node.outputs[0])) return true;
        if (options_.region.has(readers[0]) != options_.region.has(n)) return false;
        const Node& reader = graph_.nodes[readers[0]];
        if (reader.op->reads_each_element_once) return true;
        return reader.op->op_class == OpClass::kElementwise && plan_.inlined[readers[0]] &&
               output_shape(graph_, reader) == output_shape(graph_, node);
    }

    /// True if the node is arithmetic outside of the region, on few columns, that the region reads:
    /// recomputing it for each row is cheaper than waiting for another kernel.
    bool is_ahead_of_rows(NodeId n) const {
        if (options_.region.empty() || leaves(n) || !is_arithmetic_ahead(n)) return false;
        const Dim count = output_shape(graph_, graph_.nodes[n]).element_count();
        bool is_read_by_rows = false;
        for (NodeId r : readers_[graph_.nodes[n].outputs[0]]) {
            const Node& reader = graph_.nodes[r];
            const bool is_by_rows = options_.region.has(r) || is_ahead_of_rows(r);
            is_read_by_rows = is_read_by_rows || is_by_rows;
            const bool is_number_of_it = reader.op->op_class == OpClass::kReduce &&
                                         is_single_number(output_shape(graph_, reader));
            const bool is_alike = reader.op->op_class == OpClass::kElementwise &&
                                  output_shape(graph_, reader).element_count() == count;
            if (!is_by_rows && !is_number_of_it && !is_alike) return false;
        }
        return is_read_by_rows;
    }

    /// True for small element-wise nodes and reshapes of params, inputs and scalars.
    bool is_arithmetic_ahead(NodeId n, int depth = 0) const {
        constexpr int64_t kMostElements = 1024, kMostColumns = 8;
        constexpr int kMostDepth = 8;
        const Node& node = graph_.nodes[n];
        const bool is_view = is_reshape(node);
        if (options_.region.has(n) || (node.op->op_class != OpClass::kElementwise && !is_view) ||
            node.outputs.size() != 1 || depth == kMostDepth)
            return false;
        const Dim count = output_shape(graph_, node).element_count();
        if (count.count > (count.is_batch ? kMostColumns : kMostElements)) return false;
        return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
            const Value& in = graph_.values[v];
            return in.kind != ValueKind::kNode || is_single_number(in.shape) ||
                   is_arithmetic_ahead(in.node, depth + 1);
        });
    }

    /// True if the node only computes what recurrent walks read beside rows: the initial states of
    /// windows and the resets. Computing these in the walk is cheaper than waiting for another
    /// kernel.
    bool feeds_walks(NodeId n, int depth = 0) const {
        constexpr int kMostDepth = 16;
        const Node& node = graph_.nodes[n];
        const bool is_cheap = node.op->op_class == OpClass::kElementwise || is_view(node) ||
                              node.op->traits.is_gather;
        if (!is_cheap || node.outputs.size() != 1 || node.inputs.empty() || leaves(n) ||
            (options_.region.has(n) && !is_view(node)) || depth == kMostDepth)
            return false;
        const ValueId v = node.outputs[0];
        return std::ranges::all_of(readers_[v], [&](NodeId r) {
            const Node& reader = graph_.nodes[r];
            if (!walks_windows(reader)) return feeds_walks(r, depth + 1);
            const bool is_backward = reader.op->traits.walk == WindowWalk::kBackward;
            const size_t first = is_backward ? size_t{kGruBackResets} : size_t{kGruStart};
            return std::find(reader.inputs.begin(), reader.inputs.end(), v) >=
                   reader.inputs.begin() + static_cast<std::ptrdiff_t>(first);
        });
    }

    /// True if the value's only reader is a block reduction.
    bool feeds_blocks(ValueId v) const {
        if (readers_[v].size() != 1 || leaves_[v]) return false;
        const Node& reader = graph_.nodes[readers_[v][0]];
        return is_block_fold(reader) || (is_reshape(reader) && feeds_blocks(reader.outputs[0]));
    }

    /// True if the node concatenates scalars and block reductions into the input of one scalar
    /// reduction.
    bool joins_numbers(NodeId n) const {
        const Node& node = graph_.nodes[n];
        if (!options_.any_operands || !node.op->traits.is_concat || leaves(n)) return false;
        const std::vector<NodeId>& readers = readers_[node.outputs[0]];
        return readers.size() == 1 && graph_.nodes[readers[0]].op->op_class == OpClass::kReduce &&
               is_single_number(output_shape(graph_, graph_.nodes[readers[0]])) &&
               std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
                   const Node* maker = graph_.producer(v);
                   return maker != nullptr &&
                          (is_block_fold(*maker) || is_single_number(graph_.values[v].shape));
               });
    }

    /// True if the group reduces concatenated scalars (joins_numbers()) to one.
    bool folds_numbers(const Group& group) const {
        return std::any_of(group.nodes.begin(), group.nodes.end(), [&](NodeId n) {
            const Node& node = graph_.nodes[n];
            const Node* maker =
                node.op->op_class == OpClass::kReduce ? graph_.producer(node.inputs[0]) : nullptr;
            return maker != nullptr && joins_numbers(graph_.values[node.inputs[0]].node);
        });
    }

    /// True if the node concatenates a few tensors that are contiguous in the result (channels of
    /// one image) for kernels that read single elements: selecting the source costs less than
    /// copying all.
    bool is_read_as_parts(NodeId n) const {
        constexpr size_t kMostParts = 4;
        const Node& node = graph_.nodes[n];
        if (!node.op->traits.is_concat || node.inputs.size() > kMostParts) return false;
        const Shape& shape = output_shape(graph_, node);
        for (int i = 0; i < node.attrs.integer("axis"); ++i)
            if (!shape[i].is_one()) return false;
        for (const NodeId r : readers_[node.outputs[0]]) {
            const OpDef& reader = *graph_.nodes[r].op;
            const bool reads_elements =
                reader.op_class == OpClass::kInjective || reader.op_class == OpClass::kKernel;
            if (!reads_elements || reader.is_opaque) return false;
            // A reader with more results than this node has elements reads each of them many times.
            // Rows written in place are read once.
            if (!reader.writes_in_place &&
                output_shape(graph_, graph_.nodes[r]).element_count(1) > shape.element_count(1))
                return false;
        }
        return true;
    }

    /// Very large images keep their windows as views: stored, these would take many times their
    /// memory.
    bool has_stored_windows(NodeId n) const {
        constexpr int64_t kMostElements = int64_t{1} << 20;  // per batch item
        const Node& node = graph_.nodes[n];
        return options_.store_windows && node.op->traits.repeats_windows &&
               output_shape(graph_, node).element_count(1) <= kMostElements;
    }

    bool leaves(NodeId n) const {
        for (ValueId v : graph_.nodes[n].outputs)
            if (leaves_[v]) return true;
        return false;
    }

    bool is_read_as_buffer(NodeId n) const {
        for (ValueId v : graph_.nodes[n].outputs)
            for (NodeId r : readers_[v])
                if (graph_.nodes[r].op->is_opaque) return true;
        return false;
    }

    void place(NodeId n) {
        choose_group(n);
        if (options_.enabled && !options_.folds_rows.empty() && options_.folds_rows[n] &&
            !options_.region.has(n))
            take_in_prologue(n);
    }

    void choose_group(NodeId n) {
        if (options_.enabled)
            for (uint32_t g : aligned_reader_groups(n))
                if (join(n, g)) return;
        group_of_[n] = static_cast<uint32_t>(plan_.groups.size());
        plan_.groups.push_back(new_group(n));
    }

    /// Adds the nodes of the product's left operand to its group, where the product can reduce
    /// rows.
    void take_in_prologue(NodeId product) {
        const std::optional<MatmulPrologue> prologue = find_matmul_prologue(graph_, product);
        if (!prologue) return;
        const Value& raw = graph_.values[prologue->raw];
        if (raw.kind == ValueKind::kNode && plan_.inlined[raw.node]) return;
        Group& group = plan_.groups[group_of_[product]];
        for (NodeId n : prologue->nodes) {
            is_prologue_[n] = true;
            if (plan_.inlined[n]) continue;
            group_of_[n] = group_of_[product];
            group.nodes.push_back(n);
        }
        std::ranges::sort(group.nodes);
        find_stores(group);
    }

    Group new_group(NodeId n) const {
        const Node& node = graph_.nodes[n];
        Group group;
        group.space = output_shape(graph_, node);
        group.nodes = {n};
        group.in_region = options_.region.has(n);
        if (node.op->op_class == OpClass::kMatmul) group.kind = GroupKind::kMatmul;
        if (node.op->op_class == OpClass::kKernel) group.kind = GroupKind::kCustom;
        if (node.op->op_class == OpClass::kReduce) {
            group.kind = GroupKind::kReduction;
            group.space = graph_.values[node.inputs[0]].shape;
            group.axes = node.attrs.integers("axes");
        }
        return group;
    }

    /// Groups that read `n` at the element that they compute: through element-wise operators of the
    /// same shape and through reshapes; for a reduction, also those that broadcast it along its
    /// rows.
    std::vector<uint32_t> aligned_reader_groups(NodeId n) const {
        std::vector<uint32_t> groups;
        for (ValueId v : graph_.nodes[n].outputs) add_aligned(n, v, groups);
        std::sort(groups.begin(), groups.end());
        groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
        return groups;
    }

    void add_aligned(NodeId origin, ValueId v, std::vector<uint32_t>& groups) const {
        for (NodeId r : readers_[v]) {
            if (group_of_[r] != kInvalidId && !is_prologue_[r] && reads_aligned(origin, v, r))
                groups.push_back(group_of_[r]);
            if (is_reshape(graph_.nodes[r]) && plan_.inlined[r])
                add_aligned(origin, graph_.nodes[r].outputs[0], groups);
        }
    }

    bool reads_aligned(NodeId origin, ValueId v, NodeId reader) const {
        const Node& r = graph_.nodes[reader];
        if (is_reshape(r)) return true;
        const Shape& from = graph_.values[v].shape;
        if (r.op->op_class == OpClass::kReduce) return from == graph_.values[r.inputs[0]].shape;
        if (r.op->op_class != OpClass::kElementwise) return false;
        const Shape& to = output_shape(graph_, r);
        if (from == to) return true;
        return v == graph_.nodes[origin].outputs[0] && reduction_behind(origin, to) != nullptr;
    }

    /// The reduction over a tensor of shape `space` that `n` is, or derives from element by
    /// element; null if there is none.
    const Node* reduction_behind(NodeId n, const Shape& space, int depth = 0) const {
        constexpr int kMaxDepth = 8;
        const Node& node = graph_.nodes[n];
        if (node.op->op_class == OpClass::kReduce)
            return graph_.values[node.inputs[0]].shape == space ? &node : nullptr;
        if (node.op->op_class != OpClass::kElementwise || depth == kMaxDepth) return nullptr;
        for (ValueId v : node.inputs) {
            const Value& in = graph_.values[v];
            if (in.kind != ValueKind::kNode || in.shape != output_shape(graph_, node)) continue;
            if (const Node* found = reduction_behind(in.node, space, depth + 1)) return found;
        }
        return nullptr;
    }

    bool join(NodeId n, uint32_t g) {
        const Node& node = graph_.nodes[n];
        Group merged = plan_.groups[g];
        if (merged.in_region != options_.region.has(n) || is_block_fold(node)) return false;
        if (merged.nodes.size() >= options_.max_nodes) return false;
        if (!reshape_group(node, merged)) return false;
        if (!all_reads_aligned(n, g) || reaches(n, g)) return false;
        merged.nodes.insert(merged.nodes.begin(), n);
        find_stores(merged);
        if (!merged.in_region && !folds_numbers(merged) &&
            operand_count(merged) > options_.max_operands)
            return false;
        if (!merged.in_region &&
            !can_bind(graph_, merged, plan_.inlined, is_external_, options_.max_bound))
            return false;
        if (options_.spare_memory && folds_into_update(node, merged)) return false;
        if (options_.store_gathered && is_gathered_for_arithmetic(node, merged)) return false;
        if (stores_along_few_rows(node, merged)) return false;
        if (!merged.in_region && updates_too_early(merged)) return false;
        plan_.groups[g] = std::move(merged);
        group_of_[n] = g;
        return true;
    }

    /// True if the group writes an update and also a value that other groups load. Its readers
    /// could then not run beside it in the last interval, so the update would need a copy.
    bool updates_too_early(const Group& group) const {
        const auto updates = [this](ValueId v) { return is_update_[v]; };
        return std::ranges::any_of(group.stores, updates) &&
               !std::ranges::all_of(group.stores, [&](ValueId v) {
                   return is_update_[v] || !is_read_outside(v, group.nodes);
               });
    }

    /// True if the group writes an update and joining `node` would add more than element-wise work.
    bool folds_into_update(const Node& node, const Group& group) const {
        const OpClass c = node.op->op_class;
        return c != OpClass::kElementwise && !is_view(node) &&
               std::any_of(group.stores.begin(), group.stores.end(),
                           [this](ValueId v) { return is_update_[v]; });
    }

    /// True if `node` is a gather and the group computes element-wise results from it.
    bool is_gathered_for_arithmetic(const Node& node, const Group& group) const {
        return node.op->op_class == OpClass::kInjective && !is_view(node) &&
               group.kind == GroupKind::kElementwise;
    }

    /// Returns true if `node` fits the group's iteration space; changes the group's kind where
    /// needed.
    bool reshape_group(const Node& node, Group& group) const {
        if (node.outputs.size() != 1) return false;
        const Shape& shape = output_shape(graph_, node);
        const Dim count = shape.element_count();
        switch (node.op->op_class) {
            case OpClass::kElementwise:
            case OpClass::kInjective:
                if (group.kind != GroupKind::kReduction && count != group.space.element_count())
                    return broadcast_to_rows(node, group);
                if (group.kind != GroupKind::kReduction) return true;
                // Each phase recomputes the elements within a row: only cheap arithmetic.
                return (node.op->op_class == OpClass::kElementwise && shape == group.space) ||
                       count == outer_count(group);
            case OpClass::kMatmul:
            case OpClass::kKernel:
                // A custom kernel that reads whole buffers may be finished code that takes no
                // fusion.
                if (node.op->is_opaque || group.kind != GroupKind::kElementwise ||
                    count != group.space.element_count())
                    return false;
                group.kind =
                    node.op->op_class == OpClass::kMatmul ? GroupKind::kMatmul : GroupKind::kCustom;
                group.space = shape;
                return true;
            case OpClass::kReduce:
                return reshape_to_rows(node, group);
            case OpClass::kComposite:
                return false;
        }
        return false;
    }

    bool reshape_to_rows(const Node& reduction, Group& group) const {
        const Shape& space = graph_.values[reduction.inputs[0]].shape;
        const std::vector<int64_t>& axes = reduction.attrs.integers("axes");
        if (group.kind == GroupKind::kReduction) return group.space == space && group.axes == axes;
        if (group.kind != GroupKind::kElementwise) return false;
        const bool is_epilogue =
            group.space.element_count() == output_shape(graph_, reduction).element_count();
        if (!is_epilogue) return broadcast_to_rows(reduction, group);
        group.kind = GroupKind::kReduction;
        group.space = space;
        group.axes = axes;
        return true;
    }

    /// Turns an element-wise group into a reduction over rows if `node` is one scalar per row that
    /// the group broadcasts.
    bool broadcast_to_rows(const Node& node, Group& group) const {
        if (group.kind != GroupKind::kElementwise) return false;
        const Node* reduction = reduction_behind(graph_.values[node.outputs[0]].node, group.space);
        if (reduction == nullptr || !members_have_shape(group, group.space)) return false;
        if (is_single_number(output_shape(graph_, *reduction))) return false;
        const std::vector<int64_t>& axes = reduction->attrs.integers("axes");
        const Dim row = row_length(group.space, axes);
        if (row.is_batch || row.count > kMaxFusedRow) return false;
        group.kind = GroupKind::kReduction;
        group.axes = axes;
        return true;
    }

    bool members_have_shape(const Group& group, const Shape& shape) const {
        return std::all_of(group.nodes.begin(), group.nodes.end(), [&](NodeId n) {
            return graph_.nodes[n].op->op_class == OpClass::kElementwise &&
                   output_shape(graph_, graph_.nodes[n]) == shape;
        });
    }

    static Dim row_length(const Shape& space, const std::vector<int64_t>& axes) {
        Shape reduced;
        for (int64_t a : axes) reduced.push_back(space[static_cast<int>(a)]);
        return reduced.element_count();
    }

    static Dim outer_count(const Group& group) {
        Shape outer = group.space;
        for (int64_t a : group.axes) outer[static_cast<int>(a)] = Dim(1);
        return outer.element_count();
    }

    /// Returns true if the members of group g read `n` only at the elements they compute.
    bool all_reads_aligned(NodeId n, uint32_t g) const {
        for (ValueId v : graph_.nodes[n].outputs)
            if (!value_reads_aligned(n, v, g)) return false;
        return true;
    }

    bool value_reads_aligned(NodeId origin, ValueId v, uint32_t g) const {
        for (NodeId r : readers_[v]) {
            const Node& reader = graph_.nodes[r];
            if (group_of_[r] == g && (is_prologue_[r] || !reads_aligned(origin, v, r)))
                return false;
            if (!plan_.inlined[r]) continue;
            const bool passes_on = is_reshape(reader)
                                       ? value_reads_aligned(origin, reader.outputs[0], g)
                                       : !inlined_reaches_group(reader.outputs[0], g);
            if (!passes_on) return false;
        }
        return true;
    }

    bool inlined_reaches_group(ValueId v, uint32_t g) const {
        for (NodeId r : readers_[v]) {
            if (group_of_[r] == g) return true;
            if (plan_.inlined[r] && inlined_reaches_group(graph_.nodes[r].outputs[0], g))
                return true;
        }
        return false;
    }

    /// True if a path leads from `n` through a node outside group `g` back into it: fusing would
    /// make the group wait for itself.
    bool reaches(NodeId n, uint32_t g) const {
        std::vector<bool> seen(graph_.nodes.size());
        std::vector<NodeId> stack;
        auto push_readers = [&](NodeId of) {
            for (ValueId v : graph_.nodes[of].outputs)
                for (NodeId r : readers_[v])
                    if (!seen[r]) {
                        seen[r] = true;
                        stack.push_back(r);
                    }
        };
        // Reads by the group itself, directly or through views that it recomputes, are fused; paths
        // start at all other readers.
        std::vector<ValueId> values(graph_.nodes[n].outputs);
        while (!values.empty()) {
            const ValueId v = values.back();
            values.pop_back();
            for (NodeId r : readers_[v]) {
                if (group_of_[r] == g || seen[r]) continue;
                seen[r] = true;
                if (plan_.inlined[r] && group_of_[r] == kInvalidId)
                    values.push_back(graph_.nodes[r].outputs[0]);
                else
                    stack.push_back(r);
            }
        }
        while (!stack.empty()) {
            const NodeId at = stack.back();
            stack.pop_back();
            if (group_of_[at] == g) return true;
            push_readers(at);
            if (options_.region.has(at) && !plan_.groups[g].in_region)
                for (NodeId member : options_.region.nodes) push_readers(member);
            // A kernel runs as a whole, so waiting for one member means waiting for all.
            if (group_of_[at] != kInvalidId)
                for (NodeId member : plan_.groups[group_of_[at]].nodes) push_readers(member);
        }
        return false;
    }

    /// Number of buffers that count against max_operands. With any_operands, scalars do not count:
    /// each may be replaced by many loads anyway.
    int operand_count(const Group& group) const {
        const std::vector<ValueId> loads = loads_of(graph_, group, plan_.inlined);
        const auto counts = [&](ValueId v) {
            return !options_.any_operands || !is_single_number(graph_.value(v).shape);
        };
        return static_cast<int>(std::ranges::count_if(loads, counts) +
                                static_cast<std::ptrdiff_t>(group.stores.size()));
    }

    /// True if a reduction over the batch would also store `node`, which has its input's shape.
    /// Such a reduction has few results and so few workgroups: a separate kernel writes that tensor
    /// faster.
    bool stores_along_few_rows(const Node& node, const Group& group) const {
        return group.kind == GroupKind::kReduction && node.op->op_class != OpClass::kReduce &&
               output_shape(graph_, node) == group.space &&
               row_length(group.space, group.axes).is_batch &&
               std::find(group.stores.begin(), group.stores.end(), node.outputs[0]) !=
                   group.stores.end();
    }

    void find_stores(Group& group) const {
        group.stores.clear();
        for (NodeId n : group.nodes)
            for (ValueId v : graph_.nodes[n].outputs)
                if (leaves_[v] || graph_.nodes[n].op->is_opaque || is_read_outside(v, group.nodes))
                    group.stores.push_back(v);
    }

    bool is_read_outside(ValueId v, const std::vector<NodeId>& nodes) const {
        for (NodeId r : readers_[v]) {
            const bool is_member = std::binary_search(nodes.begin(), nodes.end(), r);
            if (!is_member && (!plan_.inlined[r] || group_of_[r] != kInvalidId)) return true;
            // An inlined member is also recomputed by readers outside of the group.
            if (plan_.inlined[r] && is_read_outside(graph_.nodes[r].outputs[0], nodes)) return true;
        }
        return false;
    }

    void finish() {
        // A node that is both inlined and stored has a group of its own; other readers still
        // recompute it rather than wait for that kernel.
        for (Group& group : plan_.groups) find_stores(group);
        sort_groups();
    }

    /// Sorts the groups topologically: each comes after those whose stores it loads.
    void sort_groups() {
        std::vector<uint32_t> maker(graph_.values.size(), kInvalidId);
        for (uint32_t g = 0; g < plan_.groups.size(); ++g)
            for (ValueId v : plan_.groups[g].stores) maker[v] = g;
        std::vector<Group> ordered;
        std::vector<uint8_t> state(plan_.groups.size());  // 0 unvisited, 1 on the stack, 2 done
        for (NodeId n = 0; n < graph_.nodes.size(); ++n)
            if (group_of_[n] != kInvalidId) visit(group_of_[n], maker, state, ordered);
        plan_.groups = std::move(ordered);
    }

    void visit(uint32_t g, const std::vector<uint32_t>& maker, std::vector<uint8_t>& state,
               std::vector<Group>& ordered) {
        if (state[g] == 2) return;
        HEARTH_ASSERT(state[g] == 0);  // a cycle between groups: reaches() is wrong
        state[g] = 1;
        for (ValueId v : loads_of(graph_, plan_.groups[g], plan_.inlined))
            if (maker[v] != kInvalidId) visit(maker[v], maker, state, ordered);
        state[g] = 2;
        ordered.push_back(std::move(plan_.groups[g]));
    }

    const Graph& graph_;
    FusionOptions options_;
    const std::vector<bool>& is_stored_;
    std::vector<std::vector<NodeId>> readers_;
    std::vector<bool> leaves_, is_external_;    ///< per value
    std::vector<bool> is_update_;               ///< per value
    std::vector<bool> is_prologue_;             ///< per node: part of a product's prologue
    std::vector<bool> is_read_while_replaced_;  ///< per node: see find_reads_of_replaced()
    std::vector<uint32_t> group_of_;
    FusionPlan plan_;
};

}  // namespace

bool is_block_fold(const Node& node) {
    return node.op->traits.reduces_blocks;
}

const Group* Group::number(ValueId v) const {
    for (const std::shared_ptr<const Group>& g : replicated_scalars)
        if (std::find(g->stores.begin(), g->stores.end(), v) != g->stores.end()) return g.get();
    return nullptr;
}

bool spares_memory(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const Node& node) { return node.op->traits.is_delayed; });
}

namespace {

/// The element-wise node recomputed by the group whose storing saves the most loads; kNone if there
/// is none.
NodeId widest_inlined(const Graph& graph, const Group& group, const FusionPlan& plan, size_t most) {
    std::vector<bool> seen(graph.nodes.size());
    std::vector<NodeId> stack = group.nodes;
    NodeId widest = kInvalidId;
    size_t width = 1;
    while (!stack.empty()) {
        const Node& node = graph.nodes[stack.back()];
        stack.pop_back();
        for (ValueId v : node.inputs) {
            const Value& in = graph.values[v];
            if (in.kind != ValueKind::kNode || !plan.inlined[in.node] || seen[in.node]) continue;
            seen[in.node] = true;
            stack.push_back(in.node);
            if (graph.nodes[in.node].op->op_class != OpClass::kElementwise) continue;
            const size_t loads = loads_of(graph, {.nodes = {in.node}}, plan.inlined).size();
            if (loads <= width || loads >= most) continue;
            widest = in.node;
            width = loads;
        }
    }
    return widest;
}

}  // namespace

FusionPlan fuse(const Graph& graph, const FusionOptions& options) {
    std::vector<bool> is_stored(graph.nodes.size());
    const std::vector<bool> is_external = external_values(graph);
    for (;;) {
        FusionPlan plan = Fuser(graph, options, is_stored).run();
        bool fits = true;
        for (const Group& group : plan.groups) {
            if (group.in_region ||
                can_bind(graph, group, plan.inlined, is_external, options.max_bound))
                continue;
            const NodeId stored =
                widest_inlined(graph, group, plan, static_cast<size_t>(options.max_bound));
            if (stored == kInvalidId) continue;
            is_stored[stored] = true;
            fits = false;
        }
        if (fits) return plan;
    }
}

std::vector<ValueId> loads_of(const Graph& graph, const Group& group,
                              const std::vector<bool>& inlined) {
    std::vector<ValueId> loads;
    std::vector<bool> seen(graph.values.size());
    std::vector<NodeId> stack(group.nodes.rbegin(), group.nodes.rend());
    while (!stack.empty()) {
        const NodeId n = stack.back();
        stack.pop_back();
        const bool skips_first = graph.nodes[n].op->writes_in_place;
        for (size_t k = skips_first ? 1 : 0; k < graph.nodes[n].inputs.size(); ++k) {
            const ValueId v = graph.nodes[n].inputs[k];
            if (seen[v]) continue;
            seen[v] = true;
            const Value& value = graph.values[v];
            if (graph.nodes[n].op->is_opaque) {
                loads.push_back(v);
            } else if (value.kind != ValueKind::kNode) {
                const bool is_literal =
                    value.kind == ValueKind::kConstant && is_single_number(value.shape);
                if (!is_literal) loads.push_back(v);
            } else if (inlined[value.node]) {
                stack.push_back(value.node);
            } else if (const Group* number = group.number(v)) {
                for (ValueId in : loads_of(graph, *number, inlined)) {
                    if (!seen[in]) loads.push_back(in);
                    seen[in] = true;
                }
            } else if (!std::binary_search(group.nodes.begin(), group.nodes.end(), value.node)) {
                loads.push_back(v);
            }
        }
    }
    std::sort(loads.begin(), loads.end());
    return loads;
}

}  // namespace hearth
