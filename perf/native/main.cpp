// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Times cooked C: medians of CPU time, one thread.  Run it beside peers/pytorch.py on the same core:
//
//     taskset -c 1 hearth_perf_native
//     taskset -c 1 env OMP_NUM_THREADS=1 python3 perf/peers/pytorch.py --rows mlp_infer_b256_f32

#include "compile/compile.hpp"
#include "cpu/interpreter.hpp"
#include "native/native_net.hpp"

#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

namespace hearth::perf {

namespace {

using Activation = Tensor (*)(const Tensor&);

struct Row {
    const char* name;
    std::vector<int64_t> widths;  ///< from the input to the output
    int64_t rows;
    bool is_training;
    Activation activation;
};

const Row kRowsOfTable[] = {{"mlp_infer_b256_f32", {64, 64, 64, 64, 64, 64}, 256, false, relu},
                            {"mlp_train_b256_f32", {64, 64, 64, 64, 64, 64}, 256, true, relu},
                            {"mlp_tanh_infer_b256_f32", {64, 64, 64, 64, 64, 64}, 256, false, tanh},
                            {"mlp_tanh_train_b256_f32", {64, 64, 64, 64, 64, 64}, 256, true, tanh},
                            {"policy_2x64_b1", {8, 64, 64, 2}, 1, false, relu}};

HostTensor numbers(const Shape& shape, uint64_t seed) {
    HostTensor tensor(DType::kF32, shape);
    uint64_t state = seed;
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        tensor.set(i, static_cast<double>(state >> 40) / static_cast<double>(1 << 23) - 1);
    }
    return tensor;
}

Result<Graph> trace_row(const Row& row) {
    Trace trace("run");
    const Tensor x = trace.input("x", {kRows, row.widths.front()});
    const std::vector<int64_t> layers(row.widths.begin() + 1, row.widths.end());
    const Tensor y = nn::mlp(trace, "net", x, layers, row.activation, {.seed = 1});
    if (!row.is_training) {
        trace.output("y", y);
    } else {
        const Tensor loss = mse_loss(y, trace.input("target", {kRows, row.widths.back()}));
        minimize(loss, trace.params(), AdamOptions{});
        trace.output("loss", loss);
    }
    return trace.finish();
}

double cpu_us() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

/// Median CPU time of one call in microseconds.
Result<double> time_row(const Row& row, Cpu cpu, int samples) {
    HEARTH_ASSIGN(const Graph graph, trace_row(row));
    CookCOptions options;
    options.cpu = cpu;
    options.rows_capacity = static_cast<uint64_t>(row.rows);
    HEARTH_ASSIGN(const std::unique_ptr<native::NativeNet> net,
                  native::NativeNet::build({graph}, options));
    NamedTensors inputs{{"x", numbers({Dim(row.rows), Dim(row.widths.front())}, 1)}};
    if (row.is_training)
        inputs.emplace("target", numbers({Dim(row.rows), Dim(row.widths.back())}, 2));
    // First that it is right, then how fast it is.
    NamedTensors weights;
    HEARTH_ASSIGN(const NamedTensors expected, interpret(graph, inputs, weights, row.rows));
    HEARTH_ASSIGN(const NamedTensors found, net->run("run", inputs, row.rows));
    for (const auto& [name, tensor] : expected)
        for (int64_t i = 0; i < tensor.element_count(); ++i)
            if (!(std::abs(found.at(name).get(i) - tensor.get(i)) < 1e-4))
                return internal_error(fmt::format("{}: {}[{}] is {}, expected {}", row.name, name,
                                                  i, found.at(name).get(i), tensor.get(i)));
    std::vector<std::vector<float>> buffers;
    std::vector<void*> tensors;
    for (const uint32_t b : net->program().find_entry("run")->bindings) {
        const Binding& binding = net->program().bindings[b];
        const Shape shape = binding.shape.at(row.rows);
        std::vector<float>& buffer = buffers.emplace_back(
            static_cast<size_t>(std::max<int64_t>(shape.element_count().count, 1)));
        if (const auto given = inputs.find(binding.name); given != inputs.end())
            std::copy_n(given->second.as<float>().begin(), buffer.size(), buffer.begin());
    }
    for (std::vector<float>& buffer : buffers) tensors.push_back(buffer.data());
    auto* const call = net->find<native::NativeNet::Call>("run");
    std::vector<double> times;
    int each = 1;
    for (int i = 0; i < samples; ++i) {
        const double begin = cpu_us();
        for (int j = 0; j < each; ++j)
            if (call(&net->memory(), tensors.data(), static_cast<uint32_t>(row.rows), nullptr) != 0)
                return internal_error("the call failed");
        const double time = cpu_us() - begin;
        if (time < 500) {  // far above the clock's resolution
            each *= 2;
            --i;
            continue;
        }
        times.push_back(time / each);
    }
    std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
    return times[static_cast<size_t>(samples / 2)];
}

}  // namespace

int run(int argc, char** argv) {
    CLI::App app("CPU time of networks that were cooked to C.");
    int samples = 200;
    std::string filter;
    app.add_option("--samples", samples, "Of which the median is taken.")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    app.add_option("--rows", filter, "Only rows whose name contains this.");
    Cpu cpu = native::this_cpu();
    app.add_option("--cpu", cpu, "Cooked for this CPU; default: what this machine is taken for.")
        ->transform(
            CLI::CheckedTransformer(std::map<std::string, Cpu>{{"scalar", Cpu::kScalar},
                                                               {"x86-64-v2", Cpu::kX86_64V2},
                                                               {"x86-64-v3", Cpu::kX86_64V3},
                                                               {"x86-64-v4", Cpu::kX86_64V4},
                                                               {"neon", Cpu::kNeon}}));
    CLI11_PARSE(app, argc, argv);
    for (const Row& row : kRowsOfTable) {
        if (std::string(row.name).find(filter) == std::string::npos) continue;
        const Result<double> time = time_row(row, cpu, samples);
        if (!time.ok()) {
            fmt::print(stderr, "{}\n", time.status().message());
            return 1;
        }
        double flops = 0;
        for (size_t i = 1; i < row.widths.size(); ++i)
            flops += 2.0 * static_cast<double>(row.rows * row.widths[i] * row.widths[i - 1]);
        if (row.is_training)
            flops = 3 * flops - 2.0 * static_cast<double>(row.rows * row.widths[0] * row.widths[1]);
        fmt::print("{:24} {:10.2f} us of CPU time, {:6.1f} GFLOP/s in products\n", row.name, *time,
                   flops / *time * 1e-3);
    }
    return 0;
}

}  // namespace hearth::perf

int main(int argc, char** argv) {
    return hearth::perf::run(argc, argv);
}
