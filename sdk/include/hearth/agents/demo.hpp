// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Demonstration files: what a person, or a program, did in a game, for learners that imitate and for
// tools ("Demonstration files" in hearth_agents.h).  Header-only; needs no compiler library.
//
//     HEARTH_ASSIGN(DemoWriter writer, DemoWriter::open("anna.demo", agents));  // appends
//     HEARTH_TRY(writer.add(agents, fox, action, {.reward = 1}));               // at each decision
//
//     HEARTH_ASSIGN(const DemoFile demo, DemoFile::open("anna.demo"));
//     HEARTH_TRY(demo.replay(agents, fox, step));                               // before record()

#pragma once

#include <hearth/agents.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/file.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hearth::agents {

/// A demonstration file in memory; move-only.
class DemoFile {
  public:
    /// Reads and checks a whole file.
    /// Errors: those of read_whole_file() and hearth_demo_open, prefixed with the path.
    static Result<DemoFile> open(const std::string& path) {
        DemoFile file;
        HEARTH_ASSIGN(file.bytes_, read_whole_file(path));
        hearth_messages messages{};
        const hearth_result result =
            hearth_demo_open(file.bytes_.data(), file.bytes_.size(), &file.info_, &messages);
        if (result != HEARTH_OK) return to_status(result, messages.text).with_context(path);
        return file;
    }
    DemoFile(DemoFile&&) noexcept = default;
    DemoFile& operator=(DemoFile&&) noexcept = default;

    /// Pointers in it live as long as the file.
    const hearth_demo_info& info() const { return info_; }
    uint64_t step_count() const { return info_.step_count; }
    /// AgentSpec::save() of the agents, for AgentSpec::load().
    std::span<const std::byte> schema() const {
        return {static_cast<const std::byte*>(info_.schema), info_.schema_bytes};
    }
    /// A step below step_count(); its pointers live as long as the file.
    hearth_demo_step step(uint64_t index) const {
        hearth_demo_step out{};
        (void)hearth_demo_get_step(bytes_.data(), bytes_.size(), index, &out, nullptr);
        return out;
    }
    /// Gives a step to the learner; see hearth_demo_replay.
    Status replay(Agents& agents, AgentId id, uint64_t index) const {
        const hearth_result result =
            hearth_demo_replay(agents.handle(), id, bytes_.data(), bytes_.size(), index);
        return result == HEARTH_OK ? Status()
                                   : to_status(result, hearth_agents_error(agents.handle()));
    }

  private:
    DemoFile() = default;
    std::vector<std::byte> bytes_;
    hearth_demo_info info_{};
};

/// Options of DemoWriter::add().
struct DemoStepOptions {
    float reward = 0;  ///< until the next step of the episode
    /// Set for the last step of an episode.
    std::optional<EpisodeEnd> episode_end = std::nullopt;
    uint32_t demonstrator = 0;  ///< numbered from 1; 0: the game itself
};

/// Appends steps to a file, each written as a whole; move-only.
class DemoWriter {
  public:
    /// Creates the file, or continues one of agents with the same spec.
    /// Errors: those of DemoFile::open() for a file that exists; kInvalidArgument: it is of agents
    /// with another spec; kNotFound: it cannot be written.
    static Result<DemoWriter> open(const std::string& path, const Agents& agents) {
        const Result<DemoFile> before = DemoFile::open(path);
        const bool is_new = !before.ok() && before.status().code() == StatusCode::kNotFound;
        if (!is_new && !before.ok()) return before.status();
        if (!is_new && before->info().schema_hash != agents.schema_hash())
            return invalid_argument("'" + path +
                                    "' has demonstrations of agents with another specification; "
                                    "expected one of these agents, or a new file");
        DemoWriter writer;
        writer.path_ = path;
        writer.file_.reset(std::fopen(path.c_str(), "ab"));
        if (!writer.file_) return hearth::detail::file_error("open", path);
        if (is_new)
            HEARTH_TRY(writer.append(agents, [&](void* out, uint64_t* bytes) {
                return hearth_demo_begin(agents.handle(), out, bytes);
            }));
        return writer;
    }
    DemoWriter(DemoWriter&&) noexcept = default;
    DemoWriter& operator=(DemoWriter&&) noexcept = default;

    /// Appends a decision of an agent in its current observation; see hearth_demo_add.
    /// action: [action size], in the game's units
    /// Errors: those of hearth_demo_add; kNotFound: the file cannot be written.
    Status add(Agents& agents, AgentId id, std::span<const float> action,
               const DemoStepOptions& step = {}) {
        if (action.size() != agents.action_size())
            return invalid_argument("the action has " + std::to_string(action.size()) +
                                    " floats, expected " + std::to_string(agents.action_size()));
        const uint32_t end = step.episode_end ? static_cast<uint32_t>(*step.episode_end) : 0;
        return append(agents, [&](void* out, uint64_t* bytes) {
            return hearth_demo_add(agents.handle(), id, action.data(), step.reward, end,
                                   step.demonstrator, out, bytes);
        });
    }

  private:
    struct Close {
        void operator()(std::FILE* file) const { (void)std::fclose(file); }
    };

    DemoWriter() = default;
    /// Writes what copy_to(out, &bytes) copies.
    template <class CopyTo>
    Status append(const Agents& agents, CopyTo copy_to) {
        uint64_t bytes = bytes_.size();
        hearth_result result = copy_to(bytes_.data(), &bytes);
        if (result == HEARTH_ERROR_OUT_OF_RANGE && bytes > bytes_.size()) {
            bytes_.resize(bytes);
            result = copy_to(bytes_.data(), &bytes);
        }
        if (result != HEARTH_OK) return to_status(result, hearth_agents_error(agents.handle()));
        if (std::fwrite(bytes_.data(), 1, bytes, file_.get()) != bytes ||
            std::fflush(file_.get()) != 0)
            return hearth::detail::file_error("write", path_);
        return {};
    }

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    std::vector<std::byte> bytes_ = std::vector<std::byte>(256);
};

}  // namespace hearth::agents
