// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/ops/cpu_depthwise.hpp"

#include "core/device_model.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

CpuDepthwise::CpuDepthwise(const Attrs& attrs, const Shape& x, const Shape& w,
                           const DeviceCaps& caps)
    : window(attrs, spatial_extents(w)),
      size(spatial_extents(x)),
      count(attrs.integers("extents")) {
    if (window.rank() == 1) {
        for (List* list : {&window.kernel, &window.strides, &window.dilations, &size, &count})
            list->insert(list->begin(), 1);
        window.low.insert(window.low.begin(), 0);
    }
    const DeviceModel model = device_model(caps);
    lanes = model.tile.lanes;
    part = rounded_count() + (window.kernel[1] - 1) * window.dilations[1] / window.strides[1];
    const int64_t most_rows = model.scratch_floats / row_length();
    if (most_rows > reach())
        rows = std::min((most_rows - reach() - 1) / window.strides[0] + 1, count[0]);
}

CpuDepthwise::Places CpuDepthwise::inside(int64_t part_index) const {
    const int64_t stride = window.strides[1], first = part_index - window.low[1];
    const auto places_up_to = [stride](int64_t reach) {
        return reach <= 0 ? 0 : (reach + stride - 1) / stride;
    };
    const int64_t end = std::min(places_up_to(size[1] - first), part);
    return {std::min(places_up_to(-first), end), end - 1};
}

bool is_cpu_depthwise(const Graph& graph, const Node& node, const DeviceCaps& caps) {
    constexpr int64_t kMostTaps = 49;  // that are written out
    if (node.op->name != "conv" || graph.values[node.inputs[0]].dtype != DType::kF32) return false;
    const Shape &x = graph.values[node.inputs[0]].shape, &w = graph.values[node.inputs[1]].shape;
    if (x.rank() > 4 || !w[1].is_one() || count_of(spatial_extents(w)) > kMostTaps) return false;
    return CpuDepthwise(node.attrs, x, w, caps).rows > 0;
}

}  // namespace hearth
