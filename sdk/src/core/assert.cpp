// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/core/assert.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace hearth {

namespace {

void report_and_abort(const char* expression, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
    std::abort();
}

std::atomic<AssertHandler> g_handler{report_and_abort};

}  // namespace

void assert_failed(const char* expression, const char* file, int line) {
    g_handler.load()(expression, file, line);
    std::abort();
}

AssertHandler set_assert_handler(AssertHandler handler) {
    return g_handler.exchange(handler != nullptr ? handler : report_and_abort);
}

}  // namespace hearth
