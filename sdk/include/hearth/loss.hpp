// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Losses, and the loss terms of reinforcement learning.  All are graph code made of other
// operators; names and defaults are PyTorch's where it has the loss.  p: the prediction; t: the
// target, which is not detached: gradients flow through it, too.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <optional>

namespace hearth {

/// Reduction of the elements of a loss.
enum class Reduction {
    kMean,  ///< -> []; over the batch, divides by the batch size of the run
    kSum,   ///< -> []
    kNone,  ///< unreduced: one number per element, or per sample
};

// --- Regression.  prediction, target: [...], of one shape, or the target a scalar [] -> [...],
// reduced.  Other shapes are an error: they would broadcast ---

/// (p - t)^2
Tensor mse_loss(const Tensor& prediction, const Tensor& target,
                Reduction reduction = Reduction::kMean);
/// |p - t|
Tensor l1_loss(const Tensor& prediction, const Tensor& target,
               Reduction reduction = Reduction::kMean);
/// With d = p - t: d^2 / 2 where |d| <= delta, else delta * (|d| - delta / 2).
Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta = 1,
                  Reduction reduction = Reduction::kMean);
/// huber_loss with delta = beta, divided by beta; beta = 0 is l1_loss.
Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, double beta = 1,
                      Reduction reduction = Reduction::kMean);
/// (p - t)^2 / (p^2 + epsilon), with the divisor detached: for radiance, whose bright pixels would
/// otherwise dominate the dark ones (Lehtinen et al., "Noise2Noise", 2018, section 3.4).
Tensor relative_l2_loss(const Tensor& prediction, const Tensor& target, double epsilon = 1e-2,
                        Reduction reduction = Reduction::kMean);
/// e^p - t * p: negative log-likelihood of counts t with the rate e^p, without the constant term.
Tensor poisson_nll_loss(const Tensor& log_rate, const Tensor& target,
                        Reduction reduction = Reduction::kMean);
/// a . b / (max(|a|, epsilon) * max(|b|, epsilon)) along `axis`, which is dropped.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, int64_t axis = -1,
                         double epsilon = 1e-8);
/// 1 - cosine_similarity along the last axis.  prediction, target: [..., n] -> [...], reduced.
Tensor cosine_distance(const Tensor& prediction, const Tensor& target,
                       Reduction reduction = Reduction::kMean);

// --- Classification ---

struct CrossEntropyOptions {
    /// Label smoothing: this fraction of the target is spread evenly over all classes (Szegedy et
    /// al., 2016).
    double label_smoothing = 0;
    /// [classes], or empty: weight per class.
    Tensor weight = {};
    /// Samples with this label are ignored.
    std::optional<int64_t> ignore_index = {};
    Reduction reduction = Reduction::kMean;
};

/// -sum over c of t_c * w_c * log(softmax(logits)_c).  logits: [..., classes]; target: integers
/// [...], class labels, or floats [..., classes], probabilities t -> [...], reduced.  For labels
/// the mean divides by the sum of their weights (it is zero if that is zero), for probabilities by
/// the number of samples.
Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     const CrossEntropyOptions& options = {});
/// cross_entropy from log-probabilities [..., classes].
Tensor nll_loss(const Tensor& log_probs, const Tensor& target,
                const CrossEntropyOptions& options = {});
/// -t log(p) - (1 - t) log(1 - p).  As in PyTorch logarithms are at least -100, and the divisor
/// p (1 - p) of the gradient is at least 1e-12 (f16: 2^-14).  probability, target: [...], in [0, 1].
Tensor binary_cross_entropy(const Tensor& probability, const Tensor& target,
                            Reduction reduction = Reduction::kMean);
/// binary_cross_entropy of sigmoid(logits), without overflow.  Positive targets have the weight
/// `pos_weight`.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        Reduction reduction = Reduction::kMean,
                                        double pos_weight = 1);
/// sum over c of t_c * (log t_c - p_c), where 0 log 0 = 0.  log_prediction: log-probabilities p
/// [..., classes]; target: probabilities -> [...], reduced.  For inputs of two axes the mean is
/// PyTorch's "batchmean".
Tensor kl_div(const Tensor& log_prediction, const Tensor& target,
              Reduction reduction = Reduction::kMean);
/// max(0, margin - t * p) for labels t of -1 and 1.  score, target: [...].
Tensor hinge_loss(const Tensor& score, const Tensor& target, double margin = 1,
                  Reduction reduction = Reduction::kMean);

// --- Policies ---

/// log(softmax(logits)) of the action.  logits: [..., actions]; action: integers [...] -> [...].
/// For an action outside [0, actions) it is 0, without a gradient.
Tensor categorical_log_prob(const Tensor& logits, const Tensor& action);
/// -sum of q log q, q = softmax(logits): [..., actions] -> [...].
Tensor categorical_entropy(const Tensor& logits);
/// Log-density of independent normal distributions, summed over the last axis.  value, mean: [...,
/// n]; log_std: broadcasts to them -> [...].
Tensor normal_log_prob(const Tensor& value, const Tensor& mean, const Tensor& log_std);
/// sum over the last axis of log_std + log(2 pi e) / 2: [..., n] -> [...].
Tensor normal_entropy(const Tensor& log_std);

/// -min(r * A, clamp(r, 1 - clip, 1 + clip) * A), r = exp(log_prob - old_log_prob) (Schulman et
/// al., "Proximal Policy Optimization", 2017, equation 7).  All: [...].
Tensor ppo_clip_loss(const Tensor& log_prob, const Tensor& old_log_prob, const Tensor& advantage,
                     double clip = 0.2, Reduction reduction = Reduction::kMean);
/// As above, with a clip range that varies at run time, such as an input of the program: [].
Tensor ppo_clip_loss(const Tensor& log_prob, const Tensor& old_log_prob, const Tensor& advantage,
                     const Tensor& clip, Reduction reduction = Reduction::kMean);
/// Clipped value loss max((v - R)^2, (old + clamp(v - old, -clip, clip) - R)^2) / 2, which limits
/// how far one batch moves a value.  All: [...].
Tensor ppo_value_loss(const Tensor& value, const Tensor& old_value, const Tensor& returns,
                      double clip = 0.2, Reduction reduction = Reduction::kMean);
Tensor ppo_value_loss(const Tensor& value, const Tensor& old_value, const Tensor& returns,
                      const Tensor& clip, Reduction reduction = Reduction::kMean);

}  // namespace hearth
