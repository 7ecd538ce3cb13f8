// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A fuzz target is one file that defines this function: it hands the bytes to a reader, which must
// refuse them with a message or give something well-formed.  HEARTH_FUZZ links it with libFuzzer;
// otherwise replay.cpp runs it on the corpus and on mutations of it.

#pragma once

#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
/// Optional: a change that knows the format.  Returns the size, at most max_size.
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                                                size_t max_size, unsigned int seed);
/// Any change: libFuzzer's, or replay.cpp's.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace hearth::fuzz {

/// Ends the process, which is how a target reports a finding.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "finding: %s\n", what);
    std::abort();
}

/// A refusal without a reason is a finding too.
inline void check_refusal(const Status& status) {
    require(!status.message().empty(), "refused without a message");
    require(status.code() != StatusCode::kInternal, status.message().c_str());
}

inline std::span<const std::byte> as_bytes(const uint8_t* data, size_t size) {
    return std::as_bytes(std::span(data, size));
}

/// For a format that is read in place and has checksums: opens the bytes, 8-byte aligned as a
/// mapped file is, as they are and then repaired, so that mutations get past the checksums.
inline void open_twice(const uint8_t* data, size_t size, void (*open)(std::span<const std::byte>),
                       void (*repair)(std::span<std::byte>)) {
    std::vector<uint64_t> aligned((size + 7) / 8);
    if (size > 0) std::memcpy(aligned.data(), data, size);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(aligned)).first(size);
    open(bytes);
    repair(bytes);
    open(bytes);
}

}  // namespace hearth::fuzz
