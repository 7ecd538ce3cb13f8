// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads and writes the checkpoint files of training runs.

#include "train/checkpoint.hpp"

#include <hearth/file.hpp>
#include <hearth/weights.hpp>

#include <charconv>
#include <utility>

namespace hearth::train {

namespace {

constexpr const char* kReturns = "train.returns";

Result<int64_t> number_in(const Metadata& metadata, const char* key) {
    const auto at = metadata.find(key);
    int64_t value = 0;
    if (at != metadata.end()) {
        const char* const end = at->second.data() + at->second.size();
        const auto [stop, error] = std::from_chars(at->second.data(), end, value);
        if (error == std::errc() && stop == end && value >= 0) return value;
    }
    return corrupt_data(std::string("no count '") + key + "'");
}

}  // namespace

Status write_checkpoint(const std::string& path, Checkpoint checkpoint) {
    NamedTensors& tensors = checkpoint.snapshot.transients;
    if (!checkpoint.returns.empty())
        tensors[kReturns] =
            HostTensor::of({static_cast<int64_t>(checkpoint.returns.size())}, checkpoint.returns);
    Brain& brain = checkpoint.snapshot.brain;
    brain.user_data = write_safetensors(tensors, {{"config", checkpoint.config.text()},
                                                  {"steps", std::to_string(checkpoint.steps)},
                                                  {"windows", std::to_string(checkpoint.windows)},
                                                  {"ranks", std::to_string(checkpoint.ranks)}});
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, save_brain(brain));
    return write_file_atomically(path, bytes);
}

Result<Checkpoint> read_checkpoint(const std::string& path) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path));
    return parse_checkpoint(bytes, path);
}

Result<Checkpoint> parse_checkpoint(std::span<const std::byte> bytes, const std::string& path) {
    Checkpoint checkpoint;
    Result<Brain> brain = load_brain(bytes);
    if (!brain.ok()) return brain.status().with_context(path);
    Metadata metadata;
    Result<NamedTensors> tensors = read_safetensors(brain->user_data, &metadata);
    const auto config = metadata.find("config");
    if (!tensors.ok() || config == metadata.end())
        return invalid_argument("'" + path + "' is a brain, but of no training run");
    Result<TrainConfig> parsed = parse_config(config->second);
    if (!parsed.ok()) return parsed.status().with_context(path);
    checkpoint.config = std::move(parsed).value();
    HEARTH_ASSIGN(checkpoint.steps, number_in(metadata, "steps"));
    HEARTH_ASSIGN(checkpoint.windows, number_in(metadata, "windows"));
    HEARTH_ASSIGN(checkpoint.ranks, number_in(metadata, "ranks"));
    if (const auto at = tensors->find(kReturns); at != tensors->end()) {
        for (int64_t i = 0; i < at->second.element_count(); ++i)
            checkpoint.returns.push_back(static_cast<float>(at->second.get(i)));
        tensors->erase(at);
    }
    checkpoint.snapshot = {std::move(brain).value(), std::move(tensors).value()};
    return checkpoint;
}

}  // namespace hearth::train
