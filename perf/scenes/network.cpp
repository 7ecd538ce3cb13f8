// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Checks networks against the CPU reference and times them.

#include "network.hpp"

#include "compiler/interpreter/interpreter.hpp"
#include "data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hearth::perf {

Result<Reference> reference(const NetworkRun& network) {
    HEARTH_ASSIGN(const Graph graph, network.trace->build());
    Reference result;
    for (int step = 0; step < std::max(1, network.trained_steps); ++step) {
        HEARTH_ASSIGN(result.outputs,
                      interpret(graph, network.inputs, result.weights, network.pattern_rows));
    }
    return result;
}

namespace {

Status set_inputs(Workload& workload, const NetworkRun& network) {
    const bool repeats = network.rows != network.pattern_rows;
    for (const auto& [name, value] : network.inputs)
        HEARTH_TRY(
            workload.set_input(name.c_str(), repeats ? repeat_rows(value, network.rows) : value));
    return {};
}

/// Maximum relative error of outputs and, after training, of parameters and states.
Result<double> error(Workload& workload, const NetworkRun& network, const Reference& expected) {
    double worst = 0;
    const auto compare = [&](const HostTensor& found, const HostTensor& wanted) {
        const double e = relative_error(found, wanted, network.least_norm);
        if (!(e <= worst)) worst = e;  // max propagates NaN
    };
    for (const auto& [name, value] : expected.outputs) {
        HEARTH_ASSIGN(const HostTensor found, workload.read_output(name.c_str(), network.rows));
        compare(found, value);
    }
    if (network.trained_steps == 0) return worst;
    for (const auto& [name, value] : expected.weights) {
        HEARTH_ASSIGN(const HostTensor found, workload.read_variable(name.c_str()));
        compare(found, value);
    }
    return worst;
}

/// Checks the result after hundreds of repetitions: the same outputs, or a lower loss.
Status check_after(Workload& workload, const NetworkRun& network, const Reference& expected,
                   const Row& row) {
    if (network.trained_steps == 0) {
        HEARTH_ASSIGN(const double e, error(workload, network, expected));
        return e <= network.tolerance ? Status() : internal_error("wrong outputs after timing");
    }
    if (!network.has_loss) {
        for (const auto& [name, value] : expected.weights) {
            HEARTH_ASSIGN(const HostTensor found, workload.read_variable(name.c_str()));
            for (int64_t i = 0; i < found.element_count(); ++i)
                if (!std::isfinite(found.get(i)))
                    return internal_error("'" + name + "' is not finite after timing");
        }
        return {};
    }
    HEARTH_ASSIGN(const HostTensor loss, workload.read_output("loss", network.rows));
    const double before = expected.outputs.at("loss").get(0);
    if (loss.get(0) < before || row.state == Row::State::kOverBudget) return {};
    return internal_error(
        fmt::format("the loss was {:.6g} and is {:.6g} after timing", before, loss.get(0)));
}

}  // namespace

Status run_network(Bench& bench, Row& row, const NetworkRun& network) {
    HEARTH_ASSIGN(const Reference expected, reference(network));
    HEARTH_ASSIGN(const Compiled compiled,
                  bench.compile_for_device(*network.trace, network.rows, network.precision));
    HEARTH_ASSIGN(std::unique_ptr<Workload> workload,
                  Workload::create(bench.device(), compiled, network.rows));
    HEARTH_TRY(set_inputs(*workload, network));
    // Checked in the form that is timed: several recordings in one command buffer.
    HEARTH_ASSIGN(const Bench::Sample first,
                  bench.sample(*workload, network.rows, std::max(1, network.trained_steps)));
    HEARTH_ASSIGN(const double e, error(*workload, network, expected));
    row.note = fmt::format(
        "{} by {:.1e} from the reference",
        network.trained_steps > 0 ? "outputs, params and states differ" : "outputs differ", e);
    if (!(e <= network.tolerance)) return internal_error(row.note);
    HEARTH_TRY(bench.time(*workload, network.rows, first, row));
    HEARTH_TRY(check_after(*workload, network, expected, row));
    return bench.profile(
        compiled, network.rows, [&](Workload& w) { return set_inputs(w, network); }, row);
}

}  // namespace hearth::perf
