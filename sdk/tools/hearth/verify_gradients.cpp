// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth verify --gradients: compares values and gradients in f32 with PyTorch's in f64.

#include "compare.hpp"
#include "runner.hpp"
#include "verify.hpp"

#include <fmt/format.h>
#include <gradient_cases/gradient_cases.hpp>

#include <algorithm>
#include <memory>

namespace hearth::tool {

namespace fs = std::filesystem;

namespace {

/// Covers two roundings to f32 of values around 1, and sums of a few hundred of them.
constexpr Tolerance kDefaultTolerance{.relative = 2e-4, .absolute = 2e-5};

std::vector<fs::path> json_files(const fs::path& root) {
    if (fs::is_regular_file(root)) return {root};
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::recursive_directory_iterator at(root, error), end; !error && at != end;
         at.increment(error))
        if (at->is_regular_file(error) && at->path().extension() == ".json")
            files.push_back(at->path());
    std::sort(files.begin(), files.end());
    return files;
}

Outcome run_case(Runner& runner, const gradient_cases::GradientCase& c,
                 const gradient_cases::GradientData& data, Tolerance tolerance) {
    const std::unique_ptr<Trace> trace = gradient_cases::trace_case(c, data, DType::kF32);
    const Result<NamedTensors> found =
        runner.run_trace(*trace, data.named_inputs(DType::kF32), /*batch_size=*/1);
    if (!found.ok()) return from_error(found.status());
    for (const auto& [name, expected] : data.expected(DType::kF32)) {
        const std::string what =
            name == "y" ? "the value" : "the gradient of input " + name.substr(1);
        const auto at = found->find(name);
        if (at == found->end()) return failed(what + " is not among the outputs");
        if (const auto difference = first_difference(at->second, expected, tolerance))
            return failed(what + " " + *difference);
    }
    return {};
}

std::vector<DeviceOutcome> run_file(const fs::path& path, const Runners& runners,
                                    Tolerance tolerance) {
    const Result<gradient_cases::GradientData> data = gradient_cases::read_data(path);
    if (!data.ok()) return {{"", from_error(data.status())}};
    const gradient_cases::GradientCase* c = gradient_cases::find_case(data->name);
    if (c == nullptr) return {{"", skipped("the name '" + data->name + "' is not known")}};
    std::vector<DeviceOutcome> outcomes;
    if (!runners.missing.ok())
        outcomes.push_back({"device", failed("no device: " + runners.missing.message())});
    for (const std::unique_ptr<Runner>& runner : runners.list)
        outcomes.push_back({std::string(runner->name()), run_case(*runner, *c, *data, tolerance)});
    return outcomes;
}

}  // namespace

VerifyMode gradients_mode(const VerifyOptions& options) {
    return {.find = json_files, .none_found = "no .json file", .start = [&options] {
                const Tolerance tolerance{options.relative.value_or(kDefaultTolerance.relative),
                                          options.absolute.value_or(kDefaultTolerance.absolute)};
                auto runners = std::make_shared<Runners>(
                    make_runners(options.device, options.device_index, options.assume));
                return [runners, tolerance](const fs::path& file) {
                    return run_file(file, *runners, tolerance);
                };
            }};
}

}  // namespace hearth::tool
