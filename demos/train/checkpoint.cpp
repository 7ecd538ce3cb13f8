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
constexpr const char* kStates = "states";  ///< key of the number of transient states

/// Upper bound of all counts: twice the steps of the longest configuration.
constexpr int64_t kMaxCount = int64_t{1} << 41;

Result<int64_t> count_in(const Metadata& metadata, const char* key, int64_t max = kMaxCount) {
    const std::string expected =
        std::string(key) + ": expected a whole number up to " + std::to_string(max);
    const auto at = metadata.find(key);
    if (at == metadata.end()) return corrupt_data(expected + ", found none");
    int64_t value = 0;
    const char* const end = at->second.data() + at->second.size();
    const auto [stop, error] = std::from_chars(at->second.data(), end, value);
    if (error == std::errc() && stop == end && value >= 0 && value <= max) return value;
    return corrupt_data(expected + ", found '" + at->second + "'");
}

/// Number of weights between the hidden layers of the network.
int64_t hidden_weights(const TrainConfig& config) {
    int64_t count = 0;
    for (size_t i = 1; i < config.network.size(); ++i)
        count += config.network[i - 1] * config.network[i];
    return count;
}

/// Checks what the file's parts say about each other.
Status check(const Checkpoint& checkpoint, const Metadata& metadata) {
    const agents::Ppo& ppo = checkpoint.config.ppo;
    const int64_t samples = ppo.n_agents * ppo.n_steps;
    if (checkpoint.steps % samples != 0 || checkpoint.steps / samples != checkpoint.windows)
        return corrupt_data("steps: expected windows times " + std::to_string(samples) +
                            " (ppo.n_agents times ppo.n_steps), found " +
                            std::to_string(checkpoint.steps) + " and " +
                            std::to_string(checkpoint.windows) + " windows");
    // Checked first, because the configuration decides how much memory a learner takes.
    size_t bytes = 0;
    for (const BrainTensor& tensor : checkpoint.snapshot.brain.tensors)
        bytes += tensor.value.bytes().size();
    if (static_cast<uint64_t>(hidden_weights(checkpoint.config)) * sizeof(float) > bytes)
        return corrupt_data("network: expected " +
                            std::to_string(hidden_weights(checkpoint.config)) +
                            " weights between its hidden layers, found " + std::to_string(bytes) +
                            " bytes of tensors");
    const size_t states = checkpoint.snapshot.transients.size();
    if (!metadata.contains(kStates)) return {};  // of version 0.1
    HEARTH_ASSIGN(const int64_t written, count_in(metadata, kStates));
    if (static_cast<uint64_t>(written) == states) return {};
    return corrupt_data("states: expected " + std::to_string(written) + ", found " +
                        std::to_string(states));
}

}  // namespace

Status write_checkpoint(const std::string& path, Checkpoint checkpoint) {
    NamedTensors& tensors = checkpoint.snapshot.transients;
    const size_t states = tensors.size();
    if (!checkpoint.returns.empty())
        tensors[kReturns] =
            HostTensor::of({static_cast<int64_t>(checkpoint.returns.size())}, checkpoint.returns);
    Brain& brain = checkpoint.snapshot.brain;
    brain.user_data = write_safetensors(tensors, {{"config", checkpoint.config.text()},
                                                  {"steps", std::to_string(checkpoint.steps)},
                                                  {"windows", std::to_string(checkpoint.windows)},
                                                  {"ranks", std::to_string(checkpoint.ranks)},
                                                  {kStates, std::to_string(states)}});
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
    const auto read_counts = [&]() -> Status {
        HEARTH_ASSIGN(checkpoint.steps, count_in(metadata, "steps"));
        HEARTH_ASSIGN(checkpoint.windows, count_in(metadata, "windows"));
        HEARTH_ASSIGN(checkpoint.ranks, count_in(metadata, "ranks", 1 << 16));
        return {};
    };
    HEARTH_TRY(read_counts().with_context(path));
    if (const auto at = tensors->find(kReturns); at != tensors->end()) {
        for (int64_t i = 0; i < at->second.element_count(); ++i)
            checkpoint.returns.push_back(static_cast<float>(at->second.get(i)));
        tensors->erase(at);
    }
    checkpoint.snapshot = {std::move(brain).value(), std::move(tensors).value()};
    HEARTH_TRY(check(checkpoint, metadata).with_context(path));
    return checkpoint;
}

}  // namespace hearth::train
