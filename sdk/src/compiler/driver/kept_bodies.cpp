// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/driver/kept_bodies.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace hearth {

namespace {

struct Store {
    std::atomic<bool> keeps = false;
    std::mutex mutex;
    std::unordered_map<uint64_t, std::shared_ptr<const Body>> bodies;
};

Store& store() {
    static Store store;
    return store;
}

}  // namespace

void keep_bodies() {
    store().keeps = true;
}

void keep_body(uint64_t hash, const std::shared_ptr<const Body>& body) {
    Store& all = store();
    if (!all.keeps) return;
    const std::scoped_lock lock(all.mutex);
    all.bodies.try_emplace(hash, body);
}

std::shared_ptr<const Body> kept_body(uint64_t hash) {
    Store& all = store();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.bodies.find(hash);
    return found == all.bodies.end() ? nullptr : found->second;
}

}  // namespace hearth
