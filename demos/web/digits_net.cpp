// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Traces the page's digits network.

#include "digits_net.hpp"

#include "digits.hpp"

#include <hearth/loss.hpp>
#include <hearth/optim.hpp>

namespace hearth::web {

std::vector<std::unique_ptr<Trace>> trace_digits() {
    constexpr uint64_t kSeed = 1;
    const Shape image{kBatch, 1, 8, 8};
    std::vector<std::unique_ptr<Trace>> traces;
    Trace& read = *traces.emplace_back(std::make_unique<Trace>("read"));
    read.output("scores", demo::digits_net(read, read.input("image", image), false, kSeed));

    Trace& learn = *traces.emplace_back(std::make_unique<Trace>("learn"));
    const Tensor scores = demo::digits_net(learn, learn.input("image", image), true, kSeed);
    const Tensor loss = cross_entropy(scores, learn.input("digit", {kBatch}, DType::kI32));
    minimize(loss, learn.params(), AdamOptions{.learning_rate = learn.input("rate", {})});
    learn.output("loss", loss);
    return traces;
}

}  // namespace hearth::web
