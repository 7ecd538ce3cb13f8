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
            progress = session_.record(commands, entry_, batch_size_, bindings_);
            return progress.status();
        }));
        HEARTH_TRY(submit([](VkCommandBuffer) { return Status(); }));
        HEARTH_ASSIGN(const std::optional<hearth_timings> timings, session_.next_timings());
        if (!timings)
            return unsupported(
                "the queue has written no timestamps; time on a device whose `hearth info` says "
                "timestamps: yes");
        return *timings;
    }
    const LoadedProgram& program() const { return program_; }

  private:
    Status submit(const std::function<Status(VkCommandBuffer)>& record) {
        HEARTH_TRY(context_.begin_frame(frame_number_ + 1, frame_number_));
        ++frame_number_;
        Status recorded;
        HEARTH_TRY(device_.run([&](VkCommandBuffer commands) { recorded = record(commands); }));
        return recorded;
    }

    Status init(std::span<const std::byte> bytes, const MeasureOptions& options,
                hearth_session_flags flags) {
        batch_size_ = static_cast<uint64_t>(options.batch_size);
        HEARTH_ASSIGN(context_, Context::create(device_.host_info()));
        Result<LoadedProgram> loaded =
            is_package(bytes)
                ? LoadedProgram::load_package(context_, bytes, false, options.device_target)
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
        const uint64_t bytes = std::max<uint64_t>(
            4, (info.bytes_fixed + info.bytes_per_item * batch_size_ + 3) / 4 * 4);
        HEARTH_ASSIGN(Buffer buffer, Buffer::create(device_, bytes, MemoryKind::kDevice));
        bindings_.push_back(
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
    uint64_t batch_size_ = 1, frame_number_ = 0;
    std::vector<Buffer> buffers_;
    std::vector<uint32_t> fills_;
    std::vector<hearth_tensor_binding> bindings_;
};

/// Runs once to warm up, then `options.samples` times unless that takes too long.
template <class Visit>
Status repeat(Timed& timed, const MeasureOptions& options, Visit visit) {
    HEARTH_ASSIGN(const hearth_timings warm_up, timed.once());
    double spent_ns = warm_up.total_ns;
    for (uint32_t i = 0; i < options.samples && (i < 3 || spent_ns < options.max_s * 1e9); ++i) {
        HEARTH_ASSIGN(const hearth_timings timings, timed.once());
        spent_ns += timings.total_ns;
        visit(timings);
    }
    return {};
}

/// The program of a device target, from a package or from a program's own bytes.
Result<Program> load_target(std::span<const std::byte> bytes, const char* device_target) {
    if (!is_package(bytes)) return load_program(bytes);
    PackageView package;
    ViewError error;
    if (!package.open(bytes, &error)) return Status(error.code, error.text.c_str());
    const int index = package.find_device_target(device_target);
    if (index < 0) return internal_error("the program's device target is not in its package");
    return load_program(package, static_cast<uint32_t>(index));
}

/// Label, kind and estimated work of an entry's commands without barriers, in order; times are
/// zero.
Result<std::vector<CommandTime>> commands_of_entry(std::span<const std::byte> bytes,
                                                   const std::string& entry,
                                                   const char* device_target, int64_t batch_size) {
    HEARTH_ASSIGN(const Program program, load_target(bytes, device_target));
    const Entry* found = program.find_entry(entry);
    if (found == nullptr)
        return not_found("no entry is named '" + entry + "'; `hearth inspect` lists the entries");
    // A command with any batched operand scales with the batch size.
    const double share =
        static_cast<double>(batch_size) / static_cast<double>(program.max_batch_size);
    std::vector<CommandTime> commands;
    for (const Command& command : program.commands_of(*found)) {
        if (command.kind == CommandKind::kBarrier) continue;
        bool grows = false;
        for (const Operand& operand : program.operands_of(command))
            grows |= operand.bytes.is_batch > 0;
        const double scale = grows ? share : 1;
        commands.push_back({command.label,
                            command.kind == CommandKind::kDispatch ? "kernel"
                            : command.kind == CommandKind::kCopy   ? "copy"
                                                                   : "fill",
                            0, static_cast<double>(command.flops) * scale,
                            static_cast<double>(command.bytes_moved) * scale});
    }
    return commands;
}

}  // namespace

Result<Measured> measure(standalone::Device& device, std::span<const std::byte> bytes,
                         const MeasureOptions& options) {
    Measured measured;
    std::vector<double> totals;
    {
        HEARTH_ASSIGN(const std::unique_ptr<Timed> timed,
                      Timed::create(device, bytes, options, HEARTH_SESSION_TIMESTAMP_RUNS));
        measured.device_target = timed->program().info().device_target;
        HEARTH_TRY(repeat(*timed, options,
                          [&](const hearth_timings& p) { totals.push_back(p.total_ns * 1e-3); }));
    }
    measured.total_us = median(totals);
    measured.min_us = *std::min_element(totals.begin(), totals.end());
    measured.max_us = *std::max_element(totals.begin(), totals.end());
    measured.samples = static_cast<uint32_t>(totals.size());
    if (!options.wants_commands) return measured;

    HEARTH_ASSIGN(measured.commands,
                  commands_of_entry(bytes, options.entry, measured.device_target.c_str(),
                                    options.batch_size));
    HEARTH_ASSIGN(const std::unique_ptr<Timed> timed,
                  Timed::create(device, bytes, options, HEARTH_SESSION_TIMESTAMP_COMMANDS));
    std::vector<std::vector<double>> times(measured.commands.size());
    HEARTH_TRY(repeat(*timed, options, [&](const hearth_timings& p) {
        for (size_t i = 0; i < times.size() && i < p.command_count; ++i)
            times[i].push_back(p.command_ns[i] * 1e-3);
    }));
    for (size_t i = 0; i < times.size(); ++i) measured.commands[i].us = median(times[i]);
    return measured;
}

double Roof::min_us(double flops, double bytes) const {
    if (flops_per_s <= 0 || bytes_per_s <= 0) return 0;
    return 1e6 * std::max(flops / flops_per_s, bytes / bytes_per_s);
}

Result<Roof> measure_roof(standalone::Device& device) {
    HEARTH_ASSIGN(const DeviceCaps caps, device.caps());
    const bool is_software = device.properties().deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    constexpr int kMultiplyAdds = 256;  // per element, in registers
    const int64_t batch_size = is_software ? int64_t{1} << 14 : int64_t{1} << 17;
    constexpr int64_t kWidth = 256;
    Trace copy("main"), work("main");
    copy.output("y", copy.input("x", {kBatch, Dim(kWidth)}) * 0.5);
    const Tensor x = work.input("x", {kBatch, Dim(kWidth)});
    Tensor y = x;
    for (int i = 0; i < kMultiplyAdds; ++i) y = y * x + x;
    work.output("y", y);
    const CompileOptions options{.caps = caps, .max_batch_size = static_cast<uint64_t>(batch_size)};
    const MeasureOptions run{.entry = "main", .batch_size = batch_size, .samples = 10};
    HEARTH_ASSIGN(const Compiled copying, compile({&copy}, options));
    HEARTH_ASSIGN(const Measured copied, measure(device, copying.bytes, run));
    HEARTH_ASSIGN(const Compiled working, compile({&work}, options));
    HEARTH_ASSIGN(const Measured worked, measure(device, working.bytes, run));
    const double elements = static_cast<double>(batch_size * kWidth);
    return Roof{1e6 * 8 * elements / copied.min_us,
                1e6 * 2 * kMultiplyAdds * elements / worked.min_us};
}

}  // namespace hearth::tool
