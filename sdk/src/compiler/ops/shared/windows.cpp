// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Checks sliding windows and counts their positions.

#include "compiler/ops/shared/windows.hpp"

namespace hearth {

List spatial_extents(const Shape& shape) {
    List extents;
    for (int i = 2; i < shape.rank(); ++i) extents.push_back(shape[i].count);
    return extents;
}

int64_t count_of(const List& extents) {
    int64_t count = 1;
    for (int64_t e : extents) count *= e;
    return count;
}

Shape shape_of(Dim batch, Dim channels, const List& spatial) {
    Shape shape{batch, channels};
    for (int64_t e : spatial) shape.push_back(Dim(e));
    return shape;
}

bool Window::ends_outside(size_t axis, int64_t count, int64_t size) const {
    return (count - 1) * strides[axis] - low[axis] + (kernel[axis] - 1) * dilations[axis] >= size;
}

bool Window::is_identity(const List& from, const List& to) const {
    bool is_same = from == to;
    for (size_t i = 0; i < rank(); ++i)
        is_same = is_same && kernel[i] == 1 && strides[i] == 1 && low[i] == 0;
    return is_same;
}

Status check_window(const Window& w, const List& size, const List& count) {
    const size_t rank = size.size();
    if (w.kernel.size() != rank || w.strides.size() != rank || w.dilations.size() != rank ||
        w.low.size() != rank || count.size() != rank)
        return invalid_argument("needs kernel, strides, dilations, padding and extents for " +
                                std::to_string(rank) + " spatial axes");
    constexpr int64_t kMost = INT32_MAX;
    double taps = 1, windows = 1;  // may overflow an integer
    for (size_t i = 0; i < rank; ++i) {
        const auto is_count = [](int64_t n) { return n >= 1 && n <= kMost; };
        if (!is_count(size[i]) || !is_count(count[i]) || !is_count(w.kernel[i]) ||
            !is_count(w.strides[i]) || !is_count(w.dilations[i]) || w.low[i] < -kMost ||
            w.low[i] > kMost)
            return invalid_argument(
                "spatial axis " + std::to_string(i) + ": " + std::to_string(count[i]) +
                " windows of " + std::to_string(w.kernel[i]) + " over " + std::to_string(size[i]) +
                " elements, stride " + std::to_string(w.strides[i]) + ", dilation " +
                std::to_string(w.dilations[i]) + ": all must be positive");
        const int64_t furthest =
            count[i] * w.strides[i] + w.kernel[i] * w.dilations[i] + size[i] + std::abs(w.low[i]);
        if (furthest > kMost)
            return out_of_range("windows reach as far as " + std::to_string(furthest));
        taps *= static_cast<double>(w.kernel[i]);
        windows *= static_cast<double>(count[i]);
    }
    if (taps > kMost || windows > kMost)
        return out_of_range("more than 2^31 taps or windows: " + to_string(AttrValue(w.kernel)) +
                            ", " + to_string(AttrValue(count)));
    return {};
}

int64_t window_count(int64_t size, int64_t kernel, int64_t stride, int64_t dilation, int64_t low,
                     int64_t high) {
    const int64_t room = size + low + high - ((kernel - 1) * dilation + 1);
    return room < 0 || stride < 1 ? 0 : room / stride + 1;
}

List PaddedWindow::counts(const List& size) const {
    List count;
    for (size_t i = 0; i < window.rank(); ++i)
        count.push_back(window_count(size[i], window.kernel[i], window.strides[i],
                                     window.dilations[i], window.low[i], high[i]));
    return count;
}

PaddedWindow padded_window(const Tensor& x, const List& kernel, const List& strides,
                           const List& dilations, const List& low, const List& high,
                           std::string_view what) {
    PaddedWindow w;
    const size_t rank = kernel.size();
    w.window.kernel = kernel;
    w.window.strides = for_each_axis(x, strides, rank, 1, what);
    w.window.dilations = for_each_axis(x, dilations, rank, 1, what);
    w.window.low = for_each_axis(x, low, rank, 0, what);
    w.high = high.empty() ? w.window.low : for_each_axis(x, high, rank, 0, what);
    return w;
}

List for_each_axis(const Tensor& x, const List& list, size_t rank, int64_t fallback,
                   std::string_view what) {
    if (list.size() == rank) return list;
    if (list.size() <= 1) return List(rank, list.empty() ? fallback : list[0]);
    fail(x,
         invalid_argument(std::string(what) + ": " + std::to_string(list.size()) + " numbers for " +
                          std::to_string(rank) + " spatial axes of " + to_string(x.shape())));
    return {};
}

List pairs_of(const Window& w) {
    List pairs = w.kernel;
    for (size_t i = 0; i < w.rank(); ++i)
        if (w.dilations[i] == 1) pairs[i] = (w.kernel[i] + w.strides[i] - 1) / w.strides[i];
    return pairs;
}

}  // namespace hearth
