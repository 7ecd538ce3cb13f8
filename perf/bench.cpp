// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Times compiled programs: warm-up, samples at full clock, checks and statistics.

#include "bench.hpp"

#include "compiler/driver/tuning_data.hpp"

#include <hearth/tuning.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace hearth::perf {

namespace {

constexpr int kMostRepetitions = 20;
constexpr int kMostSamples = 100;
constexpr int kLeastSamples = 5;

}  // namespace

double process_now_us() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

double now_us() {
    using Clock = std::chrono::steady_clock;
    return std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
}

void count_steps(const hearth_entry_info& entry, Row& row) {
    row.dispatches = entry.dispatch_count;
    row.barriers = entry.barrier_count;
    row.copies = entry.command_count - entry.dispatch_count - entry.barrier_count;
}

Result<std::unique_ptr<Bench>> Bench::create(standalone::Device& device, const Roof& roof,
                                             const Settings& settings) {
    std::unique_ptr<Bench> bench(new Bench(device, roof, settings));
    if (settings.compile_only) return bench;
    HEARTH_TRY(bench->stopwatch_.create(4));
    HEARTH_ASSIGN(bench->clock_, ClockGuard::create(device));
    return bench;
}

Result<Compiled> Bench::compile_for_device(Trace& entry, int64_t rows, Precision precision,
                                           const QuantizeOptions& quantize,
                                           const std::string& tuning) {
    HEARTH_ASSIGN(const DeviceCaps own, device_.caps());
    CompileOptions options{.caps = settings_.compile_only.value_or(own),
                           .max_batch_size = static_cast<uint64_t>(rows),
                           .fuse = settings_.fuse,
                           .keep_source = false,
                           .quantize = quantize,
                           .precision = precision,
                           .tuning = tuning};
    if (!settings_.variants.empty()) {
        Tuning chosen = tuning_for(options);
        chosen.variants.insert(settings_.variants.begin(), settings_.variants.end());
        options.tuning = print_tuning(chosen);
    }
    return compile({&entry}, options);
}

namespace {

Bench::Job job_of(Workload& workload, int64_t rows) {
    return {[&workload, rows](VkCommandBuffer commands) { return workload.record(commands, rows); },
            [&workload](const std::function<Status(VkCommandBuffer)>& record) {
                return workload.submit(record);
            }};
}

}  // namespace

Result<Bench::Sample> Bench::sample(Workload& workload, int64_t rows, int repetitions) {
    return sample(job_of(workload, rows), repetitions);
}

Result<Bench::Sample> Bench::sample(const Job& job, int repetitions) {
    if (settings_.compile_only) return unsupported("compiled only");
    Sample sample;
    const double start_us = now_us(), process_start_us = process_now_us();
    const Status submitted = job.submit([&](VkCommandBuffer commands) -> Status {
        stopwatch_.reset(commands);
        // The first kernel of a submission includes the cost of starting it.
        clock_->record(commands);
        stopwatch_.stamp(commands);
        clock_->record(commands);
        stopwatch_.stamp(commands);
        const double begin_us = now_us();
        for (int i = 0; i < repetitions; ++i) HEARTH_TRY(job.record(commands));
        sample.record_us = (now_us() - begin_us) / repetitions;
        stopwatch_.stamp(commands);
        clock_->record(commands);
        stopwatch_.stamp(commands);
        return {};
    });
    HEARTH_TRY(submitted);
    sample.wall_us = now_us() - start_us;
    sample.process_us = (process_now_us() - process_start_us) / repetitions;
    HEARTH_ASSIGN(const std::vector<double> intervals, stopwatch_.intervals_us());
    sample.reference_us = std::max(intervals[0], intervals[2]);
    sample.gpu_us = intervals[1] / repetitions;
    return sample;
}

Result<std::vector<Sample>> Bench::samples(const Job& job, int wanted, int repetitions, Row& row) {
    // A GPU needs a few tenths of a second of load to raise its clock, some up to two seconds.
    constexpr double kPatienceUs = 3e6;
    HEARTH_ASSIGN(SampleSet set, take_samples(
                                     {wanted, std::min(wanted, kLeastSamples), kPatienceUs},
                                     [&] { return sample(job, repetitions); },
                                     [&](double us) { return clock_->is_full_clock(us); }, now_us));
    row.refused += set.refused;
    row.is_full_clock &= set.is_full_clock;
    for (const Sample& s : set.kept) row.reference_us = std::max(row.reference_us, s.reference_us);
    return std::move(set.kept);
}

Status Bench::time(Workload& workload, int64_t rows, const Sample& first, Row& row) {
    count_steps(workload.entry(), row);
    row.arena_bytes = workload.arena_bytes();
    return time(job_of(workload, rows), first, row);
}

Status Bench::time(const Job& job, const Sample& first, Row& row) {
    const double memory_us = row.bytes / roof_.bytes_per_s * 1e6;
    const bool on_matrix_cores = row.operands == DType::kF16 && roof_.matrix_flops_per_s > 0;
    const double arithmetic_us =
        row.flops / (on_matrix_cores ? roof_.matrix_flops_per_s : roof_.flops_per_s) * 1e6;
    row.is_memory_bound = memory_us > arithmetic_us;
    row.roof_us = std::max(memory_us, arithmetic_us);

    const double budget_us = settings_.budget_s * 1e6;
    const auto mark_over_budget = [&](const Sample& only) {
        row.state = Row::State::kOverBudget;
        row.repetitions = 1;
        row.single_us = statistics_of({only.gpu_us});
        row.process_us = statistics_of({only.process_us});
        return Status();
    };
    if (first.gpu_us > 4 * budget_us) return mark_over_budget(first);
    if (first.gpu_us > budget_us) {
        // Repeat once: the first run on a software driver includes kernel compilation.
        HEARTH_ASSIGN(const Sample again, sample(job, 1));
        if (again.gpu_us > budget_us) return mark_over_budget(again);
    }
    // An idle GPU needs a few tenths of a second of continuous work to raise its clock, so each
    // submission holds several repetitions.
    constexpr double kWarmSampleUs = 5000;
    const double warm_start_us = now_us();
    double one_us = 0;
    int warm_repetitions = 1;
    do {
        HEARTH_ASSIGN(const Sample warm, sample(job, warm_repetitions));
        one_us = std::max(warm.wall_us / warm_repetitions, 1.0);
        warm_repetitions =
            static_cast<int>(std::clamp(kWarmSampleUs / one_us, 1.0, double(kMostRepetitions)));
    } while (now_us() - warm_start_us < 0.25 * budget_us);

    // Half of the budget is for repeated samples, a quarter for single ones.
    const auto affordable = [&](double part, double each_us, int most) {
        return static_cast<int>(std::clamp(part * budget_us / each_us, 1.0, double(most)));
    };
    row.repetitions = affordable(0.5 / kLeastSamples, one_us, kMostRepetitions);
    std::vector<double> repeated, record, process, single, wall;
    const int repeated_count = affordable(0.5, one_us * row.repetitions, kMostSamples);
    HEARTH_ASSIGN(const std::vector<Sample> repeated_samples,
                  samples(job, repeated_count, row.repetitions, row));
    for (const Sample& s : repeated_samples) {
        repeated.push_back(s.gpu_us);
        record.push_back(s.record_us);
        process.push_back(s.process_us);
    }
    const int single_count = affordable(0.25, one_us, kMostSamples);
    HEARTH_ASSIGN(const std::vector<Sample> single_samples, samples(job, single_count, 1, row));
    for (const Sample& s : single_samples) {
        single.push_back(s.gpu_us);
        wall.push_back(s.wall_us);
    }
    row.is_bimodal = clock_->is_on() && is_bimodal(repeated);
    row.repeated_us = statistics_of(repeated);
    row.record_us = statistics_of(record);
    row.process_us = statistics_of(process);
    row.single_us = statistics_of(single);
    row.wall_us = statistics_of(wall);
    row.state = Row::State::kOk;
    return {};
}

Result<std::string> Bench::time_variants(const Compiled& compiled, Row& row) {
    CompileOptions options;
    HEARTH_ASSIGN(options.caps, device_.caps());
    Tuner tuner(compiled.tunable_kernels, options);
    const RunTrial run = [&](const TuningTrial& trial) -> Result<TuningResult> {
        TuningResult result;
        HEARTH_ASSIGN(const std::unique_ptr<Workload> workload,
                      Workload::create(device_, trial.program, 1));
        for (const auto& [name, tensor] : trial.inputs)
            HEARTH_TRY(workload->set_input(name.c_str(), tensor));
        HEARTH_ASSIGN(Sample least, sample(*workload, 1, 1));
        // The GPU was idle and lowered its clock while results were compared.
        constexpr double kWarmUs = 2e5;
        const double start_us = now_us();
        for (int i = 0; i < 5 || now_us() - start_us < kWarmUs; ++i) {
            HEARTH_ASSIGN(const Sample again, sample(*workload, 1, kMostRepetitions));
            if (again.gpu_us < least.gpu_us) least = again;
        }
        result.us = least.gpu_us;
        HEARTH_ASSIGN(HostTensor c, workload->read_output("c", 1));  // no entries, so no networks
        result.outputs.emplace("c", std::move(c));
        row.details.emplace_back(trial.kernel + ", " + trial.variant + ", us", result.us);
        return result;
    };
    HEARTH_TRY(tune(tuner, run));
    if (!tuner.remarks().empty()) return internal_error(tuner.remarks()[0]);
    return tuner.save();
}

Status Bench::profile(const Compiled& compiled, int64_t rows,
                      const std::function<Status(Workload&)>& prepare, Row& row) {
    if (row.state != Row::State::kOk) return {};
    if (settings_.wants_commands) {
        HEARTH_ASSIGN(row.steps, step_times(compiled, rows, prepare));
    }
    if (settings_.wants_statistics) {
        HEARTH_ASSIGN(row.pipelines, pipeline_statistics(device_, compiled));
    }
    return {};
}

Result<std::vector<StepTime>> Bench::step_times(const Compiled& compiled, int64_t rows,
                                                const std::function<Status(Workload&)>& prepare) {
    constexpr int kWarm = 20, kRuns = 11;
    HEARTH_ASSIGN(std::unique_ptr<Workload> workload,
                  Workload::create(device_, compiled, rows,
                                   {.session_flags = HEARTH_SESSION_TIMESTAMP_COMMANDS}));
    HEARTH_TRY(prepare(*workload));
    std::vector<StepTime> steps;
    std::vector<std::vector<double>> samples;
    for (int run = 0; run < kWarm + kRuns; ++run) {
        HEARTH_TRY(workload->submit(
            [&](VkCommandBuffer commands) { return workload->record(commands, rows); }));
        HEARTH_TRY(workload->submit([](VkCommandBuffer) { return Status(); }));
        HEARTH_ASSIGN(const std::optional<hearth_timings> profile,
                      workload->session().next_timings());
        if (!profile) return internal_error("no timings of a finished recording");
        if (run < kWarm) continue;
        samples.resize(profile->command_count);
        steps.resize(profile->command_count);
        for (uint32_t i = 0; i < profile->command_count; ++i) {
            samples[i].push_back(profile->command_ns[i] * 1e-3);
            steps[i].label = profile->command_labels[i];
        }
    }
    for (size_t i = 0; i < steps.size(); ++i) steps[i].us = statistics_of(samples[i]).median;
    return steps;
}

}  // namespace hearth::perf
