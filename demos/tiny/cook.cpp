// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Cooks the microcontroller's networks to C: policy.h and policy.c; and, given the digits' ONNX
// file, digits.h and digits.c with 8-bit weights. Usage: cook_tiny DIR DIGITS.onnx

#include <hearth/c.hpp>
#include <hearth/file.hpp>
#include <hearth/io.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <cstdio>
#include <filesystem>

using namespace hearth;

namespace {

Status cook(std::initializer_list<Trace*> entries, const CompileToCOptions& options,
            const std::filesystem::path& folder) {
    HEARTH_ASSIGN(const CProgram cooked, compile_to_c(entries, options));
    const std::string base = (folder / options.name).string();
    HEARTH_TRY(write_file_atomically(base + ".h", cooked.header));
    return write_file_atomically(base + ".c", cooked.source);
}

/// seen: [batch, 2], angle and angular velocity -> torque [batch, 1]. It uses ReLU, because results
/// of math library functions differ in the last bit between libraries.
Tensor policy(Trace& trace, const Tensor& seen) {
    return nn::mlp(trace, "policy", seen, {16, 16, 1}, relu, {.seed = 1});
}

Status cook_policy(const std::filesystem::path& folder) {
    Trace act("act");
    act.output("torque", policy(act, act.input("seen", {kBatch, 2})));
    Trace learn("learn");
    const Tensor torque = policy(learn, learn.input("seen", {kBatch, 2}));
    const Tensor loss = mse_loss(torque, learn.input("shown", {kBatch, 1}));
    minimize(loss, learn.params(), AdamOptions{.learning_rate = 5e-3});
    learn.output("loss", loss);
    CompileToCOptions options;
    options.name = "policy";
    options.max_batch_size = 16;
    return cook({&act, &learn}, options, folder);
}

Status cook_digits(const std::filesystem::path& folder, const std::string& onnx) {
    HEARTH_ASSIGN(const ImportedModel model, import_onnx_file(onnx));
    Trace read("read");
    read.output("scores", model.call(read, {read.input("image", {kBatch, 1, 8, 8})}).at(0));
    CompileToCOptions options;
    options.name = "digits";
    options.quantize = {.format = WeightFormat::kInt8, .min_elements = 1};
    return cook({&read}, options, folder);
}

}  // namespace

int main(int argc, char** argv) {
    Status status = argc == 3 ? Status() : invalid_argument("usage: cook_tiny DIR DIGITS.onnx");
    if (status.ok()) status = cook_policy(argv[1]);
    if (status.ok()) status = cook_digits(argv[1], argv[2]);
    if (!status.ok()) std::fprintf(stderr, "cook_tiny: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
