// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Optimizers: graph code that assigns params and keeps its own state in states.
//
//     const Tensor loss = mse_loss(net(x), target);
//     minimize(loss, trace.params(), AdamOptions{.learning_rate = 1e-3});

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// A number fixed when the program is compiled, or a scalar of the trace, such as an input [] that
/// the application binds or a schedule, which can change from frame to frame.
class ScalarOrTensor {
  public:
    ScalarOrTensor(double value) : value_(value) {}
    ScalarOrTensor(const Tensor& value) : tensor_(value) {}
    /// The value as a tensor of x's element type, to multiply `x` with.
    Tensor as_tensor(const Tensor& x) const;
    /// True if it is this constant.
    bool is_always(double value) const { return !tensor_ && value_ == value; }

  private:
    double value_ = 0;
    std::optional<Tensor> tensor_;
};

// --- Update rules ---
//
// States are named after the param that they belong to; a param is updated by one rule in one
// entry.  Parameter groups with hyperparameters of their own are separate calls, each with its
// params (nn.hpp selects them by name); rules that count steps then need a `name` each.

/// Stochastic gradient descent with momentum (Sutskever et al., 2013), as PyTorch's SGD.
struct SgdOptions {
    ScalarOrTensor learning_rate = 1e-2;
    double momentum = 0;
    bool nesterov = false;
    double weight_decay = 0;  ///< adds weight_decay * param to the gradient
};

/// Adam (Kingma and Ba, 2015, with bias correction), as PyTorch's Adam.  With weight decay it is
/// AdamW (Loshchilov and Hutter, 2019): params shrink by learning_rate * weight_decay, decoupled
/// from the moments.
struct AdamOptions {
    ScalarOrTensor learning_rate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0;
    /// Name of the states that all params share.  Params updated by another call, or in another
    /// entry, count their own steps and need another name.
    std::string name = "adam";
};

/// AdaGrad (Duchi, Hazan and Singer, 2011), as PyTorch's Adagrad.
struct AdagradOptions {
    ScalarOrTensor learning_rate = 1e-2;
    double epsilon = 1e-10;
    double weight_decay = 0;  ///< adds weight_decay * param to the gradient
};

/// RMSProp (Tieleman and Hinton, 2012), as PyTorch's RMSprop.
struct RmspropOptions {
    ScalarOrTensor learning_rate = 1e-2;
    double decay = 0.99;  ///< of the running mean square
    double epsilon = 1e-8;
    double momentum = 0;
    bool centered = false;    ///< divides by the running std, not by the root mean square
    double weight_decay = 0;  ///< adds weight_decay * param to the gradient
};

/// Lion (Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023, program 1): the step
/// has the same size in every coordinate.  Weight decay is decoupled from the step, as in AdamW.
struct LionOptions {
    ScalarOrTensor learning_rate = 1e-4;
    double beta1 = 0.9;
    double beta2 = 0.99;
    double weight_decay = 0;
};

/// Adan (Xie et al., "Adan: Adaptive Nesterov Momentum Algorithm", 2022, algorithm 1), with the
/// authors' bias corrections.  The betas weight the previous average: 1 minus those of the paper.
struct AdanOptions {
    ScalarOrTensor learning_rate = 1e-3;
    double beta1 = 0.98;
    double beta2 = 0.92;
    double beta3 = 0.99;
    double epsilon = 1e-8;
    double weight_decay = 0;
    std::string name = "adan";  ///< as AdamOptions::name
};

/// Muon (Jordan et al., 2024): momentum whose matrices are orthogonalized by `iterations` steps of
/// a quintic Newton-Schulz iteration.  For weights of two or more axes ([out, in...]; further axes
/// count as `in`); use another rule for biases, embeddings and heads.
struct MuonOptions {
    ScalarOrTensor learning_rate = 2e-2;
    double momentum = 0.95;
    bool nesterov = true;
    int iterations = 5;
    double weight_decay = 0;  ///< params shrink by learning_rate * weight_decay
};

/// Assigns each param its next value.  gradients: one for each param, of its type and shape.
/// States: "PARAM.momentum" [as the param], if momentum is not zero.
void sgd(std::span<const Tensor> params, std::span<const Tensor> gradients,
         const SgdOptions& options = {});

/// States: "PARAM.m" and "PARAM.v" [as the param], and "NAME.correction1" and "NAME.correction2"
/// []: the bias corrections 1 - beta^steps.
void adam(std::span<const Tensor> params, std::span<const Tensor> gradients,
          const AdamOptions& options = {});

/// States: "PARAM.squares".
void adagrad(std::span<const Tensor> params, std::span<const Tensor> gradients,
             const AdagradOptions& options = {});

/// States: "PARAM.v", "PARAM.mean" if centered, "PARAM.momentum" if momentum is not zero.
void rmsprop(std::span<const Tensor> params, std::span<const Tensor> gradients,
             const RmspropOptions& options = {});

/// States: "PARAM.m".
void lion(std::span<const Tensor> params, std::span<const Tensor> gradients,
          const LionOptions& options = {});

/// States: "PARAM.m", "PARAM.d", "PARAM.v" and "PARAM.previous" (the last gradient), and
/// "NAME.correction1" to "NAME.correction3".
void adan(std::span<const Tensor> params, std::span<const Tensor> gradients,
          const AdanOptions& options = {});

/// States: "PARAM.momentum".  Errors: a param with fewer than two axes.
void muon(std::span<const Tensor> params, std::span<const Tensor> gradients,
          const MuonOptions& options = {});

/// Differentiates `loss` and applies an optimizer to `params`.  Returns the gradients.
/// Errors, kept by the trace: those of grad(); no params, for example because a prefix is misspelt.
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const SgdOptions& options);
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const AdamOptions& options);
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const AdagradOptions& options);
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const RmspropOptions& options);
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const LionOptions& options);
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const AdanOptions& options);
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const MuonOptions& options);
/// Of `trace.params()`: all params, whether or not `loss` is evaluated first.
template <class Options>
std::vector<Tensor> minimize(const Tensor& loss, ParamList&& params, const Options& options) {
    const ParamList current = params.current(loss);
    return minimize(loss, std::span<const Tensor>(current), options);
}

// --- Update rules by name ---

/// A hyperparameter of an update rule, beside the learning rate.
struct OptimizerOption {
    std::string_view name = {};
    double default_value = 0;
    double low = 0, high = 1;  ///< the range that it may have, ends included
};

/// An update rule and its hyperparameters, by name; those that are absent have their defaults.
struct Optimizer {
    std::string name = "adam";
    std::map<std::string, double> options = {};  ///< as OptimizerDef::options names them
};

/// The record that defines an update rule: tools, Python and hearth/fit.hpp take rules from here.
struct OptimizerDef {
    std::string_view name = {};
    std::string_view summary = {};
    double learning_rate = 1e-3;  ///< default
    std::vector<OptimizerOption> options = {};
    /// values: one for each option.
    void (*update)(std::span<const Tensor> params, std::span<const Tensor> gradients,
                   const ScalarOrTensor& learning_rate, std::span<const double> values) = nullptr;
};

/// sgd, adam, adagrad, rmsprop, lion, adan, muon.
std::span<const OptimizerDef> optimizers();
/// Errors: kNotFound listing the names.
Result<const OptimizerDef*> optimizer_named(std::string_view name);
/// Errors: kNotFound for a rule or an option that does not exist, listing those that do;
/// kOutOfRange for a value beyond its range, or NaN.
Status check_optimizer(const Optimizer& optimizer);

/// Assigns each param its next value, as the rule's function does.
/// Errors, kept by the trace of the params: those of check_optimizer() and of the rule.
void update(const Optimizer& optimizer, std::span<const Tensor> params,
            std::span<const Tensor> gradients, const ScalarOrTensor& learning_rate);

// --- Gradient clipping ---

/// Clamps each element to [-limit, limit].
std::vector<Tensor> clip_by_value(std::span<const Tensor> gradients, double limit);
/// Scales down each gradient on its own so that its Euclidean norm is at most `max_norm`.
std::vector<Tensor> clip_by_norm(std::span<const Tensor> gradients, double max_norm);
/// Scales down all gradients together so that their global norm is at most `max_norm`.
std::vector<Tensor> clip_by_global_norm(std::span<const Tensor> gradients, double max_norm);
/// The Euclidean norm of all elements of all gradients -> [].
Tensor global_norm(std::span<const Tensor> gradients);

// --- Conditional updates ---

/// True if no element of the tensors is infinite or NaN: bool [].  Floating-point tensors; one
/// reduction each, without waiting on the host side.
/// Errors, kept by their trace: no tensors, or only empty ones.
Tensor all_finite(std::span<const Tensor> tensors);
Tensor all_finite(std::initializer_list<Tensor> tensors);

/// Applies updates only if a condition holds: a finite loss, a KL within bounds, "learning is on".
///
///     ConditionalUpdate guard(trace);
///     const std::vector<Tensor> gradients = minimize(loss, trace.params(), AdamOptions{});
///     guard.commit_if(logical_and(all_finite(gradients), less(kl, 0.03)));
///
/// Everything assigned between the construction and commit_if() (params, moments, step counts,
/// rows) keeps its bits if the condition is false, even if the new values are NaN.  The cost is a
/// select in the kernels that write the updates, not a dispatch.  Guards may be nested, and follow
/// each other.
class ConditionalUpdate {
  public:
    explicit ConditionalUpdate(Trace& trace);
    /// condition: bool [].  Call it once, after the last update.  Nodes that read the new value of
    /// an update are redirected to the guarded value, except those that the condition depends on.
    /// Errors, kept by the trace: another shape or type, a tensor of another trace, a second call.
    void commit_if(const Tensor& condition);

  private:
    Trace* trace_;
    size_t first_update_;  ///< index of the first guarded update
    bool is_done_ = false;
};

// --- Loss scaling: for Precision::kF16 (compile.hpp) ---

/// Defaults as PyTorch's GradScaler; the bounds as in NVIDIA Apex.
struct GradScalerOptions {
    double init_scale = 65536;
    double growth = 2;
    double backoff = 0.5;
    int64_t growth_interval = 2000;  ///< consecutive steps with finite gradients
    double min_scale = 1;
    double max_scale = 16777216;
    /// Names the states: "NAME" is the scale, "NAME.good_steps" counts towards growth, and
    /// "NAME.skipped_steps" is the total number of skipped steps.
    std::string name = "loss_scale";
};

/// Dynamic loss scaling (Micikevicius et al., "Mixed Precision Training", 2018; the automatic
/// variant of NVIDIA's "Train With Mixed Precision" guide).  Scaling the loss by a large number
/// keeps its gradients from underflowing in f16.  If a gradient overflows, the step is skipped:
/// every param and state assigned between the construction and update() keeps its bits, and the
/// scale is reduced; after growth_interval steps without an overflow it grows.
///
///     GradScaler scaler(trace);
///     const Tensor loss = mse_loss(net(x), target);
///     adam(params, clip_by_global_norm(scaler.grad(loss, params), 1), {});
///     scaler.update();
class GradScaler {
  public:
    /// Errors, kept by the trace: options out of their ranges.
    explicit GradScaler(Trace& trace, const GradScalerOptions& options = {});

    /// The gradients of `loss`, unscaled again, differentiated through loss * scale.  Several
    /// losses may share one scale.
    std::vector<Tensor> grad(const Tensor& loss, std::span<const Tensor> params);
    std::vector<Tensor> grad(const Tensor& loss, ParamList&& params);
    /// Call it last, once.  Returns true if all gradients are finite: bool [].
    /// Errors, kept by the trace: no grad() before, or only of params without elements.
    Tensor update();

    /// The scale of this run: f32 [].
    const Tensor& scale() const { return scale_; }

  private:
    void adjust_scale(const Tensor& is_finite);

    Trace* trace_;
    GradScalerOptions options_;
    ConditionalUpdate guard_;
    Tensor scale_;
    std::vector<Tensor> largest_;  ///< largest magnitude per gradient, [1] each
};

// --- Schedules: learning rates as functions of the step count ---
//
//     const ScalarOrTensor rate = with_schedule(
//         trace, schedules::sequential({{100, schedules::linear(0, 1e-3, 100)},
//                                       {900, schedules::cosine_annealing(1e-3, 900)}}));
//     minimize(loss, trace.params(), AdamOptions{.learning_rate = rate});
//
// The count is a state of the program, so a replayed recording follows its schedule.

/// step: u32 [] -> f32 [].
using Schedule = std::function<Tensor(const Tensor& step)>;

/// The schedule evaluated at the global_step() of this name.
ScalarOrTensor with_schedule(Trace& trace, const Schedule& schedule,
                             std::string_view name = "steps");

namespace schedules {

Schedule constant(double rate);
/// rate * factor ^ floor(step / every).
Schedule step_lr(double rate, int64_t every, double factor);
/// Linear from `first` to `last` in `steps` steps; `last` from then on.
Schedule linear(double first, double last, int64_t steps);
/// rate * factor ^ step.
Schedule exponential(double rate, double factor);
/// Cosine annealing: last + (first - last) / 2 * (1 + cos(pi * step / steps)); `last` from `steps`
/// on (Loshchilov and Hutter, 2017).
Schedule cosine_annealing(double first, int64_t steps, double last = 0);
/// scale / sqrt(width) * min(1 / sqrt(n), n / warmup^1.5) for n = step + 1 (Vaswani et al., 2017).
Schedule noam(int64_t width, int64_t warmup, double scale = 1);

struct Segment {
    int64_t steps;
    Schedule schedule = {};
};
/// Schedules in sequence, each for its number of steps and counted from its own start; the last one
/// continues indefinitely.
Schedule sequential(std::vector<Segment> segments);
/// The product of two schedules.
Schedule multiplied(Schedule a, Schedule b);

}  // namespace schedules

// --- Exponential moving averages of weights ---

/// Keeps moving averages of params that this trace updates: "PARAM.average" <- decay * average + (1
/// - decay) * the param's next value, starting at the param's initial value.  Call it after the
/// update rule.  Errors: a param without an update in this trace.
void update_ema(std::span<const Tensor> params, double decay = 0.999);
/// Makes a finished trace read the averages in place of its params, or only of those under
/// `prefix`: for an entry that acts by the averages while another entry learns.  Call it last.
/// Errors, kept by the trace: no param under the prefix.
void use_ema(Trace& trace, std::string_view prefix = {});

/// Polyak update of target networks: moves each state under `prefix` towards its original, state <-
/// (1 - rate) * state + rate * original, with the original's next value if this trace updates it,
/// otherwise its present one.  `prefix` and `original` as in Trace::target_copy().  A rate of 1
/// copies.
/// Errors, kept by the trace: no state under the prefix, one without an original in this trace.
void polyak_update(Trace& trace, std::string_view prefix, std::string_view original,
                   const ScalarOrTensor& rate);

}  // namespace hearth
