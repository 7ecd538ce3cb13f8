// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A package of agents in a game: load, create, build, add, observe, reward, and three frames, with
// whatever else the input's checksum chooses: masks, ends of episodes, demonstrations, lost frames,
// snapshots, brains, saved games.
//
// It runs on the CPU device, whose memory AddressSanitizer knows.  Copies and fills of the program
// are executed; kernels do nothing, since the effect of code cannot be checked.  Instead of their
// results, the states that the host reads hold bytes of the input now and then: actions and status
// words that no learner computes.

#include "mend.hpp"
#include "support/files.hpp"

#include <hearth/hearth_agents.h>
#include <hearth/hearth_runtime.hpp>

#include <filesystem>
#include <set>
#include <string>

using namespace hearth;

namespace {

constexpr uint64_t kMaxDeviceBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxHostBytes = uint64_t{16} << 20;
/// Bytes of the copies and fills of all entries that are executed.
constexpr uint64_t kMaxMovedBytes = uint64_t{64} << 20;

void do_nothing(void* const*, int32_t, int32_t, int32_t, int32_t) {}

/// Bytes at an address that is a multiple of 8.
struct Aligned {
    explicit Aligned(std::span<const std::byte> bytes)
        : words((bytes.size() + 7) / 8), size(bytes.size()) {
        if (size > 0) std::memcpy(words.data(), bytes.data(), size);
    }
    std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words)).first(size); }
    std::vector<uint64_t> words;
    size_t size;
};

std::vector<Aligned> seeds() {
    std::vector<Aligned> files;
    for (const auto& file : std::filesystem::directory_iterator(HEARTH_AGENTS_SEEDS))
        files.emplace_back(testing::file_bytes(file.path()));
    return files;
}

/// Hashes of the kernels of all seeds.
std::set<uint64_t> known_kernels() {
    std::set<uint64_t> hashes;
    for (const Aligned& seed : seeds()) {
        PackageView package;
        ViewError error;
        constexpr const char* kOld = "a seed is of another version: fuzz_seeds writes it anew";
        fuzz::require(package.open(seed.bytes(), &error), kOld);
        const Result<OpenProgram> program = open_program(package, 0);
        fuzz::require(program.ok(), kOld);
        for (const file::KernelRecord& kernel : program->view.kernels())
            hashes.insert(native_code(program->view.spirv_of(kernel)).hash);
    }
    return hashes;
}

/// What lives as long as the process.
struct World {
    std::vector<hearth_cpu_kernel> kernels;
    hearth_cpu_kernel_table table{};
    Context context;
    CpuCommandBuffer commands, learning;
    uint64_t frame_number = 0;

    World() {
        for (const uint64_t hash : known_kernels()) kernels.push_back({hash, do_nothing});
        table.cpu_isa = HEARTH_CPU_ISA_SCALAR;
        table.count = static_cast<uint32_t>(kernels.size());
        table.kernels = kernels.data();
        const hearth_cpu_kernel_table* const tables[] = {&table};
        hearth_cpu_context_create_info info = hearth_cpu_context_create_info_default();
        info.tables = tables;
        info.table_count = 1;
        info.device_memory_budget = kMaxDeviceBytes;
        context = take(Context::create_cpu(info));
        commands = take(CpuCommandBuffer::create(context));
        learning = take(CpuCommandBuffer::create(context));
    }
    template <class T>
    static T take(Result<T> result) {
        fuzz::require(result.ok(), result.status().message().c_str());
        return std::move(result).value();
    }
    void begin_frame() {
        ++frame_number;
        fuzz::require(context.begin_frame(frame_number, frame_number - 1).ok(), "no frame begins");
    }
};

/// A refusal gives a reason.
bool is_ok(hearth_result result, std::string_view error) {
    if (result >= 0) return true;
    fuzz::require(!error.empty(), "refused without a message");
    fuzz::require(result != HEARTH_ERROR_INTERNAL, "an internal error");
    return false;
}

/// Whether the device is to run the entries: not too much of them.
bool may_run(const PackageView& package) {
    Checked moved;
    for (uint32_t i = 0; i < package.device_targets().size(); ++i) {
        const Result<OpenProgram> program = open_program(package, i);
        if (!program.ok()) continue;
        const ProgramView& view = program->view;
        for (const file::CommandRecord& command : view.commands())
            if (command.kind == static_cast<uint32_t>(CommandKind::kCopy) ||
                command.kind == static_cast<uint32_t>(CommandKind::kFill))
                moved +=
                    extent_at(view.operands_of(command)[0].bytes, view.header().max_batch_size);
    }
    return moved.is_within(kMaxMovedBytes);
}

class Life {
  public:
    Life(std::span<const std::byte> package, World& w)
        : package_(package), world_(w), script_(checksum(package)) {}
    ~Life() {
        hearth_agents_destroy(agents_);
        hearth_program_destroy(program_);
    }
    Life(const Life&) = delete;
    Life& operator=(const Life&) = delete;

    void live() {
        hearth_package_load_info load = hearth_package_load_info_default();
        load.bytes = package_.data();
        load.byte_count = package_.size();
        load.borrow = 1;
        hearth_context* const context = world_.context.handle();
        const hearth_result loaded = hearth_package_load(context, &load, &program_);
        if (!is_ok(loaded, world_.context.error())) return;
        PackageView view;
        ViewError error;
        fuzz::require(view.open(package_, &error), "loaded, but not opened");
        may_run_ = may_run(view);
        hearth_agents_create_info info = hearth_agents_create_info_default();
        info.program = program_;
        info.max_host_bytes = kMaxHostBytes;
        info.max_snapshots = chance() ? 1 : 0;
        info.snapshot_interval = chance() ? 1 : 0;
        info.progress_window = 2;
        info.enable_saved_games = chance() ? 1 : 0;
        // Frames of two queues cannot be discarded.
        is_separate_ = may_run_ && chance() && chance() && create(context, info, true);
        if (!is_separate_ && !create(context, info, false)) return;
        hearth_session* const session = hearth_agents_get_session(agents_);
        const hearth_result built = hearth_session_create_pipelines(session, 0);
        if (!is_ok(built, hearth_session_error(session))) return;
        ask();
        for (int i = 0; i < 3; ++i) frame();
        world_.begin_frame();
        hearth_agents_poll(agents_);
        save();
        has_lived_ = true;
    }
    /// The package was taken, and had its three frames.
    bool has_lived() const { return has_lived_; }

  private:
    /// One bit of the script after the other.
    bool chance() { return (script_ >> (next_bit_++ % 64) & 1) != 0; }
    /// Not all learners, and no saved games, are for two queues.
    bool create(hearth_context* context, hearth_agents_create_info info, bool is_separate) {
        info.use_separate_learning_queue = is_separate ? 1 : 0;
        hearth_messages messages{};
        const hearth_result made = hearth_agents_create(context, &info, &agents_, &messages);
        return is_ok(made, messages.text);
    }
    bool is_done(hearth_result result) { return is_ok(result, hearth_agents_error(agents_)); }

    void ask() {
        const uint32_t floats = hearth_agents_observation_size(agents_),
                       actions = hearth_agents_action_size(agents_);
        for (const uint32_t i : {0u, floats - 1, floats, UINT32_MAX})
            (void)std::string(hearth_agents_observation_name(agents_, i));
        for (const uint32_t i : {0u, actions - 1, actions})
            (void)std::string(hearth_agents_action_name(agents_, i));
        uint32_t offset = 0, size = 0;
        if (is_done(hearth_agents_find_observation(agents_, "x", &offset, &size)))
            fuzz::require(offset + size <= floats, "a field outside its observation");
        if (is_done(hearth_agents_find_action(agents_, "push", &offset, &size)))
            fuzz::require(offset + size <= actions, "an action outside its floats");
        (void)is_done(hearth_agents_find_input(agents_, "reward", &offset));
        if (chance())
            (void)is_done(hearth_agents_set_hyperparameter(agents_, "learning_rate", 1e-3));
    }

    void frame() {
        world_.begin_frame();
        hearth_agents_poll(agents_);
        hearth_agent added{};
        if ((ids_.size() < 3 || chance()) && is_done(hearth_agents_add(agents_, &added)))
            ids_.push_back(added);
        for (const hearth_agent id : ids_) report(id);
        if (ids_.size() > 1 && chance()) {
            (void)is_done(hearth_agents_remove(agents_, ids_.back()));
            fuzz::require(hearth_agents_action(agents_, ids_.back()) == nullptr,
                          "an action of an agent that is gone");
            ids_.pop_back();
        }
        if (chance()) (void)is_done(hearth_agents_take_snapshot(agents_));
        if (chance()) (void)is_done(hearth_agents_restore_snapshot(agents_, 0));
        if (chance() && chance()) hearth_agents_reset_brain(agents_);
        if (chance() && chance()) (void)is_done(hearth_agents_shrink_and_perturb(agents_, 0.5));
        if (chance() && chance()) (void)is_done(hearth_agents_save_game(agents_));
        if (chance()) hearth_agents_finish_update(agents_);
        if (chance())
            for (const char* state :
                 {"last.action", "agents.status", "agents.recent", "agents.observation_limits"})
                scribble(state);
        hearth_agents_record_info record = hearth_agents_record_info_default();
        record.command_buffer = world_.commands.handle();
        record.learning_command_buffer = is_separate_ ? world_.learning.handle() : nullptr;
        record.learning_budget_us = chance() ? 1e6 : 50;
        record.request_decision = chance() || chance() ? 1 : 0;
        record.max_decision_frames = chance() ? 2 : 1;
        const bool is_recorded = is_done(hearth_agents_record(agents_, &record));
        if (is_separate_ || (is_recorded && may_run_ && (chance() || chance()))) {
            fuzz::require(world_.commands.execute().ok() && world_.learning.execute().ok(),
                          "the frame is not executed");
        } else {
            world_.commands.reset();
            const Status discarded = world_.context.discard_frame(world_.frame_number).status();
            if (!discarded.ok()) fuzz::check_refusal(discarded);
        }
        hearth_agents_status status = hearth_agents_status_default();
        (void)is_done(hearth_agents_get_status(agents_, &status));
    }

    /// Writes bytes of the input to a state, as hostile kernels would.
    void scribble(const char* state) {
        uint32_t index = 0;
        hearth_variable_info variable = hearth_variable_info_default();
        if (hearth_program_find_variable(program_, state, &index) != HEARTH_OK ||
            hearth_program_get_variable(program_, index, &variable) != HEARTH_OK ||
            variable.bytes > package_.size())
            return;
        hearth_session* const session = hearth_agents_get_session(agents_);
        const hearth_result result = hearth_record_update_variable(
            session, world_.commands.handle(), index, 0,
            package_.data() + script_ % (package_.size() - variable.bytes + 1), variable.bytes);
        (void)is_ok(result, hearth_session_error(session));
    }

    /// What a game says of an agent, to the last byte that it may.
    void report(hearth_agent id) {
        const uint32_t floats = hearth_agents_observation_size(agents_);
        float* const observation = hearth_agents_observation(agents_, id);
        fuzz::require(observation != nullptr, "an agent without an observation");
        for (uint32_t i = 0; i < floats; ++i) observation[i] = 0.25f;
        if (float* const mask = hearth_agents_action_mask(agents_, id)) mask[0] = 0;
        std::vector<float> action(hearth_agents_action_size(agents_));
        if (const float* const taken = hearth_agents_action(agents_, id))
            action.assign(taken, taken + action.size());
        (void)is_done(hearth_agents_add_reward(agents_, id, 0.5f));
        if (chance())
            (void)is_done(hearth_agents_end_episode(agents_, id, HEARTH_AGENTS_TRUNCATED,
                                                    observation, nullptr));
        if (chance()) (void)is_done(hearth_agents_add_demonstration(agents_, id, action.data()));
    }

    /// Snapshots and saved games are brains that the agents load.
    void save() {
        uint64_t size = 0;
        for (const bool is_game : {false, true}) {
            const auto copy = [&](void* out) {
                return is_game ? hearth_agents_get_saved_game(agents_, out, &size)
                               : hearth_agents_save(agents_, 0, out, &size);
            };
            if (!is_done(copy(nullptr)) || size > kMaxHostBytes) continue;
            std::vector<uint64_t> brain(static_cast<size_t>(size + 7) / 8);
            if (!is_done(copy(brain.data()))) continue;
            hearth_messages messages{};
            const hearth_result read = hearth_agents_load(agents_, brain.data(), size, &messages);
            (void)is_ok(read, messages.text);
        }
    }

    std::span<const std::byte> package_;
    World& world_;
    hearth_program* program_ = nullptr;
    hearth_agents* agents_ = nullptr;
    std::vector<hearth_agent> ids_;
    bool may_run_ = false, is_separate_ = false, has_lived_ = false;
    uint64_t script_;
    uint32_t next_bit_ = 0;
};

/// Whether the package had its three frames.  Nothing of it is left.
bool play(std::span<const std::byte> package, World& w) {
    const hearth_context_stats before = w.context.stats();
    bool has_lived = false;
    {
        Life life(package, w);
        life.live();
        has_lived = life.has_lived();
    }
    w.begin_frame();  // with which nothing of the agents is left
    const hearth_context_stats after = w.context.stats();
    fuzz::require(after.cpu_bytes == before.cpu_bytes, "memory leaked");
    fuzz::require(after.device_bytes_total == before.device_bytes_total, "device memory leaked");
    fuzz::require(after.session_count == before.session_count, "a session leaked");
    return has_lived;
}

/// A world in which each seed has its frames: a target whose seeds are refused would find nothing.
World* make_world() {
    static World made;
    for (const Aligned& seed : seeds())
        fuzz::require(play(seed.bytes(), made), "a seed is refused: fuzz_seeds writes it anew");
    return &made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static World* const world = make_world();
    play(Aligned(fuzz::as_bytes(data, size)).bytes(), *world);
    return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
    return fuzz::mutate(data, size, max_size, seed, fuzz::change_package, fuzz::mend_package);
}
