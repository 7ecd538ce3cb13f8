// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "program/demo_file.hpp"

#include "core/checksum.hpp"

#include <cmath>
#include <cstring>

namespace hearth::agents {

namespace {

constexpr uint64_t kAlignment = 8;

static_assert(sizeof(DemoHeader) == 32 && sizeof(DemoStepHeader) == 24);

uint64_t aligned(uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

uint64_t step_floats(const AgentSpecView& spec) {
    return static_cast<uint64_t>(spec.frame_size() + spec.mask_size() + spec.action_size());
}

/// Checksum of all but the checksum itself, eight bytes at `at`.
uint64_t checksum_without(std::span<const std::byte> bytes, size_t at) {
    const uint64_t parts[] = {checksum(bytes.first(at)),
                              checksum(bytes.subspan(at + sizeof(uint64_t)))};
    return checksum(std::as_bytes(std::span(parts)));
}

StatusCode corrupt(SpecText& error, const char* what) {
    error.set("demonstration file: %s; it is damaged, or no file that Hearth wrote", what);
    return StatusCode::kCorruptData;
}

}  // namespace

uint64_t demo_header_bytes(const AgentSpecView& spec) {
    return aligned(sizeof(DemoHeader) + spec.bytes().size());
}

uint64_t demo_step_bytes(const AgentSpecView& spec) {
    return aligned(sizeof(DemoStepHeader) + step_floats(spec) * sizeof(float));
}

const char* first_not_finite(const AgentSpecView& spec, const DemoStep& step) {
    const auto is_finite = [](const float* values, int64_t count) {
        for (int64_t i = 0; i < count; ++i)
            if (!std::isfinite(values[i])) return false;
        return true;
    };
    if (!is_finite(step.observation, spec.frame_size())) return "observation";
    if (!is_finite(step.action_mask, spec.mask_size())) return "action mask";
    if (!is_finite(step.action, spec.action_size())) return "action";
    return std::isfinite(step.header.reward) ? nullptr : "reward";
}

void write_demo_header(const AgentSpecView& spec, std::byte* out) {
    const uint64_t bytes = demo_header_bytes(spec);
    DemoHeader header{.schema_hash = spec.hash(),
                      .spec_bytes = static_cast<uint32_t>(spec.bytes().size()),
                      .header_bytes = static_cast<uint32_t>(bytes)};
    std::memset(out, 0, bytes);
    std::memcpy(out, &header, sizeof header);
    std::memcpy(out + sizeof header, spec.bytes().data(), spec.bytes().size());
    header.checksum = checksum_without({out, bytes}, offsetof(DemoHeader, checksum));
    std::memcpy(out, &header, sizeof header);
}

void write_demo_step(const AgentSpecView& spec, const DemoStep& step, std::byte* out) {
    const uint64_t bytes = demo_step_bytes(spec);
    std::memset(out, 0, bytes);
    std::memcpy(out, &step.header, sizeof step.header);
    std::byte* at = out + sizeof step.header;
    const auto write = [&](const float* values, int64_t count) {
        if (count > 0) std::memcpy(at, values, static_cast<size_t>(count) * sizeof(float));
        at += static_cast<size_t>(count) * sizeof(float);
    };
    write(step.observation, spec.frame_size());
    write(step.action_mask, spec.mask_size());
    write(step.action, spec.action_size());
    const uint64_t sum =
        checksum_without({out, bytes}, offsetof(DemoStepHeader, checksum)) ^ spec.hash();
    std::memcpy(out + offsetof(DemoStepHeader, checksum), &sum, sizeof sum);
}

StatusCode DemoFileView::open(std::span<const std::byte> bytes, SpecText& error) {
    DemoHeader header;
    if (bytes.size() < sizeof header || reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0)
        return corrupt(error, bytes.size() < sizeof header ? "shorter than its header"
                                                           : "its bytes are not aligned to 8");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != kDemoMagic) return corrupt(error, "does not begin with HDEM");
    if (header.version != kDemoVersion) {
        error.set(
            "demonstration file: version %u, expected %u; use a newer Hearth, or record it again",
            header.version, kDemoVersion);
        return StatusCode::kUnsupported;
    }
    if (header.header_bytes > bytes.size()) return corrupt(error, "ends within its header");
    if (header.header_bytes != aligned(sizeof header + uint64_t{header.spec_bytes}))
        return corrupt(error, "the sizes in its header disagree");
    const auto head = bytes.first(header.header_bytes);
    if (checksum_without(head, offsetof(DemoHeader, checksum)) != header.checksum)
        return corrupt(error, "the checksum of its header differs");
    if (const auto code = spec_.open(head.subspan(sizeof header, header.spec_bytes), error);
        code != StatusCode::kOk)
        return code;
    if (spec_.hash() != header.schema_hash) return corrupt(error, "its schema hash differs");

    step_bytes_ = demo_step_bytes(spec_);
    steps_ = bytes.subspan(header.header_bytes);
    if (steps_.size() % step_bytes_ == 0) return StatusCode::kOk;
    error.set("demonstration file: ends within step %llu; cut it to %llu bytes to keep the others",
              static_cast<unsigned long long>(step_count()),
              static_cast<unsigned long long>(header.header_bytes + step_count() * step_bytes_));
    return StatusCode::kCorruptData;
}

StatusCode DemoFileView::read(uint64_t index, DemoStep& step, SpecText& error) const {
    const auto bytes = steps_.subspan(index * step_bytes_, step_bytes_);
    std::memcpy(&step.header, bytes.data(), sizeof step.header);
    const auto damaged = [&](const char* what) {
        error.set("demonstration file: step %llu: %s; the file is damaged, record it again",
                  static_cast<unsigned long long>(index), what);
        return StatusCode::kCorruptData;
    };
    if ((checksum_without(bytes, offsetof(DemoStepHeader, checksum)) ^ spec_.hash()) !=
        step.header.checksum)
        return damaged("its checksum differs");
    const auto* values = reinterpret_cast<const float*>(bytes.data() + sizeof step.header);
    if (step.header.episode_end > 2 || step.header.demonstrator > kMaxDemonstrators)
        return damaged("an episode end or a demonstrator is out of range");
    step.observation = values;
    step.action_mask = spec_.mask_size() > 0 ? values + spec_.frame_size() : nullptr;
    step.action = values + spec_.frame_size() + spec_.mask_size();
    if (first_not_finite(spec_, step) != nullptr) return damaged("a value is not finite");
    return StatusCode::kOk;
}

}  // namespace hearth::agents
