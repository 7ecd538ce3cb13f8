// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Measures kernel variants: makes trials, compares their results, and keeps the fastest.

#include "compiler/codegen/fused_network/fused_network.hpp"
#include "compiler/codegen/kernel_problem.hpp"
#include "compiler/codegen/matmul/matmul_tiles.hpp"
#include "compiler/driver/compile.hpp"
#include "compiler/driver/device_caps.hpp"
#include "compiler/driver/tuning_data.hpp"
#include "compiler/ops/op_table.hpp"
#include "core/device_model.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/ops.hpp>
#include <hearth/tuning.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace hearth {

namespace {

constexpr double kWorthTrying = 3;       // times the minimum estimate
constexpr double kWorthChanging = 0.97;  // of the shipped variant's time
// For another summation order: f32 sums of a thousand products differ by a relative 1e-6.
constexpr double kTolerance = 1e-4;
// For f16 results of up to a few times the root mean square, which may round to adjacent values.
constexpr double kToleranceF16 = 8e-3;

Result<std::vector<Graph>> finished(Trace& trace) {
    Trace* const entries[] = {&trace};
    return finish_all(entries);
}

/// A matrix product on its own, with operands of the form and layout that the programs have.
Result<std::vector<Graph>> trial_graph(const MatmulProblem& p) {
    Trace trace("trial");
    const auto operand = [&](const char* name, const std::string& form, int64_t rows,
                             int64_t columns, bool is_swapped) {
        Shape shape;
        if (p.batch > 1) shape.push_back(Dim(p.batch));
        shape.push_back(Dim(is_swapped ? columns : rows));
        shape.push_back(Dim(is_swapped ? rows : columns));
        const Tensor x = trace.input(name, shape, form == "f16" ? DType::kF16 : DType::kF32);
        return form == kCastForm ? cast(x, DType::kF16) : x;
    };
    const Tensor a = operand("a", p.a_form, p.m, p.k, !p.a_k_is_contiguous);
    const Tensor b = operand("b", p.b_form, p.k, p.n, p.b_k_is_contiguous);
    trace.output("c", apply_one(op("matmul"), {a, b},
                                {{"transpose_a", int64_t{!p.a_k_is_contiguous}},
                                 {"transpose_b", int64_t{p.b_k_is_contiguous}},
                                 {"wide", int64_t{p.a_form != "f32"}}}));
    return finished(trace);
}

/// An operator on its own.
Result<std::vector<Graph>> trial_graph(const KernelProblem& p) {
    Trace trace("trial");
    std::vector<Tensor> inputs;
    for (size_t k = 0; k < p.inputs.size(); ++k)
        inputs.push_back(
            trace.input("in" + std::to_string(k), p.inputs[k].shape, p.inputs[k].dtype));
    trace.output("c", apply(*p.op, inputs, p.attrs)[0]);
    return finished(trace);
}

/// Random floats; integers are zero, because they may be classes or row indices.
NamedTensors random_inputs(const Graph& graph, uint64_t rows) {
    NamedTensors inputs;
    for (ValueId v : graph.inputs) {
        const Value& value = graph.value(v);
        const Init init = is_floating(value.dtype) ? Init::uniform(-1, 1) : Init::constant(0);
        inputs.emplace(value.name, init.make(value.name, value.dtype,
                                             value.shape.resolve(static_cast<int64_t>(rows))));
    }
    return inputs;
}

/// Maximum difference relative to the root mean square of `expected`; NaN if any element is.
double difference(const HostTensor& found, const HostTensor& expected) {
    if (found.element_count() != expected.element_count()) return NAN;
    const HostTensor wide_found = found.cast(DType::kF32), wide = expected.cast(DType::kF32);
    const std::span<const float> is = wide_found.as<float>(), should_be = wide.as<float>();
    double worst = 0, squares = 0;
    for (size_t i = 0; i < is.size(); ++i) {
        const double e = std::abs(double{is[i]} - double{should_be[i]});
        if (!(e <= worst)) worst = e;
        squares += double{should_be[i]} * double{should_be[i]};
    }
    const double size =
        std::sqrt(squares / static_cast<double>(std::max<int64_t>(1, expected.element_count())));
    return size > 0 ? worst / size : worst;
}

/// A kernel and its variants worth a trial, the shipped one first.
struct Candidates {
    std::string kernel;
    std::vector<std::string> variants;
    std::vector<double> estimates;  ///< TuningTrial::estimated_cost
    std::function<Result<std::vector<Graph>>()> trial_graph;
    bool is_network = false;  ///< tried within its entry, with the program's options
};

Candidates candidates_of(const std::string& kernel, const MatmulProblem& problem,
                         const DeviceCaps& caps) {
    Candidates found{kernel, {}, {}, [problem] { return trial_graph(problem); }};
    const std::vector<MatmulTile> all = matmul_candidates(problem, caps);
    double least = INFINITY;
    for (const MatmulTile& t : all) least = std::min(least, matmul_cost(t, problem, caps));
    for (size_t i = 0; i < all.size(); ++i) {
        const double cost = matmul_cost(all[i], problem, caps);
        if (i > 0 && cost > kWorthTrying * least) continue;
        found.variants.push_back(to_string(all[i]));
        found.estimates.push_back(cost / matmul_cost(all[0], problem, caps));
    }
    return found;
}

/// Candidates of an operator's custom kernel, whose rule lists the variants.
Candidates candidates_of(const std::string& kernel, const KernelProblem& problem,
                         const DeviceCaps& caps) {
    Candidates found{
        kernel, variants_of(problem, caps), {}, [problem] { return trial_graph(problem); }};
    found.estimates.assign(found.variants.size(), 1.0);
    return found;
}

/// Candidates of a kernel that compiling these entries lists; none if they have no such kernel.
Candidates listed_candidates(const std::string& kernel, const std::vector<Graph>& entries,
                             const CompileOptions& options) {
    const Result<CompiledProgram> compiled = compile_graphs(entries, options);
    if (!compiled.ok()) return {};
    const auto known = compiled->listed_variants.find(kernel);
    if (known == compiled->listed_variants.end()) return {};
    Candidates found{kernel, known->second, {}, [entries] { return entries; }};
    found.estimates.assign(found.variants.size(), 1.0);
    return found;
}

/// Candidates of a fused network of one of the entries.
Candidates network_candidates(const std::string& kernel, std::span<const Graph> entries,
                              const CompileOptions& options) {
    for (const Graph& entry : entries) {
        if (!is_network_key(kernel, entry.name)) continue;
        Candidates found = listed_candidates(kernel, {entry}, options);
        found.is_network = true;
        return found;
    }
    return {};
}

/// Candidates of an operator's kernel that its family lists.
Candidates family_candidates(const std::string& kernel, const CompileOptions& options) {
    const auto problem = parse_kernel_problem(kernel);
    if (!problem) return {};
    const Result<std::vector<Graph>> graphs = trial_graph(*problem);
    return graphs.ok() ? listed_candidates(kernel, *graphs, options) : Candidates();
}

}  // namespace

struct Tuner::State {
    CompileOptions options, network_options;
    std::vector<Candidates> kernels;
    size_t kernel = 0, variant = 0;  ///< of the current trial
    size_t done = 0, count = 0;
    bool is_prepared = false;
    TuningTrial trial;
    NamedTensors expected;  ///< the shipped variant's results
    double shipped_us = 0, best_us = 0;
    Tuning tuning;
    std::vector<std::string> remarks;

    void note(const std::string& text) {
        remarks.push_back(kernels[kernel].kernel + ", " + trial.variant + ": " + text);
    }

    void skip_kernel() {
        done += kernels[kernel].variants.size() - variant;
        ++kernel;
        variant = 0;
        is_prepared = false;
    }

    void step() {
        ++done;
        is_prepared = false;
        if (++variant < kernels[kernel].variants.size()) return;
        ++kernel;
        variant = 0;
    }

    Status prepare() {
        const Candidates& candidates = kernels[kernel];
        const std::string& variant_text = candidates.variants[variant];
        HEARTH_ASSIGN(std::vector<Graph> graphs, candidates.trial_graph());
        CompileOptions with_variant = candidates.is_network ? network_options : options;
        TuningTrial next;
        next.kernel = candidates.kernel;
        next.variant = variant_text;
        next.entry = graphs[0].name;
        next.batch_size = with_variant.max_batch_size;
        next.inputs = random_inputs(graphs[0], next.batch_size);
        next.estimated_cost = candidates.estimates[variant];
        Tuning forced = tuning_for(options);
        forced.variants[candidates.kernel] = variant_text;
        with_variant.tuning = print_tuning(forced);
        HEARTH_ASSIGN(CompiledProgram compiled, compile_graphs(std::move(graphs), with_variant));
        const bool is_there =
            std::ranges::find(compiled.tunable, candidates.kernel) != compiled.tunable.end();
        if (!is_there || (compiled.tunable.size() != 1 && !candidates.is_network))
            return unsupported("compiled alone it becomes another kernel");
        next.program = describe(compiled.program);
        next.program.bytes = save_program(compiled.program);
        next.program.tunable_kernels = std::move(compiled.tunable);
        trial = std::move(next);
        is_prepared = true;
        return {};
    }

    void accept(double us) {
        best_us = us;
        const std::string& key = kernels[kernel].kernel;
        char remark[96];
        std::snprintf(remark, sizeof remark, "%.2f us, default %.2f", us, shipped_us);
        tuning.variants[key] = trial.variant;
        tuning.remarks[key] = remark;
    }
};

Tuner::Tuner(std::vector<std::string> tunable_kernels, const CompileOptions& options,
             std::vector<Graph> entries)
    : state_(std::make_unique<State>()) {
    State& s = *state_;
    s.network_options = options;
    s.network_options.keep_source = {};
    s.network_options.on_pass = nullptr;
    s.options = s.network_options;
    s.options.max_batch_size = 1;
    s.options.tuning.clear();
    s.options.quantize = {};
    s.options.precision = Precision::kF32;
    s.tuning = tuning_for(options);
    if (const Status status = check_device_caps(options.caps); !status.ok()) {
        s.remarks.push_back("there is nothing to tune: " + status.message());
        return;
    }
    const std::set<std::string> unique(tunable_kernels.begin(), tunable_kernels.end());
    for (const std::string& kernel : unique) {
        Candidates candidates;
        const auto product = parse_matmul_problem(kernel);
        const auto problem = parse_kernel_problem(kernel);
        if (device_model(options.caps).keeps_bodies ||
            (!product && problem && problem->op->kernel == nullptr))
            candidates = family_candidates(kernel, s.options);
        else if (product)
            candidates = candidates_of(kernel, *product, options.caps);
        else if (problem)
            candidates = candidates_of(kernel, *problem, options.caps);
        else
            candidates = network_candidates(kernel, entries, s.network_options);
        if (candidates.variants.empty()) continue;
        s.count += candidates.variants.size();
        s.kernels.push_back(std::move(candidates));
    }
}

Tuner::~Tuner() = default;
Tuner::Tuner(Tuner&&) noexcept = default;
Tuner& Tuner::operator=(Tuner&&) noexcept = default;

bool Tuner::is_done() const {
    return state_->kernel >= state_->kernels.size();
}
size_t Tuner::trials_done() const {
    return state_->done;
}
size_t Tuner::trial_count() const {
    return state_->count;
}
const std::vector<std::string>& Tuner::remarks() const {
    return state_->remarks;
}
std::string Tuner::save() const {
    return print_tuning(state_->tuning);
}

Result<const TuningTrial*> Tuner::next() {
    if (is_done()) return out_of_range("all trials are done; check is_done() first");
    if (!state_->is_prepared) HEARTH_TRY(state_->prepare());
    return const_cast<const TuningTrial*>(&state_->trial);
}

void Tuner::report(const TuningResult& result) {
    State& s = *state_;
    HEARTH_ASSERT(s.is_prepared && "report() without a trial; call next() first");
    if (result.outputs.empty()) return report(invalid_argument("the trial returned no outputs"));
    if (s.variant == 0) {
        s.expected = result.outputs;
        s.shipped_us = s.best_us = result.us;
        return s.step();
    }
    for (const auto& [name, expected] : s.expected) {
        const auto found = result.outputs.find(name);
        if (found == result.outputs.end())
            return report(invalid_argument("the output '" + name + "' is missing"));
        const double error = difference(found->second, expected);
        const double tolerance = expected.dtype() == DType::kF16 ? kToleranceF16 : kTolerance;
        if (error <= tolerance) continue;
        s.note((s.expected.size() == 1 ? "" : "'" + name + "' ") +
               std::string("differs from the default variant by ") + std::to_string(error) +
               " of its size");
        return s.step();
    }
    if (result.us < s.best_us && result.us < kWorthChanging * s.shipped_us) s.accept(result.us);
    s.step();
}

void Tuner::report(const Status& failure) {
    State& s = *state_;
    if (is_done()) return;
    s.note(failure.message());
    // Without a result of the shipped variant there is nothing to compare with.
    if (s.variant == 0)
        s.skip_kernel();
    else
        s.step();
}

namespace {

void run_next(Tuner& tuner, const RunTrial& run) {
    const Result<const TuningTrial*> trial = tuner.next();
    if (!trial.ok()) return tuner.report(trial.status());
    const Result<TuningResult> result = run(**trial);
    if (result.ok())
        tuner.report(*result);
    else
        tuner.report(result.status());
}

}  // namespace

Status tune(Tuner& tuner, const RunTrial& run,
            const std::function<bool(size_t done, size_t count)>& progress) {
    while (!tuner.is_done()) {
        if (progress && !progress(tuner.trials_done(), tuner.trial_count())) return {};
        run_next(tuner, run);
    }
    if (progress) (void)progress(tuner.trials_done(), tuner.trial_count());
    return {};
}

Status tune_for(Tuner& tuner, const RunTrial& run, std::chrono::microseconds budget) {
    const auto start = std::chrono::steady_clock::now();
    while (!tuner.is_done()) {
        run_next(tuner, run);
        if (std::chrono::steady_clock::now() - start >= budget) break;
    }
    return {};
}

}  // namespace hearth
