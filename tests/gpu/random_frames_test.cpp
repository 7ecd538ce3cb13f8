// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Frames of public calls drawn from a seed: several sessions record, are sliced, given new weights,
// read back, dumped, saved, loaded, forgotten, created and destroyed, in frames of which one in ten
// is never submitted. The validation layers watch, and whatever arrives is compared with what a
// model on the CPU says.
//
// HEARTH_FRAMES says how many frames (the suite: 1,000), HEARTH_FRAMES_SEED from which seed on.

#include "gpu/rig.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace hearth::test {
namespace {

uint64_t number_from(const char* variable, uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

class Random {
  public:
    explicit Random(uint64_t seed) : seed_(seed) {}
    uint64_t next() { return Hash().number(seed_).number(count_++).value(); }
    uint64_t below(uint64_t n) { return next() % n; }
    bool one_in(uint64_t n) { return below(n) == 0; }

  private:
    uint64_t seed_, count_ = 0;
};

/// Numbers stay exact for so many halvings of the state; then it is put anew.
constexpr uint32_t kMostHalvings = 12;

/// What a session's `state` slot holds, by what has been recorded and was not lost.
struct Model {
    TestReference reference;
    uint32_t halvings = 0;
    bool is_set_up = false;
    /// Whether a run of `learn` was abandoned in the middle, so that either of two states is there.
    bool is_known = true;
    /// The run of `learn` that is not finished, and the state that it leads to.
    bool is_open = false;
    TestReference after;
    hearth_run_cursor cursor{};
    /// Whether a run was given up that the session still counts as open, which keeps snapshots
    /// waiting.
    bool is_stale = false;

    /// whole  no snapshot is taken in the middle of the dispatch that writes the state; what else
    /// reads it then
    ///        finds some elements of before and some of after.
    bool may_hold(std::span<const float> values, bool whole) const {
        const auto equals = [&](const TestReference& r) {
            return std::equal(values.begin(), values.end(), r.state.begin(), r.state.end());
        };
        if (!is_known || equals(reference) || (is_open && equals(after))) return true;
        bool is_mixed = is_open && !whole;
        for (size_t i = 0; i < values.size() && is_mixed; ++i)
            is_mixed = values[i] == reference.state[i] || values[i] == after.state[i];
        return is_mixed;
    }
    void put(std::vector<float> state, uint32_t depth) {
        reference.state = std::move(state);
        halvings = depth;
        is_known = true;
        is_open = false;
        cursor = {};
    }
};

/// A session with its model, the buffers of the run of `learn` that is open, and a ring of outputs.
struct Guest {
    Session session;
    Model model;
    standalone::Buffer x, y;  ///< of `learn`, which must not change while a run is open
    std::vector<float> learn_x;
    uint64_t learn_rows = 1;
    float rate = 0.5f;
    uint64_t busy_until = 0;  ///< the last serial that reads x
    bool is_measured = false;
};

/// A request, and what may arrive.
struct Expected {
    hearth_session* session = nullptr;
    hearth_readback id = 0;
    uint64_t serial = 0;
    enum class Kind { kState, kStateAndY, kSnapshot } kind = Kind::kState;
    Model model;           ///< as of then
    std::vector<float> y;  ///< of kStateAndY; empty: not known
    size_t y_at = kWidth;  ///< where it begins, in floats
    bool is_lost = false;
};

class RandomFrames : public RuntimeTest {
  protected:
    void TearDown() override {
        if (rig_) rig_->finish();
        for (Guest& guest : guests_) guest = {};
        if (arena_ != nullptr) hearth_arena_destroy(std::exchange(arena_, nullptr));
        rig_.reset();
        RuntimeTest::TearDown();
    }
    void play(uint64_t seed, uint64_t frames);

  private:
    static constexpr size_t kGuests = 3;
    static constexpr uint64_t kBytes = kRowsCapacity * kWidth * 4;

    void create(Guest& guest);
    void frame(VkCommandBuffer commands);
    void act_on(Guest& guest, VkCommandBuffer commands);
    void learn(Guest& guest, VkCommandBuffer commands);
    void go_on(Guest& guest, VkCommandBuffer commands);
    void act(Guest& guest, VkCommandBuffer commands);
    void upload(Guest& guest, VkCommandBuffer commands);
    void read(Guest& guest, VkCommandBuffer commands);
    void snapshot(Guest& guest, VkCommandBuffer commands);
    void load(Guest& guest, VkCommandBuffer commands);
    void forget(Guest& guest, VkCommandBuffer commands);
    void poll(bool all);

    /// HEARTH_OK, or a ring that is full: what a host lives with.
    bool recorded(hearth_result result, const Guest& guest) {
        if (result == HEARTH_ERROR_TOO_MANY_IN_FLIGHT) ++refused_;
        EXPECT_TRUE(result == HEARTH_OK || result == HEARTH_ERROR_TOO_MANY_IN_FLIGHT)
            << hearth_result_name(result) << ": " << guest.session.error();
        return result == HEARTH_OK;
    }

    std::unique_ptr<Rig> rig_;
    Random random_{0};
    std::array<Guest, kGuests> guests_;
    hearth_arena* arena_ = nullptr;
    std::deque<Expected> expected_;
    struct Saved {
        std::vector<std::byte> bytes;
        std::vector<float> state;
        uint32_t halvings = 0;
    };
    std::vector<Saved> brains_;
    /// What was done to a session, for the message of a failure.
    std::map<hearth_session*, std::string> log_;
    void note(const Guest& guest, const std::string& what) {
        log_[guest.session.handle()] += std::to_string(rig_->serial()) + ": " + what + "\n";
    }
    uint64_t arrived_ = 0, lost_ = 0, refused_ = 0, learned_ = 0, loaded_ = 0, sliced_ = 0;
};

void RandomFrames::create(Guest& guest) {
    hearth_session_create_info info = hearth_session_create_info_default();
    info.name = "guest";
    info.flags = HEARTH_SESSION_ALLOW_STAGING_COPIES | HEARTH_SESSION_KEEP_INITIAL_WEIGHTS;
    if (random_.one_in(2)) info.flags |= HEARTH_SESSION_TIMESTAMP_RUNS;
    if (random_.one_in(2)) info.flags |= HEARTH_SESSION_VALIDATE_BINDINGS;
    if (random_.one_in(2)) info.flags |= HEARTH_SESSION_SPLIT_DISPATCHES;
    guest.is_measured = random_.one_in(2);
    if (guest.is_measured) info.flags |= HEARTH_SESSION_COLLECT_GPU_TIMINGS;
    if (random_.one_in(2)) info.arena = arena_;
    if (random_.one_in(3)) info.recordings_in_flight = 6;
    if (random_.one_in(3)) info.readback_count = 4;
    auto session = Session::create(rig_->context, rig_->program, info);
    ASSERT_TRUE(session.ok()) << session.status().message();
    // The one before may be in flight; what was read of it never arrives.
    std::erase_if(expected_,
                  [&](const Expected& e) { return e.session == guest.session.handle(); });
    guest.session = std::move(session).value();
    ASSERT_TRUE(guest.session.create_pipelines().ok());
    log_[guest.session.handle()].clear();
    note(guest, info.arena != nullptr ? "created, with the shared arena" : "created");
    guest.model = {};
}

void RandomFrames::learn(Guest& guest, VkCommandBuffer commands) {
    Model& model = guest.model;
    if (guest.busy_until > 0 || model.halvings >= kMostHalvings || !model.is_known)
        return upload(guest, commands);
    guest.learn_rows = 1 + random_.below(kRowsCapacity);
    guest.rate = random_.one_in(2) ? 0.5f : 0.25f;
    guest.learn_x = test_values(guest.learn_rows * kWidth, random_.next());
    std::copy(guest.learn_x.begin(), guest.learn_x.end(), guest.x.as<float>().begin());
    model.after = model.reference;
    (void)model.after.learn(guest.learn_x, guest.rate);
    model.cursor = {};
    go_on(guest, commands);
}

/// Records the open run of `learn`, or the first slice of a new one.
void RandomFrames::go_on(Guest& guest, VkCommandBuffer commands) {
    Model& model = guest.model;
    const uint64_t bytes = guest.learn_rows * kWidth * 4;
    std::array<hearth_tensor_binding, 3> bounds = {
        rig_->bind(kLearnY, guest.y, bytes), rig_->bind(kLearnX, guest.x, bytes),
        hearth_bind_bytes(kLearnRate, &guest.rate, sizeof guest.rate)};
    // A session that was destroyed may have written it in the frame before.
    bounds[0].acquire_scope =
        hearth_make_sync_scope(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT);
    hearth_record_info info = hearth_record_info_default();
    info.command_buffer = commands;
    info.entry = kLearn;
    info.batch_size = guest.learn_rows;
    info.bindings = bounds.data();
    info.binding_count = 3;
    info.max_dispatches = static_cast<uint32_t>(random_.below(4));
    info.max_workgroups = static_cast<uint32_t>(random_.below(8));
    if (guest.is_measured && random_.one_in(3))
        info.gpu_time_budget_us = static_cast<double>(1u << random_.below(24));
    const bool was_open = model.is_open;
    const hearth_result result = hearth_record(guest.session.handle(), &info, &model.cursor);
    if (result == HEARTH_ERROR_INVALID_STATE && was_open) {
        // Another session came between in the arena that they share, or what it went on from is
        // lost.
        note(guest, "learn: given up");
        model.is_open = model.is_known = false;
        model.is_stale = true;
        return;
    }
    guest.busy_until = rig_->serial();
    note(guest, "learn, " + std::to_string(guest.learn_rows) +
                    " rows: " + hearth_result_name(result) + ", goes on at step " +
                    std::to_string(model.cursor.next_command) + ", part " +
                    std::to_string(model.cursor.next_sub_dispatch));
    if (result == HEARTH_INCOMPLETE) {
        model.is_open = true;
        ++sliced_;
        return;
    }
    if (!recorded(result, guest)) return;
    model.put(model.after.state, model.halvings + 1);
    model.is_stale = false;
    ++learned_;
}

/// Acts by value and reads the output and the state as parts of one readback.
void RandomFrames::act(Guest& guest, VkCommandBuffer commands) {
    const uint64_t rows = 1 + random_.below(kRowsCapacity), bytes = rows * kWidth * 4;
    const std::vector<float> x = test_values(rows * kWidth, random_.next());
    // As in a game, an output has its own place in each frame that may be in flight.
    const standalone::Buffer& y = rig_->y();
    std::array<hearth_tensor_binding, 2> bounds = {hearth_bind_bytes(kActX, x.data(), bytes),
                                                   rig_->bind(kActY, y, bytes)};
    bounds[1].acquire_scope = hearth_make_sync_scope(
        VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
        VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    hearth_record_info info = hearth_record_info_default();
    info.command_buffer = commands;
    info.entry = kAct;
    info.batch_size = rows;
    info.bindings = bounds.data();
    info.binding_count = 2;
    Expected e{guest.session.handle(),
               0,
               rig_->serial(),
               Expected::Kind::kStateAndY,
               guest.model,
               {},
               kWidth,
               false};
    if (guest.model.is_known && !guest.model.is_open) e.y = guest.model.reference.act(x);
    if (random_.one_in(4)) {
        // A dump has both slots, x, what step 0 wrote, which is y, and y.
        e.y_at = kWidth + 16 + x.size();
        const uint32_t step = random_.one_in(2) ? 0 : HEARTH_NO_COMMAND;
        const hearth_result result = hearth_record_dump(guest.session.handle(), &info, step, &e.id);
        if (!recorded(result, guest)) return;
        note(guest, "act, dumped, " + std::to_string(rows) + " rows");
        expected_.push_back(std::move(e));
        return;
    }
    if (!recorded(hearth_record(guest.session.handle(), &info, nullptr), guest)) return;
    note(guest, "act, " + std::to_string(rows) + " rows");
    const hearth_readback_region parts[] = {
        hearth_readback_of_variable(kStateVariable, 0, 0),
        hearth_readback_of_buffer(y.handle(), 0, bytes,
                                  hearth_make_sync_scope(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                                         VK_ACCESS_SHADER_WRITE_BIT))};
    hearth_readback_info read = hearth_readback_info_default();
    read.command_buffer = commands;
    read.regions = parts;
    read.region_count = 2;
    if (recorded(hearth_record_readback(guest.session.handle(), &read, &e.id), guest))
        expected_.push_back(std::move(e));
}

void RandomFrames::upload(Guest& guest, VkCommandBuffer commands) {
    if (guest.model.is_open) return;
    std::vector<float> state = test_values(kWidth, random_.next());
    const hearth_result result = hearth_record_update_variable(
        guest.session.handle(), commands, kStateVariable, 0, state.data(), kWidth * 4);
    if (!recorded(result, guest)) return;
    note(guest, "upload");
    guest.model.put(std::move(state), 0);
}

void RandomFrames::read(Guest& guest, VkCommandBuffer commands) {
    hearth_readback_info info = hearth_readback_info_default();
    info.command_buffer = commands;
    info.variable = kStateVariable;
    Expected e{guest.session.handle(),
               0,
               rig_->serial(),
               Expected::Kind::kState,
               guest.model,
               {},
               kWidth,
               false};
    if (!recorded(hearth_record_readback(guest.session.handle(), &info, &e.id), guest)) return;
    if (random_.one_in(6))
        guest.session.release(e.id);  // cancelled before it was even submitted
    else
        expected_.push_back(std::move(e));
}

void RandomFrames::snapshot(Guest& guest, VkCommandBuffer commands) {
    Expected e{guest.session.handle(),
               0,
               rig_->serial(),
               Expected::Kind::kSnapshot,
               guest.model,
               {},
               kWidth,
               false};
    const hearth_result result = hearth_record_save_brain(guest.session.handle(), commands, &e.id);
    if (result == HEARTH_NOT_READY) {
        EXPECT_TRUE(guest.model.is_open || guest.model.is_stale);
        return;
    }
    if (!recorded(result, guest)) return;
    note(guest, "snapshot");
    expected_.push_back(std::move(e));
}

void RandomFrames::load(Guest& guest, VkCommandBuffer commands) {
    if (brains_.empty()) return;
    const Saved& brain = brains_[random_.below(brains_.size())];
    const hearth_result result = hearth_record_load_brain(
        guest.session.handle(), commands, brain.bytes.data(), brain.bytes.size(), 0, nullptr);
    if (!recorded(result, guest)) return;
    note(guest, "brain");
    guest.model.put(brain.state, brain.halvings);
    guest.model.is_stale = false;
    ++loaded_;
}

void RandomFrames::forget(Guest& guest, VkCommandBuffer commands) {
    const hearth_result result =
        hearth_record_reset_variables(guest.session.handle(), commands, "st*", nullptr);
    if (!recorded(result, guest)) return;
    note(guest, "forget");
    guest.model.put(TestReference::initial_state(), 0);
    guest.model.is_stale = false;
}

void RandomFrames::act_on(Guest& guest, VkCommandBuffer commands) {
    if (!guest.model.is_set_up) {
        // What needs the weights says so.
        if (random_.one_in(3)) {
            hearth_readback id = 0;
            EXPECT_EQ(hearth_record_save_brain(guest.session.handle(), commands, &id),
                      HEARTH_ERROR_INVALID_STATE);
        }
        EXPECT_TRUE(guest.session.record_initialize(commands).ok()) << guest.session.error();
        note(guest, "setup");
        guest.model.put(TestReference::initial_state(), 0);
        guest.model.is_set_up = true;
        return;
    }
    if (guest.model.is_open && !random_.one_in(4)) return go_on(guest, commands);
    switch (random_.below(8)) {
        case 0:
        case 1:
            if (!guest.model.is_open) learn(guest, commands);
            return;
        case 2:
        case 3:
            return act(guest, commands);
        case 4:
            return read(guest, commands);
        case 5:
            return snapshot(guest, commands);
        case 6:
            return random_.one_in(3) ? forget(guest, commands) : load(guest, commands);
        case 7:
            return upload(guest, commands);
        default:
            return;
    }
}

void RandomFrames::frame(VkCommandBuffer commands) {
    const uint64_t count = 1 + random_.below(4);
    for (uint64_t i = 0; i < count; ++i) act_on(guests_[random_.below(kGuests)], commands);
}

void RandomFrames::poll(bool all) {
    std::deque<Expected> left;
    for (Expected& e : expected_) {
        if (!all && random_.one_in(3)) {
            left.push_back(std::move(e));
            continue;
        }
        const void* data = nullptr;
        uint64_t bytes = 0, serial = 0;
        const hearth_result result = hearth_readback_poll(e.session, e.id, &data, &bytes, &serial);
        if (result == HEARTH_NOT_READY) {
            EXPECT_FALSE(all || e.is_lost);
            if (random_.one_in(20))
                hearth_readback_release(e.session, e.id);
            else
                left.push_back(std::move(e));
            continue;
        }
        EXPECT_EQ(result, e.is_lost ? HEARTH_ERROR_DISCARDED : HEARTH_OK)
            << hearth_session_error(e.session);
        if (result == HEARTH_OK) {
            ++arrived_;
            EXPECT_EQ(serial, e.serial);
            // In a snapshot each slot begins at a multiple of 64 bytes, in ascending order of
            // names.
            const std::span<const float> values(static_cast<const float*>(data), bytes / 4);
            EXPECT_TRUE(e.model.may_hold(values.first(kWidth), e.kind == Expected::Kind::kSnapshot))
                << "serial " << serial << ", kind " << static_cast<int>(e.kind) << ", found "
                << values[0] << ", " << values[1] << ", expected " << e.model.reference.state[0]
                << ", " << e.model.reference.state[1] << (e.model.is_open ? " or " : "; not ")
                << e.model.after.state[0] << ", " << e.model.after.state[1]
                << "; what was done to the session:\n"
                << log_[e.session];
            if (!e.y.empty()) {
                const std::span<const float> y = values.subspan(e.y_at).first(e.y.size());
                EXPECT_TRUE(std::equal(y.begin(), y.end(), e.y.begin(), e.y.end()));
            }
            if (e.kind == Expected::Kind::kSnapshot && !e.model.is_open && e.model.is_known) {
                const auto brain = rig_->program.serialize_brain(
                    {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)});
                ASSERT_TRUE(brain.ok()) << brain.status().message();
                if (brains_.size() == 8) brains_.erase(brains_.begin());
                brains_.push_back({*brain, e.model.reference.state, e.model.halvings});
            }
        } else {
            ++lost_;
        }
        hearth_readback_release(e.session, e.id);
    }
    expected_ = std::move(left);
}

void RandomFrames::play(uint64_t seed, uint64_t frames) {
    random_ = Random(seed);
    rig_ = make_rig();
    ASSERT_TRUE(rig_);
    rig_->advance();  // its first weights have arrived, and their staging is gone
    const hearth_context_stats empty = rig_->context.stats();
    ASSERT_EQ(
        hearth_arena_create(rig_->context.handle(), rig_->program.info().arena_bytes, &arena_),
        HEARTH_OK);
    for (Guest& guest : guests_) {
        auto x = standalone::Buffer::create(device(), kBytes, standalone::MemoryKind::kUpload);
        auto y = standalone::Buffer::create(device(), kBytes, standalone::MemoryKind::kReadback);
        ASSERT_TRUE(x.ok() && y.ok());
        guest.x = std::move(x).value();
        guest.y = std::move(y).value();
        create(guest);
    }
    for (uint64_t f = 0; f < frames && !HasFatalFailure() && !HasNonfatalFailure(); ++f) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", frame " + std::to_string(f));
        if (random_.one_in(40)) create(guests_[random_.below(kGuests)]);
        // Buffers that nobody reads any more may be written.
        for (Guest& guest : guests_)
            if (guest.busy_until > 0 && !guest.model.is_open && random_.one_in(2)) {
                rig_->finish();
                guest.busy_until = 0;
            }
        const std::vector<float> none(kWidth);
        rig_->set_x(none);  // the next pair of buffers, whose y no frame in flight writes
        if (random_.one_in(10)) {
            std::array<Model, kGuests> before;
            for (size_t i = 0; i < kGuests; ++i) before[i] = guests_[i].model;
            (void)rig_->drop([&](VkCommandBuffer commands) { frame(commands); });
            for (const Guest& guest : guests_) note(guest, "dropped");
            for (size_t i = 0; i < kGuests; ++i) guests_[i].model = before[i];
            for (Expected& e : expected_) e.is_lost |= e.serial == rig_->serial();
        } else {
            rig_->frame([&](VkCommandBuffer commands) { frame(commands); });
        }
        if (random_.one_in(3)) poll(false);
        if (random_.one_in(5)) (void)guests_[random_.below(kGuests)].session.next_timings();
        if (random_.one_in(50)) rig_->advance();
    }
    rig_->advance();
    poll(true);
    EXPECT_TRUE(expected_.empty());
    for (Guest& guest : guests_) guest.session = Session();
    hearth_arena_destroy(std::exchange(arena_, nullptr));
    rig_->advance();
    const hearth_context_stats left = rig_->context.stats();
    EXPECT_EQ(left.device_bytes_total, empty.device_bytes_total);
    EXPECT_EQ(left.cpu_bytes, empty.cpu_bytes);
    EXPECT_EQ(left.session_count, empty.session_count);
    std::printf(
        "seed %llu: %llu frames, %llu learned, %llu slices, %llu brains loaded, %llu arrived, "
        "%llu lost, %llu refused\n",
        static_cast<unsigned long long>(seed), static_cast<unsigned long long>(frames),
        static_cast<unsigned long long>(learned_), static_cast<unsigned long long>(sliced_),
        static_cast<unsigned long long>(loaded_), static_cast<unsigned long long>(arrived_),
        static_cast<unsigned long long>(lost_), static_cast<unsigned long long>(refused_));
    // A sequence that does nothing shows nothing.
    EXPECT_GT(learned_, frames / 20);
    EXPECT_GT(sliced_, frames / 40);
    EXPECT_GT(loaded_, frames / 40);
    EXPECT_GT(arrived_, frames / 4);
    EXPECT_GT(lost_, frames / 200);
}

TEST_F(RandomFrames, WhatArrivesIsWhatWasRecordedAndNotLost) {
    play(number_from("HEARTH_FRAMES_SEED", 1), number_from("HEARTH_FRAMES", 1000));
}

}  // namespace
}  // namespace hearth::test
