// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Policies as distributions over the actions of a schema, and what networks see of its observations:
// graph code, for learners and for entries that a game traces itself.
//
// Actions are in *policy units*: choices as their index, numbers with -1 and 1 at the ends of their
// range (a normal distribution goes beyond).  game_action() gives what the game gets.

#pragma once

#include <hearth/agents/schema.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace hearth::agents {

/// Policy units -> the game's: numbers are cut off at -1 and 1, then mapped to their range.
/// action: [rows, action width] -> the same.
Tensor game_action(const AgentSchema& schema, const Tensor& action);
/// The inverse, for actions of a person: numbers are cut off at their range.
Tensor policy_action(const AgentSchema& schema, const Tensor& action);

/// How numbers are distributed.
enum class NumberKind : uint8_t {
    kNormal,      ///< diagonal normal; the density is that of the number before it is cut off
    kTanhNormal,  ///< tanh of a diagonal normal: within (-1, 1) (Haarnoja et al., 2018, appendix C)
};

/// A sample, and its log-density without the detour over the inverse of tanh.
struct ActionSample {
    Tensor action;           ///< [rows, action width]
    Tensor log_probability;  ///< [rows]
};

/// The joint distribution of all actions of a schema, which are independent of each other given the
/// head.  All results are differentiable where the head is; samples of numbers are, too
/// (reparameterized), samples of choices are not.
class ActionDistribution {
  public:
    /// head           [rows, head_width(schema)]: logits and means, in the schema's order
    /// mask           [rows, mask width], or empty where no choice is masked: above 0 where a choice
    ///                is there.  Where none is, all are.
    /// log_deviation  of numbers: [numbers] or [rows, numbers]; empty if there are none
    /// Errors, kept by the trace: other shapes.
    ActionDistribution(const AgentSchema& schema, const Tensor& head, const Tensor& mask,
                       const Tensor& log_deviation, NumberKind kind = NumberKind::kNormal);

    /// Logits of all choices and means of all numbers.
    static int64_t head_width(const AgentSchema& schema);
    /// How many numbers (not choices) an action has.
    static int64_t number_count(const AgentSchema& schema);

    /// counter: u32 [], a draw of the stream `key`, as random_uniform().
    ActionSample sample(const Tensor& counter, uint64_t key) const;
    /// The likeliest choices, and the means (for tanh: tanh of the means, the median).
    /// -> [rows, action width]
    Tensor mode() const;
    /// action: [rows, action width] -> [rows].  A choice that is masked has a probability of zero:
    /// about -1e8.  An index that is no choice counts as the nearest.
    Tensor log_probability(const Tensor& action) const;
    /// -> [rows].  For tanh by Gauss-Hermite quadrature with 16 nodes for each number.
    Tensor entropy() const;
    /// Kullback-Leibler divergence of `other`, of the same schema and kind, from this: [rows].
    Tensor kl(const ActionDistribution& other) const;

  private:
    struct Part {
        bool is_choice = false;
        std::string name;
        Tensor logits;               ///< of a choice, masked: [rows, choices]
        Tensor mean, log_deviation;  ///< of numbers: [rows, width], broadcasting to it
        int64_t width = 1;           ///< of the action
    };
    /// The log-determinant of tanh at u, summed over the last axis.
    static Tensor log_slope(const Tensor& u);
    std::vector<Part> parts_;
    NumberKind kind_;
};

// --- Observations ---

/// Running mean and variance of what networks see, [encoded width] each; empty: as they are.
struct Normalizer {
    Tensor mean, variance;
};

struct EncodeOptions {
    Normalizer normalizer;
    double limit = 10;          ///< of what a network sees
    int64_t set_features = 32;  ///< of each kind of element of sets
};

/// One observation without its sets, as numbers of about unit size: ranges mapped to [-1, 1],
/// indices one-hot, angles as sine and cosine, rotations as two columns of the matrix, directions
/// of length one.  What is not finite is zero; what is beyond 1e4 after mapping is cut off there.
/// frame: [rows, frame width] -> [rows, encoded width of all fields].
Tensor encode_frame(const AgentSchema& schema, const Tensor& frame);
/// For each number of encode_frame() whether it takes part in running normalization: f32 [width].
Tensor normalized_places(Trace& trace, const AgentSchema& schema);

/// encode_frame(), normalized where a field takes part: before it is limited.
Tensor normalized_frame(const AgentSchema& schema, const Tensor& frame,
                        const Normalizer& normalizer);

/// What a network sees: all frames of the stack encoded, normalized and limited; then each set,
/// of the newest frame, as mean and maximum over its elements of relu(linear(element)), with params
/// PREFIX.sets.NAME (Zaheer et al., "Deep Sets", 2017).
/// observation: [rows, observation width] -> [rows, feature width].
Tensor encode(Trace& trace, std::string_view prefix, const AgentSchema& schema,
              const Tensor& observation, const EncodeOptions& options = {});

}  // namespace hearth::agents
