// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth_perf_native: networks cooked to C on this machine's CPU, each checked against the
// reference, then timed: median CPU time with one thread, minimum wall time with several.

#include "compiler/driver/compile.hpp"
#include "core/device_model.hpp"
#include "native/native_net.hpp"
#include "native/thread_team.hpp"
#include "scenes/data.hpp"
#include "scenes/network.hpp"

#include <hearth/file.hpp>
#include <hearth/io.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <CLI/CLI.hpp>
#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <map>

namespace hearth::perf {

namespace {

using Net = native::NativeNet;

struct Arguments {
    CpuIsa cpu = native::this_cpu();
    std::vector<std::string> words;
    std::string json_path;
    std::string onnx_folder, c_folder;
    double budget_s = 1;
    uint32_t threads = 1;
    bool wants_phases = false;
};

constexpr int64_t kWidth = 64;
constexpr int64_t kBatchSize = 256;

/// Like mlp_infer_network and mlp_train_network, with tanh.
NetworkRun mlp_tanh(Row& row, bool is_training) {
    NetworkRun run{.trace = std::make_unique<Trace>("run"), .rows = kBatchSize, .pattern_rows = 32};
    const Shape pattern{run.pattern_rows, kWidth};
    const Tensor x = run.trace->input("x", {kBatch, kWidth});
    const Tensor y = nn::mlp(*run.trace, "net", x, {kWidth, kWidth, kWidth, kWidth, kWidth}, tanh);
    run.inputs = {{"x", random_tensor("x", pattern)}};
    row.flops = 2.0 * kBatchSize * kWidth * kWidth * (is_training ? 14 : 5);
    if (!is_training) {
        run.trace->output("y", y);
        return run;
    }
    run.trained_steps = 2;
    const Tensor loss = mse_loss(y, run.trace->input("target", {kBatch, kWidth}));
    run.inputs.emplace("target", random_tensor("target", pattern));
    minimize(loss, run.trace->params(), AdamOptions{});
    run.trace->output("loss", loss);
    return run;
}

NetworkRun mlp_tanh_infer(Row& row) {
    return mlp_tanh(row, false);
}
NetworkRun mlp_tanh_train(Row& row) {
    return mlp_tanh(row, true);
}

/// A creature's policy, small enough that call overhead matters.
NetworkRun policy_2x64(Row& row) {
    NetworkRun run{.trace = std::make_unique<Trace>("act")};
    const Tensor x = run.trace->input("x", {kBatch, 8});
    run.trace->output("y", nn::mlp(*run.trace, "net", x, {kWidth, kWidth, 2}, relu));
    run.inputs = {{"x", random_tensor("x", {1, 8})}};
    row.flops = 2.0 * (8 * kWidth + kWidth * kWidth + kWidth * 2);
    return run;
}

/// A convolution of one layer with bias and relu.
struct ConvLayer {
    int64_t images;
    Shape x, w;  ///< x: of one image
    ConvOptions options;

    NetworkRun operator()(Row& row) const {
        NetworkRun run{.trace = std::make_unique<Trace>("run"), .rows = images};
        Shape batch = x;
        batch.insert(0, kBatch);
        const Tensor weights = run.trace->param("w", w), bias = run.trace->param("b", {w[0]});
        const Tensor y = conv(run.trace->input("x", batch), weights, bias, options);
        run.trace->output("y", relu(y));
        run.inputs = {{"x", random_tensor("x", batch.resolve(1))}};
        row.flops = 2.0 * static_cast<double>(y.shape().element_count(images)) *
                    static_cast<double>(w.element_count(1) / w[0].count);
        return run;
    }
};

struct NamedNetwork {
    std::string name;
    std::function<NetworkRun(Row& row)> make;
};

const NamedNetwork kNetworks[] = {
    {"mlp_infer_b256_f32", mlp_infer_network},
    {"mlp_train_b256_f32", mlp_train_network},
    {"mlp_tanh_infer_b256_f32", mlp_tanh_infer},
    {"mlp_tanh_train_b256_f32", mlp_tanh_train},
    {"policy_2x64_b1", policy_2x64},
    {"ppo_step", ppo_network},
    {"digits_train_b32", digits_train_network},
    {"mobilenet_v2_b1_f32", mobilenet_v2_network},
    {"squeezenet_b1_f32", squeezenet_network},
    // Sizes on both sides of 2^20 elements of windows.
    {"conv_96_48_34", ConvLayer{1, {96, 34, 34}, {48, 96, 3, 3}, {.pad_begin = {1}}}},
    {"conv_96_48_35", ConvLayer{1, {96, 35, 35}, {48, 96, 3, 3}, {.pad_begin = {1}}}},
    {"conv_16_16_128", ConvLayer{1, {16, 128, 128}, {16, 16, 3, 3}, {.pad_begin = {1}}}},
    {"conv_16_16_64_5x5", ConvLayer{1, {16, 64, 64}, {16, 16, 5, 5}, {.pad_begin = {2}}}},
    {"conv_16_16_64_7x7", ConvLayer{1, {16, 64, 64}, {16, 16, 7, 7}, {.pad_begin = {3}}}},
    {"conv_8_16_3x39", ConvLayer{1, {8, 96, 264}, {16, 8, 3, 39}, {.pad_begin = {1, 19}}}},
    // The first and three more layers of a ResNet.
    {"conv_3_64_224_7x7_s2",
     ConvLayer{1, {3, 224, 224}, {64, 3, 7, 7}, {.strides = {2}, .pad_begin = {3}}}},
    {"conv_64_64_56", ConvLayer{1, {64, 56, 56}, {64, 64, 3, 3}, {.pad_begin = {1}}}},
    {"conv_64_128_56_s2",
     ConvLayer{1, {64, 56, 56}, {128, 64, 3, 3}, {.strides = {2}, .pad_begin = {1}}}},
    {"conv_512_512_7", ConvLayer{1, {512, 7, 7}, {512, 512, 3, 3}, {.pad_begin = {1}}}},
    // The shapes of Burn's issue 805.
    {"conv_3_16_224_b32", ConvLayer{32, {3, 224, 224}, {16, 3, 3, 3}, {.pad_begin = {1}}}},
    {"conv_3_64_224_b32", ConvLayer{32, {3, 224, 224}, {64, 3, 3, 3}, {.pad_begin = {1}}}}};

double cpu_us() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

double median(std::vector<double> times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

/// Median and minimum time of call() by `clock`, in samples far above its resolution.
template <class Call>
std::pair<double, double> time_call(Call call, double (*clock)(), double budget_s) {
    constexpr double kLeastSample = 500;
    constexpr size_t kLeastSamples = 5;
    const double end = now_us() + budget_s * 1e6;
    std::vector<double> times;
    for (int each = 1; times.size() < kLeastSamples || now_us() < end;) {
        const double begin = clock();
        for (int i = 0; i < each; ++i) call();
        const double time = clock() - begin;
        if (time < kLeastSample)
            each *= 2;
        else
            times.push_back(time / each);
    }
    return {median(times), *std::min_element(times.begin(), times.end())};
}

/// A network with a callable entry.
class CookedNetwork {
  public:
    static Result<CookedNetwork> build(const NetworkRun& network, CpuIsa cpu) {
        HEARTH_ASSIGN(const Graph graph, network.trace->build());
        CompileToCOptions options;
        options.cpu_isa = cpu;
        options.max_batch_size = static_cast<uint64_t>(network.rows);
        HEARTH_ASSIGN(std::unique_ptr<Net> net, Net::build({graph}, options));
        return CookedNetwork(std::move(net), network);
    }

    void call() { call_(&net_->memory(), tensors_.data(), static_cast<uint32_t>(rows_), nullptr); }

    uint32_t jobs_of(uint32_t phase) const { return jobs_(phase, static_cast<uint32_t>(rows_)); }
    void run(uint32_t phase, uint32_t first, uint32_t end) {
        run_(&net_->memory(), tensors_.data(), static_cast<uint32_t>(rows_), phase, first, end);
    }
    void call_with(native::ThreadTeam& team) {
        for (uint32_t phase = 0; phase < phase_count(); ++phase) run_with(team, phase);
    }
    void run_with(native::ThreadTeam& team, uint32_t phase) {
        // More shares than threads, because jobs of one kernel may take ten times as long as
        // another's.
        constexpr uint32_t kSharesEach = 8;
        struct Shares {
            CookedNetwork* network;
            uint32_t phase, jobs, count;
        };
        const uint32_t jobs = jobs_of(phase);
        Shares shares{this, phase, jobs, std::min(jobs, kSharesEach * team.size())};
        if (jobs < 2) return run(phase, 0, jobs);
        team.run(
            shares.count,
            [](void* data, uint32_t i) {
                const Shares& s = *static_cast<Shares*>(data);
                s.network->run(s.phase, s.jobs * i / s.count, s.jobs * (i + 1) / s.count);
            },
            &shares);
    }

    const std::string& source() const { return net_->cooked().source; }

    /// Barriers divide an entry into phases.
    uint32_t phase_count() const { return static_cast<uint32_t>(labels_.size()); }
    const std::string& label(uint32_t phase) const { return labels_[phase]; }

    /// Maximum relative error of outputs and, after training, of weights.
    Result<double> error(const NetworkRun& network) {
        HEARTH_ASSIGN(const Reference expected, reference(network));
        for (int step = 0; step < std::max(1, network.trained_steps); ++step) call();
        double worst = 0;
        const auto compare = [&](const HostTensor& found, const HostTensor& wanted) {
            const double e = relative_error(found, wanted, network.least_norm);
            if (!(e <= worst)) worst = e;  // max propagates NaN
        };
        for (size_t i = 0; i < held_.size(); ++i)
            if (const auto found = expected.outputs.find(names_[i]);
                found != expected.outputs.end())
                compare(held_[i], found->second);
        if (network.trained_steps > 0) {
            const NamedTensors weights = net_->weights();
            for (const auto& [name, value] : expected.weights) compare(weights.at(name), value);
        }
        return worst;
    }

  private:
    CookedNetwork(std::unique_ptr<Net> net, const NetworkRun& network)
        : net_(std::move(net)), rows_(network.rows) {
        const Program& program = net_->program();
        const Entry& entry = program.entries.front();
        for (const uint32_t b : entry.bindings) {
            const Binding& binding = program.bindings[b];
            const auto given = network.inputs.find(binding.name);
            names_.push_back(binding.name);
            held_.push_back(given == network.inputs.end()
                                ? HostTensor(binding.dtype, binding.shape.resolve(rows_))
                            : rows_ == network.pattern_rows ? given->second
                                                            : repeat_rows(given->second, rows_));
        }
        for (HostTensor& tensor : held_) tensors_.push_back(tensor.bytes().data());
        tensors_.push_back(nullptr);
        call_ = net_->find<Net::Call>(entry.name);
        jobs_ = net_->find<Net::Jobs>(entry.name + "_jobs");
        run_ = net_->find<Net::Run>(entry.name + "_run");
        labels_.emplace_back();
        for (uint32_t s = entry.first_command; s < entry.first_command + entry.command_count; ++s) {
            const Command& step = program.commands[s];
            if (step.kind == CommandKind::kBarrier)
                labels_.emplace_back();
            else
                labels_.back() += (labels_.back().empty() ? "" : ", ") + step.label;
        }
    }

    std::unique_ptr<Net> net_;
    int64_t rows_;
    std::vector<std::string> names_;
    std::vector<HostTensor> held_;
    std::vector<void*> tensors_;
    std::vector<std::string> labels_;
    Net::Call* call_ = nullptr;
    Net::Jobs* jobs_ = nullptr;
    Net::Run* run_ = nullptr;
};

/// Peak rate of one core in 1e9/s, with multiply-adds in registers, each counting two.
Result<double> peak_gflops(CpuIsa cpu) {
    constexpr int kSums = 12, kTurns = 1000;
    const uint32_t lanes = cpu_tile(cpu).lanes;
    std::string source = fmt::format(
        "typedef float vector __attribute__((vector_size({})));\n"
        "void peak(float* x) {{\n    vector factor = x[0] - (vector){{0}}, term = x[1] - "
        "(vector){{0}};\n",
        lanes * sizeof(float));
    for (int i = 0; i < kSums; ++i) source += fmt::format("    vector s{} = term * {}.0f;\n", i, i);
    source += fmt::format("    for (int i = 0; i < {}; ++i) {{\n", kTurns);
    for (int i = 0; i < kSums; ++i)
        source += fmt::format("        s{0} = s{0} * factor + term;\n", i);
    source += "    }\n    vector sum = s0;\n";
    for (int i = 1; i < kSums; ++i) source += fmt::format("    sum += s{};\n", i);
    source += "    x[2] = sum[0];\n}\n";
    HEARTH_ASSIGN(
        const std::filesystem::path path,
        native::build_library({{"peak.c", source}}, cpu, {.flags = "-O3 -ffp-contract=fast"}));
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return internal_error(dlerror());
    auto* const peak = reinterpret_cast<void (*)(float*)>(dlsym(library, "peak"));
    float numbers[3] = {0.5F, 0.25F, 0};
    const double us = time_call([&] { peak(numbers); }, cpu_us, 0.3).second;
    dlclose(library);
    return 2e-3 * kSums * kTurns * lanes / us;
}

Result<nlohmann::json> measure(const NamedNetwork& named, const Arguments& arguments) {
    Row row;
    const NetworkRun network = named.make(row);
    HEARTH_ASSIGN(CookedNetwork cooked, CookedNetwork::build(network, arguments.cpu));
    HEARTH_ASSIGN(const double error, cooked.error(network));
    if (!(error <= network.tolerance))
        return internal_error(
            fmt::format("{}: differs by {:.1e} from the reference, expected {:.1e} at most",
                        named.name, error, network.tolerance));
    if (!arguments.onnx_folder.empty() && network.trained_steps == 0) {
        HEARTH_ASSIGN(const std::vector<std::byte> model, export_onnx(*network.trace));
        HEARTH_TRY(write_file_atomically(
            fmt::format("{}/{}.onnx", arguments.onnx_folder, named.name), model));
    }
    if (!arguments.c_folder.empty())
        HEARTH_TRY(write_file_atomically(fmt::format("{}/{}.c", arguments.c_folder, named.name),
                                         cooked.source()));
    nlohmann::json result{{"name", named.name}, {"error", error}};
    const auto [us, least_us] = time_call([&] { cooked.call(); }, cpu_us, arguments.budget_s);
    result["cpu_us"] = us;
    result["gflops"] = row.flops / us * 1e-3;
    fmt::print("{:24} {:10.2f} us of CPU time (least {:.2f}), {:6.1f} GFLOP/s in products\n",
               named.name, us, least_us, row.flops / us * 1e-3);
    native::ThreadTeam team(arguments.threads);
    if (arguments.threads > 1) {
        const auto one = time_call([&] { cooked.call(); }, now_us, arguments.budget_s).second;
        const auto all =
            time_call([&] { cooked.call_with(team); }, now_us, arguments.budget_s).second;
        result["least_wall_us"] = one;
        result["least_wall_us_threads"] = all;
        fmt::print(
            "    least time by the clock: 1 thread {:.2f} us, {} threads {:.2f}: {:.2f} times as "
            "fast\n",
            one, arguments.threads, all, one / all);
    }
    for (uint32_t phase = 0; arguments.wants_phases && phase < cooked.phase_count(); ++phase) {
        const uint32_t jobs = cooked.jobs_of(phase);
        const double time = time_call([&] { cooked.run(phase, 0, jobs); }, cpu_us, 0).first;
        fmt::print("    {:10.2f} us {:5.1f} % {:4} jobs", time, 100 * time / us, jobs);
        if (arguments.threads > 1)
            fmt::print(", {} threads {:.2f} us", arguments.threads,
                       time_call([&] { cooked.run_with(team, phase); }, now_us, 0).first);
        fmt::print(": {}\n", cooked.label(phase));
    }
    std::fflush(stdout);
    return result;
}

Status measure_all(const Arguments& arguments) {
    if (!arguments.json_path.empty()) HEARTH_TRY(check_writable(arguments.json_path));
    HEARTH_ASSIGN(const double peak, peak_gflops(arguments.cpu));
    fmt::print("{:24} {:53.1f} GFLOP/s\n", "a core's peak", peak);
    nlohmann::json rows = nlohmann::json::array();
    for (const NamedNetwork& network : kNetworks) {
        if (!arguments.words.empty() &&
            std::ranges::none_of(arguments.words, [&](const std::string& word) {
                return network.name.find(word) != std::string_view::npos;
            }))
            continue;
        HEARTH_ASSIGN(nlohmann::json row, measure(network, arguments));
        rows.push_back(std::move(row));
    }
    if (rows.empty()) {
        std::string names;
        for (const NamedNetwork& network : kNetworks) names += " " + network.name;
        return not_found("no such row; there are" + names);
    }
    if (arguments.json_path.empty()) return {};
    return write_file_atomically(
        arguments.json_path, nlohmann::json{{"peak_gflops", peak}, {"rows", rows}}.dump(1) + "\n");
}

}  // namespace

int run(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("CPU time of networks that were cooked to C.");
    app.add_option("--rows", arguments.words,
                   "Only rows whose name contains one of these comma-separated words.")
        ->delimiter(',');
    app.add_option("--budget", arguments.budget_s, "Seconds to time each row for, about.")
        ->check(CLI::Range(0.0, 86'400.0))
        ->capture_default_str();
    app.add_option("--threads", arguments.threads,
                   "Also the time by the clock with so many threads.")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    app.add_flag("--phases", arguments.wants_phases,
                 "Also the time of each phase of each network.");
    app.add_option("--json", arguments.json_path, "Also write the results to this file.");
    app.add_option("--onnx", arguments.onnx_folder,
                   "Also write networks that are not trained here, as NAME.onnx.")
        ->check(CLI::ExistingDirectory);
    app.add_option("--c", arguments.c_folder,
                   "Also write the networks as they were cooked, as NAME.c.")
        ->check(CLI::ExistingDirectory);
    app.add_option("--cpu", arguments.cpu,
                   "Cooked for this CPU; default: what this machine is taken for.")
        ->transform(
            CLI::CheckedTransformer(std::map<std::string, CpuIsa>{{"scalar", CpuIsa::kScalar},
                                                                  {"x86-64-v2", CpuIsa::kX86_64V2},
                                                                  {"x86-64-v3", CpuIsa::kX86_64V3},
                                                                  {"x86-64-v4", CpuIsa::kX86_64V4},
                                                                  {"neon", CpuIsa::kNeon}}));
    CLI11_PARSE(app, argc, argv);
    if (const Status status = measure_all(arguments); !status.ok()) {
        fmt::print(stderr, "hearth_perf_native: {}\n", status.message());
        return 1;
    }
    return 0;
}

}  // namespace hearth::perf

int main(int argc, char** argv) {
    return hearth::perf::run(argc, argv);
}
