// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Post-training quantization of weights, without calibration data: activations stay as they are.
// Blocks of consecutive elements share one symmetric scale, as in ggml's Q8_0 and Q4_0
// (ggml-org/ggml: docs, "quantization formats"); the search for the scale of 4-bit blocks minimizes
// the squared error (Banner et al., "Post training 4-bit quantization of convolutional networks for
// rapid-deployment", 2019).

#include "compiler/passes/quantize_weights.hpp"

#include "compiler/ir/rewrite.hpp"
#include "compiler/ops/op_table.hpp"
#include "compiler/passes/pass.hpp"

#include <hearth/core/convert.hpp>
#include <hearth/core/hash.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace hearth {

namespace {

/// Quantizes elements of one block with its scale.
struct Rounding {
    double scale, low, high;
    double operator()(double value) const {
        return scale == 0 ? 0 : std::clamp(std::nearbyint(value / scale), low, high);
    }
};

double round_to(double value, DType dtype) {
    return HostTensor::scalar(value, dtype).get(0);
}

double squared_error(std::span<const float> block, const Rounding& rounding) {
    double error = 0;
    for (float v : block) {
        const double value = static_cast<double>(v);
        const double off = rounding(value) * rounding.scale - value;
        error += off * off;
    }
    return error;
}

/// Returns the scale of a block. The 4-bit range is -8 to 7: the largest element maps to -8, or a
/// smaller scale clips it, whichever has the smaller squared error.
Rounding choose_scale(std::span<const float> block, int bits, DType scale_type) {
    double largest = 0;
    for (float v : block)
        if (std::abs(static_cast<double>(v)) > std::abs(largest)) largest = static_cast<double>(v);
    if (bits == 8) return {round_to(std::abs(largest) / 127, scale_type), -127, 127};
    Rounding best{round_to(largest / -8, scale_type), -8, 7};
    double least = squared_error(block, best);
    constexpr double kDivisors[] = {-7.5, -7, -6.5, -6, -5.5, -5, 7, 6.5, 6, 5.5, 5};
    for (double divisor : kDivisors) {
        const Rounding candidate{round_to(largest / divisor, scale_type), -8, 7};
        const double error = squared_error(block, candidate);
        if (error >= least) continue;
        least = error;
        best = candidate;
    }
    return best;
}

}  // namespace

PackedWeights pack_weights(const HostTensor& weights, int bits, int64_t block, DType scale_type) {
    const std::span<const float> values = weights.as<float>();
    const int64_t count = weights.element_count(), per_word = 32 / bits;
    PackedWeights packed{HostTensor(DType::kU32, {(count + per_word - 1) / per_word}),
                         HostTensor(scale_type, {(count + block - 1) / block})};
    const std::span<uint32_t> words = packed.words.as<uint32_t>();
    for (int64_t first = 0; first < count; first += block) {
        const int64_t length = std::min(block, count - first);
        const Rounding rounding =
            choose_scale(values.subspan(static_cast<size_t>(first), static_cast<size_t>(length)),
                         bits, scale_type);
        packed.scales.set(first / block, rounding.scale);
        for (int64_t i = first; i < first + length; ++i) {
            const auto q = static_cast<uint32_t>(saturate_cast<int32_t>(
                rounding(static_cast<double>(values[static_cast<size_t>(i)]))));
            const uint32_t kept = q & ((1u << bits) - 1);
            words[static_cast<size_t>(i / per_word)] |= kept << (i % per_word * bits);
        }
    }
    return packed;
}

namespace {

/// Key that identifies a weight across graphs: a param's name, or a constant's contents.
std::string key_of(const Value& v) {
    if (v.kind == ValueKind::kParam) return "param " + v.name;
    Hash hash;
    hash.text(to_string(v.shape)).bytes(v.data->bytes());
    return "constant " + std::to_string(hash.value());
}

class Quantizer {
  public:
    explicit Quantizer(const QuantizeOptions& options) : options_(options) {}

    Status run(std::span<Graph> graphs) {
        for (const Graph& graph : graphs) HEARTH_TRY(find_weights(graph));
        for (const Graph& graph : graphs)
            for (const Assignment& update : graph.updates)
                weights_.erase(key_of_leaf(graph.values[update.target]));
        for (Graph& graph : graphs) {
            HEARTH_ASSIGN(graph, convert(graph));
        }
        return {};
    }

    std::vector<QuantizedWeight> take_report() {
        std::vector<QuantizedWeight> report;
        for (auto& [name, weight] : report_) report.push_back(std::move(weight));
        return report;
    }

  private:
    static std::string key_of_leaf(const Value& v) {
        const bool is_weight =
            v.kind == ValueKind::kParam || (v.kind == ValueKind::kConstant && v.data != nullptr);
        return is_weight ? key_of(v) : std::string();
    }

    /// Finds matrices and filters of the graph as it will be computed, inside composites too.
    Status find_weights(const Graph& graph) {
        HEARTH_ASSIGN(const Graph flat, decompose(graph, {.caps = baseline_caps()}));
        for (const Graph* g : {&graph, &flat})
            for (const Node& node : g->nodes)
                for (size_t k = 0; k < node.inputs.size(); ++k)
                    if (reads_weight(node, k)) add_weight(*g, node.inputs[k]);
        return {};
    }

    static bool reads_weight(const Node& node, size_t input) {
        if (node.op->op_class == OpClass::kMatmul) return true;
        return node.op->traits.has_filter && input == 1;
    }

    void add_weight(const Graph& graph, ValueId v) {
        while (const Node* producer = graph.producer(v)) {
            if (!producer->op->is_view) return;
            v = producer->inputs[0];
        }
        const Value& leaf = graph.values[v];
        const std::string key = key_of_leaf(leaf);
        if (key.empty() || leaf.data == nullptr || leaf.dtype != DType::kF32) return;
        if (leaf.shape.has_batch()) return;
        if (static_cast<uint64_t>(leaf.shape.element_count(1)) >= options_.min_elements)
            weights_.insert(key);
    }

    Result<Graph> convert(const Graph& graph) {
        const RewriteRule keep = [](Trace&, const Node&, std::span<const Tensor>) {
            return std::nullopt;
        };
        return rewrite(graph, keep, [&](Trace& trace, const Value& leaf) -> std::optional<Tensor> {
            const std::string key = key_of_leaf(leaf);
            if (key.empty() || !weights_.contains(key)) return std::nullopt;
            return narrow(trace, leaf);
        });
    }

    std::optional<Tensor> narrow(Trace& trace, const Value& leaf) {
        const HostTensor& data = *leaf.data;
        for (float v : data.as<float>())
            if (!std::isfinite(v)) {
                trace.fail(
                    invalid_argument("quantize: weight '" + leaf.name + "' holds NaN or infinity"));
                return std::nullopt;
            }
        return options_.format == WeightFormat::kF16 ? to_f16(trace, leaf)
                                                     : to_integers(trace, leaf);
    }

    static Tensor declare(Trace& trace, const Value& leaf, const std::string& suffix,
                          HostTensor data) {
        if (leaf.kind == ValueKind::kConstant) return trace.constant(std::move(data));
        const DType dtype = data.dtype();
        const Shape shape = data.shape();
        return trace.param(leaf.name + suffix, shape, Init::from(std::move(data)), dtype);
    }

    std::optional<Tensor> to_f16(Trace& trace, const Value& leaf) {
        const HostTensor held = leaf.data->cast(DType::kF16);
        const HostTensor back = held.cast(DType::kF32);
        for (float v : back.as<float>())
            if (std::isinf(v)) return std::nullopt;  // overflows f16: stays f32
        add_report(leaf, back, held.bytes().size());
        return apply_one(op("cast"), {declare(trace, leaf, "", held)}, {{"to", DType::kF32}});
    }

    std::optional<Tensor> to_integers(Trace& trace, const Value& leaf) {
        const int bits = options_.format == WeightFormat::kInt8 ? 8 : 4;
        PackedWeights packed =
            pack_weights(*leaf.data, bits, options_.group_size, options_.scale_type);
        for (int64_t i = 0; i < packed.scales.element_count(); ++i)
            if (std::isinf(packed.scales.get(i))) {
                // Weights in the millions: their scale overflows f16.
                packed = pack_weights(*leaf.data, bits, options_.group_size, DType::kF32);
                break;
            }
        add_report(leaf, unpacked(packed, leaf.shape, bits),
                   packed.words.bytes().size() + packed.scales.bytes().size());
        const Tensor words =
            declare(trace, leaf, bits == 8 ? ".q8" : ".q4", std::move(packed.words));
        const Tensor scales = declare(trace, leaf, ".scale", std::move(packed.scales));
        return apply_one(op("unpack_weights"), {words, scales},
                         {{"bits", int64_t{bits}},
                          {"block", options_.group_size},
                          {"shape", leaf.shape},
                          {"to", DType::kF32}});
    }

    HostTensor unpacked(const PackedWeights& packed, const Shape& shape, int bits) const {
        HostTensor values(DType::kF32, shape);
        const int64_t per_word = 32 / bits;
        for (int64_t i = 0; i < values.element_count(); ++i) {
            const auto word = packed.words.as<uint32_t>()[static_cast<size_t>(i / per_word)];
            const uint32_t top = word << (32 - bits - i % per_word * bits);
            values.set(i, (static_cast<int32_t>(top) >> (32 - bits)) *
                              packed.scales.get(i / options_.group_size));
        }
        return values;
    }

    void add_report(const Value& leaf, const HostTensor& found, uint64_t bytes) {
        QuantizedWeight weight;
        weight.name = leaf.name.empty() ? key_of(leaf) : leaf.name;
        weight.shape = leaf.shape;
        weight.bytes_before = leaf.data->bytes().size();
        weight.bytes_after = bytes;
        double squares = 0, errors = 0;
        for (int64_t i = 0; i < found.element_count(); ++i) {
            const double value = leaf.data->get(i), off = found.get(i) - value;
            squares += value * value;
            errors += off * off;
            weight.max_error = std::max(weight.max_error, std::abs(off));
        }
        const auto count = static_cast<double>(found.element_count());
        weight.rms = std::sqrt(squares / count);
        weight.rms_error = std::sqrt(errors / count);
        report_.insert_or_assign(weight.name, std::move(weight));
    }

    const QuantizeOptions& options_;
    std::set<std::string> weights_;  ///< keys of the weights to convert
    std::map<std::string, QuantizedWeight> report_;
};

}  // namespace

Result<std::vector<QuantizedWeight>> quantize_weights(std::span<Graph> graphs,
                                                      const QuantizeOptions& options) {
    if (options.format == WeightFormat::kUnchanged) return std::vector<QuantizedWeight>();
    if (options.group_size < 1 ||
        (options.scale_type != DType::kF16 && options.scale_type != DType::kF32))
        return invalid_argument("quantize: block is " + std::to_string(options.group_size) +
                                ", scale_type " + std::string(name_of(options.scale_type)) +
                                "; expected 1 or more, and f16 or f32");
    Quantizer quantizer(options);
    HEARTH_TRY(quantizer.run(graphs).with_context("quantize_weights"));
    return quantizer.take_report();
}

}  // namespace hearth
