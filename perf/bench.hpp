// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The benchmark harness: times compiled programs on one device. A scene builds a program, checks
// its results and passes it to Bench::time. README.md describes the method.

#pragma once

#include "clock_guard.hpp"
#include "pipeline_statistics.hpp"
#include "sampling.hpp"
#include "statistics.hpp"
#include "workload.hpp"

#include <standalone/device.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hearth::perf {

/// Peak rates of the device, measured with small hand-written kernels.
struct Roof {
    double bytes_per_s = 0;         ///< f16 products with f32 accumulators on matrix cores; 0: none
    double flops_per_s = 0;         ///< f32 multiply-adds in registers, each counting two
    double matrix_flops_per_s = 0;  ///< f16 products with f32 sums on matrix cores; 0: it has none
};

Result<Roof> measure_roof(standalone::Device& device);

/// GPU time of one command of a program, serialized by timestamps: an upper bound.
struct StepTime {
    std::string label;
    double us = 0;
};

/// One line of the result table.
struct Row {
    enum class State { kOk, kOverBudget, kFailed };

    std::string name;
    State state = State::kFailed;
    std::string note;              ///< result of the check, or the error
    DType operands = DType::kF32;  ///< of the matrix products: determines the roof
    double flops = 0;              ///< minimum for one repetition
    double bytes = 0;  ///< minimum for one repetition: inputs, outputs and weights, each once
    uint32_t dispatches = 0, copies = 0, barriers = 0;
    uint64_t arena_bytes = 0;
    int repetitions = 0;     ///< in one command buffer, each after a full barrier
    Statistics repeated_us;  ///< GPU time per repetition: the reported figure
    Statistics single_us;    ///< GPU time of a command buffer with one recording
    Statistics wall_us;      ///< wall time to record, submit and wait for that
    Statistics record_us;    ///< CPU time of recording, per repetition
    Statistics process_us;   ///< process CPU time per repetition: steadier than
                             ///< wall time for a software driver on a busy machine
    double roof_us = 0;      ///< minimum time according to the roof
    bool is_memory_bound = false;
    double reference_us = 0;    ///< slowest run of the clock guard's kernel among the kept samples
    int refused = 0;            ///< samples rejected because of a lower clock
    bool is_full_clock = true;  ///< false: too few samples were at full clock
    bool is_bimodal = false;    ///< the samples of repeated_us fall into two groups
    std::vector<std::pair<std::string, double>> details;  ///< figures specific to this row
    std::vector<StepTime> steps;                          ///< if requested
    std::vector<PipelineStatistics> pipelines;            ///< if requested
};

struct Settings {
    double budget_s = 0;  ///< approximate time per row
    bool wants_commands = false;
    bool wants_statistics = false;  ///< driver statistics of each pipeline
    bool wants_tuning = false;      ///< measures all variants of single-kernel rows
    bool fuse = true;               ///< false: one kernel per operator
    /// Compiles for these caps, builds pipelines and runs nothing.
    std::optional<DeviceCaps> compile_only = {};
    /// Variants of kernels in place of the shipped ones, by the kernels' keys (hearth/tuning.hpp).
    std::map<std::string, std::string> variants = {};
};

/// A device, its peak rates, and the time budget.
class Bench {
  public:
    static Result<std::unique_ptr<Bench>> create(standalone::Device& device, const Roof& roof,
                                                 const Settings& settings);
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    standalone::Device& device() { return device_; }
    const Settings& settings() const { return settings_; }
    const ClockGuard& clock() const { return *clock_; }

    /// Compiles an entry for this device, for up to `rows` rows.
    Result<Compiled> compile_for_device(Trace& entry, int64_t rows,
                                        Precision precision = Precision::kF32,
                                        const QuantizeOptions& quantize = {},
                                        const std::string& tuning = {});

    using Sample = perf::Sample;
    /// `repetitions` recordings in one submission, between two runs of the clock guard's kernel.
    Result<Sample> sample(Workload& workload, int64_t rows, int repetitions);

    /// Work that can be recorded any number of times in one submission.
    struct Job {
        std::function<Status(VkCommandBuffer)> record;
        /// Submits what its argument records, and waits for it.
        std::function<Status(const std::function<Status(VkCommandBuffer)>&)> submit;
    };
    Result<Sample> sample(const Job& job, int repetitions);

    /// Times `workload` at batch size `rows` and fills in the row's figures. first: an earlier
    /// sample; if it and possibly one more exceed the budget, the row is marked so and gets no
    /// other figures.
    Status time(Workload& workload, int64_t rows, const Sample& first, Row& row);
    Status time(const Job& job, const Sample& first, Row& row);

    /// Times every variant of the kernels in `compiled`, each checked against the shipped one
    /// (hearth/tuning.hpp), and adds the times to the row's details. Returns the best tuning, for
    /// compile_for_device.
    Result<std::string> time_variants(const Compiled& compiled, Row& row);

    /// Adds what the settings request to a timed row: times of commands, and driver statistics of
    /// pipelines. prepare: sets a workload's inputs.
    Status profile(const Compiled& compiled, int64_t rows,
                   const std::function<Status(Workload&)>& prepare, Row& row);

  private:
    Bench(standalone::Device& device, const Roof& roof, const Settings& settings)
        : device_(device), roof_(roof), settings_(settings), stopwatch_(device) {}

    /// Takes `wanted` samples at full clock, or the best available after a timeout, and marks the
    /// row accordingly.
    Result<std::vector<Sample>> samples(const Job& job, int wanted, int repetitions, Row& row);

    /// Runs `compiled` with timestamps between its commands, after a warm-up; medians.
    Result<std::vector<StepTime>> step_times(const Compiled& compiled, int64_t rows,
                                             const std::function<Status(Workload&)>& prepare);

    standalone::Device& device_;
    Roof roof_;
    Settings settings_;
    Stopwatch stopwatch_;
    std::unique_ptr<ClockGuard> clock_;
};

/// A benchmark: one row of the table.
struct Scene {
    const char* name;
    const char* summary;
    /// Fills in everything but the name, or returns why there is no figure.
    Status (*run)(Bench& bench, Row& row);
};

std::span<const Scene> mlp_scenes();
std::span<const Scene> policy_scenes();
std::span<const Scene> agent_scenes();
std::span<const Scene> gemm_scenes();
std::span<const Scene> record_scenes();
std::span<const Scene> load_scenes();
std::span<const Scene> convolution_scenes();
std::span<const Scene> image_network_scenes();
std::span<const Scene> transformer_scenes();
std::span<const Scene> digits_scenes();
std::span<const Scene> texture_scenes();  ///< none without the demos
std::span<const Scene> elementwise_scenes();

/// Fills in the row's dispatches, copies and barriers.
void count_steps(const hearth_entry_info& entry, Row& row);

/// A monotonic clock.
double now_us();
/// CPU time of this process, including a software driver's threads.
double process_now_us();

}  // namespace hearth::perf
