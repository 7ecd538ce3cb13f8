// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Merges the tables that all entries of a Program share: variables of the weights region by name,
// bindings by name and direction.

#include "compiler/plan/stages.hpp"
#include "program/variable_kind.hpp"

#include <hearth/core/hash.hpp>

#include <limits>
#include <map>
#include <utility>

namespace hearth::planning {

Extent extent_of(const Value& value, NarrowStorage narrow) {
    const Dim count = value.shape.element_count();
    const uint64_t bytes =
        static_cast<uint64_t>(count.count) * size_bytes(device_dtype(value.dtype, narrow));
    return count.is_batch ? Extent{0, bytes} : Extent{bytes, 0};
}

Result<std::vector<ValueId>> resolve_aliases(const Graph& graph, const LoweredEntry& entry,
                                             NarrowStorage narrow) {
    const std::string where = "entry '" + entry.name + "'";
    const size_t count = graph.values.size();
    if (entry.alias_of.size() != count)
        return invalid_argument(where + ": alias_of has " + std::to_string(entry.alias_of.size()) +
                                " values, the graph has " + std::to_string(count));
    std::vector<ValueId> root_of(count);
    for (ValueId id = 0; id < count; ++id) {
        const std::string what = where + ": value %" + std::to_string(id);
        ValueId root = id;
        for (size_t commands = 0; root < count && entry.alias_of[root] != root; ++commands) {
            if (commands == count) return invalid_argument(what + " is an alias of itself");
            root = entry.alias_of[root];
        }
        if (root >= count) return invalid_argument(what + " is an alias of no value of the graph");
        const Value &value = graph.value(id), &owner = graph.value(root);
        if (value.kind != ValueKind::kNode && root != id)
            return invalid_argument(what + " ('" + value.name + "') has bytes of its own");
        if (extent_of(value, narrow) != extent_of(owner, narrow))
            return invalid_argument(what + " " + to_string(value.shape) + " is an alias of %" +
                                    std::to_string(root) + " " + to_string(owner.shape) +
                                    ", which has another size");
        root_of[id] = root;
    }
    return root_of;
}

namespace {

std::string describe(DType dtype, const Shape& shape) {
    return std::string(hearth::name_of(dtype)) + " " + to_string(shape);
}

constexpr std::string_view kSmallerWeights =
    "; cook with --quantize f16, int8 or int4, or for a device with larger buffers";

// Checks that the planner can size the shape: at most one batch dimension, no negative extent, and
// at most max_storage_buffer_range at rows_capacity.
Status check_size(const Value& value, const PlanOptions& options, const std::string& what) {
    uint64_t limit = options.caps.max_storage_buffer_range /
                     size_bytes(device_dtype(value.dtype, options.caps.narrow_storage()));
    bool has_rows = false, is_empty = false;
    for (Dim d : value.shape.dims()) {
        if (d.count < 0 || (d.is_batch && has_rows))
            return invalid_argument(what + " has no size: " + to_string(value.shape));
        has_rows = has_rows || d.is_batch;
        is_empty = is_empty || d.count == 0;
    }
    if (is_empty) return {};
    for (Dim d : value.shape.dims()) {
        limit /= static_cast<uint64_t>(d.count);
        if (d.is_batch) limit /= options.max_batch_size;
    }
    if (limit > 0) return {};
    return out_of_range(what + " " + to_string(value.shape) + " at batch size " +
                        std::to_string(options.max_batch_size) + " is larger than " +
                        std::to_string(options.caps.max_storage_buffer_range) + " bytes" +
                        (value.data != nullptr ? std::string(kSmallerWeights) : ""));
}

using SharedTensor = std::shared_ptr<const HostTensor>;

/// Initial value of `value` as it lies in device memory, shared with the graph if it is held there
/// in its own type; null if it has none.
Result<SharedTensor> device_contents(const Value& value, const std::string& what,
                                     const PlanOptions& options) {
    if (!value.data || value.data->bytes().empty()) return SharedTensor();
    const HostTensor& data = *value.data;
    const Shape shape = value.shape.resolve(static_cast<int64_t>(options.max_batch_size));
    if (data.dtype() != value.dtype || data.shape() != shape)
        return invalid_argument(what + " is " + describe(value.dtype, shape) +
                                ", but its contents are " + describe(data.dtype(), data.shape()));
    const DType device = device_dtype(value.dtype, options.caps.narrow_storage());
    if (device == value.dtype) return value.data;
    HEARTH_ASSIGN(HostTensor held, data.held_as(device, what));
    return std::make_shared<const HostTensor>(std::move(held));
}

std::span<const std::byte> bytes_of(const SharedTensor& contents) {
    return contents ? contents->bytes() : std::span<const std::byte>();
}

bool have_equal_bytes(const SharedTensor& a, const SharedTensor& b) {
    return a == b || std::ranges::equal(bytes_of(a), bytes_of(b));
}

// Name derived from type, shape and contents, so that equal constants of all entries share a
// variable.
std::string name_by_contents(const Value& value, std::span<const std::byte> contents) {
    Hash hash;
    hash.number(static_cast<uint8_t>(value.dtype)).text(to_string(value.shape)).bytes(contents);
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4)
        digits += "0123456789abcdef"[(hash.value() >> shift) & 15];
    return "constant." + digits;
}

class TableMaker {
  public:
    TableMaker(std::span<const Graph> graphs, std::span<const LoweredEntry> entries,
               const PlanOptions& options)
        : graphs_(graphs), entries_(entries), options_(options) {}

    Result<Tables> make() {
        for (size_t e = 0; e < graphs_.size(); ++e) HEARTH_TRY(prepare(e));
        // Params first, so that they form one contiguous byte range.
        for (ValueKind kind : {ValueKind::kParam, ValueKind::kState, ValueKind::kConstant})
            for (size_t e = 0; e < graphs_.size(); ++e)
                for (ValueId id = 0; id < graphs_[e].values.size(); ++id)
                    if (graphs_[e].value(id).kind == kind && is_needed(e, id))
                        HEARTH_TRY(add_variable(e, id));
        HEARTH_TRY(place_variables());
        for (size_t e = 0; e < graphs_.size(); ++e) HEARTH_TRY(add_bindings(e));
        return std::move(tables_);
    }

  private:
    std::string entry_name(size_t e) const { return "entry '" + entries_[e].name + "'"; }

    Status prepare(size_t e) {
        const Graph& graph = graphs_[e];
        for (ValueId id = 0; id < graph.values.size(); ++id)
            HEARTH_TRY(check_size(graph.value(id), options_,
                                  entry_name(e) + ": value %" + std::to_string(id)));
        Tables::EntryTables entry;
        entry.narrow = options_.caps.narrow_storage();
        HEARTH_ASSIGN(entry.root_of, resolve_aliases(graph, entries_[e], entry.narrow));
        entry.place_of.assign(graph.values.size(), kInvalidId);

        std::vector<bool> used(graph.values.size(), false);
        const auto mark = [&](ValueId id) {
            if (id < used.size()) used[entry.root_of[id]] = true;
        };
        for (const KernelCall& call : entries_[e].calls)
            for (const CallOperand& operand : call.operands) mark(operand.value);
        for (const GraphOutput& output : graph.outputs) mark(output.value);
        for (const Assignment& update : graph.updates) mark(update.value);
        used_.push_back(std::move(used));
        tables_.entries.push_back(std::move(entry));
        return {};
    }

    // Constants folded into kernels as literals need no bytes; params and states always have a
    // variable.
    bool is_needed(size_t e, ValueId id) const {
        return graphs_[e].value(id).kind != ValueKind::kConstant || used_[e][id];
    }

    Status add_variable(size_t e, ValueId id) {
        const Value& value = graphs_[e].value(id);
        const VariableKind kind = value.kind == ValueKind::kParam      ? VariableKind::kParam
                                  : value.kind == ValueKind::kConstant ? VariableKind::kConstant
                                  : value.is_persistent                ? VariableKind::kState
                                                                       : VariableKind::kTransient;
        std::string what =
            entry_name(e) + ": " + std::string(name_of(kind)) + " '" + value.name + "'";
        if (value.name.empty() && kind != VariableKind::kConstant)
            return invalid_argument(what + " needs a name");
        HEARTH_ASSIGN(SharedTensor contents, device_contents(value, what, options_));
        const std::string name =
            value.name.empty() ? name_by_contents(value, bytes_of(contents)) : value.name;

        const auto [known, is_new] =
            variable_by_name_.try_emplace(name, static_cast<uint32_t>(tables_.variables.size()));
        const uint32_t index = known->second;
        tables_.entries[e].place_of[id] = index;
        if (is_new) {
            Variable variable;
            variable.name = name;
            variable.kind = kind;
            variable.dtype = value.dtype;
            variable.shape = value.shape.resolve(static_cast<int64_t>(options_.max_batch_size));
            variable.bytes =
                extent_of(value, options_.caps.narrow_storage()).at(options_.max_batch_size);
            tables_.variables.push_back(variable);
            shapes_.push_back(value.shape);
            contents_.push_back(std::move(contents));
            first_entry_.push_back(e);
            return {};
        }
        const Variable& variable = tables_.variables[index];
        const std::string first = entry_name(first_entry_[index]);
        if (variable.kind != kind || variable.dtype != value.dtype || shapes_[index] != value.shape)
            return invalid_argument(what + " is " + describe(value.dtype, value.shape) + ", but " +
                                    first + " has a " + std::string(name_of(variable.kind)) +
                                    " of " + describe(variable.dtype, shapes_[index]));
        // An entry may leave a param's initial value to another entry.
        if (contents && !contents_[index] && kind != VariableKind::kConstant)
            contents_[index] = std::move(contents);
        else if (!have_equal_bytes(contents, contents_[index]) &&
                 (contents || kind == VariableKind::kConstant))
            return invalid_argument(what + " has other contents than in " + first);
        return {};
    }

    uint64_t data_bytes() const {
        uint64_t bytes = 0;
        for (const SharedTensor& contents : contents_)
            bytes += align_up(bytes_of(contents).size(), sizeof(uint64_t));
        return bytes;
    }

    uint64_t total_weights_bytes() const {
        uint64_t bytes = 0;
        for (const Variable& variable : tables_.variables)
            bytes += align_up(variable.bytes, options_.caps.min_storage_buffer_offset_alignment);
        return bytes;
    }

    Status place_variables() {
        const uint64_t limit = options_.caps.max_storage_buffer_range;
        tables_.data.reserve(data_bytes());
        for (size_t s = 0; s < tables_.variables.size(); ++s) {
            Variable& variable = tables_.variables[s];
            variable.offset = tables_.weights_bytes;
            tables_.weights_bytes +=
                align_up(variable.bytes, options_.caps.min_storage_buffer_offset_alignment);
            if (tables_.weights_bytes > limit)
                return out_of_range("the weights take " + std::to_string(total_weights_bytes()) +
                                    " bytes, the largest buffer of the device target is " +
                                    std::to_string(limit) + std::string(kSmallerWeights));
            const SharedTensor& contents = contents_[s];
            if (!contents) continue;
            variable.data_offset = tables_.data.size();
            const std::span<const std::byte> bytes = contents->bytes();
            tables_.data.insert(tables_.data.end(), bytes.begin(), bytes.end());
            tables_.data.resize(align_up(tables_.data.size(), sizeof(uint64_t)));
        }
        return {};
    }

    Status add_bindings(size_t e) {
        const Graph& graph = graphs_[e];
        Tables::EntryTables& entry = tables_.entries[e];
        for (ValueId id : graph.inputs) {
            if (id >= graph.values.size() || graph.value(id).kind != ValueKind::kInput)
                return invalid_argument(entry_name(e) + ": %" + std::to_string(id) +
                                        " is declared as an input, but is none");
            HEARTH_ASSIGN(entry.place_of[id],
                          add_binding(e, Direction::kInput, graph.value(id).name, graph.value(id)));
        }
        for (const Assignment& update : graph.updates)
            if (update.target < graph.values.size() &&
                graph.value(update.target).kind == ValueKind::kInput &&
                entry.place_of[update.target] != kInvalidId)
                tables_.bindings[entry.place_of[update.target]].direction = Direction::kInOut;
        for (const GraphOutput& output : graph.outputs) {
            if (output.value >= graph.values.size())
                return invalid_argument(entry_name(e) + ": output '" + output.name +
                                        "' has no value");
            HEARTH_ASSIGN(const uint32_t binding,
                          add_binding(e, Direction::kOutput, output.name, graph.value(output.value),
                                      output.scalars));
            entry.output_bindings.push_back(binding);
        }
        return {};
    }

    Result<uint32_t> add_binding(size_t e, Direction direction, const std::string& name,
                                 const Value& value,
                                 const std::vector<std::string>& elements = {}) {
        const std::string_view kind = direction == Direction::kInput ? "input" : "output";
        const std::string what = entry_name(e) + ": " + std::string(kind) + " '" + name + "'";
        if (name.empty()) return invalid_argument(what + " has no name");
        for (Declared& known : bindings_by_name_[std::pair(direction, name)]) {
            const size_t other = std::exchange(known.last_entry, e);
            if (other == e) return invalid_argument(what + " is declared twice");
            const Binding& binding = tables_.bindings[known.binding];
            if (binding.elements != elements)
                return invalid_argument(what + " has other names for its elements than in " +
                                        entry_name(other));
            if (binding.dtype != value.dtype)
                return invalid_argument(what + " is " + describe(value.dtype, value.shape) +
                                        ", but " + entry_name(other) + " has an " +
                                        std::string(kind) + " of " +
                                        describe(binding.dtype, binding.shape));
            if (binding.shape == value.shape) return known.binding;
            // Same name but another shape (entries of different sizes): add a separate binding.
            known.last_entry = other;
        }
        const auto index = static_cast<uint32_t>(tables_.bindings.size());
        tables_.bindings.push_back({name, direction, value.dtype, value.shape,
                                    extent_of(value, options_.caps.narrow_storage()), elements});
        bindings_by_name_[std::pair(direction, name)].push_back({index, e});
        return index;
    }

    std::span<const Graph> graphs_;
    std::span<const LoweredEntry> entries_;
    const PlanOptions& options_;
    Tables tables_;
    std::vector<std::vector<bool>> used_;  ///< per entry and value
    std::vector<Shape> shapes_;            ///< per variable, with a symbolic batch size
    std::vector<SharedTensor> contents_;   ///< per variable
    std::vector<size_t> first_entry_;      ///< per variable
    std::map<std::string, uint32_t> variable_by_name_;
    struct Declared {
        uint32_t binding;
        size_t last_entry;  ///< the last entry that declared it
    };
    /// One Declared per shape.
    std::map<std::pair<Direction, std::string>, std::vector<Declared>> bindings_by_name_;
};

}  // namespace

Result<Tables> make_tables(std::span<const Graph> graphs, std::span<const LoweredEntry> entries,
                           const PlanOptions& options) {
    return TableMaker(graphs, entries, options).make();
}

}  // namespace hearth::planning
