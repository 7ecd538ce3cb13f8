// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The records of update rules.  Defaults are those of the rules' structs.

#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <algorithm>

namespace hearth {

namespace {

using Tensors = std::span<const Tensor>;
using Values = std::span<const double>;

constexpr double kMost = 1e6;  // of weight decay

OptimizerDef sgd_def() {
    const SgdOptions defaults;
    return {"sgd",
            "stochastic gradient descent with momentum",
            1e-2,
            {{"momentum", defaults.momentum},
             {"nesterov", defaults.nesterov ? 1.0 : 0.0},
             {"weight_decay", defaults.weight_decay, 0, kMost}},
            [](Tensors params, Tensors gradients, const ScalarOrTensor& rate, Values v) {
                sgd(params, gradients,
                    {.learning_rate = rate,
                     .momentum = v[0],
                     .nesterov = v[1] != 0,
                     .weight_decay = v[2]});
            }};
}

OptimizerDef adam_def() {
    const AdamOptions defaults;
    return {"adam",
            "Adam, with weight decay AdamW",
            1e-3,
            {{"beta1", defaults.beta1},
             {"beta2", defaults.beta2},
             {"epsilon", defaults.epsilon},
             {"weight_decay", defaults.weight_decay, 0, kMost}},
            [](Tensors params, Tensors gradients, const ScalarOrTensor& rate, Values v) {
                adam(params, gradients,
                     {.learning_rate = rate,
                      .beta1 = v[0],
                      .beta2 = v[1],
                      .epsilon = v[2],
                      .weight_decay = v[3]});
            }};
}

OptimizerDef adagrad_def() {
    const AdagradOptions defaults;
    return {"adagrad",
            "AdaGrad",
            1e-2,
            {{"epsilon", defaults.epsilon}, {"weight_decay", defaults.weight_decay, 0, kMost}},
            [](Tensors params, Tensors gradients, const ScalarOrTensor& rate, Values v) {
                adagrad(params, gradients,
                        {.learning_rate = rate, .epsilon = v[0], .weight_decay = v[1]});
            }};
}

OptimizerDef rmsprop_def() {
    const RmspropOptions defaults;
    return {"rmsprop",
            "RMSProp",
            1e-2,
            {{"decay", defaults.decay},
             {"epsilon", defaults.epsilon},
             {"momentum", defaults.momentum},
             {"centered", defaults.centered ? 1.0 : 0.0},
             {"weight_decay", defaults.weight_decay, 0, kMost}},
            [](Tensors params, Tensors gradients, const ScalarOrTensor& rate, Values v) {
                rmsprop(params, gradients,
                        {.learning_rate = rate,
                         .decay = v[0],
                         .epsilon = v[1],
                         .momentum = v[2],
                         .centered = v[3] != 0,
                         .weight_decay = v[4]});
            }};
}

OptimizerDef lion_def() {
    const LionOptions defaults;
    return {"lion",
            "Lion",
            1e-4,
            {{"beta1", defaults.beta1},
             {"beta2", defaults.beta2},
             {"weight_decay", defaults.weight_decay, 0, kMost}},
            [](Tensors params, Tensors gradients, const ScalarOrTensor& rate, Values v) {
                lion(params, gradients,
                     {.learning_rate = rate, .beta1 = v[0], .beta2 = v[1], .weight_decay = v[2]});
            }};
}

OptimizerDef adan_def() {
    const AdanOptions defaults;
    return {"adan",
            "Adan",
            1e-3,
            {{"beta1", defaults.beta1},
             {"beta2", defaults.beta2},
             {"beta3", defaults.beta3},
             {"epsilon", defaults.epsilon},
             {"weight_decay", defaults.weight_decay, 0, kMost}},
            [](Tensors params, Tensors gradients, const ScalarOrTensor& rate, Values v) {
                adan(params, gradients,
                     {.learning_rate = rate,
                      .beta1 = v[0],
                      .beta2 = v[1],
                      .beta3 = v[2],
                      .epsilon = v[3],
                      .weight_decay = v[4]});
            }};
}

OptimizerDef muon_def() {
    const MuonOptions defaults;
    return {"muon",
            "Muon, for nets of which every param is a matrix",
            2e-2,
            {{"momentum", defaults.momentum},
             {"nesterov", defaults.nesterov ? 1.0 : 0.0},
             {"iterations", static_cast<double>(defaults.iterations), 1, 100},
             {"weight_decay", defaults.weight_decay, 0, kMost}},
            [](Tensors params, Tensors gradients, const ScalarOrTensor& rate, Values v) {
                muon(params, gradients,
                     {.learning_rate = rate,
                      .momentum = v[0],
                      .nesterov = v[1] != 0,
                      .iterations = static_cast<int>(v[2]),
                      .weight_decay = v[3]});
            }};
}

template <class Records>
std::string names_of(const Records& all) {
    std::string names;
    for (const auto& one : all) names += (names.empty() ? "" : ", ") + std::string(one.name);
    return names;
}

}  // namespace

std::span<const OptimizerDef> optimizers() {
    static const std::vector<OptimizerDef> all{sgd_def(),  adam_def(), adagrad_def(), rmsprop_def(),
                                               lion_def(), adan_def(), muon_def()};
    return all;
}

Result<const OptimizerDef*> optimizer_named(std::string_view name) {
    for (const OptimizerDef& def : optimizers())
        if (def.name == name) return &def;
    return not_found("no optimizer is named '" + std::string(name) +
                     "'; there are: " + names_of(optimizers()));
}

Status check_optimizer(const Optimizer& optimizer) {
    HEARTH_ASSIGN(const OptimizerDef* def, optimizer_named(optimizer.name));
    for (const auto& [name, value] : optimizer.options) {
        const auto option =
            std::ranges::find_if(def->options, [&](const auto& o) { return o.name == name; });
        if (option == def->options.end())
            return not_found(optimizer.name + " has no option '" + name +
                             "'; there are: " + names_of(def->options));
        if (!(value >= option->low && value <= option->high))
            return out_of_range(optimizer.name + ": " + name + " is " + std::to_string(value) +
                                ", expected " + std::to_string(option->low) + " to " +
                                std::to_string(option->high));
    }
    return {};
}

void update(const Optimizer& optimizer, std::span<const Tensor> params,
            std::span<const Tensor> gradients, const ScalarOrTensor& learning_rate) {
    const Status status = check_optimizer(optimizer);
    if (!status.ok()) {
        if (!params.empty() && params[0].trace() != nullptr) params[0].trace()->fail(status);
        return;
    }
    const OptimizerDef& def = *optimizer_named(optimizer.name).value();
    std::vector<double> values;
    for (const OptimizerOption& option : def.options) {
        const auto given = optimizer.options.find(std::string(option.name));
        values.push_back(given == optimizer.options.end() ? option.default_value : given->second);
    }
    def.update(params, gradients, learning_rate, values);
}

}  // namespace hearth
