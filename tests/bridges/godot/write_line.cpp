// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes a package for tests in Godot: a line that is learned, for at most 64 points at once.
//
//     act    x [batch, 1] -> y [batch, 1]
//     learn  x, target [batch, 1] -> loss []: one step of SGD

#include <hearth/compile.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <cstdio>

using namespace hearth;

namespace {

Tensor line(Trace& trace, const Tensor& x) {
    return nn::linear(trace, "line", x, 1);
}

Status run(const char* path) {
    Trace act("act"), learn("learn");
    act.output("y", line(act, act.input("x", {kBatch, 1})));
    const Tensor x = learn.input("x", {kBatch, 1});
    const Tensor loss = mse_loss(line(learn, x), learn.input("target", {kBatch, 1}));
    minimize(loss, learn.params(), SgdOptions{.learning_rate = 0.1});
    learn.output("loss", loss);
    HEARTH_ASSIGN(const Cooked cooked, cook({&act, &learn}, {.max_batch_size = 64}));
    std::FILE* const file = std::fopen(path, "wb");
    if (file == nullptr) return invalid_argument("cannot write the file");
    const bool is_written =
        std::fwrite(cooked.bytes.data(), 1, cooked.bytes.size(), file) == cooked.bytes.size();
    return std::fclose(file) == 0 && is_written ? Status()
                                                : internal_error("the file is not whole");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: write_line FILE\n"), 2;
    const Status status = run(argv[1]);
    if (!status.ok()) std::fprintf(stderr, "write_line: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
