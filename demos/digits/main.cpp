// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Trains the network of digits.hpp from scratch and reports its accuracy on unseen digits.

#include "digits.hpp"

#include <CLI/CLI.hpp>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>
#include <standalone/device.hpp>

#include <chrono>
#include <cstdio>
#include <map>
#include <utility>

using namespace hearth;
using namespace hearth::demo;

namespace {

constexpr double kWanted = 0.975;

Status run(const std::string& path, const DigitsOptions& options, int device_index) {
    HEARTH_ASSIGN(const DigitsData data, read_digits(path));
    HEARTH_ASSIGN(const auto instance, standalone::Instance::create());
    HEARTH_ASSIGN(const auto device,
                  standalone::Device::create(*instance, {.index = device_index}));
    std::printf("%d digits to learn from, %d to test, on %s\n",
                static_cast<int>(data.train.count()), static_cast<int>(data.test.count()),
                device->properties().deviceName);
    const auto begin = std::chrono::steady_clock::now();
    HEARTH_ASSIGN(const auto learner, DigitsLearner::create(*device, options, data.train.count()));
    double accuracy = 0;
    while (learner->epoch() < options.epochs) {
        HEARTH_ASSIGN(const double loss, learner->learn_epoch(data.train));
        HEARTH_ASSIGN(accuracy, learner->accuracy(data.test));
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
        std::printf("epoch %2d  loss %.4f  reads %.2f %%  after %.1f s\n",
                    static_cast<int>(learner->epoch()), loss, 100 * accuracy, time.count());
        std::fflush(stdout);
    }
    for (const auto& [name, format] : {std::pair{"f16", WeightFormat::kF16},
                                       {"int8", WeightFormat::kInt8},
                                       {"int4", WeightFormat::kInt4}}) {
        HEARTH_ASSIGN(const double narrow, learner->accuracy(data.test, format));
        std::printf("with weights of %-4s  reads %.2f %%\n", name, 100 * narrow);
    }
    if (accuracy >= kWanted) return {};
    return internal_error("it reads fewer than " + std::to_string(100 * kWanted) + " %");
}

int run(int argc, char** argv) {
    CLI::App app("Learns to read handwritten digits", "digits");
    std::string path = HEARTH_DIGITS_CSV;
    DigitsOptions options;
    int device = -1;
    app.add_option("--data", path,
                   "The digits: lines of a label and 64 pixels (default: those of the tests)");
    app.add_option("--seed", options.seed, "Seed of first weights and order")
        ->check(programs::whole_number())
        ->capture_default_str();
    app.add_option("--epochs", options.epochs, "Passes over the data")
        ->check(programs::whole_number(1, 1000))
        ->capture_default_str();
    app.add_option("--batch", options.batch, "Digits in one step")
        ->check(programs::whole_number(1, 4096))
        ->capture_default_str();
    app.add_option("--rate", options.learning_rate, "First learning rate")
        ->check(programs::finite_number(0, 1000))
        ->capture_default_str();
    app.add_option("--precision", options.precision, "What products read")
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, Precision>{{"f32", Precision::kF32}, {"f16", Precision::kF16}}));
    app.add_option("--device", device, "Index of the Vulkan device; -1: the best one")
        ->check(programs::device_index());
    CLI11_PARSE(app, argc, argv);
    const Status status = run(path, options, device);
    if (!status.ok()) std::fprintf(stderr, "digits: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return programs::run_program("digits", [&] { return run(argc, argv); });
}
