// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Follows ONNX sequences of tensors at import: their lengths and the positions must be known, and
// nothing of a sequence is left in the graph.

#include "import/onnx/onnx_importer.hpp"

#include <hearth/ops.hpp>

#include <algorithm>

namespace hearth {

namespace {

constexpr int64_t kMostItems = 1 << 16;

OnnxKnown sequence_of(std::vector<OnnxKnown> items) {
    OnnxKnown known;
    known.sequence = std::make_shared<const std::vector<OnnxKnown>>(std::move(items));
    return known;
}

}  // namespace

namespace {

enum class ListOperator : uint8_t {
    kConcat,
    kAt,
    kConstruct,
    kEmpty,
    kErase,
    kInsert,
    kLength,
    kSplit
};

constexpr std::pair<std::string_view, ListOperator> kListOperators[] = {
    {"ConcatFromSequence", ListOperator::kConcat},   {"SequenceAt", ListOperator::kAt},
    {"SequenceConstruct", ListOperator::kConstruct}, {"SequenceEmpty", ListOperator::kEmpty},
    {"SequenceErase", ListOperator::kErase},         {"SequenceInsert", ListOperator::kInsert},
    {"SequenceLength", ListOperator::kLength},       {"SplitToSequence", ListOperator::kSplit},
};

std::optional<ListOperator> list_operator(std::string_view op_type) {
    for (const auto& [name, op] : kListOperators)
        if (name == op_type) return op;
    return {};
}

}  // namespace

bool is_list_operator(std::string_view op_type) {
    return list_operator(op_type).has_value();
}

bool OnnxImporter::handles_lists(const OnnxNode& node) {
    return node.domain.empty() && is_list_operator(node.op_type);
}

Result<OnnxImporter::Knowns> OnnxImporter::import_list_operator(const OnnxNode& node,
                                                                const Knowns& inputs) {
    const ListOperator op = *list_operator(node.op_type);
    for (const Known& input : inputs)
        if (input.is_symbolic())
            return unsupported(
                "reads a value that depends on the batch size; import with fixed input shapes");
    if (op == ListOperator::kEmpty) return Knowns{sequence_of({})};
    if (op == ListOperator::kConstruct) {
        for (const Known& input : inputs)
            if (!input.tensor.ok()) return invalid_argument("expects tensors");
        return Knowns{sequence_of(inputs)};
    }
    if (op == ListOperator::kSplit) {
        HEARTH_ASSIGN(Known parts, split_to_sequence(node, inputs));
        return Knowns{std::move(parts)};
    }
    if (inputs.empty() || !inputs[0].sequence)
        return invalid_argument("expects a sequence as its first input");
    const Knowns& items = *inputs[0].sequence;
    HEARTH_TRY(budget_.spend(Budget::Of::kVisits, 1 + items.size()));
    const Known second = inputs.size() > 1 ? inputs[1] : Known();
    if (op == ListOperator::kLength) {
        HostTensor length(DType::kI64, {});
        length.set_int(0, static_cast<int64_t>(items.size()));
        return Knowns{Known{trace_.constant(std::move(length))}};
    }
    if (op == ListOperator::kConcat) {
        HEARTH_ASSIGN(Known whole, concat_from_sequence(node, items));
        return Knowns{std::move(whole)};
    }
    if (op == ListOperator::kAt) {
        HEARTH_ASSIGN(const std::optional<size_t> at, position_in(items, second, items.size()));
        if (!at) return invalid_argument("needs a position");
        return Knowns{items[*at]};
    }
    const bool inserts = op == ListOperator::kInsert;
    if (inserts && (second.is_absent() || second.sequence))
        return invalid_argument("expects a tensor to insert");
    if (!inserts && items.empty()) return invalid_argument("erases from an empty sequence");
    const Known position = !inserts ? second : inputs.size() > 2 ? inputs[2] : Known();
    HEARTH_ASSIGN(const std::optional<size_t> at,
                  position_in(items, position, items.size() + (inserts ? 1 : 0)));
    const size_t place = at.value_or(inserts ? items.size() : items.size() - 1);
    Knowns changed;
    for (size_t i = 0; i <= items.size(); ++i) {
        if (inserts && i == place) changed.push_back(second);
        if (i < items.size() && (inserts || i != place)) changed.push_back(items[i]);
    }
    return Knowns{sequence_of(std::move(changed))};
}

/// The position in [0, end), counted from the back if negative; nothing if it is absent.
Result<std::optional<size_t>> OnnxImporter::position_in(const Knowns& items, const Known& position,
                                                        size_t end) const {
    HEARTH_ASSIGN(const std::optional<int64_t> given, known_number(position, "the position"));
    if (!given) return std::optional<size_t>();
    const auto count = static_cast<int64_t>(items.size());
    if (*given < -count || *given >= static_cast<int64_t>(end))
        return out_of_range("position " + std::to_string(*given) + " of a sequence of " +
                            std::to_string(count));
    return std::optional(static_cast<size_t>(*given < 0 ? *given + count : *given));
}

// Without sizes the parts have one element; keepdims=0 then drops the axis.  One size is that of
// each part, the last of which may be smaller.
Result<OnnxKnown> OnnxImporter::split_to_sequence(const OnnxNode& node, const Knowns& inputs) {
    if (inputs.empty() || !inputs[0].tensor.ok()) return invalid_argument("needs a tensor");
    const Tensor& x = inputs[0].tensor;
    HEARTH_ASSIGN(const int axis, normalize_axis(node.integer("axis", 0), x.rank()));
    const Dim whole = x.dim(axis);
    if (whole.is_batch)
        return unsupported("splits along the batch axis; import with a fixed batch");
    const bool is_given = inputs.size() > 1 && !inputs[1].is_absent();
    const HostTensor* sizes = is_given ? contents(inputs[1].tensor) : nullptr;
    if (is_given && sizes == nullptr) return unsupported("its sizes must be known at import");
    std::vector<int64_t> extents;
    if (sizes != nullptr && sizes->shape().rank() > 0) {
        if (sizes->element_count() > kMostItems) return out_of_range("has too many parts");
        for (int64_t i = 0; i < sizes->element_count(); ++i) extents.push_back(sizes->get_int(i));
    } else {
        const int64_t each = sizes != nullptr ? sizes->get_int(0) : 1;
        if (each < 1 || whole.count / each > kMostItems)
            return out_of_range("splits " + to_string(whole) + " elements into parts of " +
                                std::to_string(each));
        for (int64_t i = 0; i < whole.count; i += each)
            extents.push_back(std::min(each, whole.count - i));
    }
    HEARTH_TRY(budget_.spend(Budget::Of::kVisits, 1 + extents.size()));
    const bool drops_axis = !is_given && node.integer("keepdims", 1) == 0;
    const auto first = static_cast<NodeId>(trace_.graph().nodes.size());
    Knowns parts;
    for (const Tensor& part :
         extents.size() == 1 ? std::vector<Tensor>{x} : split(x, extents, axis))
        parts.push_back(Known{drops_axis ? squeeze(part, {axis}) : part});
    HEARTH_TRY(trace_.status());
    HEARTH_TRY(follow_padding(first));
    return sequence_of(std::move(parts));
}

Result<OnnxKnown> OnnxImporter::concat_from_sequence(const OnnxNode& node, const Knowns& items) {
    std::vector<Tensor> parts;
    for (const Known& item : items) {
        if (!item.tensor.ok()) return invalid_argument("joins a value that is not a tensor");
        parts.push_back(item.tensor);
    }
    if (parts.empty()) return invalid_argument("joins an empty sequence");
    const int64_t axis = node.integer("axis", 0);
    const auto first = static_cast<NodeId>(trace_.graph().nodes.size());
    const Tensor whole =
        node.integer("new_axis", 0) != 0 ? stack(parts, axis) : concat(parts, axis);
    HEARTH_TRY(trace_.status());
    HEARTH_TRY(follow_padding(first));
    return Known{whole};
}

}  // namespace hearth
