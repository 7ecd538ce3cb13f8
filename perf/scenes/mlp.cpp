// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "mlp.hpp"

#include "bench.hpp"
#include "cpu/interpreter.hpp"
#include "data.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <fmt/format.h>

namespace hearth::perf {

std::unique_ptr<Trace> trace_mlp(bool is_training) {
    auto trace = std::make_unique<Trace>(is_training ? "train" : "infer");
    const Shape shape{kRows, kMlpWidth};
    const Tensor x = trace->input("x", shape);
    const Tensor y =
        nn::mlp(*trace, "net", x, {kMlpWidth, kMlpWidth, kMlpWidth, kMlpWidth, kMlpWidth}, relu);
    if (!is_training) {
        trace->output("y", y);
        return trace;
    }
    const Tensor loss = mse_loss(y, trace->input("target", shape));
    minimize(loss, trace->params(), AdamOptions{});
    trace->output("loss", loss);
    return trace;
}

namespace {

constexpr int64_t kPatternRows = 32;
// Sums over 65,536 rows in f32, in another order than the reference's: about 1e-5 of the gradient.
constexpr double kTolerance = 1e-3;
constexpr int kCheckedSteps = 2;

/// What the reference computes for the pattern.
struct Reference {
    NamedTensors outputs;
    NamedTensors weights;  // params and states afterwards
};

struct MlpScene {
    int64_t rows;
    bool is_training;
    HostTensor x = random_tensor("x", {kPatternRows, kMlpWidth});
    HostTensor target = random_tensor("target", {kPatternRows, kMlpWidth});

    Result<Reference> reference(Trace& trace) const {
        HEARTH_ASSIGN(const Graph graph, trace.finish());
        Reference result;
        NamedTensors inputs{{"x", x}};
        if (is_training) inputs.emplace("target", target);
        for (int step = 0; step < (is_training ? kCheckedSteps : 1); ++step) {
            HEARTH_ASSIGN(result.outputs, interpret(graph, inputs, result.weights, kPatternRows));
        }
        return result;
    }

    Status set_inputs(Workload& workload) const {
        HEARTH_TRY(workload.set_input("x", repeat_rows(x, rows)));
        return is_training ? workload.set_input("target", repeat_rows(target, rows)) : Status();
    }

    /// The largest relative error of outputs and, after training, of params and moments.
    Result<double> error(Workload& workload, const Reference& expected) const {
        double worst = 0;
        const auto compare = [&](const HostTensor& found, const HostTensor& wanted) {
            const double e = relative_error(found, wanted);
            if (!(e <= worst)) worst = e;  // NaN is worst of all
        };
        for (const auto& [name, value] : expected.outputs) {
            HEARTH_ASSIGN(const HostTensor found, workload.read_output(name.c_str(), rows));
            compare(found, value);
        }
        if (!is_training) return worst;
        for (const auto& [name, value] : expected.weights) {
            HEARTH_ASSIGN(const HostTensor found, workload.read_slot(name.c_str()));
            compare(found, value);
        }
        return worst;
    }

    /// What is left after hundreds of repetitions must still be right: the same outputs, or a
    /// smaller loss.
    Status check_after(Workload& workload, const Reference& expected, const Row& row) const {
        if (!is_training) {
            HEARTH_ASSIGN(const double e, error(workload, expected));
            return e <= kTolerance ? Status() : internal_error("wrong outputs after timing");
        }
        HEARTH_ASSIGN(const HostTensor loss, workload.read_output("loss", rows));
        const double before = expected.outputs.at("loss").get(0);
        if (loss.get(0) < before || row.state == Row::State::kOverBudget) return {};
        return internal_error(
            fmt::format("the loss was {:.6g} and is {:.6g} after timing", before, loss.get(0)));
    }

    void set_costs(Row& row) const {
        constexpr double kParams = kMlpLayers * (kMlpWidth * kMlpWidth + kMlpWidth);
        const double rows_bytes = static_cast<double>(rows * kMlpWidth) * sizeof(float);
        // Training: each product three times, but no gradient of the input.
        const int products = is_training ? 3 * kMlpLayers - 1 : kMlpLayers;
        row.flops = 2.0 * static_cast<double>(rows * kMlpWidth * kMlpWidth) * products;
        // x, and y or target; weights once, or weights and two moments read and written.
        row.bytes = 2 * rows_bytes + kParams * sizeof(float) * (is_training ? 6 : 1);
    }

    Status run(Bench& bench, Row& row) const {
        set_costs(row);
        const std::unique_ptr<Trace> trace = trace_mlp(is_training);
        HEARTH_ASSIGN(const Reference expected, reference(*trace));
        HEARTH_ASSIGN(const Compiled compiled, bench.compile_for_device(*trace, rows));
        HEARTH_ASSIGN(std::unique_ptr<Workload> workload,
                      Workload::create(bench.device(), compiled, rows));
        HEARTH_TRY(set_inputs(*workload));
        // Checked as it is timed: several recordings in one command buffer.
        const int steps = is_training ? kCheckedSteps : 1;
        HEARTH_ASSIGN(const Bench::Sample first, bench.sample(*workload, rows, steps));
        HEARTH_ASSIGN(const double e, error(*workload, expected));
        row.note =
            fmt::format("{} by {:.1e} from the reference",
                        is_training ? "outputs, params and moments differ" : "outputs differ", e);
        if (!(e <= kTolerance)) return internal_error(row.note);
        HEARTH_TRY(bench.time(*workload, rows, first, row));
        HEARTH_TRY(check_after(*workload, expected, row));
        if (bench.settings().wants_steps && row.state == Row::State::kOk) {
            HEARTH_ASSIGN(row.steps, bench.step_times(compiled, rows, [this](Workload& w) {
                return set_inputs(w);
            }));
        }
        return {};
    }
};

template <int64_t kRowCount, bool kIsTraining>
Status run_mlp(Bench& bench, Row& row) {
    return MlpScene{.rows = kRowCount, .is_training = kIsTraining}.run(bench, row);
}

constexpr Scene kScenes[] = {
    {"mlp_infer_b256_f32", "five 64x64 layers, 256 rows", run_mlp<256, false>},
    {"mlp_infer_b65536_f32", "the same, 65,536 rows", run_mlp<65536, false>},
    {"mlp_train_b256_f32", "forward, mse, backward and Adam, 256 rows", run_mlp<256, true>},
    {"mlp_train_b65536_f32", "the same, 65,536 rows", run_mlp<65536, true>},
};

}  // namespace

std::span<const Scene> mlp_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
