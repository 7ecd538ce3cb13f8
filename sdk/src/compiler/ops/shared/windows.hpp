// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sliding windows, shared by convolution, pooling and unfolding.
//
// A window slides over the spatial axes of a tensor [N, C, spatial...].  Along each of them, tap k
// of window p is at p * stride - low + k * dilation; positions outside [0, size) are padding.

#pragma once

#include "compiler/ops/shared/rules.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace hearth {

using List = std::vector<int64_t>;

/// The extents after batch and channels; they must be fixed.
List spatial_extents(const Shape& shape);
/// Product of the extents.
int64_t count_of(const List& extents);
/// A shape of these two extents and the spatial ones.
Shape shape_of(Dim batch, Dim channels, const List& spatial);

struct Window {
    List kernel, strides, dilations, low;

    Window() = default;
    /// All but `kernel`, from the attributes of that name.
    explicit Window(const Attrs& attrs, List kernel_extents)
        : kernel(std::move(kernel_extents)),
          strides(attrs.integers("strides")),
          dilations(attrs.integers("dilations")),
          low(attrs.integers("low")) {}

    size_t rank() const { return kernel.size(); }
    /// `strides`, `dilations` and `low`.
    Attrs attrs() const { return {{"strides", strides}, {"dilations", dilations}, {"low", low}}; }
    /// True if windows `count` along `axis` touch padding before or after `size` elements.
    bool starts_outside(size_t axis) const { return low[axis] > 0; }
    bool ends_outside(size_t axis, int64_t count, int64_t size) const;
    /// True if each window is one element, and window p is at element p.
    bool is_identity(const List& from, const List& to) const;
};

/// Error unless `count` windows over `size` elements are valid along each axis: one value per axis,
/// positive, and positions that fit 32 bits.
Status check_window(const Window& window, const List& size, const List& count);

/// Number of windows along an axis of `size`, padded by low and high: floor((size + low + high -
/// span) / stride) + 1; 0 if none fits.
int64_t window_count(int64_t size, int64_t kernel, int64_t stride, int64_t dilation, int64_t low,
                     int64_t high);

/// A window and the padding after the elements.
struct PaddedWindow {
    Window window;
    List high;

    /// Window counts along each axis of a tensor of these spatial extents.
    List counts(const List& size) const;
};

/// Returns the window of these extents. An empty list means ones (zeros for padding), a list of one
/// value applies to each axis, and an empty `high` equals `low`. Fails x's trace if a list has
/// another length.
PaddedWindow padded_window(const Tensor& x, const List& kernel, const List& strides,
                           const List& dilations, const List& low, const List& high,
                           std::string_view what);

/// Expands `list` to `rank` axes: `fallback` for each if it is empty, one value for all of them if
/// it has one. Fails x's trace and returns an empty list if it has another length.
List for_each_axis(const Tensor& x, const List& list, size_t rank, int64_t fallback,
                   std::string_view what);

// --- Loops of `at` rules ---

/// A position along the spatial axes, and whether it is inside.
template <class C>
struct Tap {
    Coords<typename C::Index> at;
    decltype(std::declval<typename C::Index>() < std::declval<typename C::Index>()) inside;
};

/// Folds body(k) over all positions k in a box of these extents; loop(extent, f) folds f(0), f(1),
/// ...
template <class C, class Loop, class F>
typename C::Element fold_over(C& c, const List& extents, Loop loop, F body,
                              Coords<typename C::Index> place = {}) {
    const auto axis = static_cast<size_t>(place.rank());
    if (axis == extents.size()) return body(place);
    const auto inner = [&](typename C::Index i) {
        auto next = place;
        next.axis.push_back(i);
        return fold_over(c, extents, loop, body, next);
    };
    return extents[axis] == 1 ? inner(c.index(0)) : loop(c.index(extents[axis]), inner);
}
template <class C, class F>
typename C::Element sum_over(C& c, const List& extents, F body) {
    return fold_over(
        c, extents, [&](auto extent, auto f) { return c.sum(extent, f); }, body);
}
template <class C, class F>
typename C::Element largest_over(C& c, const List& extents, F body) {
    return fold_over(
        c, extents, [&](auto extent, auto f) { return c.reduce_max(extent, f); }, body);
}

/// Coordinates of element `linear` in a box of these extents.
template <class C>
Coords<typename C::Index> place_in(C& c, const List& extents, typename C::Index linear) {
    Coords<typename C::Index> place;
    for (size_t i = 0; i < extents.size(); ++i) place.axis.push_back(c.index(0));
    for (size_t i = extents.size(); i-- > 0;) {
        const int axis = static_cast<int>(i);
        if (extents[i] == 1) continue;
        place[axis] = i == 0 ? linear : linear % c.index(extents[i]);
        linear = linear / c.index(extents[i]);
    }
    return place;
}

/// Position of tap `k` of window `p`: clamped to be readable, and whether it needed no clamping.
template <class C>
Tap<C> tap_of(C& c, const Window& w, const List& size, const List& count,
              const Coords<typename C::Index>& p, const Coords<typename C::Index>& k) {
    Tap<C> tap{{}, c.index(0) == c.index(0)};
    for (size_t i = 0; i < w.rank(); ++i) {
        const int axis = static_cast<int>(i);
        auto at =
            p[axis] * c.index(w.strides[i]) + k[axis] * c.index(w.dilations[i]) - c.index(w.low[i]);
        const auto last = c.index(size[i] - 1);
        if (w.starts_outside(i)) {
            tap.inside = logical_and(tap.inside, c.index(0) <= at);
            at = max(at, c.index(0));
        }
        if (w.ends_outside(i, count[i], size[i])) {
            tap.inside = logical_and(tap.inside, at <= last);
            at = min(at, last);
        }
        tap.at.axis.push_back(at);
    }
    return tap;
}

/// Number of (window, tap) pairs to check per element along an axis; see pair_of.
List pairs_of(const Window& w);

/// Pair j of position q: a window and a tap of it, clamped, and whether that tap of that window is
/// at q.
template <class C>
struct WindowTap {
    Coords<typename C::Index> window, tap;
    decltype(std::declval<typename C::Index>() < std::declval<typename C::Index>()) inside;
};
template <class C>
WindowTap<C> pair_of(C& c, const Window& w, const List& count, const Coords<typename C::Index>& q,
                     const Coords<typename C::Index>& j) {
    WindowTap<C> pair{{}, {}, c.index(0) == c.index(0)};
    for (size_t i = 0; i < w.rank(); ++i) {
        const int axis = static_cast<int>(i);
        const auto stride = c.index(w.strides[i]), zero = c.index(0);
        auto from = q[axis] + c.index(w.low[i]);
        if (w.low[i] < 0) {
            pair.inside = logical_and(pair.inside, zero <= from);
            from = max(from, zero);
        }
        auto tap = j[axis], window = from;
        if (w.dilations[i] == 1 && w.strides[i] > 1) {
            // Every stride-th tap can be here: k = from mod stride + j * stride.
            tap = from % stride + j[axis] * stride;
            window = from / stride - j[axis];
            pair.inside = logical_and(pair.inside, tap < c.index(w.kernel[i]));
            tap = min(tap, c.index(w.kernel[i] - 1));
            pair.inside = logical_and(pair.inside, zero <= window);
            window = max(window, zero);
        } else {
            auto distance = from - tap * c.index(w.dilations[i]);
            pair.inside = logical_and(pair.inside, zero <= distance);
            distance = max(distance, zero);
            window = distance / stride;
            pair.inside = logical_and(pair.inside, window * stride == distance);
        }
        pair.inside = logical_and(pair.inside, window < c.index(count[i]));
        pair.window.axis.push_back(min(window, c.index(count[i] - 1)));
        pair.tap.axis.push_back(tap);
    }
    return pair;
}

/// Linear index of a position in a box of these extents.
template <class C>
typename C::Index index_in(C& c, const List& extents, const Coords<typename C::Index>& place) {
    auto index = c.index(0);
    for (size_t i = 0; i < extents.size(); ++i)
        index = index * c.index(extents[i]) + place[static_cast<int>(i)];
    return index;
}

/// Concatenates the coordinates of batch and channel and the spatial ones.
template <class I>
Coords<I> joined(const I& batch, const I& channel, const Coords<I>& spatial) {
    Coords<I> all;
    all.axis.push_back(batch);
    all.axis.push_back(channel);
    for (const I& at : spatial.axis) all.axis.push_back(at);
    return all;
}

/// The spatial part of coordinates.
template <class I>
Coords<I> spatial_part(const Coords<I>& all) {
    Coords<I> spatial;
    for (int i = 2; i < all.rank(); ++i) spatial.axis.push_back(all[i]);
    return spatial;
}

}  // namespace hearth
