// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/fit.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace hearth {

namespace {

constexpr std::array<std::string_view, 4> kLossNames = {"mse", "l1", "huber", "cross_entropy"};

Scores score_labels(std::span<const float> logits, std::span<const int32_t> labels) {
    const size_t n = labels.size(), classes = logits.size() / n;
    Scores scores;
    scores.confusion.resize(classes * classes);
    double loss = 0;
    for (size_t i = 0; i < n; ++i) {
        const auto row = logits.subspan(i * classes, classes);
        const auto best = std::max_element(row.begin(), row.end());
        double sum = 0;
        for (const float logit : row) sum += std::exp(static_cast<double>(logit - *best));
        const auto label = static_cast<size_t>(labels[i]);
        loss += std::log(sum) + static_cast<double>(*best - row[label]);
        ++scores.confusion[label * classes + static_cast<size_t>(best - row.begin())];
    }
    int64_t correct = 0;
    double f1 = 0;
    for (size_t c = 0; c < classes; ++c) {
        int64_t there = 0, predicted = 0;
        for (size_t other = 0; other < classes; ++other) {
            there += scores.confusion[c * classes + other];
            predicted += scores.confusion[other * classes + c];
        }
        const int64_t hits = scores.confusion[c * classes + c];
        correct += hits;
        if (there + predicted > 0)
            f1 += 2 * static_cast<double>(hits) / static_cast<double>(there + predicted);
    }
    const auto count = static_cast<double>(n);
    scores.values = {{"loss", loss / count},
                     {"accuracy", static_cast<double>(correct) / count},
                     {"f1", f1 / static_cast<double>(classes)}};
    return scores;
}

double loss_of(double difference, Loss loss) {
    const double size = std::abs(difference);
    if (loss == Loss::kL1) return size;
    if (loss == Loss::kHuber) return size <= 1 ? size * size / 2 : size - 0.5;
    return difference * difference;
}

Scores score_numbers(std::span<const float> predictions, std::span<const float> targets,
                     Loss loss) {
    const auto count = static_cast<double>(targets.size());
    double mean = 0, total = 0, absolute = 0, squared = 0, spread = 0;
    for (const float target : targets) mean += static_cast<double>(target) / count;
    for (size_t i = 0; i < targets.size(); ++i) {
        const double target = static_cast<double>(targets[i]);
        const double difference = static_cast<double>(predictions[i]) - target;
        total += loss_of(difference, loss);
        absolute += std::abs(difference);
        squared += difference * difference;
        spread += (target - mean) * (target - mean);
    }
    // Equal targets have no variance to explain: 1 if they are met, else 0.
    const double r2 = spread > 0 ? 1 - squared / spread : squared == 0 ? 1.0 : 0.0;
    return {{{"loss", total / count}, {"mae", absolute / count}, {"r2", r2}}, {}};
}

}  // namespace

std::string_view name_of(Loss loss) {
    return kLossNames[static_cast<size_t>(loss)];
}

Result<Loss> loss_named(std::string_view name) {
    std::string list;
    for (size_t i = 0; i < kLossNames.size(); ++i) {
        if (kLossNames[i] == name) return static_cast<Loss>(i);
        list += (list.empty() ? "" : ", ") + std::string(kLossNames[i]);
    }
    return not_found("no loss is named '" + std::string(name) + "'; there are: " + list);
}

Result<Scores> score(const HostTensor& predictions, const Dataset& data, Loss loss) {
    const bool are_labels = loss == Loss::kCrossEntropy;
    const Shape& shape = predictions.shape();
    const bool fits = predictions.dtype() == DType::kF32 && data.size() > 0 &&
                      data.has_labels() == are_labels &&
                      (are_labels ? shape.rank() == 2 && shape[0] == Dim(data.size())
                                  : shape == data.targets.shape());
    if (!fits)
        return invalid_argument("score: " + std::string(name_of(loss)) + " of predictions " +
                                std::string(name_of(predictions.dtype())) + to_string(shape) +
                                " and targets " + std::string(name_of(data.targets.dtype())) +
                                to_string(data.targets.shape()) +
                                "; expected f32 predictions, for labels [n, classes], else of the "
                                "targets' shape");
    if (!are_labels) return score_numbers(predictions.as<float>(), data.targets.as<float>(), loss);
    const std::span<const int32_t> labels = data.targets.as<int32_t>();
    for (size_t i = 0; i < labels.size(); ++i)
        if (labels[i] < 0 || labels[i] >= shape[1].count)
            return invalid_argument("score: sample " + std::to_string(i) + " has the label " +
                                    std::to_string(labels[i]) + ", expected 0 to " +
                                    std::to_string(shape[1].count - 1));
    return score_labels(predictions.as<float>(), labels);
}

}  // namespace hearth
