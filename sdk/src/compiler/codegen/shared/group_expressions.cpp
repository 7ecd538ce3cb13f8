// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/shared/group_expressions.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

/// Where the `at` rule of one node finds its inputs.
class NodeReader final : public ScalarReader {
  public:
    NodeReader(GroupExpressions& group, const Node& node) : group_(group), node_(node) {}
    Scalar read(int input, const ScalarPlace& place) override {
        return group_.read(node_.inputs[static_cast<size_t>(input)], place);
    }
    ScalarArena& arena() override { return group_.arena(); }

  private:
    GroupExpressions& group_;
    const Node& node_;
};

/// Whether the first coordinate is the same on both sides of a reshape.
bool keeps_lead(const Shape& from, const Shape& to) {
    return from.rank() > 0 && to.rank() > 0 && from[0] == to[0];
}

Shape without_lead(const Shape& shape) {
    Shape rest = shape;
    rest.erase(0);
    return rest;
}

/// The place in `from` of the element at `at` in `to`, which is a reshape that keeps the lead.
ScalarPlace behind_lead(ScalarArena& arena, const Coords<Scalar>& at, const Shape& to,
                        const Shape& from) {
    Coords<Scalar> rest;
    for (int i = 1; i < at.rank(); ++i) rest.axis.push_back(at[i]);
    const Scalar inner = linear_of(arena, {{}, rest}, without_lead(to));
    rest = coords_of(arena, {inner, {}}, without_lead(from));
    Coords<Scalar> result;
    result.axis.push_back(at[0]);
    for (int i = 0; i < rest.rank(); ++i) result.axis.push_back(rest[i]);
    return {{}, result};
}

std::vector<uint32_t> key_of(ValueId value, const ScalarPlace& place) {
    std::vector<uint32_t> key{value, place.linear ? place.linear->id + 1 : 0};
    if (place.coords)
        for (const Scalar& c : place.coords->axis) key.push_back(c.id);
    return key;
}

}  // namespace

void GroupExpressions::define(ValueId value, Scalar scalar) {
    const DType dtype = graph_.values[value].dtype;
    if (is_integer(dtype) && size_bytes(dtype) < 4) {
        const double range = size_bytes(dtype) == 1 ? 256 : 65536;
        const Scalar low = bit_and(scalar, arena_.constant(range - 1, scalar.type()));
        scalar = is_unsigned(dtype) ? low : select(low >= range / 2, low - range, low);
    }
    defined_[value] = scalar;
}

bool GroupExpressions::is_computed_here(ValueId value) const {
    const Value& v = graph_.values[value];
    if (v.kind != ValueKind::kNode) return false;
    return inlined_[v.node] || std::binary_search(group_.nodes.begin(), group_.nodes.end(), v.node);
}

Scalar GroupExpressions::read(ValueId value, const ScalarPlace& place) {
    if (auto at = defined_.find(value); at != defined_.end()) return at->second;
    const Value& v = graph_.values[value];
    const ScalarType type = scalar_type(v.dtype);
    const Dim count = v.shape.element_count();
    const bool is_single = !count.is_batch && count.count == 1;
    if (v.kind == ValueKind::kConstant && is_single)
        return is_wide(type) && !is_floating(type)
                   ? arena_.constant_of_bits(static_cast<uint64_t>(v.data->get_int(0)), type)
                   : arena_.constant(v.data->get(0), type);
    if (!is_computed_here(value) && resident_)
        if (const std::optional<Scalar> found = resident_(value, place)) return *found;
    if (!is_computed_here(value))
        return arena_.load(value, is_single ? arena_.index(0) : linear_of(arena_, place, v.shape),
                           type);
    auto [known, is_new] = known_.try_emplace(key_of(value, place));
    if (!is_new) return known->second;
    // The map may grow while the expression is built, so the entry is looked up again.
    const Scalar result = arena_.convert(compute(value, place), type);
    known_[key_of(value, place)] = result;
    return result;
}

Scalar GroupExpressions::compute(ValueId value, const ScalarPlace& place) {
    const Value& v = graph_.values[value];
    const Node& node = graph_.nodes[v.node];
    HEARTH_ASSERT(node.op->compute);
    std::vector<Shape> shapes;
    for (ValueId in : node.inputs) shapes.push_back(graph_.values[in].shape);
    NodeReader reader(*this, node);
    if (node.op->is_reshape && place.coords && keeps_lead(shapes[0], v.shape))
        return read(node.inputs[0], behind_lead(arena_, *place.coords, v.shape, shapes[0]));
    GpuAt context(node.attrs, shapes, v.shape, v.dtype, place, reader);
    return node.op->compute.on_scalars(context);
}

}  // namespace hearth
