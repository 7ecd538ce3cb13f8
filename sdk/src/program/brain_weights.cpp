// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brains of weights: the part of a checkpoint that acting needs.

#include "program/brain_writer.hpp"
#include "program/initial_values.hpp"
#include "program/legacy_names.hpp"

#include <algorithm>

namespace hearth {

namespace {

constexpr std::string_view kPublishedParam = "published.param.",
                           kPublishedState = "published.state.", kTarget = "target.",
                           kCuriosity = "rnd.";

/// The tensor of the name prefix + name, or null.
const file::BrainTensorRecord* find_prefixed(const BrainView& brain, std::string_view prefix,
                                             std::string_view name) {
    AliasName full;
    return full.append(prefix) && full.append(name) ? brain.find(full.view()) : nullptr;
}

}  // namespace

bool is_weight(const BrainView& brain, const file::BrainTensorRecord& tensor) {
    const std::string_view name = brain.name(tensor);
    if (name.starts_with(kCuriosity)) return false;
    if (tensor.kind == static_cast<uint32_t>(VariableKind::kParam))
        return find_prefixed(brain, kPublishedParam, name) == nullptr;
    return name.starts_with(kPublishedParam) || name.starts_with(kPublishedState) ||
           name.starts_with("observations.") || name.starts_with("rewards.");
}

bool is_param(VariableKind kind, std::string_view name) {
    return kind == VariableKind::kParam || name.starts_with(kPublishedParam) ||
           name.starts_with(kTarget);
}

UnsoundValue find_unsound_value(const ProgramView& program) {
    for (const file::VariableRecord& variable : program.variables()) {
        const std::string_view name = program.text_view(variable.name);
        const std::span<const std::byte> bytes = initial_values(program, variable);
        const DType dtype = program.held_dtype(variable);
        if (const int64_t at = first_nonfinite(dtype, bytes); at >= 0) return {name, at};
        if (!is_param(static_cast<VariableKind>(variable.kind), name)) continue;
        if (const int64_t at = first_nonfinite(dtype, bytes, Magnitude::kTrainable); at >= 0)
            return {name, at, true};
    }
    return {};
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
    BrainWriter writer(header, out);
    for (const auto& tensor : checkpoint.tensors()) {
        if (!is_weight(checkpoint, tensor)) continue;
        std::ranges::copy(checkpoint.stored(tensor), writer.room().begin());
        writer.add(tensor, checkpoint.name(tensor));
    }
    return writer.finish(checkpoint.host_data());
}

}  // namespace hearth
