// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sizes the plane-by-plane window kernels of CPUs and checks which nodes use them.

#include "compiler/ops/kernels/cpu_windows.hpp"

#include "core/device_model.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

constexpr int64_t kMostTaps = 49;  // limit of unrolled taps

const Shape& input_shape(const Graph& graph, const Node& node, size_t input) {
    return graph.values[node.inputs[input]].shape;
}

}  // namespace

CpuWindows::CpuWindows(Window over, List sizes, List counts, const DeviceCaps& caps)
    : window(std::move(over)), size(std::move(sizes)), count(std::move(counts)) {
    constexpr int64_t kLeastLanes = 4;
    if (window.rank() == 1) {
        for (List* list : {&window.kernel, &window.strides, &window.dilations, &size, &count})
            list->insert(list->begin(), 1);
        window.low.insert(window.low.begin(), 0);
    }
    const DeviceModel model = device_model(caps);
    lanes = model.tile.lanes;
    while (lanes > kLeastLanes && count[1] <= lanes / 2) lanes /= 2;
    part = rounded_count() + (window.kernel[1] - 1) * window.dilations[1] / window.strides[1];
    const int64_t most_rows = row_length() > 0 ? model.scratch_floats / row_length() : 0;
    if (most_rows > reach())
        rows = std::min((most_rows - reach() - 1) / window.strides[0] + 1, count[0]);
}

CpuWindows::Places CpuWindows::inside(int64_t part_index) const {
    const int64_t stride = window.strides[1], first = part_index - window.low[1];
    const auto places_up_to = [stride](int64_t reach) {
        return reach <= 0 ? 0 : (reach + stride - 1) / stride;
    };
    const int64_t end = std::min(places_up_to(size[1] - first), part);
    return {std::min(places_up_to(-first), end), end - 1};
}

CpuWindows windows_of_conv(const Graph& graph, const Node& node, const DeviceCaps& caps) {
    return {Window(node.attrs, spatial_extents(input_shape(graph, node, 1))),
            spatial_extents(input_shape(graph, node, 0)), node.attrs.integers("extents"), caps};
}

CpuWindows windows_of_unfold(const Graph& graph, const Node& node, const DeviceCaps& caps) {
    return {Window(node.attrs, node.attrs.integers("kernel")),
            spatial_extents(input_shape(graph, node, 0)), node.attrs.integers("extents"), caps};
}

bool has_depthwise_kernel(const Graph& graph, const Node& node, const DeviceCaps& caps) {
    if (!node.op->traits.is_convolution || graph.values[node.inputs[0]].dtype != DType::kF32)
        return false;
    const Shape& w = input_shape(graph, node, 1);
    if (input_shape(graph, node, 0).rank() > 4 || !w[1].is_one() ||
        count_of(spatial_extents(w)) > kMostTaps)
        return false;
    return windows_of_conv(graph, node, caps).rows > 0;
}

bool has_unfold_kernel(const Graph& graph, const Node& node, const DeviceCaps& caps) {
    if (node.op->name != "unfold" || graph.values[node.inputs[0]].dtype != DType::kF32 ||
        input_shape(graph, node, 0).rank() > 4 ||
        count_of(node.attrs.integers("kernel")) > kMostTaps)
        return false;
    const CpuWindows windows = windows_of_unfold(graph, node, caps);
    return windows.rows > 0 && count_of(windows.count) > 0;
}

}  // namespace hearth
