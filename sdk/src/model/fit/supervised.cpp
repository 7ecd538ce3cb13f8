// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/out_of_memory.hpp"

#include <hearth/fit.hpp>
#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/optim.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace hearth {

namespace {

constexpr std::string_view kLearn = "learn", kTarget = "target", kRate = "learning_rate";

Status no_step(const std::string& what) {
    return invalid_argument("fit: the entry 'learn' " + what +
                            "; expected a step of training: one input, target, learning_rate -> "
                            "loss, as trace_training_step() and cook_onnx(learn=...) make it");
}

/// Copies rows [first, first + n) of the leading axis.
HostTensor rows_of(const HostTensor& from, int64_t first, int64_t n) {
    Shape shape = from.shape();
    const size_t bytes = from.bytes().size() / static_cast<size_t>(shape[0].count);
    shape[0] = Dim(n);
    HostTensor out(from.dtype(), shape);
    std::memcpy(out.bytes().data(), from.bytes().data() + static_cast<size_t>(first) * bytes,
                out.bytes().size());
    return out;
}

}  // namespace

void trace_training_step(Trace& trace, const Tensor& prediction, const TrainingStep& step) {
    if (!prediction.ok()) return;
    Shape target_shape = prediction.shape();
    const bool is_classes = step.loss == Loss::kCrossEntropy;
    if (is_classes && target_shape.rank() < 2)
        return trace.fail(invalid_argument("cross entropy: the prediction is " +
                                           to_string(target_shape) +
                                           ", expected [batch, ..., classes]"));
    if (is_classes) target_shape.erase(target_shape.rank() - 1);
    const Tensor target =
        trace.input(kTarget, target_shape, is_classes ? DType::kI32 : prediction.dtype());
    const Tensor loss = is_classes                  ? cross_entropy(prediction, target)
                        : step.loss == Loss::kL1    ? l1_loss(prediction, target)
                        : step.loss == Loss::kHuber ? huber_loss(prediction, target)
                                                    : mse_loss(prediction, target);
    const std::vector<Tensor> params = trace.params();
    std::vector<Tensor> gradients = grad(loss, params);
    if (step.max_grad_norm > 0) gradients = clip_by_global_norm(gradients, step.max_grad_norm);
    const Tensor rate = trace.input(kRate, {});
    // Non-finite updates are skipped; the loss shows them.
    ConditionalUpdate guard(trace);
    update(step.optimizer, params, gradients, rate);
    guard.commit_if(all_finite(gradients));
    trace.output("loss", loss);
}

Result<SupervisedModel> SupervisedModel::trace(Executor& executor, const SupervisedNetwork& network,
                                               const Dataset& data, const TrainingStep& step,
                                               int64_t max_batch_size) {
    return or_out_of_memory([&]() -> Result<SupervisedModel> {
        if (data.size() == 0) return invalid_argument("fit: the data set is empty");
        Shape shape = data.inputs.shape();
        shape[0] = kBatch;
        Trace main("main"), learn{std::string(kLearn)};
        main.output("y", network(main, main.input("x", shape), false));
        trace_training_step(learn, network(learn, learn.input("x", shape), true), step);
        std::vector<Graph> entries;
        for (Trace* entry : {&main, &learn}) {
            HEARTH_ASSIGN(Graph graph, entry->build());
            entries.push_back(std::move(graph));
        }
        return load(executor, std::move(entries), max_batch_size);
    });
}

Result<SupervisedModel> SupervisedModel::load(Executor& executor, std::vector<Graph> entries,
                                              int64_t max_batch_size) {
    SupervisedModel model(executor);
    const Graph *learn = nullptr, *predict = nullptr;
    for (const Graph& graph : entries) {
        const Graph*& kind = graph.name == kLearn ? learn : predict;
        if (kind == nullptr) kind = &graph;
    }
    if (learn == nullptr || predict == nullptr)
        return no_step(learn == nullptr ? "is missing" : "is the only one");
    bool has_rate = false, has_target = false;
    for (const ValueId id : learn->inputs) {
        const Value& input = learn->value(id);
        if (input.name == kRate) {
            has_rate = true;
        } else if (input.name == kTarget) {
            has_target = true;
            model.learns_labels_ = input.dtype == DType::kI32;
        } else if (model.input_.empty() && input.dtype == DType::kF32) {
            model.input_ = input.name;
            model.input_shape_ = input.shape;
        } else {
            return no_step("has the input '" + input.name + "'");
        }
    }
    const auto is_loss = [](const GraphOutput& output) { return output.name == "loss"; };
    if (!has_rate || !has_target || model.input_.empty() ||
        std::none_of(learn->outputs.begin(), learn->outputs.end(), is_loss))
        return no_step("lacks one of them");
    if (predict->inputs.size() != 1 || predict->value(predict->inputs[0]).name != model.input_ ||
        predict->outputs.empty())
        return no_step("has another input than the entry '" + predict->name + "'");
    model.entry_ = predict->name;
    model.output_ = predict->outputs[0].name;
    model.output_shape_ = predict->value(predict->outputs[0].value).shape;
    model.max_batch_size_ = max_batch_size;
    HEARTH_ASSIGN(const NamedTensors variables, initial_values(entries));
    for (const auto& [name, unused] : variables) model.variables_.push_back(name);
    HEARTH_TRY(executor.load(std::move(entries), max_batch_size));
    return model;
}

Result<HostTensor> SupervisedModel::predict(const HostTensor& inputs) {
    if (inputs.shape().rank() == 0) return invalid_argument("predict: inputs are a scalar");
    const int64_t n = inputs.shape()[0].count;
    HostTensor out(DType::kF32, output_shape_.resolve(n));
    size_t at = 0;
    for (int64_t first = 0; first < n; first += max_batch_size_) {
        const int64_t count = std::min(max_batch_size_, n - first);
        HEARTH_ASSIGN(const NamedTensors outputs,
                      executor_->run(entry_, {{input_, rows_of(inputs, first, count)}}, count));
        const std::span<const std::byte> part = outputs.at(output_).bytes();
        std::copy(part.begin(), part.end(), out.bytes().begin() + static_cast<std::ptrdiff_t>(at));
        at += part.size();
    }
    return out;
}

Result<NamedTensors> SupervisedModel::read_weights() {
    NamedTensors weights;
    for (const std::string& name : variables_) {
        HEARTH_ASSIGN(HostTensor value, executor_->read(name));
        weights.emplace(name, std::move(value));
    }
    return weights;
}

Status SupervisedModel::write_weights(const NamedTensors& weights) {
    for (const auto& [name, value] : weights) HEARTH_TRY(executor_->write(name, value));
    return {};
}

Status SupervisedModel::check(const Dataset& data) const {
    const auto sample_of = [](Shape shape) {
        if (shape.rank() > 0) shape[0] = kBatch;
        return shape;
    };
    if (data.size() == 0) return invalid_argument("fit: the data set is empty");
    if (sample_of(data.inputs.shape()) != input_shape_)
        return invalid_argument("fit: the model takes inputs " + to_string(input_shape_) +
                                ", the data set has " + to_string(data.inputs.shape()));
    if (data.has_labels() != learns_labels_)
        return invalid_argument(
            learns_labels_ ? "fit: the model learns labels, the data set's targets are f32" +
                                 to_string(data.targets.shape()) + "; expected integers [n]"
                           : "fit: the model learns numbers, the data set's targets are labels; "
                             "expected floats " +
                                 to_string(output_shape_));
    if (!learns_labels_ && sample_of(data.targets.shape()) != output_shape_)
        return invalid_argument("fit: the model predicts " + to_string(output_shape_) +
                                ", the data set's targets are " + to_string(data.targets.shape()));
    if (!learns_labels_) return {};
    if (output_shape_.rank() != 2)
        return invalid_argument("fit: the model predicts " + to_string(output_shape_) +
                                ", expected [batch, classes] for labels");
    const std::span<const int32_t> labels = data.targets.as<int32_t>();
    for (size_t i = 0; i < labels.size(); ++i)
        if (labels[i] < 0 || labels[i] >= output_shape_[1].count)
            return invalid_argument("fit: sample " + std::to_string(i) + " has the label " +
                                    std::to_string(labels[i]) + ", the model's classes are 0 to " +
                                    std::to_string(output_shape_[1].count - 1));
    return {};
}

}  // namespace hearth
