// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs the world and the shared brain: decisions, feedback, saving and replays.

#include "play.hpp"

#include <algorithm>
#include <utility>

namespace hearth::hatchlings {
namespace {

constexpr float kJudgement = 1.0f;  // reward of one praise, in embers

}  // namespace

Result<std::unique_ptr<Play>> Play::create(standalone::Device& device, const PlayOptions& options) {
    std::unique_ptr<Play> self(new Play(options));
    HEARTH_ASSIGN(self->mind_,
                  make_mind(device, options.seed, options.hatchlings, options.weights));
    HEARTH_ASSIGN(self->insight_, Insight::create(device, *self->mind_, options.hatchlings));
    self->ids_.resize(options.hatchlings);
    self->judged_.resize(options.hatchlings);
    self->mind_->agents().freeze(!options.learns);
    HEARTH_TRY(self->add_agents());
    return self;
}

/// Adds missing agents. Removed ones left with the last decision, so there is room.
Status Play::add_agents() {
    for (uint32_t i = 0; i < ids_.size(); ++i) {
        if (ids_[i]) continue;
        HEARTH_ASSIGN(ids_[i], mind_->agents().add());
    }
    return {};
}

Status Play::remove_agents() {
    for (auto& id : ids_) {
        if (!id) continue;
        HEARTH_TRY(mind_->agents().remove(*id));
        id.reset();
    }
    return {};
}

// --- A frame -------------------------------------------------------------------------------------

Status Play::record(const demo::Frame& frame) {
    HEARTH_TRY(mind_->begin_frame(frame));
    const uint64_t publications = status()[agents::Counter::kPublications];
    if (publications > publications_) published_frame_ = world_.frame();
    publications_ = publications;
    take_actions();

    const bool decides = world_.is_decision_frame();
    // All agents are removed and added again, so that this game continues like one loaded from the
    // file.
    const bool seals = wants_save_ && !is_sealed_ && decides && (is_frozen() || window_is_full());
    if (decides) HEARTH_TRY(decide());
    if (seals) HEARTH_TRY(remove_agents());
    const agents::AgentsStatus before = mind_->agents().status();
    if (is_sealed_ && !is_learning() && !decides &&
        before.snapshot_phase == HEARTH_AGENTS_SNAPSHOT_NONE) {
        HEARTH_TRY(mind_->agents().take_snapshot());
        asks_to_keep_ = true;
    }
    HEARTH_TRY(mind_->record(
        frame, {.learning_budget_us = options_.learn_us, .request_decision = decides}));
    const agents::AgentsStatus now = mind_->agents().status();
    if (now.rollouts != windows_) window_began_ = now.decisions;
    windows_ = now.rollouts;
    if (decides) HEARTH_TRY(add_agents());
    if (seals) {
        is_sealed_ = true;
        window_began_ = now.decisions + 1;  // the first decision completes no transition
    }
    insight_.poll(*mind_);
    if (looks_ && world_.frame() % kLookFrames == 0)
        HEARTH_TRY(insight_.record(frame, *mind_, world_));
    return keep();
}

bool Play::window_is_full() const {
    return !is_learning() && mind_->agents().status().decisions + 1 >= window_began_ + kHorizon;
}

void Play::take_actions() {
    for (uint32_t i = 0; i < ids_.size(); ++i) {
        if (!ids_[i]) continue;
        if (const auto action = mind_->agents().action(*ids_[i]); !action.empty())
            world_.set_thrust(i, {action[0], action[1]});
    }
    if (possessed_) world_.set_thrust(*possessed_, steered());
}

glm::vec2 Play::steered() const {
    return steering_ ? *steering_ : forage(world_.observe(*possessed_));
}

Status Play::decide() {
    for (uint32_t i = 0; i < ids_.size(); ++i) {
        Observation seen = world_.observe(i);
        float reward = world_.take_reward(i);
        if (!ids_[i]) continue;
        if (tamper_) tamper_(i, seen, reward);
        std::ranges::copy(seen, mind_->agents().observation(*ids_[i]).begin());
        // Non-finite rewards are rejected and counted.
        (void)mind_->agents().add_reward(*ids_[i], reward);
    }
    if (possessed_ && ids_[*possessed_]) {
        const glm::vec2 thrust = steered();
        const float shown[] = {std::clamp(thrust.x, -1.0f, 1.0f),
                               std::clamp(thrust.y, -1.0f, 1.0f)};
        HEARTH_TRY(mind_->agents().add_demonstration(*ids_[*possessed_], shown));
    }
    return {};
}

bool Play::step() {
    world_.step();
    return progress_.add(world_);
}

// --- Saving --------------------------------------------------------------------------------------

/// Handles a saved game's snapshot: just recorded with this frame, or arrived.
Status Play::keep() {
    const agents::AgentsStatus now = mind_->agents().status();
    if (saving_ && now.snapshot_phase != HEARTH_AGENTS_SNAPSHOT_IN_FLIGHT) {
        // A lost or rejected snapshot is requested again.
        if (now.snapshots_taken > taken_before_) {
            HEARTH_ASSIGN(saved_, file_with_brain(*saving_));
        } else {
            wants_save_ = true;
        }
        saving_.reset();
    }
    if (!asks_to_keep_ || now.snapshot_phase != HEARTH_AGENTS_SNAPSHOT_IN_FLIGHT) return {};
    asks_to_keep_ = false;
    if (world_.is_decision_frame())
        return {};  // it was delayed past the moment between two decisions
    is_sealed_ = wants_save_ = false;
    saving_ = {world_.state(), progress_.state(), judged_};
    taken_before_ = now.snapshots_taken;
    return {};
}

Result<std::vector<std::byte>> Play::file_with_brain(const SavedGame& game) const {
    HEARTH_ASSIGN(const std::vector<std::byte> brain, mind_->agents().save(0));
    return file_of(game, brain);
}

std::optional<std::vector<std::byte>> Play::take_saved() {
    return std::exchange(saved_, std::nullopt);
}

Result<std::vector<std::byte>> Play::save_now(uint64_t& serial) {
    HEARTH_ASSIGN(const std::vector<std::byte> brain, mind_->save_now(serial));
    return file_of({world_.state(), progress_.state(), judged_}, brain);
}

Status Play::load(std::span<const std::byte> bytes) {
    HEARTH_ASSIGN(LoadedFile file, read_file(bytes));
    if (file.game) {
        SavedGame& game = *file.game;
        if (game.world.hatchlings.size() != ids_.size())
            return invalid_argument("the saved game has " +
                                    std::to_string(game.world.hatchlings.size()) +
                                    " hatchlings, this one " + std::to_string(ids_.size()));
        world_ = World::resume(std::move(game.world));
        progress_ = Progress(std::move(game.progress));
        judged_ = std::move(game.judged);
    }
    return mind_->agents().load(file.brain);
}

Status Play::replay(const Play& other, uint32_t snapshot) {
    world_ = World::resume(other.world_.state());
    return mind_->agents().load_snapshot(other.mind_->agents(), snapshot);
}

// --- Player commands
// -------------------------------------------------------------------------------

/// Limits feedback per hatchling: constant feedback would teach it to please instead of to forage.
bool Play::may_judge(Judged& judged) const {
    constexpr uint64_t kWindowFrames = uint64_t{kHorizon} * kFramesPerDecision;
    uint64_t& oldest = judged.frames[judged.count % Judged::kMost];
    if (judged.count >= Judged::kMost && world_.frame() < oldest + kWindowFrames) return false;
    oldest = world_.frame();
    ++judged.count;
    return true;
}

Status Play::obey(const Command& command) {
    Rules rules = world_.rules();
    const auto mark = [&](const char* text) { progress_.mark(world_.frame(), text); };
    switch (command.verb) {
        case Verb::kPossess:
            // From its next decision on its actions are demonstrations, not samples of its own
            // policy.
            possessed_ = command.hatchling;
            mark("you");
            break;
        case Verb::kRelease:
            possessed_.reset();  // it decides again with all others
            break;
        case Verb::kPraise:
        case Verb::kScold: {
            // Feedback is a reward; discounting credits it to earlier actions.
            const float reward = command.verb == Verb::kPraise ? kJudgement : -kJudgement;
            if (!ids_[command.hatchling] || command.hatchling == possessed_) break;
            if (!may_judge(judged_[command.hatchling])) {
                ++judgements_refused_;
                break;
            }
            HEARTH_TRY(mind_->agents().add_reward(*ids_[command.hatchling], reward));
            break;
        }
        case Verb::kHotNight:
            rules.is_hot_night = !rules.is_hot_night;
            mark(rules.is_hot_night ? "hot" : "cold");
            break;
        case Verb::kWind:
            rules.wind = command.value;
            mark("wind");
            break;
        case Verb::kFrost:
            rules.mote_count = static_cast<uint32_t>(
                std::clamp(command.value.x, 0.0f, static_cast<float>(kMaxMotes)));
            mark("frost");
            break;
        case Verb::kPenalty:
            rules.frost_reward = command.value.x;
            mark("soft");
            break;
        case Verb::kFreeze:
            mind_->agents().freeze(!is_frozen());
            mark(is_frozen() ? "freeze" : "thaw");
            break;
        case Verb::kAdapt:
            HEARTH_TRY(mind_->agents().shrink_and_perturb(std::clamp(command.value.x, 0.0f, 1.0f)));
            mark("adapt");
            break;
        case Verb::kRewind:
            if (mind_->agents().snapshot_count() == 0) break;
            HEARTH_TRY(mind_->agents().restore_snapshot(
                std::min(static_cast<uint32_t>(std::max(command.value.x, 0.0f)),
                         mind_->agents().snapshot_count() - 1)));
            mark("rewind");
            break;
        case Verb::kForget:
            mind_->agents().reset_brain();
            mark("forget");
            break;
    }
    world_.set_rules(rules);
    return {};
}

}  // namespace hearth::hatchlings
