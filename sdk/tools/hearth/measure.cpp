// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Measures GPU times of programs and their commands, and the device's roofline.

#include "measure.hpp"

#include "program/package.hpp"

#include <hearth/compile.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <optional>

namespace hearth::tool {

namespace {

using standalone::Buffer;
using standalone::MemoryKind;

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// 0.25 in every f32 or f16 element; zero for other types, because integers may be indices.
uint32_t fill_word(hearth_dtype dtype) {
    if (dtype == HEARTH_F16) return 0x34003400;
    return dtype == HEARTH_F32 ? 0x3e800000 : 0;
}

/// A session over one program, with buffers for one entry.
class Timed {
  public:
    static Result<std::unique_ptr<Timed>> create(standalone::Device& device,
                                                 std::span<const std::byte> bytes,
                                                 const MeasureOptions& options,
                                                 hearth_session_flags flags) {
        auto timed = std::make_unique<Timed>(device);
        HEARTH_TRY(timed->init(bytes, options, flags));
        return timed;
    }

    explicit Timed(standalone::Device& device) : device_(device) {}

    /// Records and submits once, waits, and returns the timestamps.
    Result<hearth_timings> once() {
        Result<Progress> progress = Progress::kNotReady;
        HEARTH_TRY(submit([&](VkCommandBuffer commands) {
            progress = session_.record(commands, entry_, rows_, bound_);
            return progress.status();
        }));
        HEARTH_TRY(submit([](VkCommandBuffer) { return Status(); }));
        HEARTH_ASSIGN(const std::optional<hearth_timings> profile, session_.next_timings());
        if (!profile) return unsupported("the timestamps have not arrived");
        return *profile;
    }
    const LoadedProgram& program() const { return program_; }

  private:
    Status submit(const std::function<Status(VkCommandBuffer)>& record) {
        HEARTH_TRY(context_.begin_frame(serial_ + 1, serial_));
        ++serial_;
        Status recorded;
        HEARTH_TRY(device_.run([&](VkCommandBuffer commands) { recorded = record(commands); }));
        return recorded;
    }

    Status init(std::span<const std::byte> bytes, const MeasureOptions& options,
                hearth_session_flags flags) {
        rows_ = static_cast<uint64_t>(options.rows);
        HEARTH_ASSIGN(context_, Context::create(device_.host_info()));
        Result<LoadedProgram> loaded =
            is_package(bytes) ? LoadedProgram::load_package(context_, bytes, false, options.profile)
                              : LoadedProgram::load(context_, bytes);
        if (!loaded.ok()) return loaded.status();
        program_ = std::move(*loaded);
        hearth_session_create_info info = hearth_session_create_info_default();
        info.flags = flags;
        HEARTH_ASSIGN(session_, Session::create(context_, program_, info));
        HEARTH_TRY(session_.create_pipelines());
        HEARTH_ASSIGN(entry_, program_.find_entry(options.entry.c_str()));
        HEARTH_ASSIGN(const hearth_entry_info entry, program_.entry(entry_));
        for (uint32_t i = 0; i < entry.binding_count; ++i) HEARTH_TRY(bind(entry.bindings[i]));
        return submit([&](VkCommandBuffer commands) { return set_up(commands); });
    }

    Status bind(uint32_t binding) {
        HEARTH_ASSIGN(const hearth_binding_info info, program_.binding(binding));
        const uint64_t bytes =
            std::max<uint64_t>(4, (info.bytes_fixed + info.bytes_per_item * rows_ + 3) / 4 * 4);
        HEARTH_ASSIGN(Buffer buffer, Buffer::create(device_, bytes, MemoryKind::kDevice));
        bound_.push_back(
            hearth_bind_buffer(binding, buffer.handle(), 0, buffer.size_bytes(), buffer.usage()));
        fills_.push_back(fill_word(info.device_dtype));
        buffers_.push_back(std::move(buffer));
        return {};
    }

    Status set_up(VkCommandBuffer commands) {
        for (size_t i = 0; i < buffers_.size(); ++i)
            device_.vk().CmdFillBuffer(commands, buffers_[i].handle(), 0, VK_WHOLE_SIZE, fills_[i]);
        return session_.record_initialize(commands);
    }

    standalone::Device& device_;
    Context context_;
    LoadedProgram program_;
    Session session_;
    uint32_t entry_ = 0;
    uint64_t rows_ = 1, serial_ = 0;
    std::vector<Buffer> buffers_;
    std::vector<uint32_t> fills_;
    std::vector<hearth_tensor_binding> bound_;
};

/// Runs once to warm up, then up to `samples` - 1 times, stopping after about ten seconds but not
/// before three timed runs.
template <class Visit>
Status repeat(Timed& timed, uint32_t samples, Visit visit) {
    constexpr double kMostNs = 1e10;
    double spent = 0;
    for (uint32_t i = 0; i < samples && (i < 4 || spent < kMostNs); ++i) {
        HEARTH_ASSIGN(const hearth_timings profile, timed.once());
        spent += profile.total_ns;
        if (i > 0) visit(profile);  // the first run warms the caches
    }
    return {};
}

/// Label, kind and estimated work of an entry's commands without barriers, in order; times are
/// zero.
Result<std::vector<StepTime>> steps_of(std::span<const std::byte> bytes, const std::string& entry,
                                       const char* profile, int64_t rows) {
    std::span<const std::byte> outside;
    PackageView package;
    ViewError error;
    if (is_package(bytes)) {
        if (!package.open(bytes, &error)) return Status(error.code, error.text.c_str());
        const int index = package.find_device_target(profile);
        if (index < 0) return internal_error("the program's profile is not in its package");
        bytes = package.program(static_cast<uint32_t>(index));
        outside = package.weights();
    }
    HEARTH_ASSIGN(const Program program, load_program(bytes, outside));
    const Entry* found = program.find_entry(entry);
    if (found == nullptr) return not_found("no entry is named '" + entry + "'");
    // A command with any batched operand scales with the batch size.
    const double share = static_cast<double>(rows) / static_cast<double>(program.max_batch_size);
    std::vector<StepTime> steps;
    for (const Command& step : program.commands_of(*found)) {
        if (step.kind == CommandKind::kBarrier) continue;
        bool grows = false;
        for (const Operand& operand : program.operands_of(step)) grows |= operand.bytes.is_batch > 0;
        const double scale = grows ? share : 1;
        steps.push_back({step.label,
                         step.kind == CommandKind::kDispatch ? "kernel"
                         : step.kind == CommandKind::kCopy   ? "copy"
                                                          : "fill",
                         0, static_cast<double>(step.flops) * scale,
                         static_cast<double>(step.bytes_moved) * scale});
    }
    return steps;
}

}  // namespace

Result<Measured> measure(standalone::Device& device, std::span<const std::byte> bytes,
                         const MeasureOptions& options) {
    Measured measured;
    std::vector<double> totals;
    {
        HEARTH_ASSIGN(const std::unique_ptr<Timed> timed,
                      Timed::create(device, bytes, options, HEARTH_SESSION_TIMESTAMP_RUNS));
        measured.profile = timed->program().info().device_target;
        HEARTH_TRY(repeat(*timed, options.samples,
                          [&](const hearth_timings& p) { totals.push_back(p.total_ns * 1e-3); }));
    }
    measured.total_us = median(totals);
    measured.least_us = *std::min_element(totals.begin(), totals.end());
    measured.most_us = *std::max_element(totals.begin(), totals.end());
    measured.samples = static_cast<uint32_t>(totals.size());
    if (!options.wants_steps) return measured;

    HEARTH_ASSIGN(measured.steps,
                  steps_of(bytes, options.entry, measured.profile.c_str(), options.rows));
    HEARTH_ASSIGN(const std::unique_ptr<Timed> timed,
                  Timed::create(device, bytes, options, HEARTH_SESSION_TIMESTAMP_COMMANDS));
    std::vector<std::vector<double>> times(measured.steps.size());
    HEARTH_TRY(repeat(*timed, options.samples, [&](const hearth_timings& p) {
        for (size_t i = 0; i < times.size() && i < p.command_count; ++i)
            times[i].push_back(p.command_ns[i] * 1e-3);
    }));
    for (size_t i = 0; i < times.size(); ++i) measured.steps[i].us = median(times[i]);
    return measured;
}

double Roof::least_us(double flops, double bytes) const {
    if (flops_per_s <= 0 || bytes_per_s <= 0) return 0;
    return 1e6 * std::max(flops / flops_per_s, bytes / bytes_per_s);
}

Result<Roof> measure_roof(standalone::Device& device) {
    HEARTH_ASSIGN(const DeviceCaps caps, device.caps());
    const bool is_software = device.properties().deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    constexpr int kMultiplyAdds = 256;  // per element, in registers
    const int64_t rows = is_software ? int64_t{1} << 14 : int64_t{1} << 17;
    constexpr int64_t kWidth = 256;
    Trace copy("main"), work("main");
    copy.output("y", copy.input("x", {kBatch, Dim(kWidth)}) * 0.5);
    const Tensor x = work.input("x", {kBatch, Dim(kWidth)});
    Tensor y = x;
    for (int i = 0; i < kMultiplyAdds; ++i) y = y * x + x;
    work.output("y", y);
    const CompileOptions options{.caps = caps, .max_batch_size = static_cast<uint64_t>(rows)};
    const MeasureOptions run{.entry = "main", .rows = rows, .samples = 10};
    HEARTH_ASSIGN(const Compiled copying, compile({&copy}, options));
    HEARTH_ASSIGN(const Measured copied, measure(device, copying.bytes, run));
    HEARTH_ASSIGN(const Compiled working, compile({&work}, options));
    HEARTH_ASSIGN(const Measured worked, measure(device, working.bytes, run));
    const double elements = static_cast<double>(rows * kWidth);
    return Roof{1e6 * 8 * elements / copied.least_us,
                1e6 * 2 * kMultiplyAdds * elements / worked.least_us};
}

}  // namespace hearth::tool
