// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brains of weights: the part of a checkpoint that acting needs.

#include "program/brain.hpp"
#include "program/legacy_names.hpp"

#include <algorithm>
#include <cstring>

namespace hearth {

namespace {

constexpr std::string_view kPublishedParam = "published.param.",
                           kPublishedState = "published.state.", kTarget = "target.";

/// The tensor of the name prefix + name, or null.
const file::BrainTensorRecord* find_prefixed(const BrainView& brain, std::string_view prefix,
                                             std::string_view name) {
    AliasName full;
    return full.append(prefix) && full.append(name) ? brain.find(full.view()) : nullptr;
}

}  // namespace

bool is_weight(const BrainView& brain, const file::BrainTensorRecord& tensor) {
    const std::string_view name = brain.name(tensor);
    if (tensor.kind == static_cast<uint32_t>(VariableKind::kParam))
        return find_prefixed(brain, kPublishedParam, name) == nullptr;
    return name.starts_with(kPublishedParam) || name.starts_with(kPublishedState) ||
           name.starts_with("observations.") || name.starts_with("rewards.");
}

bool is_param(const BrainView& brain, const file::BrainTensorRecord& tensor) {
    const std::string_view name = brain.name(tensor);
    return tensor.kind == static_cast<uint32_t>(VariableKind::kParam) ||
           name.starts_with(kPublishedParam) || name.starts_with(kTarget);
}

const file::BrainTensorRecord* find_substitute(const BrainView& weights, std::string_view name) {
    for (const std::string_view prefix : {kPublishedParam, kPublishedState})
        if (name.starts_with(prefix)) return weights.find(name.substr(prefix.size()));
    if (name.starts_with(kTarget)) {
        const std::string_view original = name.substr(kTarget.size());
        const auto* const found = weights.find(original);
        return found != nullptr ? found : find_substitute(weights, original);
    }
    const auto* const param = find_prefixed(weights, kPublishedParam, name);
    return param != nullptr ? param : find_prefixed(weights, kPublishedState, name);
}

uint64_t write_weights(const BrainView& checkpoint, std::span<std::byte> out) {
    file::BrainHeader header = checkpoint.header();
    header.contents = static_cast<uint32_t>(file::BrainContents::kWeights);
    header.tensor_count = 0;
    header.texts_bytes = 0;
    for (const auto& tensor : checkpoint.tensors())
        if (is_weight(checkpoint, tensor)) {
            ++header.tensor_count;
            header.texts_bytes += tensor.name.size;
        }
    header.texts_offset = sizeof header + header.tensor_count * sizeof(file::BrainTensorRecord);
    uint64_t at = header.texts_offset + header.texts_bytes, text = 0, index = 0;
    const auto pad = [&] {
        const uint64_t end =
            (at + file::kBrainAlignment - 1) / file::kBrainAlignment * file::kBrainAlignment;
        std::fill_n(out.begin() + static_cast<ptrdiff_t>(at), end - at, std::byte{0});
        at = end;
    };
    for (const auto& tensor : checkpoint.tensors()) {
        if (!is_weight(checkpoint, tensor)) continue;
        pad();
        file::BrainTensorRecord record = tensor;
        const std::string_view name = checkpoint.name(tensor);
        record.name.offset = static_cast<uint32_t>(text);
        record.offset = at;
        std::memcpy(out.data() + header.texts_offset + text, name.data(), name.size());
        std::ranges::copy(checkpoint.stored(tensor), out.begin() + static_cast<ptrdiff_t>(at));
        std::memcpy(out.data() + sizeof header + index * sizeof record, &record, sizeof record);
        text += name.size();
        at += record.stored_bytes;
        ++index;
    }
    pad();
    const std::span<const std::byte> host = checkpoint.host_data();
    header.host_offset = at;
    std::ranges::copy(host, out.begin() + static_cast<ptrdiff_t>(at));
    header.total_bytes = at + host.size();
    std::memcpy(out.data(), &header, sizeof header);
    header.checksum = brain_checksum(out.first(header.total_bytes));
    std::memcpy(out.data(), &header, sizeof header);
    return header.total_bytes;
}

}  // namespace hearth
