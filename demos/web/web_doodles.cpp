// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Trains the brain that the page's doodles start with, as C, on drawings of which none comes twice.
// Usage: web_doodles BRAIN

#include "doodles.h"  // cooked for this CPU
#include "doodles.hpp"

#include <hearth/file.hpp>
#include <hearth/status.hpp>

#include <programs/streams.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

using namespace hearth;

namespace {

constexpr int kSteps = 600, kTestBatches = 16, kRows = DOODLES_ROWS;
constexpr float kFirstRate = 3e-3f;

alignas(DOODLES_ALIGNMENT) unsigned char weights[DOODLES_WEIGHTS_BYTES];
alignas(DOODLES_ALIGNMENT) unsigned char arena[DOODLES_ARENA_BYTES];
const hearth_c_memory memory = {weights,      sizeof weights, arena,
                                sizeof arena, doodles_cooked, DOODLES_COOKED_BYTES};
hearth_c_error error;
float images[DOODLES_ROWS * web::kDoodlePixels], scores[DOODLES_ROWS * web::kDoodleKinds];
int32_t kinds[DOODLES_ROWS];

Status status_of(hearth_c_result result) {
    return result == HEARTH_C_OK ? Status() : internal_error(error.text);
}

void draw_batch(web::DoodleRandom& random) {
    for (int row = 0; row < kRows; ++row) {
        kinds[row] = random.integer(0, web::kDoodleKinds - 1);
        web::make_doodle_image(kinds[row], random, images + row * web::kDoodlePixels);
    }
}

Status train() {
    web::DoodleRandom random{.state = 1};
    for (int step = 0; step < kSteps; ++step) {
        draw_batch(random);
        const double done = static_cast<double>(step) / kSteps;
        const float rate =
            kFirstRate * static_cast<float>(0.5 * (1 + std::cos(std::numbers::pi * done)));
        float loss = 0;
        const doodles_learn_tensors tensors = {
            .image = images, .kind = kinds, .rate = &rate, .loss = &loss};
        HEARTH_TRY(status_of(doodles_learn(&memory, &tensors, DOODLES_ROWS, &error)));
    }
    return {};
}

/// The part of new doodles that is classified correctly.
Result<double> accuracy() {
    web::DoodleRandom random{.state = 0x9e3779b9};
    int right = 0;
    for (int batch = 0; batch < kTestBatches; ++batch) {
        draw_batch(random);
        const doodles_read_tensors tensors = {.image = images, .scores = scores};
        HEARTH_TRY(status_of(doodles_read(&memory, &tensors, DOODLES_ROWS, &error)));
        for (int row = 0; row < kRows; ++row) {
            const float* const first = scores + row * web::kDoodleKinds;
            right += std::max_element(first, first + web::kDoodleKinds) - first == kinds[row];
        }
    }
    return static_cast<double>(right) / (kTestBatches * kRows);
}

Status run(const std::string& path) {
    HEARTH_TRY(status_of(doodles_init(&memory, &error)));
    HEARTH_TRY(train());
    HEARTH_ASSIGN(const double right, accuracy());
    std::printf("recognizes %.2f %% of %d doodles that it has not seen\n", 100 * right,
                kTestBatches * kRows);
    std::vector<std::byte> brain(DOODLES_BRAIN_BYTES);
    HEARTH_TRY(status_of(doodles_save(&memory, brain.data(), brain.size(), &error)));
    return write_file_atomically(path, brain);
}

}  // namespace

int main(int argc, char** argv) {
    return programs::run_program("web_doodles", [&] {
        const Status status =
            argc == 2 ? run(argv[1]) : invalid_argument("usage: web_doodles BRAIN");
        if (!status.ok()) std::fprintf(stderr, "web_doodles: %s\n", status.message().c_str());
        return status.ok() ? 0 : 1;
    });
}
