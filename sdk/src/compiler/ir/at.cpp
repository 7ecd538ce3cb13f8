// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Lowers `at` rules to scalar expressions: conversions between linear indices and coordinates.

#include <hearth/op/at.hpp>

namespace hearth {

Scalar extent_of(ScalarArena& arena, Dim dim) {
    const Scalar count = arena.index(dim.count);
    return dim.is_batch ? arena.rows() * count : count;
}

Coords<Scalar> coords_of(ScalarArena& arena, const ScalarPlace& place, const Shape& shape) {
    if (place.coords) return *place.coords;
    Coords<Scalar> at;
    for (int i = 0; i < shape.rank(); ++i) at.axis.push_back(arena.index(0));
    Scalar rest = *place.linear;
    // The outermost extent other than one takes the remaining quotient: it needs no modulo.
    int outermost = 0;
    while (outermost < shape.rank() && shape[outermost].is_one()) ++outermost;
    for (int i = shape.rank() - 1; i >= outermost; --i) {
        if (shape[i].is_one()) continue;
        at[i] = i == outermost ? rest : rest % extent_of(arena, shape[i]);
        rest = rest / extent_of(arena, shape[i]);
    }
    return at;
}

Scalar linear_of(ScalarArena& arena, const ScalarPlace& place, const Shape& shape) {
    if (place.linear) return *place.linear;
    Scalar linear = arena.index(0);
    for (int i = 0; i < shape.rank(); ++i) {
        if (shape[i].is_one()) continue;
        linear = linear * extent_of(arena, shape[i]) + (*place.coords)[i];
    }
    return linear;
}

// Derived coordinates are not cached: C++ leaves the order of a rule's reads unspecified, so all
// inputs are read at the position as it was given.
Coords<Scalar> GpuAt::coords() {
    return coords_of(arena_, place_, shape_);
}

Scalar GpuAt::linear() {
    return linear_of(arena_, place_, shape_);
}

Scalar GpuAt::x(int k) {
    const Shape& from = in_shape(k);
    if (from == shape_) return reader_.read(k, place_);
    const Coords<Scalar> here = coords();
    Coords<Scalar> at;
    for (int i = 0; i < from.rank(); ++i)
        at.axis.push_back(from[i].is_one() ? arena_.index(0) : here[i + rank() - from.rank()]);
    return reader_.read(k, {{}, at});
}

}  // namespace hearth
