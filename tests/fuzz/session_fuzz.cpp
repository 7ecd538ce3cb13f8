// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A program and a brain through the life of a session on a device: load, create, build, set up,
// record, load the brain, take a snapshot, read it back, lose a frame.
//
// Only kernels of the seeds are run, whatever else an input says of them, and only as much work as
// is done soon: what a driver makes of other code, or of a grid of a billion workgroups, is not
// Hearth's.  Programs find their operands through descriptors, so that kernels stay within the
// ranges that Hearth gives them; whether these ranges are right, the driver's own bounds tell under
// AddressSanitizer.

#include "mend.hpp"
#include "program/view.hpp"
#include "session_input.hpp"
#include "standalone/device.hpp"
#include "support/files.hpp"

#include <filesystem>
#include <memory>
#include <set>

using namespace hearth;

namespace {

constexpr uint64_t kMostDeviceBytes = uint64_t{64} << 20;
constexpr uint64_t kHostBytes = 64 << 10;       ///< of each buffer of the host's
constexpr uint64_t kMostInvocations = 1 << 20;  ///< of a step that is run

// Kernels on any bytes may well give NaN, which brains hold on request, or without asking.
#if defined(HEARTH_BRAIN_ALLOW_NON_FINITE)
constexpr hearth_brain_flags kAnyNumbers = HEARTH_BRAIN_ALLOW_NON_FINITE;
#else
constexpr hearth_brain_flags kAnyNumbers = 0;
#endif

/// Hashes of the seeds' kernels.  (Seeds of another format are a finding: fuzz_session_seeds writes
/// them anew.)
std::set<uint64_t> known_kernels() {
    std::set<uint64_t> known;
    for (const auto& file : std::filesystem::directory_iterator(HEARTH_SESSION_SEEDS)) {
        const std::vector<std::byte> bytes = testing::file_bytes(file.path());
        std::vector<uint64_t> aligned((bytes.size() + 7) / 8);
        std::memcpy(aligned.data(), bytes.data(), bytes.size());
        const auto input =
            fuzz::split_session_input(std::as_bytes(std::span(aligned)).first(bytes.size()));
        ProgramView program;
        ViewError error;
        fuzz::require(program.open(input.program, &error), error.text.c_str());
        for (const file::KernelRecord& kernel : program.kernels())
            known.insert(checksum(std::as_bytes(program.spirv_of(kernel))));
    }
    return known;
}

/// What lives as long as the process.
struct World {
    std::unique_ptr<standalone::Instance> instance;
    std::unique_ptr<standalone::Device> device;
    Context context;
    standalone::Buffer input, output;
    std::set<uint64_t> kernels = known_kernels();
    /// Sessions of the seeds keep their pipelines from being built for each input.
    std::vector<LoadedProgram> kept_programs;
    std::vector<Session> kept_sessions;
    uint64_t serial = 0;

    World() {
        // Ranges beyond their buffers are no matter to a driver, and every matter to what lies
        // behind them: the validation layers tell.
        standalone::InstanceOptions options;
        const char* const setting = std::getenv("HEARTH_TEST_VALIDATION");
        options.validation = setting == nullptr || std::strcmp(setting, "off") != 0;
        options.print_messages = false;
        instance = take(standalone::Instance::create(options));
        standalone::DeviceOptions wanted;
        wanted.binding_model = HEARTH_BINDING_PUSH_DESCRIPTOR;
        device = take(standalone::Device::create(*instance, wanted));
        hearth_context_create_info info = device->host_info();
        info.device_memory_budget = kMostDeviceBytes;
        context = take(Context::create(info));
        input =
            take(standalone::Buffer::create(*device, kHostBytes, standalone::MemoryKind::kUpload));
        output = take(
            standalone::Buffer::create(*device, kHostBytes, standalone::MemoryKind::kReadback));
        for (const auto& file : std::filesystem::directory_iterator(HEARTH_SESSION_SEEDS)) {
            const std::vector<std::byte> bytes = testing::file_bytes(file.path());
            const auto parts = fuzz::split_session_input(std::span<const std::byte>(bytes));
            kept_programs.push_back(take(LoadedProgram::load(context, parts.program)));
            kept_sessions.push_back(take(Session::create(context, kept_programs.back())));
            fuzz::require(kept_sessions.back().create_pipelines().ok(),
                          "the kernels of a seed do not build");
            break;  // all seeds have the same kernels
        }
    }
    template <class T>
    static T take(Result<T> result) {
        fuzz::require(result.ok(), result.status().message().c_str());
        return std::move(result).value();
    }
};

World& world() {
    static auto* const made = new World;  // never destroyed: drivers have ends of their own
    return *made;
}

/// A refusal gives a reason.
template <class Owner>
bool is_ok(hearth_result result, const Owner& owner) {
    if (result >= 0) return true;
    fuzz::require(!owner.error().empty(), "refused without a message");
    fuzz::require(result != HEARTH_ERROR_INTERNAL, "an internal error");
    return false;
}

/// Whether the driver is to run the entry: known kernels, whose rows come from the run block, and
/// not too much of them.
bool may_run(const ProgramView& program, const file::EntryRecord& entry, uint64_t rows,
             const std::set<uint64_t>& kernels) {
    for (const file::CommandRecord& step : program.commands_of(entry)) {
        if (step.kind != static_cast<uint32_t>(CommandKind::kDispatch)) continue;
        const file::KernelRecord& kernel = program.kernels()[step.kernel];
        const auto operands = program.operands_of(step);
        if (!kernels.contains(checksum(std::as_bytes(program.spirv_of(kernel)))) ||
            operands.empty() || operands[0].region != static_cast<uint32_t>(Region::kRun))
            return false;
        uint64_t invocations = 64;
        for (const file::GridAxisRecord& axis : step.grid) {
            invocations *= groups_at(axis, rows);
            if (invocations > kMostInvocations) return false;
        }
    }
    return true;
}

class Life {
  public:
    Life(const fuzz::SessionInput<const std::byte>& input, World& w)
        : input_(input), world_(w), script_(input.script) {}

    void live() {
        Result<LoadedProgram> loaded = LoadedProgram::load(world_.context, input_.program, true);
        if (!loaded.ok()) return fuzz::check_refusal(loaded.status());
        program_ = std::move(loaded).value();
        ViewError error;
        fuzz::require(view_.open(input_.program, &error), "loaded, but not opened");
        for (const file::KernelRecord& kernel : view_.kernels())
            if (!world_.kernels.contains(checksum(std::as_bytes(view_.spirv_of(kernel))))) return;
        ask();
        hearth_session_create_info info = hearth_session_create_info_default();
        info.flags = HEARTH_SESSION_KEEP_INITIAL_WEIGHTS;
        if (chance())
            info.flags |= HEARTH_SESSION_ALLOW_STAGING_COPIES | HEARTH_SESSION_SPLIT_DISPATCHES;
        if (chance()) info.flags |= HEARTH_SESSION_VALIDATE_BINDINGS;
        if (chance()) info.flags |= HEARTH_SESSION_TIMESTAMP_COMMANDS;
        info.recordings_in_flight = 8;
        info.max_inline_bytes = 256;
        info.upload_bytes = info.readback_bytes = chance() ? 4096 : 1 << 20;
        const auto needs = Session::get_memory_requirements(world_.context, program_, info);
        if (!needs.ok()) fuzz::check_refusal(needs.status());
        Result<Session> created = Session::create(world_.context, program_, info);
        if (!created.ok()) return fuzz::check_refusal(created.status());
        session_ = std::move(created).value();
        if (!is_ok(hearth_session_create_pipelines(session_.handle(), 0), session_)) return;
        frames();
    }

  private:
    /// One bit of the script after the other.
    bool chance() { return (script_ >> (next_bit_++ % 32) & 1) != 0; }

    /// Queries, within their bounds and one beyond.
    void ask() {
        const hearth_program_info info = program_.info();
        for (uint32_t i = 0; i <= info.entry_count; ++i)
            if (const auto entry = program_.entry(i); entry.ok())
                fuzz::require(entry->command_count <= info.command_count,
                              "more steps than there are");
        for (uint32_t i = 0; i <= info.binding_count; ++i) (void)program_.binding(i);
        for (uint32_t i = 0; i <= info.variable_count; ++i)
            if (const auto slot = program_.variable(i); slot.ok())
                fuzz::require(program_.find_variable(slot->name).ok(),
                              "a slot's name finds nothing");
        if (!input_.brain.empty()) {
            const Status fits = program_.validate_brain(input_.brain, HEARTH_BRAIN_NON_STRICT);
            if (!fits.ok()) fuzz::check_refusal(fits);
        }
    }

    /// Records into a command buffer and submits it, or drops it.
    void frame(bool is_submitted, const std::function<bool(VkCommandBuffer)>& record) {
        const uint64_t serial = ++world_.serial;
        fuzz::require(world_.context.begin_frame(serial, serial - 1).ok(), "no frame begins");
        bool is_run = is_submitted;
        const standalone::VulkanApi& vk = world_.device->vk();
        VkCommandPoolCreateInfo pool_info{};
        pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        pool_info.queueFamilyIndex = world_.device->queue_family();
        VkCommandPool pool = VK_NULL_HANDLE;
        VkDevice device = world_.device->handle();
        fuzz::require(vk.CreateCommandPool(device, &pool_info, nullptr, &pool) == VK_SUCCESS,
                      "no command pool");
        VkCommandBufferAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        allocate.commandPool = pool;
        allocate.commandBufferCount = 1;
        VkCommandBuffer commands = VK_NULL_HANDLE;
        VkCommandBufferBeginInfo begin{};
        begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        fuzz::require(vk.AllocateCommandBuffers(device, &allocate, &commands) == VK_SUCCESS &&
                          vk.BeginCommandBuffer(commands, &begin) == VK_SUCCESS,
                      "no command buffer");
        is_run &= record(commands);
        fuzz::require(vk.EndCommandBuffer(commands) == VK_SUCCESS, "recording failed");
        if (is_run) {
            VkSubmitInfo submit{};
            submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
            submit.commandBufferCount = 1;
            submit.pCommandBuffers = &commands;
            fuzz::require(
                vk.QueueSubmit(world_.device->queue(), 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS &&
                    vk.QueueWaitIdle(world_.device->queue()) == VK_SUCCESS,
                "the submission failed");
        } else {
            fuzz::require(world_.context.discard_frame(serial).ok(), "a frame cannot be dropped");
        }
        vk.DestroyCommandPool(device, pool, nullptr);
    }

    void frames() {
        hearth_session* const session = session_.handle();
        frame(true, [&](VkCommandBuffer commands) {
            return is_ok(hearth_record_initialize(session, commands), session_);
        });
        for (const bool is_submitted : {!chance(), true})
            frame(is_submitted, [&](VkCommandBuffer commands) {
                if (!input_.brain.empty() && chance())
                    (void)is_ok(hearth_record_load_brain(
                                    session, commands, input_.brain.data(), input_.brain.size(),
                                    chance() ? HEARTH_BRAIN_NON_STRICT : 0, nullptr),
                                session_);
                bool may_be_run = true;
                const auto entries = static_cast<uint32_t>(view_.entries().size());
                for (uint32_t e = 0; e < std::min(entries, 4u); ++e)
                    may_be_run &= record_entry(commands, e);
                for (uint32_t s = 0; s < std::min<size_t>(view_.variables().size(), 4); ++s)
                    touch_slot(commands, s);
                if (chance())
                    (void)is_ok(hearth_record_reset_variables(session, commands,
                                                              chance() ? "*" : "s*", nullptr),
                                session_);
                return may_be_run;
            });
        snapshot();
        const auto profile = session_.next_timings();
        if (!profile.ok()) fuzz::check_refusal(profile.status());
    }

    bool record_entry(VkCommandBuffer commands, uint32_t index) {
        const file::EntryRecord& entry = view_.entries()[index];
        const uint64_t capacity = view_.header().max_batch_size;
        const uint64_t rows = chance() ? capacity : std::min<uint64_t>(capacity, 1 + index);
        std::vector<hearth_tensor_binding> bounds;
        uint64_t inline_left = 256;
        for (const uint32_t binding : view_.bindings_of(entry)) {
            const file::BindingRecord& record = view_.bindings()[binding];
            const bool is_input = record.direction == static_cast<uint32_t>(Direction::kInput);
            const standalone::Buffer& buffer = is_input ? world_.input : world_.output;
            bounds.push_back(
                hearth_bind_buffer(binding, buffer.handle(), 0, kHostBytes, buffer.usage()));
            if (is_input && record.bytes.is_batch == 0 && record.bytes.fixed <= inline_left &&
                chance()) {
                bounds.back() = hearth_bind_bytes(binding, world_.input.data(), record.bytes.fixed);
                inline_left = 0;
            } else if (chance()) {
                bounds.back().usage =
                    is_input ? VK_BUFFER_USAGE_TRANSFER_SRC_BIT : VK_BUFFER_USAGE_TRANSFER_DST_BIT;
            }
        }
        hearth_record_info info = hearth_record_info_default();
        info.command_buffer = commands;
        info.entry = index;
        info.batch_size = rows;
        info.bindings = bounds.data();
        info.binding_count = static_cast<uint32_t>(bounds.size());
        hearth_run_cursor cursor{};
        const bool is_sliced = chance();
        if (is_sliced) info.max_dispatches = 1;
        for (int slice = 0; slice < 4; ++slice) {
            const hearth_result result =
                hearth_record(session_.handle(), &info, is_sliced ? &cursor : nullptr);
            if (!is_ok(result, session_)) break;
            if (result != HEARTH_INCOMPLETE) break;
        }
        return may_run(view_, entry, rows, world_.kernels);
    }

    void touch_slot(VkCommandBuffer commands, uint32_t slot) {
        hearth_session* const session = session_.handle();
        const uint64_t bytes = view_.variables()[slot].bytes;
        if (bytes > 0 && bytes <= kHostBytes && chance())
            (void)is_ok(hearth_record_update_variable(session, commands, slot, 0,
                                                      world_.input.data(), bytes),
                        session_);
        if (!chance()) return;
        const auto read = session_.record_readback(commands, slot);
        if (!read.ok()) return fuzz::check_refusal(read.status());
        if (chance()) session_.release(*read);
    }

    /// What a session holds is a brain that it loads.
    void snapshot() {
        std::optional<hearth_readback> id;
        frame(true, [&](VkCommandBuffer commands) {
            const auto taken = session_.record_save_brain(commands);
            if (taken.ok())
                id = *taken;
            else
                fuzz::check_refusal(taken.status());
            return true;
        });
        frame(true, [](VkCommandBuffer) { return true; });
        if (!id) return;
        const auto data = session_.poll(*id);
        fuzz::require(data.ok() && data->has_value(), "a snapshot does not arrive");
        fuzz::require((*data)->bytes.size() == program_.brain_size(), "a snapshot of other size");
        const auto brain = program_.serialize_brain(
            (*data)->bytes, kAnyNumbers | (chance() ? HEARTH_BRAIN_DELTA : 0));
        fuzz::require(brain.ok(), brain.status().message().c_str());
        session_.release(*id);
        const Status fits = program_.validate_brain(*brain, kAnyNumbers);
        fuzz::require(fits.ok(), fits.message().c_str());
        frame(true, [&](VkCommandBuffer commands) {
            (void)is_ok(hearth_record_load_brain(session_.handle(), commands, brain->data(),
                                                 brain->size(), kAnyNumbers, nullptr),
                        session_);
            return true;
        });
    }

    fuzz::SessionInput<const std::byte> input_;
    World& world_;
    LoadedProgram program_;
    ProgramView view_;
    Session session_;
    uint32_t script_, next_bit_ = 0;
};

void mend(std::span<std::byte> bytes) {
    const auto input = fuzz::split_session_input(bytes);
    fuzz::mend_program(input.program);
    fuzz::mend_brain(input.brain);
}

void change(std::span<std::byte> bytes, fuzz::Random& random) {
    const auto input = fuzz::split_session_input(bytes);
    if (random.below(8) == 0 && bytes.size() >= 4) {
        const uint32_t script = random.bits();
        fuzz::put(bytes, offsetof(fuzz::SessionInputHead, script), &script, sizeof script);
    } else if (random.below(4) == 0 && !input.brain.empty()) {
        fuzz::change_brain(input.brain, random);
    } else {
        fuzz::change_program(input.program, random);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    World& w = world();
    std::vector<uint64_t> aligned((size + 7) / 8);
    if (size > 0) std::memcpy(aligned.data(), data, size);
    const auto bytes = std::as_bytes(std::span(aligned)).first(size);
    const hearth_context_stats before = w.context.stats();
    Life(fuzz::split_session_input(bytes), w).live();
    // All frames have finished: with the next one nothing of the session is left.
    ++w.serial;
    fuzz::require(w.context.begin_frame(w.serial, w.serial - 1).ok(), "no frame begins");
    const hearth_context_stats after = w.context.stats();
    fuzz::require(after.cpu_bytes == before.cpu_bytes, "memory leaked");
    fuzz::require(after.device_bytes_total == before.device_bytes_total, "device memory leaked");
    fuzz::require(after.session_count == before.session_count, "a session leaked");
    // Barriers are the program's: one that lacks some computes nonsense within its own memory.
    for (const standalone::ValidationMessage& message : w.instance->messages().take())
        fuzz::require(message.id.starts_with("SYNC-HAZARD"), message.text.c_str());
    return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
    return fuzz::mutate(data, size, max_size, seed, change, mend);
}
