/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Eight carts learn to balance a pole: main.cpp in C, with a package that cook.cpp made and only
 * the runtime library.  Usage: hello_agents_c PACKAGE [FRAMES] */

#include "vulkan_minimal/app.h"

#include <hearth/hearth_agents.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CARTS = 8, MOST_STEPS = 500, MOST_FRAMES = 20000 };
typedef struct cart {
    hearth_agent id;
    double place, speed, angle, turning;
    int steps;
} cart;

static double near_zero(void) {
    return rand() / (double)RAND_MAX * 0.1 - 0.05;
}

static void start(cart* c) {
    const cart fresh = {c->id, near_zero(), near_zero(), near_zero(), near_zero(), 0};
    *c = fresh;
}

/* Simulates 0.02 s (Barto, Sutton and Anderson, 1983, with Gymnasium's constants).  Returns 0 if
 * the pole has fallen or the cart has left the track. */
static int step(cart* c, int push_right) {
    const double sine = sin(c->angle), cosine = cos(c->angle), seconds = 0.02;
    const double push = ((push_right ? 10.0 : -10.0) + 0.05 * c->turning * c->turning * sine) / 1.1;
    const double turn =
        (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * cosine * cosine / 1.1));
    const double pull = push - 0.05 * turn * cosine / 1.1;
    c->place += seconds * c->speed, c->speed += seconds * pull;
    c->angle += seconds * c->turning, c->turning += seconds * turn;
    ++c->steps;
    return fabs(c->place) <= 2.4 && fabs(c->angle) <= 0.2094;
}

/* Writes the cart's state as the agent's observation. */
static void show(hearth_agents* agents, const cart* c) {
    float* seen = hearth_agents_observation(agents, c->id);
    seen[0] = (float)c->place, seen[1] = (float)c->speed;
    seen[2] = (float)c->angle, seen[3] = (float)c->turning;
}

/* Executes the agent's latest action, and reports its reward and the end of an episode. */
static void play(hearth_agents* agents, cart* c) {
    const float* action = hearth_agents_action(agents, c->id);
    if (!action) return;
    const int stands = step(c, action[0] == 1.0f);
    show(agents, c);
    hearth_agents_add_reward(agents, c->id, 1);
    if (stands && c->steps < MOST_STEPS) return;
    hearth_agents_end_episode(
        agents, c->id, stands ? HEARTH_AGENTS_TRUNCATED : HEARTH_AGENTS_TERMINATED, NULL, NULL);
    start(c), show(agents, c);
}

int main(int argc, char** argv) {
    if (argc < 2) app_fail("usage", "hello_agents_c PACKAGE [FRAMES]");
    const uint64_t frames = argc > 2 ? strtoull(argv[2], NULL, 10) : MOST_FRAMES;
    /* A game has a device already. */
    app_make_device();
    hearth_context* context = app_adopt_device();
    hearth_device_caps caps = hearth_device_caps_default();
    hearth_context_get_device_caps(context, &caps);
    hearth_program* program = app_load(context, argv[1], caps.subgroup_size > 8 ? "gpu" : "cpu");
    /* Agents, with the schema and learner from the package. */
    hearth_agents_create_info info = hearth_agents_create_info_default();
    info.program = program;
    hearth_agents* agents;
    static hearth_messages report;
    app_check(hearth_agents_create(context, &info, &agents, &report), "agents", report.text);
    app_check(hearth_session_create_pipelines(hearth_agents_get_session(agents), 0), "build", "");
    cart carts[CARTS];
    for (int i = 0; i < CARTS; ++i) {
        app_check(hearth_agents_add(agents, &carts[i].id), "add", hearth_agents_error(agents));
        start(&carts[i]), show(agents, &carts[i]);
    }
    hearth_agents_status status = hearth_agents_status_default();
    float length = 0;
    for (uint64_t frame = 1; frame <= frames && length < 475; ++frame) {
        app_check(hearth_begin_frame(context, frame, frame - 1), "frame", "");
        hearth_agents_poll(agents); /* receives actions and status */
        for (int i = 0; i < CARTS; ++i) play(agents, &carts[i]);
        /* Records the agents' decisions and up to 20 ms of learning. */
        hearth_agents_record_info record = hearth_agents_record_info_default();
        record.command_buffer = app_begin_commands();
        record.learning_budget_us = 20000;
        app_check(hearth_agents_record(agents, &record), "record", hearth_agents_error(agents));
        app_submit_and_wait(record.command_buffer);
        hearth_agents_get_status(agents, &status);
        length = status.metrics[HEARTH_AGENTS_EPISODE_LENGTH];
    }
    printf("poles stay up for %.1f steps\n", (double)length);
    hearth_agents_destroy(agents);
    hearth_program_destroy(program);
    hearth_context_destroy(context);
    app_destroy_device();
    return length >= 475 ? 0 : 1;
}
