// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Module composition, params by name, and merging of LoRA adapters.

#include "compiler/ir/graph.hpp"

#include <hearth/nn.hpp>

#include <algorithm>

namespace hearth::nn {

std::string join_name(std::string_view path, std::string_view part) {
    std::string joined(path);
    if (!joined.empty()) joined += '.';
    return joined += part;
}

std::string join_name(std::string_view path, size_t index) {
    return join_name(path, std::to_string(index));
}

Tensor Sequential::operator()(Trace& trace, std::string_view name, const Tensor& x) const {
    Tensor y = x;
    for (size_t i = 0; i < layers_.size(); ++i) y = layers_[i](trace, join_name(name, i), y);
    return y;
}

std::vector<NamedParameter> named_parameters(const Trace& trace) {
    std::vector<NamedParameter> named;
    for (const Tensor& t : trace.params())
        named.push_back({trace.graph().value(t.value()).name, t});
    return named;
}

std::vector<Tensor> filter_parameters(const Trace& trace,
                                      const std::function<bool(std::string_view)>& wanted) {
    std::vector<Tensor> found;
    for (const NamedParameter& p : named_parameters(trace))
        if (wanted(p.name)) found.push_back(p.tensor);
    return found;
}

namespace {

bool is_under(std::string_view name, std::initializer_list<std::string_view> paths) {
    return std::any_of(paths.begin(), paths.end(), [name](std::string_view path) {
        return name.starts_with(path) && (name.size() == path.size() || name[path.size()] == '.');
    });
}

constexpr std::string_view kLoraA = ".lora_a", kLoraB = ".lora_b";

/// weight += scale * b a.
void add_product(HostTensor& weight, const HostTensor& b, const HostTensor& a, double scale) {
    const int64_t out = weight.shape()[0].count, in = weight.shape()[1].count;
    for (int64_t o = 0; o < out; ++o)
        for (int64_t i = 0; i < in; ++i) {
            double total = 0;
            for (int64_t r = 0; r < a.shape()[0].count; ++r)
                total += b.get(o * a.shape()[0].count + r) * a.get(r * in + i);
            weight.set(o * in + i, weight.get(o * in + i) + scale * total);
        }
}

}  // namespace

std::vector<Tensor> parameters_with_prefix(const Trace& trace,
                                           std::initializer_list<std::string_view> paths) {
    return filter_parameters(trace,
                             [paths](std::string_view name) { return is_under(name, paths); });
}

std::vector<Tensor> parameters_except(const Trace& trace,
                                      std::initializer_list<std::string_view> paths) {
    return filter_parameters(trace,
                             [paths](std::string_view name) { return !is_under(name, paths); });
}

std::vector<Tensor> lora_params(const Trace& trace) {
    return filter_parameters(trace, [](std::string_view name) {
        return name.ends_with(kLoraA) || name.ends_with(kLoraB);
    });
}

Status merge_lora(NamedTensors& weights, double alpha) {
    std::vector<std::string> layers;
    for (const auto& [name, tensor] : weights)
        if (name.ends_with(kLoraA) || name.ends_with(kLoraB))
            layers.push_back(name.substr(0, name.size() - kLoraA.size()));
    layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
    for (const std::string& layer : layers) {
        const auto a = weights.find(layer + std::string(kLoraA));
        const auto b = weights.find(layer + std::string(kLoraB));
        const auto weight = weights.find(layer + ".weight");
        if (a == weights.end() || b == weights.end() || weight == weights.end())
            return invalid_argument("merge_lora: '" + layer +
                                    "' lacks its weight or a half of its adapter");
        const Shape &as = a->second.shape(), &bs = b->second.shape(), &ws = weight->second.shape();
        const bool agrees = as.rank() == 2 && bs.rank() == 2 && ws.rank() == 2 && as[0] == bs[1] &&
                            as[0].count > 0 && ws[0] == bs[0] && ws[1] == as[1];
        if (!agrees)
            return invalid_argument("merge_lora: '" + layer + "' has the weight " + to_string(ws) +
                                    " and the adapter " + to_string(bs) + " times " +
                                    to_string(as));
        add_product(weight->second, b->second, a->second, alpha / static_cast<double>(as[0].count));
        weights.erase(a);
        weights.erase(b);
    }
    return {};
}

}  // namespace hearth::nn
