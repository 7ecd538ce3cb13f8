// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Wolves hunt deer: two brains that learn at the same time, from an installed Hearth, without a
// GPU.  Usage: two_brains LOG_OF_WOLVES LOG_OF_DEER

#include <hearth/hearth.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace hearth;
using namespace hearth::agents;

struct Animal {
    AgentId id{};
    float x = 0, y = 0, speed = 0;
    int age = 0;

    void appear() {
        x = static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX) * 2 - 1;
        y = static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX) * 2 - 1;
        age = 0;
    }
    void move(float east, float north) {
        x = std::clamp(x + speed * east, -1.0f, 1.0f);
        y = std::clamp(y + speed * north, -1.0f, 1.0f);
        ++age;
    }
    float distance_to(const Animal& other) const { return std::hypot(other.x - x, other.y - y); }
};

constexpr float kCatchDistance = 0.1f;
constexpr int kMaxAge = 100;

/// The nearest animal of the others.
const Animal& nearest(const std::vector<Animal>& others, const Animal& animal) {
    const Animal* best = &others[0];
    for (const Animal& other : others)
        if (animal.distance_to(other) < animal.distance_to(*best)) best = &other;
    return *best;
}

/// One kind of animal: `sign` of the reward for coming nearer to the others.
struct Herd {
    Agents brain;
    std::vector<Animal> animals;
    float sign = 1;
    std::FILE* log = nullptr;

    static Result<Herd> make(Context& context, float speed, float sign, const char* log) {
        const AgentSpec spec(ObservationSpec().position("place", 2, 1).position("other", 2, 0.5),
                             ActionSpec().continuous("step", 2));
        Herd herd;
        herd.sign = sign, herd.log = std::fopen(log, "w");
        HEARTH_ASSIGN(herd.brain, make_agents(context, spec, mlp_network({32, 32}), Ppo{}));
        herd.animals.resize(herd.brain.capacity());
        for (Animal& animal : herd.animals) {
            HEARTH_ASSIGN(animal.id, herd.brain.add());
            animal.speed = speed;
            animal.appear();
        }
        std::fputs(run_log_begin("two_brains", "frames").c_str(), herd.log);
        return herd;
    }
    Status play(const std::vector<Animal>& others) {
        brain.poll();
        double catches = 0;
        for (Animal& animal : animals) {
            const Animal& other = nearest(others, animal);
            const float before = animal.distance_to(other);
            const auto action = brain.action(animal.id);
            if (!action.empty()) animal.move(action[0], action[1]);
            const float after = animal.distance_to(other);
            const bool is_caught = after < kCatchDistance;
            HEARTH_TRY(brain.add_reward(animal.id, sign * (10 * (before - after) + is_caught)));
            catches += is_caught;
            if (is_caught || animal.age >= kMaxAge) {
                HEARTH_TRY(brain.end_episode(
                    animal.id, is_caught ? EpisodeEnd::kTerminated : EpisodeEnd::kTruncated));
                animal.appear();
            }
            const float seen[] = {animal.x, animal.y, other.x - animal.x, other.y - animal.y};
            std::copy_n(seen, 4, brain.observation(animal.id).begin());
        }
        return brain.log("catches", catches);
    }
};

Status run(const char* wolves_log, const char* deer_log) {
    HEARTH_ASSIGN(cpu::Device device, cpu::open_device());
    HEARTH_ASSIGN(Herd wolves, Herd::make(device.context(), 0.05f, 1, wolves_log));
    HEARTH_ASSIGN(Herd deer, Herd::make(device.context(), 0.02f, -1, deer_log));
    for (int frame = 1; frame <= 3000; ++frame) {
        HEARTH_TRY(device.context().begin_frame());
        for (Herd* const herd : {&wolves, &deer}) {
            HEARTH_TRY(herd->play((herd == &wolves ? deer : wolves).animals));
            HEARTH_TRY(device.run([&](VkCommandBuffer commands) {
                return herd->brain.record(commands, {.learning_budget_us = 20'000});
            }));
            if (frame % 100 == 0) std::fputs(run_log_sample(herd->brain, frame).c_str(), herd->log);
        }
    }
    return {};
}

int main(int count, char** arguments) {
    if (count != 3) return std::puts("usage: two_brains WOLVES_LOG DEER_LOG"), 2;
    const Status status = run(arguments[1], arguments[2]);
    if (!status.ok()) std::fprintf(stderr, "two_brains: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
