// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Imports nodes that contain graphs.  Hearth's graphs have neither branches nor loops: functions
// are inlined, loop bodies are unrolled (up to a bound, where data decides when to stop), and
// branches become selections.

#include "import/onnx/onnx_importer.hpp"

#include <hearth/ops.hpp>

#include <algorithm>

namespace hearth {

namespace {

constexpr int kDeepest = 64;  // nesting of graphs and functions
constexpr int64_t kMostTurns = 1024;

int64_t integer_attr(const OnnxNode& node, std::string_view name, int64_t fallback) {
    const AttrValue* value = node.attrs.find(name);
    const int64_t* n = value != nullptr ? std::get_if<int64_t>(value) : nullptr;
    return n != nullptr ? *n : fallback;
}

/// Element i of an optional list attribute; 0 if absent.
int64_t list_attr(const OnnxNode& node, std::string_view name, size_t i) {
    const AttrValue* value = node.attrs.find(name);
    const auto* list = value != nullptr ? std::get_if<std::vector<int64_t>>(value) : nullptr;
    return list != nullptr && i < list->size() ? (*list)[i] : 0;
}

std::string typed(const Tensor& t) {
    return std::string(name_of(t.dtype())) + to_string(t.shape());
}

Status wrong_count(std::string_view what, size_t expected, size_t found) {
    return invalid_argument("its body has " + std::to_string(found) + " " + std::string(what) +
                            ", expected " + std::to_string(expected));
}

}  // namespace

bool OnnxImporter::is_control(const OnnxNode& node) {
    return node.domain.empty() &&
           (node.op_type == "If" || node.op_type == "Loop" || node.op_type == "Scan");
}

Result<OnnxImporter::Knowns> OnnxImporter::import_control(const OnnxNode& node,
                                                          const Knowns& inputs, Scope& scope) {
    if (node.op_type == "If") return import_if(node, inputs, scope);
    if (node.op_type == "Loop") return import_loop(node, inputs, scope);
    return import_scan(node, inputs, scope);
}

Result<OnnxImporter::Knowns> OnnxImporter::import_body(const OnnxGraph& body,
                                                       const Knowns& arguments, Scope& scope) {
    if (scope.depth == kDeepest)
        return out_of_range("more than " + std::to_string(kDeepest) +
                            " nested graphs and functions");
    HEARTH_TRY(budget_.spend(Budget::Of::kVisits, 1 + body.inputs.size() + body.outputs.size()));
    Scope inner{&scope, &body, scope.opset, scope.call, scope.defaults, scope.depth + 1, {}};
    for (size_t i = 0; i < body.inputs.size(); ++i)
        inner.values[body.inputs[i].name] = i < arguments.size() ? arguments[i] : Known();
    HEARTH_TRY(import_nodes(inner));
    Knowns results;
    for (const OnnxPort& port : body.outputs) {
        HEARTH_ASSIGN(Known known, find(inner, port.name));
        results.push_back(std::move(known));
    }
    return results;
}

Result<OnnxImporter::Knowns> OnnxImporter::import_function(const OnnxFunction& function,
                                                           const OnnxNode& node,
                                                           const Knowns& inputs,
                                                           const Scope& scope) {
    if (inputs.size() > function.body.inputs.size())
        return invalid_argument("has " + std::to_string(inputs.size()) +
                                " inputs, the function takes " +
                                std::to_string(function.body.inputs.size()));
    // A function does not see the names of its caller.
    Scope outside{nullptr, nullptr, function.opset, &node, &function.defaults, scope.depth, {}};
    return import_body(function.body, inputs, outside);
}

/// The value of a scalar, or nothing if it is absent or not known at import.
Result<std::optional<int64_t>> OnnxImporter::number_if_known(const Known& value,
                                                             std::string_view what) const {
    const HostTensor* data = contents(value.tensor);
    if (data == nullptr) return std::optional<int64_t>();
    if (data->element_count() != 1)
        return invalid_argument(std::string(what) + " is " + to_string(data->shape()) +
                                ", expected one element");
    return std::optional(data->get_int(0));
}

Result<std::optional<int64_t>> OnnxImporter::known_number(const Known& value,
                                                          std::string_view what) const {
    HEARTH_ASSIGN(const std::optional<int64_t> number, number_if_known(value, what));
    if (number || value.is_absent()) return number;
    return name_unknown(unsupported(std::string(what) + " must be known at import"), value.tensor);
}

// --- If

/// One of two values by a bool [].  Their extents may differ: the result then has the larger ones,
/// and the rest is padding.  what: the condition and the two, for messages.
Result<OnnxImporter::Known> OnnxImporter::choose(const Tensor& condition, const Known& yes,
                                                 const Known& no, std::string_view what) {
    if (yes.is_symbolic() || no.is_symbolic()) {
        const bool equal = yes.extents && no.extents && yes.extents->dims == no.extents->dims &&
                           yes.extents->is_scalar == no.extents->is_scalar;
        if (equal) return yes;
        return unsupported(std::string(what) +
                           " values that depend on the batch size; import with fixed input shapes");
    }
    if (yes.is_absent() || no.is_absent())
        return invalid_argument(std::string(what) + " no value in one case");
    if (yes.sequence && yes.sequence == no.sequence) return yes;
    if (yes.sequence || no.sequence) return unsupported(std::string(what) + " sequences");
    if (yes.tensor.value() == no.tensor.value()) return yes;
    const Shape a = yes.tensor.shape(), b = no.tensor.shape();
    bool fits = yes.tensor.dtype() == no.tensor.dtype() && a.rank() == b.rank();
    for (int i = 0; fits && i < a.rank(); ++i)
        fits = a[i] == b[i] || (!a[i].is_batch && !b[i].is_batch);
    if (!fits)
        return unsupported(std::string(what) + " " + typed(yes.tensor) + " and " +
                           typed(no.tensor));
    HEARTH_ASSIGN(const Tensor chosen, select_padded(condition, yes.tensor, no.tensor));
    return Known{chosen};
}

/// Names of the model inputs that the tensor depends on: "'sr', 'mode'".
std::string OnnxImporter::names_of_inputs_behind(const Tensor& tensor) const {
    const Graph& graph = trace_.graph();
    std::vector<bool> is_behind(graph.values.size());
    is_behind[tensor.value()] = true;
    // Nodes are in topological order, so one backward pass suffices.
    for (size_t n = graph.nodes.size(); n-- > 0;) {
        const Node& node = graph.nodes[n];
        if (std::any_of(node.outputs.begin(), node.outputs.end(),
                        [&](ValueId id) { return is_behind[id]; }))
            for (const ValueId id : node.inputs) is_behind[id] = true;
    }
    std::string names;
    for (const ValueId id : graph.inputs)
        if (is_behind[id]) names += (names.empty() ? "" : ", ") + quoted(graph.values[id].name);
    return names;
}

Result<OnnxImporter::Knowns> OnnxImporter::import_if(const OnnxNode& node, const Knowns& inputs,
                                                     Scope& scope) {
    const OnnxGraph *then = node.graph("then_branch"), *otherwise = node.graph("else_branch");
    if (inputs.size() != 1 || inputs[0].is_absent() || then == nullptr || otherwise == nullptr)
        return invalid_argument("needs a condition and two branches");
    if (inputs[0].is_symbolic())
        return unsupported(
            "its condition depends on the batch size; import with fixed input shapes");
    const Tensor condition = inputs[0].tensor;
    if (condition.dtype() != DType::kBool || condition.shape().element_count(1) != 1 ||
        condition.shape().has_batch())
        return invalid_argument("its condition is " + typed(condition) + ", expected one bool");
    if (const HostTensor* known = contents(condition))
        return import_body(known->get_int(0) != 0 ? *then : *otherwise, {}, scope);

    // A branch that is never taken may not fit the given shapes.
    const auto import_branch = [&](const OnnxGraph& branch) -> Result<Knowns> {
        Result<Knowns> results = import_body(branch, {}, scope);
        const std::string by = results.ok() ? "" : names_of_inputs_behind(condition);
        if (by.empty()) return results;
        return Status(results.status().code(),
                      results.status().message() + "; this branch is taken depending on " + by +
                          "; to leave it out, give its value, " +
                          std::string(options_.value_flag_name) + " NAME=...");
    };
    HEARTH_ASSIGN(const Knowns yes, import_branch(*then));
    HEARTH_ASSIGN(const Knowns no, import_branch(*otherwise));
    if (yes.size() != no.size()) return wrong_count("outputs", yes.size(), no.size());
    const Tensor scalar = reshape(condition, {});
    Knowns results;
    for (size_t i = 0; i < yes.size(); ++i) {
        HEARTH_ASSIGN(Known chosen, choose(scalar, yes[i], no[i],
                                           "its condition depends on data, and its branches give"));
        results.push_back(std::move(chosen));
    }
    HEARTH_TRY(trace_.status());
    return results;
}

// --- Loops

/// Stacks the results of a loop's iterations along a new axis.
Result<OnnxImporter::Known> OnnxImporter::joined(const std::vector<Known>& turns, int64_t axis,
                                                 const OnnxPort& port) {
    std::vector<Tensor> parts;
    for (const Known& turn : turns) {
        if (!turn.tensor.ok())
            return unsupported(
                "collects a value that depends on the batch size; import with fixed input shapes");
        parts.push_back(turn.tensor);
    }
    if (!parts.empty()) {
        const auto first = static_cast<NodeId>(trace_.graph().nodes.size());
        const Tensor whole = stack(parts, axis);
        HEARTH_TRY(trace_.status());
        HEARTH_TRY(follow_padding(first));
        return Known{whole, {}};
    }
    // Without iterations the shape must come from the declaration.
    std::vector<int64_t> extents{0};
    for (const OnnxDim& d : port.dims) extents.push_back(d.count);
    const Result<Shape> shape = checked_shape(extents);
    if (!port.has_shape || !shape.ok())
        return unsupported("it runs no iteration, and the shape of " + quoted(port.name) +
                           " is not told");
    return Known{trace_.constant(HostTensor(port.dtype, *shape)), {}};
}

/// Progress of a Loop.  Once its condition or trip count depends on data, every iteration up to the
/// bound is computed, and `is_active` tells which of them are taken.
struct OnnxImporter::LoopState {
    std::optional<int64_t> count;  ///< the trip count, if it is known
    Tensor trips;                  ///< i64 []: the trip count, if it depends on data
    std::optional<int64_t> bound;
    std::string remedy;
    Known condition;   ///< of the next iteration
    Tensor is_active;  ///< bool []: not ok() while all iterations are taken
    Tensor taken;      ///< i64 []: number of iterations taken, beside is_active
    Knowns carried;
    std::vector<Knowns> collected;
};

Result<OnnxImporter::LoopState> OnnxImporter::begin_loop(const OnnxNode& node,
                                                         const Knowns& inputs) {
    constexpr int64_t kMostByDefault = 128;
    LoopState loop;
    HEARTH_ASSIGN(loop.count, number_if_known(inputs[0], "the number of iterations"));
    loop.bound = bound_of(node);
    loop.remedy = std::string(options_.bound_flag_name) + " " + label_of(node) + "=N";
    if (inputs[0].is_symbolic())
        return unsupported(
            "its trip count depends on the batch size; import with fixed input shapes");
    if (!inputs[0].is_absent() && !loop.count) {
        const Tensor trips = inputs[0].tensor;
        if (!trips.ok() || trips.shape().has_batch() || trips.shape().element_count(1) != 1)
            return invalid_argument("the number of iterations is " + typed(trips) +
                                    ", expected one element");
        loop.trips = reshape(cast(trips, DType::kI64), {});
    }
    const std::optional<int64_t> largest =
        inputs[0].has_bounds() ? inputs[0].extents->dims[0].count : loop.count;
    if (!loop.bound && largest && *largest <= kMostByDefault) loop.bound = largest;
    if (loop.bound && *loop.bound > kMostTurns)
        return out_of_range("its bound is " + std::to_string(*loop.bound) +
                            " iterations; expected at most " + std::to_string(kMostTurns));
    loop.condition = inputs[1];
    if (loop.condition.is_absent()) loop.condition = {trace_.constant(1, DType::kBool), {}};
    loop.carried.assign(inputs.begin() + 2, inputs.end());
    return loop;
}

/// False if the loop has no iteration `turn`.
Result<bool> OnnxImporter::enter_turn(LoopState& loop, int64_t turn) {
    HEARTH_ASSIGN(const std::optional<int64_t> goes_on,
                  number_if_known(loop.condition, "the condition of the next iteration"));
    if (goes_on == 0 || (loop.count && turn >= *loop.count)) return false;
    const bool depends_on_data = loop.is_active.ok() || loop.trips.ok() || !goes_on;
    if (depends_on_data && !loop.bound)
        return name_unknown(
            unsupported("its number of iterations depends on data; bound it, " + loop.remedy),
            loop.trips.ok() ? loop.trips : loop.condition.tensor);
    if (depends_on_data && turn >= *loop.bound) return false;
    if (turn == kMostTurns)
        return out_of_range("runs more than " + std::to_string(kMostTurns) + " turns");
    HEARTH_TRY(budget_.spend(Budget::Of::kTurns));
    if (!depends_on_data) return true;
    const auto also = [&](const Tensor& flag) {
        loop.is_active = loop.is_active.ok() ? logical_and(loop.is_active, flag) : flag;
    };
    if (!loop.taken.ok()) loop.taken = trace_.constant(static_cast<double>(turn), DType::kI64);
    if (!goes_on) {
        const Tensor condition = loop.condition.tensor;
        if (!condition.ok() || condition.dtype() != DType::kBool || condition.shape().has_batch() ||
            condition.shape().element_count(1) != 1)
            return invalid_argument("its condition is " + typed(condition) + ", expected one bool");
        also(reshape(condition, {}));
    }
    if (loop.trips.ok()) also(greater(loop.trips, static_cast<double>(turn)));
    loop.taken = loop.taken + cast(loop.is_active, DType::kI64);
    HEARTH_TRY(trace_.status());
    return true;
}

Status OnnxImporter::leave_turn(LoopState& loop, const Knowns& results) {
    loop.condition = results[0];
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        if (!loop.is_active.ok()) {
            loop.carried[i] = results[1 + i];
            continue;
        }
        HEARTH_ASSIGN(loop.carried[i],
                      choose(loop.is_active, results[1 + i], loop.carried[i],
                             "its number of iterations depends on data, and a value that it "
                             "carries becomes"));
    }
    for (size_t i = 0; i < loop.collected.size(); ++i) {
        Knowns& turns = loop.collected[i];
        const Known& result = results[1 + loop.carried.size() + i];
        // Taken iterations agree in shape.  Others are padding, and may read past an end.
        const bool is_padding = loop.is_active.ok() && !turns.empty() && result.tensor.ok() &&
                                result.tensor.shape() != turns[0].tensor.shape();
        turns.push_back(is_padding ? turns[0] : result);
    }
    return {};
}

// Inputs: trip count, condition, then the loop-carried values.  The body takes the iteration
// number, the condition and the carried values; it returns the condition of the next iteration, the
// carried values, and the values to collect.
Result<OnnxImporter::Knowns> OnnxImporter::import_loop(const OnnxNode& node, const Knowns& inputs,
                                                       Scope& scope) {
    const OnnxGraph* body = node.graph("body");
    if (body == nullptr || inputs.size() < 2)
        return invalid_argument("needs two inputs and a body");
    const size_t carried_count = inputs.size() - 2;
    if (body->inputs.size() != carried_count + 2)
        return wrong_count("inputs", carried_count + 2, body->inputs.size());
    if (body->outputs.size() < carried_count + 1)
        return wrong_count("outputs", carried_count + 1, body->outputs.size());
    HEARTH_ASSIGN(LoopState loop, begin_loop(node, inputs));
    loop.collected.resize(body->outputs.size() - 1 - carried_count);
    for (int64_t turn = 0;; ++turn) {
        HEARTH_ASSIGN(const bool goes_on, enter_turn(loop, turn));
        if (!goes_on) break;
        HostTensor number = HostTensor::scalar(static_cast<double>(turn), DType::kI64);
        if (body->inputs[0].dims.size() == 1) number = number.reshaped({1});
        Knowns arguments{{trace_.constant(std::move(number)), {}}, loop.condition};
        arguments.insert(arguments.end(), loop.carried.begin(), loop.carried.end());
        HEARTH_ASSIGN(const Knowns results, import_body(*body, arguments, scope));
        HEARTH_TRY(leave_turn(loop, results));
    }
    Knowns outputs = loop.carried;
    for (size_t i = 0; i < loop.collected.size(); ++i) {
        HEARTH_ASSIGN(Known whole,
                      joined(loop.collected[i], 0, body->outputs[1 + carried_count + i]));
        if (loop.taken.ok() && !loop.collected[i].empty())
            paddings_[whole.tensor.value()].emplace(0, loop.taken);
        outputs.push_back(std::move(whole));
    }
    return outputs;
}

/// Errors: kUnsupported for a tensor with an extent that depends on data.
Status OnnxImporter::check_unpadded(const Tensor& tensor) const {
    if (paddings_of(tensor.value()).empty()) return {};
    return unsupported("reads " + typed(tensor) +
                       " slice by slice, an extent of which depends on data; use a Loop");
}

// Inputs: the loop-carried values, then the tensors that are read slice by slice.
Result<OnnxImporter::Knowns> OnnxImporter::import_scan(const OnnxNode& node, const Knowns& inputs,
                                                       Scope& scope) {
    const OnnxGraph* body = node.graph("body");
    const int64_t read_count = integer_attr(node, "num_scan_inputs", 0);
    if (body == nullptr || read_count < 1 || read_count > static_cast<int64_t>(inputs.size()))
        return invalid_argument("needs a body and num_scan_inputs");
    return scope.opset < 9 ? import_batched_scan(node, inputs, *body, scope)
                           : run_scan(node, inputs, *body, scope);
}

// Opset 8: all tensors have a leading batch axis of independent sequences; their lengths are the
// first input.
Result<OnnxImporter::Knowns> OnnxImporter::import_batched_scan(const OnnxNode& node,
                                                               const Knowns& inputs,
                                                               const OnnxGraph& body,
                                                               Scope& scope) {
    if (!inputs[0].is_absent()) return unsupported("sequences of several lengths");
    const Knowns all(inputs.begin() + 1, inputs.end());
    int64_t batch = -1;
    for (const Known& known : all) {
        if (!known.tensor.ok())
            return unsupported(
                "reads a value that depends on the batch size; import with fixed input shapes");
        HEARTH_TRY(check_unpadded(known.tensor));
        const Shape shape = known.tensor.shape();
        if (shape.rank() == 0 || shape[0].is_batch || (batch >= 0 && shape[0].count != batch))
            return unsupported("an input of " + to_string(shape) +
                               " where a fixed number of sequences is expected");
        batch = shape[0].count;
    }
    if (batch < 1) return unsupported("no sequences");
    std::vector<std::vector<Tensor>> parts;
    for (int64_t b = 0; b < batch; ++b) {
        HEARTH_TRY(budget_.spend(Budget::Of::kTurns));
        Knowns sequence;
        for (const Known& known : all)
            sequence.push_back({squeeze(slice(known.tensor, 0, b, b + 1), {0}), {}});
        HEARTH_ASSIGN(const Knowns results, run_scan(node, sequence, body, scope));
        parts.resize(results.size());
        for (size_t i = 0; i < results.size(); ++i) {
            if (!results[i].tensor.ok())
                return unsupported(
                    "has an output that depends on the batch size; import with fixed input shapes");
            parts[i].push_back(results[i].tensor);
        }
    }
    Knowns outputs;
    for (const std::vector<Tensor>& part : parts) outputs.push_back({stack(part, 0), {}});
    HEARTH_TRY(trace_.status());
    return outputs;
}

Result<OnnxImporter::Knowns> OnnxImporter::run_scan(const OnnxNode& node, const Knowns& inputs,
                                                    const OnnxGraph& body, Scope& scope) {
    const auto read_count = static_cast<size_t>(integer_attr(node, "num_scan_inputs", 0));
    if (read_count > inputs.size()) return invalid_argument("has too few inputs");
    const size_t carried_count = inputs.size() - read_count;
    if (body.inputs.size() != inputs.size())
        return wrong_count("inputs", inputs.size(), body.inputs.size());
    if (body.outputs.size() < carried_count)
        return wrong_count("outputs", carried_count, body.outputs.size());
    const char* directions = scope.opset < 9 ? "directions" : "scan_input_directions";

    std::vector<Tensor> read;  // with the scan axis in front
    int64_t turns = -1;
    for (size_t i = carried_count; i < inputs.size(); ++i) {
        const size_t k = i - carried_count;
        if (!inputs[i].tensor.ok())
            return unsupported(
                "reads a value that depends on the batch size; import with fixed input shapes");
        const Tensor& whole = inputs[i].tensor;
        HEARTH_TRY(check_unpadded(whole));
        HEARTH_ASSIGN(const int axis,
                      normalize_axis(list_attr(node, "scan_input_axes", k), whole.rank()));
        const Dim extent = whole.dim(axis);
        if (extent.is_batch) return unsupported("runs along the batch axis");
        if (turns >= 0 && turns != extent.count)
            return invalid_argument("reads " + std::to_string(turns) + " and " +
                                    std::to_string(extent.count) + " slices");
        turns = extent.count;
        Tensor ordered = list_attr(node, directions, k) != 0 ? flip(whole, {axis}) : whole;
        Axes permutation{axis};
        for (int a = 0; a < whole.rank(); ++a)
            if (a != axis) permutation.push_back(a);
        if (axis != 0) ordered = transpose(ordered, permutation);
        read.push_back(ordered);
    }
    if (turns > kMostTurns)
        return out_of_range("runs more than " + std::to_string(kMostTurns) + " turns");

    Knowns carried(inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(carried_count));
    std::vector<Knowns> collected(body.outputs.size() - carried_count);
    for (int64_t turn = 0; turn < turns; ++turn) {
        HEARTH_TRY(budget_.spend(Budget::Of::kTurns));
        Knowns arguments = carried;
        for (const Tensor& whole : read)
            arguments.push_back({squeeze(slice(whole, 0, turn, turn + 1), {0}), {}});
        HEARTH_TRY(trace_.status());
        HEARTH_ASSIGN(const Knowns results, import_body(body, arguments, scope));
        std::copy_n(results.begin(), carried_count, carried.begin());
        for (size_t i = 0; i < collected.size(); ++i)
            collected[i].push_back(results[carried_count + i]);
    }
    Knowns outputs = carried;
    for (size_t i = 0; i < collected.size(); ++i) {
        if (list_attr(node, "scan_output_directions", i) != 0)
            std::reverse(collected[i].begin(), collected[i].end());
        HEARTH_ASSIGN(Known whole, joined(collected[i], list_attr(node, "scan_output_axes", i),
                                          body.outputs[carried_count + i]));
        outputs.push_back(std::move(whole));
    }
    return outputs;
}

}  // namespace hearth
