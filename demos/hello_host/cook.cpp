// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The studio's build step: defines the network and its training, and cooks them into the package
// that inference.cpp and training.cpp ship. Usage: cook_curve PACKAGE

#include <hearth/compile.hpp>
#include <hearth/file.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <cstdio>

using namespace hearth;

namespace {

/// x [batch, 1] -> y [batch, 1]. Layers with equal names share their weights among all entries.
Tensor net(Trace& trace, const Tensor& x) {
    return nn::mlp(trace, "curve", x, {32, 32, 1}, tanh, {.seed = 1});
}

Status cook_curve(const char* path) {
    Trace predict("predict");
    predict.output("y", net(predict, predict.input("x", {kBatch, 1})));

    Trace learn("learn");
    const Tensor x = learn.input("x", {kBatch, 1});
    const Tensor loss = mse_loss(net(learn, x), learn.input("target", {kBatch, 1}));
    minimize(loss, learn.params(), AdamOptions{.learning_rate = 3e-3});
    learn.output("loss", loss);

    Trace* const entries[] = {&predict, &learn};
    HEARTH_ASSIGN(const Cooked cooked, cook(entries, {.max_batch_size = 64}));
    return write_file_atomically(path, cooked.bytes);
}

}  // namespace

int main(int argc, char** argv) {
    const Status status =
        argc == 2 ? cook_curve(argv[1]) : invalid_argument("usage: cook_curve PACKAGE");
    if (!status.ok()) std::fprintf(stderr, "cook_curve: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
