// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The harness: times compiled programs on one device.  A scene builds a program, checks what it
// computes and hands it to Bench::time; README.md says how figures are taken.

#pragma once

#include "clock_guard.hpp"
#include "pipeline_statistics.hpp"
#include "sampling.hpp"
#include "statistics.hpp"
#include "workload.hpp"

#include <standalone/device.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hearth::perf {

/// What the device can do at most, as measured by two small kernels of our own.
struct Roof {
    double bytes_per_s = 0;         ///< read and written, copying memory larger than any cache
    double flops_per_s = 0;         ///< f32 multiply-adds in registers, each counting two
    double matrix_flops_per_s = 0;  ///< f16 products with f32 sums on matrix cores; 0: it has none
};

Result<Roof> measure_roof(standalone::Device& device);

/// GPU time of one step of a program, alone between timestamps: an upper bound.
struct StepTime {
    std::string label;
    double us = 0;
};

/// One line of the result table.
struct Row {
    enum class State { kOk, kOverBudget, kFailed };

    std::string name;
    State state = State::kFailed;
    std::string note;              ///< what was checked and the error found, or why it failed
    DType operands = DType::kF32;  ///< of the products: which roof is theirs
    double flops = 0;              ///< that one repetition cannot do without
    double bytes = 0;              ///< likewise: inputs, outputs and weights, each once
    uint32_t dispatches = 0, copies = 0, barriers = 0;
    uint64_t arena_bytes = 0;
    int repetitions = 0;     ///< in one command buffer, each after a full barrier
    Statistics repeated_us;  ///< GPU time of one of them: the figure
    Statistics single_us;    ///< GPU time of a command buffer with one recording
    Statistics wall_us;      ///< that recorded, submitted and waited for, on the host's clock
    Statistics record_us;    ///< CPU time to record one of `repetitions`
    Statistics process_us;  ///< CPU time of the process for one of `repetitions`: steadier than the
                            ///< clock for a software driver on a busy machine
    double roof_us = 0;     ///< what the roof allows
    bool is_memory_bound = false;
    double reference_us = 0;  ///< the slowest run of the clock guard's kernel beside what was kept
    int refused = 0;          ///< samples taken at a lower clock, and thrown away
    bool is_full_clock = true;  ///< false: too few samples were at full clock
    bool is_bimodal = false;    ///< the samples of repeated_us fall into two groups
    std::vector<std::pair<std::string, double>> details;  ///< figures that only this row has
    std::vector<StepTime> steps;                          ///< if asked for
    std::vector<PipelineStatistics> pipelines;            ///< likewise
};

struct Settings {
    double budget_s = 0;  ///< to time each row for, about
    bool wants_steps = false;
    bool wants_statistics = false;  ///< of the driver, of each pipeline
    bool wants_tuning = false;      ///< of rows that are one kernel: all its variants
    bool fuse = true;               ///< off: one kernel for each operator
};

/// One device, what it can do, and how much time may be spent.
class Bench {
  public:
    static Result<std::unique_ptr<Bench>> create(standalone::Device& device, const Roof& roof,
                                                 const Settings& settings);
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    standalone::Device& device() { return device_; }
    const Settings& settings() const { return settings_; }
    const ClockGuard& clock() const { return *clock_; }

    /// Compiles an entry for this device, with room for `rows` rows.
    Result<Compiled> compile_for_device(Trace& entry, int64_t rows,
                                        Precision precision = Precision::kF32,
                                        const QuantizeOptions& quantize = {},
                                        const std::string& tuning = {});

    using Sample = perf::Sample;
    /// `repetitions` recordings in one submission, between two runs of the clock guard's kernel.
    Result<Sample> sample(Workload& workload, int64_t rows, int repetitions);

    /// What can be recorded any number of times in one submission.
    struct Job {
        std::function<Status(VkCommandBuffer)> record;
        /// Submits what its argument records, and waits for it.
        std::function<Status(const std::function<Status(VkCommandBuffer)>&)> submit;
    };
    Result<Sample> sample(const Job& job, int repetitions);

    /// Times `workload` at `rows` rows and fills in the row's figures.
    /// first  what a run has already shown: if that and perhaps one more are beyond the budget, the
    ///        row is marked so and gets no other figures.
    Status time(Workload& workload, int64_t rows, const Sample& first, Row& row);
    Status time(const Job& job, const Sample& first, Row& row);

    /// Times every variant of the kernels in `compiled`, each checked against the shipped one
    /// (hearth/tuning.hpp), and adds the times to the row's details.  Returns what won, for
    /// compile_for_device.
    Result<std::string> time_variants(const Compiled& compiled, Row& row);

    /// Adds to a row that has been timed what the settings ask for: times of steps, and what the
    /// driver tells of pipelines.
    /// prepare  gives a workload its inputs.
    Status profile(const Compiled& compiled, int64_t rows,
                   const std::function<Status(Workload&)>& prepare, Row& row);

  private:
    Bench(standalone::Device& device, const Roof& roof, const Settings& settings)
        : device_(device), roof_(roof), settings_(settings), stopwatch_(device) {}

    /// `wanted` samples at full clock, or what there is after waiting for it, and what that says
    /// about the row.
    Result<std::vector<Sample>> samples(const Job& job, int wanted, int repetitions, Row& row);

    /// Runs `compiled` with timestamps between its steps, once it is warm; medians.
    Result<std::vector<StepTime>> step_times(const Compiled& compiled, int64_t rows,
                                             const std::function<Status(Workload&)>& prepare);

    standalone::Device& device_;
    Roof roof_;
    Settings settings_;
    Stopwatch stopwatch_;
    std::unique_ptr<ClockGuard> clock_;
};

/// Something to measure: one row of the table.
struct Scene {
    const char* name;
    const char* summary;
    /// Fills in all but the name, or says why there is no figure.
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

}  // namespace hearth::perf
