// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The cloth on the game's device: its weights, and the learning steps that are recorded into the
// game's frames. It runs from the package; the compiler is not linked.

#pragma once

#include "host/frame_loop.hpp"
#include "host/guest.hpp"
#include "size.hpp"

#include <hearth/hearth_runtime.hpp>
#include <hearth/status.hpp>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hearth::loom {

/// Push constants of the fragment shader (shaders/cloth.frag).
struct ClothConstants {
    uint64_t weights = 0;
    uint64_t picture = 0;
    uint32_t look = 0;
    uint32_t size = static_cast<uint32_t>(kPictureSize);
};
enum Look : uint32_t { kCloth, kPlain, kError, kPicture };

class Loom {
  public:
    /// Loads the package's program for `device` and builds its pipelines. seed: of the choice of
    /// training texels; the initial weights are always the same.
    static Result<std::unique_ptr<Loom>> create(standalone::Device& device, uint64_t seed);
    Loom(const Loom&) = delete;
    Loom& operator=(const Loom&) = delete;

    /// Call first in every frame.
    Status begin_frame(const demo::Frame& frame);
    /// Mean squared error of the learning step whose result arrived with this frame.
    std::optional<float> loss() const { return loss_; }

    /// Uploads the target picture, kTexels of three floats.
    void record_picture(const demo::Frame& frame, std::span<const float> texels);
    /// Records one step of learning from kBatchSize texels.
    Status record_learn(const demo::Frame& frame);
    /// Records a reset to the initial weights.
    Status record_unravel(const demo::Frame& frame);
    /// Makes earlier commands visible to this frame's fragment shaders; call before drawing.
    void record_ready(const demo::Frame& frame);

    /// Push constants of the shader that evaluates the cloth.
    ClothConstants constants(Look look) const;
    /// SPIR-V of the shader that reads this program's weights.
    std::span<const uint32_t> fragment_shader() const;

    // The device must be idle for these; frames may follow.

    /// Returns the mean squared error over all texels.
    Result<double> mean_square_error();
    /// Returns a hash of all weights.
    Result<uint64_t> weights_hash();
    /// Returns the bytes of all weights in device layout, by variable name.
    Result<std::vector<std::pair<std::string, std::vector<std::byte>>>> weights();

    uint64_t steps() const { return steps_; }
    uint64_t weights_bytes() const { return weights_bytes_; }
    const demo::Guest& guest() const { return *guest_; }
    /// Describes a learning step: "4 dispatches, 1 barrier".
    const std::string& summary() const { return summary_; }

  private:
    explicit Loom(standalone::Device& device, uint64_t seed) : device_(device), seed_(seed) {}
    Status find_interface();
    Status create_buffers();
    /// Runs what `record` records and returns the bytes of its readback.
    Result<std::vector<std::byte>> run(
        const std::function<Result<hearth_readback>(VkCommandBuffer)>& record);
    Result<hearth_readback> record_step(VkCommandBuffer cmd, uint32_t slot, uint32_t entry,
                                        const std::array<uint32_t, 3>& bindings);

    standalone::Device& device_;
    uint64_t seed_;
    std::unique_ptr<demo::Guest> guest_;
    LoadedProgram program_;
    Session session_;
    std::string summary_;
    bool is_cpu_ = false;
    uint64_t weights_address_ = 0, weights_bytes_ = 0;
    uint32_t learn_ = 0, judge_ = 0;                   // entries
    std::array<uint32_t, 3> of_learn_{}, of_judge_{};  // bindings: picture, texel, loss
    standalone::Buffer picture_;

    /// One of each per frame in flight.
    struct Slot {
        standalone::Buffer staging, texels, loss;
        std::optional<hearth_readback> arriving;
    };
    std::array<Slot, demo::FrameLoop::kFramesInFlight> slots_;
    std::optional<float> loss_;
    uint64_t steps_ = 0;
    /// The context's frame number, and how far it is ahead of the frame loop's.
    uint64_t serial_ = 0, ahead_ = 0;
};

}  // namespace hearth::loom
