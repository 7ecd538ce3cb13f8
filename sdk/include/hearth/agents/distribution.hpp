// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Policy distributions over the actions of a schema, and the encoding of its observations, as graph
// code for learners and for entries that a game traces itself.
//
// Actions are in *policy units*: discrete actions as an index, continuous ones scaled so that their
// range is [-1, 1] (a Gaussian sample may exceed it).  unscale_action() converts them for the game.

#pragma once

#include <hearth/agents/schema.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace hearth::agents {

/// Unscales actions from policy units to the game's: continuous values are clamped to [-1, 1], then
/// mapped to their range.
/// action: [batch, action size] -> [batch, action size]
Tensor unscale_action(const AgentSpec& schema, const Tensor& action);
/// Scales actions from the game's units to policy units, e.g. of demonstrations: continuous values
/// are first clamped to their range.
Tensor scale_action(const AgentSpec& schema, const Tensor& action);

/// Distribution of continuous actions.
enum class ContinuousDistribution : uint8_t {
    kGaussian,          ///< diagonal Gaussian; the density is that before clamping
    kSquashedGaussian,  ///< tanh of a Gaussian: (-1, 1) (Haarnoja et al., 2018, C)
};

/// A sample with its log-probability, computed without inverting tanh.
struct ActionSample {
    Tensor action = {};    ///< [batch, action size]
    Tensor log_prob = {};  ///< [batch]
};

/// Joint distribution of all actions of a schema, which are independent given the network's output.
/// All results are differentiable wherever that output is; so are continuous samples
/// (reparameterized), but not discrete ones.
class ActionDistribution {
  public:
    /// logits_and_means  [batch, param_size(schema)], in the schema's order
    /// mask              [batch, mask size], or empty if no action is maskable: above 0 where an
    ///                   option is available.  If none is, option 0 alone is.
    /// log_std           of continuous actions: [n] or [batch, n], n = continuous_size(schema);
    ///                   empty if there are none
    /// Errors, recorded in the trace: other shapes.
    ActionDistribution(const AgentSpec& schema, const Tensor& logits_and_means, const Tensor& mask,
                       const Tensor& log_std,
                       ContinuousDistribution kind = ContinuousDistribution::kGaussian);

    /// Size of logits_and_means: logits of all discrete actions and means of all continuous ones.
    static int64_t param_size(const AgentSpec& schema);
    /// Number of continuous values in an action.
    static int64_t continuous_size(const AgentSpec& schema);

    /// Draws a sample.  counter: u32 [], the draw number in the stream `key`, as for
    /// random_uniform().
    ActionSample sample(const Tensor& counter, uint64_t key) const;
    /// The mode: the most likely options, and the means (squashed: tanh of the means, the median).
    /// -> [batch, action size]
    Tensor mode() const;
    /// action: [batch, action size] -> [batch].  A masked option has probability zero, which is
    /// about -1e8 as a logarithm.  An index out of range counts as the nearest option.
    Tensor log_prob(const Tensor& action) const;
    /// -> [batch].  For squashed Gaussians by Gauss-Hermite quadrature, with 16 nodes per value.
    Tensor entropy() const;
    /// Kullback-Leibler divergence KL(this || other), for equal schemas and kinds: [batch].
    Tensor kl(const ActionDistribution& other) const;

  private:
    struct Head {
        bool is_discrete = false;
        std::string name;
        Tensor logits;          ///< of a discrete action, masked: [batch, options]
        Tensor available;       ///< of a maskable action: bool [batch, options]
        Tensor scores() const;  ///< logits from which an option is chosen
        Tensor mean, log_std;   ///< continuous: [batch, size], or broadcastable to it
        int64_t size = 1;       ///< size in the action
    };
    /// Log-determinant of the Jacobian of tanh at u, summed over the last axis.
    static Tensor log_slope(const Tensor& u);
    std::vector<Head> heads_;
    ContinuousDistribution kind_;
};

// --- Observations ---

/// Running mean and variance of encoded observations, [encoded size] each; empty: no
/// normalization.
struct RunningMeanStd {
    Tensor mean = {}, variance = {};
};

struct EncodeOptions {
    RunningMeanStd normalizer = {};
    double clip = 10;              ///< normalized values are clamped to [-clip, clip]
    int64_t entity_features = 32;  ///< pooled features for each field of entities
};

/// Encodes one observation, without its entities, to values of about unit scale: ranges are mapped
/// to [-1, 1], indices are one-hot, angles become sine and cosine, quaternions two columns of the
/// rotation matrix, and vectors get length 1.  Non-finite values become zero.  Values, before and
/// after, are bounded by 1e15 so that their squares can be summed, and angles by 1e6.
/// frame: [batch, frame size] -> [batch, encoded size of all fields]
Tensor encode_frame(const AgentSpec& schema, const Tensor& frame);
/// Mask of encode_frame()'s values that take part in running normalization: f32 [encoded size].
Tensor normalized_mask(Trace& trace, const AgentSpec& schema);

/// encode_frame(), with running normalization of the fields that take part in it, which are then
/// clamped to [-clip, clip]; others are not.
Tensor normalize_frame(const AgentSpec& schema, const Tensor& frame,
                       const RunningMeanStd& normalizer, double clip);

/// Encodes a complete network input: all frames of the stack by normalize_frame();
/// then, for each field of entities of the newest frame, mean and maximum over the entities of
/// relu(linear(entity)), with parameters PREFIX.sets.NAME (Zaheer et al., "Deep Sets", 2017).
/// observation: [batch, observation size] -> [batch, feature size]
Tensor encode(Trace& trace, std::string_view prefix, const AgentSpec& schema,
              const Tensor& observation, const EncodeOptions& options = {});

}  // namespace hearth::agents
