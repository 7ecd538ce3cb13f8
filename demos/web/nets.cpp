// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Traces the page's networks that classify drawings.

#include "nets.hpp"

#include "digits.hpp"
#include "doodles.hpp"

#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth::web {

namespace {

constexpr uint64_t kSeed = 1;
using Net = Tensor (*)(Trace& trace, const Tensor& image, bool training);

std::vector<std::unique_ptr<Trace>> trace_classifier(const Shape& image, const char* label,
                                                     Net net) {
    std::vector<std::unique_ptr<Trace>> traces;
    Trace& read = *traces.emplace_back(std::make_unique<Trace>("read"));
    read.output("scores", net(read, read.input("image", image), false));

    Trace& learn = *traces.emplace_back(std::make_unique<Trace>("learn"));
    const Tensor scores = net(learn, learn.input("image", image), true);
    const Tensor loss = cross_entropy(scores, learn.input(label, {kBatch}, DType::kI32));
    minimize(loss, learn.params(), AdamOptions{.learning_rate = learn.input("rate", {})});
    learn.output("loss", loss);
    return traces;
}

/// Three convolutions, each followed by a pooling, and two linear layers: 33,000 parameters.
Tensor doodles_net(Trace& trace, const Tensor& image, bool) {
    const nn::ConvLayerOptions conv{.window = {.pad_begin = {1}}, .seed = kSeed};
    const nn::LinearOptions linear{.seed = kSeed};
    Tensor y = max_pool(relu(nn::conv2d(trace, "conv1", image, 8, {3}, conv)), {2});
    y = max_pool(relu(nn::conv2d(trace, "conv2", y, 16, {3}, conv)), {2});
    y = max_pool(relu(nn::conv2d(trace, "conv3", y, 32, {3}, conv)), {2});
    y = relu(nn::linear(trace, "hidden", flatten(y, 1), 64, linear));
    return nn::linear(trace, "out", y, kDoodleKinds, linear);
}

}  // namespace

std::vector<std::unique_ptr<Trace>> trace_digits() {
    return trace_classifier({kBatch, 1, 8, 8}, "digit",
                            [](Trace& trace, const Tensor& image, bool training) {
                                return demo::digits_net(trace, image, training, kSeed);
                            });
}

std::vector<std::unique_ptr<Trace>> trace_doodles() {
    return trace_classifier({kBatch, 1, kDoodleSide, kDoodleSide}, "kind", doodles_net);
}

}  // namespace hearth::web
