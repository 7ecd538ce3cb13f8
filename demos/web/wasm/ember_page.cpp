// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creatures of Ember for page/ember.js: the game's own reader of their files, and its words.

#include "kept.hpp"
#include "page.h"
#include "texts.hpp"

#include <wasi/api.h>

#include <string>

using namespace hearth::ember;

namespace {

constexpr int kMostBytes = 1 << 20;
unsigned char file[kMostBytes];
Kept creature;
std::string text;

const char* as_text(std::string_view words) {
    text = words;
    return text.c_str();
}

}  // namespace

extern "C" {

PAGE_EXPORT(file) unsigned char* file_bytes(void) {
    return file;
}
PAGE_EXPORT(most_file_bytes) int most_file_bytes(void) {
    return kMostBytes;
}
/* Reads the creature in file(); returns 0, or an error that error_text() describes. */
PAGE_EXPORT(read) int read_creature(int bytes) {
    auto kept = decode_kept(std::as_bytes(std::span(file).first(static_cast<size_t>(bytes))));
    text = kept.status().message().substr(0, 255);
    if (kept.ok()) creature = std::move(kept).value();
    return kept.ok() ? 0 : 1;
}
PAGE_EXPORT(error_text) const char* error_text(void) {
    return text.c_str();
}
PAGE_EXPORT(name) const char* name(void) {
    return creature.name.c_str();
}
/* The library of C would import these for a message of a failed assertion; a module imports nothing. */
__wasi_errno_t __wasi_fd_close(__wasi_fd_t) {
    return __WASI_ERRNO_BADF;
}
__wasi_errno_t __wasi_fd_seek(__wasi_fd_t, __wasi_filedelta_t, __wasi_whence_t,
                              __wasi_filesize_t*) {
    return __WASI_ERRNO_BADF;
}
__wasi_errno_t __wasi_fd_write(__wasi_fd_t, const __wasi_ciovec_t*, size_t, __wasi_size_t*) {
    return __WASI_ERRNO_BADF;
}

/* Seconds of its life. */
PAGE_EXPORT(age) double age(void) {
    return static_cast<double>(creature.world.frame) * double{kFrameSeconds};
}
PAGE_EXPORT(days) int days(void) {
    return static_cast<int>(creature.deeds.days);
}
PAGE_EXPORT(memories) int memories(void) {
    const Memories& kept = creature.memories;
    return static_cast<int>(kept.moments.size() + kept.acts.size() + kept.words.size());
}
PAGE_EXPORT(brain_bytes) int brain_bytes(void) {
    size_t bytes = 0;
    for (const auto& part : creature.brain) bytes += part.size();
    return static_cast<int>(bytes);
}
PAGE_EXPORT(knows) int knows(int thing) {
    return static_cast<int>(creature.deeds.words >> thing & 1);
}
PAGE_EXPORT(thing_count) int thing_count(void) {
    return kThingCount;
}
PAGE_EXPORT(word) const char* word(int thing) {
    return as_text(texts::kWords[static_cast<size_t>(thing)]);
}
PAGE_EXPORT(goal_count) int goal_count(void) {
    return kGoalCount;
}
PAGE_EXPORT(goal) const char* goal(int index) {
    return as_text(texts::kGoals[static_cast<size_t>(index)]);
}
/* 1: reached. */
PAGE_EXPORT(progress) float progress(int index) {
    return progress_of(static_cast<Goal>(index), creature.deeds);
}
}
