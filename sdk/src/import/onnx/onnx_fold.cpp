// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Folds batch normalization into the preceding linear operator.  With fixed statistics it is y = x
// f + s per channel, with f = scale / sqrt(variance + epsilon) and s = bias - mean f.  After z = w
// * x + b that is (f w) * x + (f b + s): other weights for the same convolution.

#include "import/onnx/onnx_importer.hpp"

#include <algorithm>
#include <cmath>

namespace hearth {

namespace {

struct Affine {
    std::vector<double> factor, shift;  ///< per channel
};

int64_t integer_attr(const OnnxNode& node, std::string_view name, int64_t fallback) {
    const AttrValue* value = node.attrs.find(name);
    const int64_t* n = value != nullptr ? std::get_if<int64_t>(value) : nullptr;
    return n != nullptr ? *n : fallback;
}

double real_attr(const OnnxNode& node, std::string_view name, double fallback) {
    const AttrValue* value = node.attrs.find(name);
    const double* x = value != nullptr ? std::get_if<double>(value) : nullptr;
    return x != nullptr ? *x : fallback;
}

class BatchNormFolder {
  public:
    explicit BatchNormFolder(OnnxGraph& graph) : graph_(graph) {
        for (const OnnxNode& node : graph.nodes) {
            for (const std::string& in : node.inputs) ++readers_[in];
            // Values read by subgraphs and outputs of the graph count as read twice, so they are
            // never folded.
            for (const OnnxSubgraph& g : node.graphs) note_names(*g.graph);
        }
        for (const OnnxPort& port : graph.outputs) readers_[port.name] += 2;
    }

    void run() {
        std::unordered_map<std::string, size_t> producer;
        std::vector<bool> is_gone(graph_.nodes.size());
        for (size_t n = 0; n < graph_.nodes.size(); ++n) {
            OnnxNode& node = graph_.nodes[n];
            if (node.op_type == "BatchNormalization" && node.domain.empty() &&
                !node.inputs.empty() && !node.outputs.empty()) {
                const auto before = producer.find(node.inputs[0]);
                if (before != producer.end() && fold(graph_.nodes[before->second], node)) {
                    is_gone[n] = true;
                    producer[node.outputs[0]] = before->second;
                    continue;
                }
            }
            if (node.outputs.size() == 1) producer[node.outputs[0]] = n;
        }
        size_t kept = 0;
        for (size_t n = 0; n < graph_.nodes.size(); ++n)
            if (!is_gone[n]) std::swap(graph_.nodes[kept++], graph_.nodes[n]);
        graph_.nodes.resize(kept);
    }

  private:
    void note_names(const OnnxGraph& inner) {
        for (const OnnxNode& node : inner.nodes) {
            for (const std::string& in : node.inputs) readers_[in] += 2;
            for (const OnnxSubgraph& g : node.graphs) note_names(*g.graph);
        }
        for (const OnnxPort& port : inner.outputs) readers_[port.name] += 2;
    }

    HostTensor* own_weight(const std::string& name) {
        const auto at = graph_.initializers.find(name);
        if (at == graph_.initializers.end() || readers_[name] != 1) return nullptr;
        return is_floating(at->second->dtype()) ? at->second.get() : nullptr;
    }

    bool fold(OnnxNode& linear, const OnnxNode& norm) {
        if (readers_[norm.inputs[0]] != 1 || linear.inputs.size() < 2 || !linear.domain.empty() ||
            integer_attr(norm, "training_mode", 0) != 0)
            return false;
        for (size_t i = 1; i < norm.outputs.size(); ++i)
            if (!norm.outputs[i].empty()) return false;
        HostTensor* weight = own_weight(linear.inputs[1]);
        const int axis = weight != nullptr ? channel_axis(linear, *weight) : -1;
        if (axis < 0) return false;
        const std::optional<Affine> affine = affine_of(norm, weight->shape()[axis].count);
        if (!affine) return false;
        if (!fold_bias(linear, *affine, weight->dtype())) return false;
        scale(*weight, axis, affine->factor);
        linear.outputs[0] = norm.outputs[0];
        return true;
    }

    /// The output channel axis of a weight, or -1 if there is none.
    static int channel_axis(const OnnxNode& linear, const HostTensor& weight) {
        const int rank = weight.shape().rank();
        if (linear.op_type == "Conv" && rank >= 3) return 0;
        if (linear.op_type == "ConvTranspose" && rank >= 3 && integer_attr(linear, "group", 1) == 1)
            return 1;
        if (linear.op_type == "Gemm" && rank == 2 && real_attr(linear, "beta", 1) == 1)
            return integer_attr(linear, "transB", 0) != 0 ? 0 : 1;
        return -1;
    }

    std::optional<Affine> affine_of(const OnnxNode& norm, int64_t channels) const {
        if (norm.inputs.size() < 5) return {};
        const HostTensor* parts[4];
        for (size_t i = 0; i < 4; ++i) {
            const auto at = graph_.initializers.find(norm.inputs[i + 1]);
            if (at == graph_.initializers.end() || at->second->shape() != Shape{channels})
                return {};
            parts[i] = at->second.get();
        }
        const double epsilon = real_attr(norm, "epsilon", 1e-5);
        Affine affine;
        for (int64_t c = 0; c < channels; ++c) {
            const double f = parts[0]->get(c) / std::sqrt(parts[3]->get(c) + epsilon);
            affine.factor.push_back(f);
            affine.shift.push_back(parts[1]->get(c) - parts[2]->get(c) * f);
        }
        return affine;
    }

    bool fold_bias(OnnxNode& linear, const Affine& affine, DType dtype) {
        const auto channels = static_cast<int64_t>(affine.factor.size());
        const bool has_bias = linear.inputs.size() > 2 && !linear.inputs[2].empty();
        if (has_bias) {
            HostTensor* bias = own_weight(linear.inputs[2]);
            if (bias == nullptr || bias->shape() != Shape{channels}) return false;
            for (int64_t c = 0; c < channels; ++c) {
                const auto i = static_cast<size_t>(c);
                bias->set(c, bias->get(c) * affine.factor[i] + affine.shift[i]);
            }
            return true;
        }
        const std::string name = linear.inputs[1] + ".folded_bias";
        auto shift = std::make_shared<HostTensor>(HostTensor::of({channels}, affine.shift, dtype));
        if (!graph_.initializers.emplace(name, std::move(shift)).second) return false;
        linear.inputs.resize(3);
        linear.inputs[2] = name;
        ++readers_[name];
        return true;
    }

    static void scale(HostTensor& weight, int axis, const std::vector<double>& factor) {
        int64_t inner = 1;
        for (int i = axis + 1; i < weight.shape().rank(); ++i) inner *= weight.shape()[i].count;
        const int64_t channels = weight.shape()[axis].count;
        for (int64_t i = 0; i < weight.element_count(); ++i)
            weight.set(i, weight.get(i) * factor[static_cast<size_t>(i / inner % channels)]);
    }

    OnnxGraph& graph_;
    std::unordered_map<std::string, int> readers_;
};

}  // namespace

void fold_batch_norms(OnnxModel& model) {
    BatchNormFolder(model.graph).run();
}

}  // namespace hearth
