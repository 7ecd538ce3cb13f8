// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution layers: declare their params and call the convolution operators.

#include "compiler/ir/graph.hpp"

#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <string>

namespace hearth::nn {

namespace {

using List = std::vector<int64_t>;

/// A convolution layer: its name in messages, number of spatial axes, and whether it is transposed.
struct Kind {
    const char* name;
    int axes;
    bool is_transposed;
};

/// Returns why x and the settings do not make such a layer; empty if they do.
std::string misfit(const Kind& kind, const Tensor& x, int64_t out_channels, const List& kernel,
                   int64_t groups) {
    if (x.rank() != kind.axes + 2)
        return "expected " + std::to_string(kind.axes) + " axes behind batch and channels";
    if (x.dim(1).is_batch || x.dim(1).count < 1) return "the channels must be fixed";
    if (groups < 1 || out_channels < 1 || x.dim(1).count % groups != 0 ||
        out_channels % groups != 0)
        return "to " + std::to_string(out_channels) + " channels in " + std::to_string(groups) +
               " groups";
    if (kernel.size() != static_cast<size_t>(kind.axes) && kernel.size() != 1)
        return "a kernel of " + std::to_string(kernel.size()) + " extents";
    if (std::ranges::any_of(kernel, [](int64_t k) { return k < 1; }))
        return "the kernel must be positive";
    return "";
}

Tensor conv_layer(const Kind& kind, Trace& trace, std::string_view name, const Tensor& x,
                  int64_t out_channels, const List& kernel, const ConvLayerOptions& options) {
    if (!x.ok()) return x;
    const std::string path(name);
    const int64_t groups = options.window.groups;
    if (const std::string why = misfit(kind, x, out_channels, kernel, groups); !why.empty()) {
        trace.fail(invalid_argument(std::string(kind.name) + " '" + path + "' on " +
                                    to_string(x.shape()) + ": " + why));
        return {&trace, kInvalidId};
    }
    const int64_t in_channels = x.dim(1).count;
    Shape shape = kind.is_transposed ? Shape{in_channels, out_channels / groups}
                                     : Shape{out_channels, in_channels / groups};
    for (int i = 0; i < kind.axes; ++i)
        shape.push_back(Dim(kernel[kernel.size() == 1 ? 0 : static_cast<size_t>(i)]));
    const Tensor weight = trace.param(join_name(path, "weight"), shape,
                                      weight_init(options.init, shape, options.seed), x.dtype());
    const Tensor bias = options.bias
                            ? trace.param(join_name(path, "bias"), {out_channels},
                                          bias_init(options.init, shape, options.seed), x.dtype())
                            : Tensor();
    return kind.is_transposed
               ? conv_transpose(x, weight, bias, options.window, options.output_padding)
               : conv(x, weight, bias, options.window);
}

}  // namespace

Tensor conv1d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
              const List& kernel, const ConvLayerOptions& options) {
    return conv_layer({"conv1d", 1, false}, trace, name, x, out_channels, kernel, options);
}
Tensor conv2d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
              const List& kernel, const ConvLayerOptions& options) {
    return conv_layer({"conv2d", 2, false}, trace, name, x, out_channels, kernel, options);
}
Tensor conv3d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
              const List& kernel, const ConvLayerOptions& options) {
    return conv_layer({"conv3d", 3, false}, trace, name, x, out_channels, kernel, options);
}
Tensor conv_transpose1d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
                        const List& kernel, const ConvLayerOptions& options) {
    return conv_layer({"conv_transpose1d", 1, true}, trace, name, x, out_channels, kernel, options);
}
Tensor conv_transpose2d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
                        const List& kernel, const ConvLayerOptions& options) {
    return conv_layer({"conv_transpose2d", 2, true}, trace, name, x, out_channels, kernel, options);
}
Tensor conv_transpose3d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
                        const List& kernel, const ConvLayerOptions& options) {
    return conv_layer({"conv_transpose3d", 3, true}, trace, name, x, out_channels, kernel, options);
}

Layer max_pool(List kernel, PoolOptions options) {
    return Layer([kernel = std::move(kernel), options = std::move(options)](const Tensor& x) {
        return hearth::max_pool(x, kernel, options);
    });
}
Layer avg_pool(List kernel, PoolOptions options) {
    return Layer([kernel = std::move(kernel), options = std::move(options)](const Tensor& x) {
        return hearth::avg_pool(x, kernel, options);
    });
}
Layer lp_pool(double p, List kernel, PoolOptions options) {
    return Layer([p, kernel = std::move(kernel), options = std::move(options)](const Tensor& x) {
        return hearth::lp_pool(x, p, kernel, options);
    });
}
Layer adaptive_avg_pool(List extents) {
    return Layer([extents = std::move(extents)](const Tensor& x) {
        return hearth::adaptive_avg_pool(x, extents);
    });
}
Layer adaptive_max_pool(List extents) {
    return Layer([extents = std::move(extents)](const Tensor& x) {
        return hearth::adaptive_max_pool(x, extents);
    });
}
Tensor flatten_channels(const Tensor& x) {
    return flatten(x, 1, -1);
}

}  // namespace hearth::nn
