// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Supervised training: epochs of shuffled batches, metrics of a validation set, early stopping, the
// best weights, and a run log for `hearth watch`.
//
//     HEARTH_ASSIGN(Dataset all, load_dataset("digits.csv", {.targets = {"0"}, .labels = true}));
//     const auto [train, validation] = split(all, 0.2);
//     const auto net = [](Trace& trace, const Tensor& x, bool) {
//         return nn::mlp(trace, "net", x, {64, 10}, relu);
//     };
//     HEARTH_ASSIGN(const std::unique_ptr<Executor> cpu, cpu::make_executor());
//     HEARTH_ASSIGN(SupervisedModel model, SupervisedModel::trace(*cpu, net, train));
//     HEARTH_ASSIGN(const FitResult result, fit(model, train, {.validation = &validation,
//                                                              .patience = 10}));

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/dataset.hpp>
#include <hearth/executor.hpp>
#include <hearth/optim.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Losses (loss.hpp), means over the batch.
enum class Loss : uint8_t { kMse, kL1, kHuber, kCrossEntropy };

/// "mse", "l1", "huber", "cross_entropy".
std::string_view name_of(Loss loss);
/// Errors: kNotFound listing the names.
Result<Loss> loss_named(std::string_view name);

struct TrainingStep {
    Loss loss = Loss::kCrossEntropy;
    Optimizer optimizer = {};
    double max_grad_norm = 0;  ///< limit of the norm of all gradients together; 0: none
};

/// Appends a step of training to the trace: inputs "target" (i32 [batch, ...], the prediction without
/// its last axis, for cross entropy; else like the prediction) and "learning_rate" [], output "loss"
/// [].  A step whose gradients are not finite changes nothing.
/// Errors, kept by the trace: those of update() (optim.hpp), and of a prediction without classes.
void trace_training_step(Trace& trace, const Tensor& prediction, const TrainingStep& step);

/// A network's graph: x [batch, ...] -> the prediction [batch, ...]; for cross entropy logits [batch,
/// classes].  training: false in the entry that predicts.
using SupervisedNetwork = std::function<Tensor(Trace& trace, const Tensor& x, bool training)>;

/// A network on an executor, which must outlive it, with an entry that predicts and the entry "learn"
/// of trace_training_step().  One thread at a time.
class SupervisedModel {
  public:
    /// Traces a network for samples like those of `data` and loads its entries "main" (x -> y) and
    /// "learn".  max_batch_size: of a batch of fit(), and of predict()'s parts.
    /// Errors: the first of the network; those of Executor::load().
    static Result<SupervisedModel> trace(Executor& executor, const SupervisedNetwork& network,
                                         const Dataset& data, const TrainingStep& step = {},
                                         int64_t max_batch_size = 256);
    /// Loads entries that were made elsewhere: the first that is not "learn" predicts.
    /// Errors: kInvalidArgument if "learn" is missing or is no step of training of a network with one
    /// input; those of Executor::load().
    static Result<SupervisedModel> load(Executor& executor, std::vector<Graph> entries,
                                        int64_t max_batch_size);

    /// Returns predictions, f32 [n, ...], for inputs [n, ...] of any n.
    Result<HostTensor> predict(const HostTensor& inputs);
    /// All params and states.
    Result<NamedTensors> read_weights();
    /// Errors: kNotFound naming a variable that the model lacks; those of Executor::write().
    Status write_weights(const NamedTensors& weights);

    /// Shape of the prediction, with kBatch as the first extent.
    const Shape& output_shape() const { return output_shape_; }
    bool learns_labels() const { return learns_labels_; }
    int64_t max_batch_size() const { return max_batch_size_; }

  private:
    friend class Fitting;
    explicit SupervisedModel(Executor& executor) : executor_(&executor) {}
    Status check(const Dataset& data) const;

    Executor* executor_;
    std::string entry_, input_, output_;
    Shape input_shape_, output_shape_;
    bool learns_labels_ = false;
    int64_t max_batch_size_ = 1;
    std::vector<std::string> variables_;
};

/// Values of metrics by name.  For labels "loss", "accuracy" and "f1" (the mean of the classes'; 0 for
/// a class that is neither predicted nor there); for numbers "loss", "mae" and "r2" (1 - the residual
/// variance's share, over all targets together).
struct Scores {
    std::map<std::string, double, std::less<>> values = {};
    /// Of labels: [target * classes + prediction], numbers of samples.
    std::vector<int64_t> confusion = {};
};

/// predictions: [n, ...], as of SupervisedModel::predict() of data.inputs.
/// Errors: kInvalidArgument for predictions of another shape.
Result<Scores> score(const HostTensor& predictions, const Dataset& data, Loss loss);

struct Epoch {
    int64_t number = 0;  ///< from 1
    double train_loss =
        0;  ///< mean over the epoch's samples, each before the step that it is part of
    Scores validation = {};
};

struct FitOptions {
    Loss loss = Loss::kCrossEntropy;  ///< that of the training step
    int64_t epochs = 10;              ///< 0: only scores the validation set
    int64_t batch_size = 32;
    double learning_rate = 1e-3;
    uint64_t seed = 0;  ///< of the order of samples
    const Dataset* validation = nullptr;
    /// Metric of the validation set by which weights are best; without one, the training loss.
    std::string monitor = "loss";
    /// Metrics of the validation set that are kept in history and log, beside the loss and the
    /// monitor; empty: all.
    std::vector<std::string> metrics = {};
    int64_t patience = 0;  ///< epochs without a better value after which training stops; 0: never
    double min_delta = 0;  ///< smaller improvements are none
    std::string checkpoint = {};  ///< .safetensors file of the best weights so far
    /// Run log that is appended to; request_run() on it pauses and stops training.
    std::string log = {};
    std::string program = "fit";  ///< name in the log
    /// Called after each epoch; false stops training.
    std::function<bool(const Epoch& epoch)> on_epoch = {};
};

enum class FitEnd : uint8_t { kEpochs, kPatience, kCallback, kStopRequest };

struct FitResult {
    std::vector<Epoch> history = {};
    int64_t best_epoch = 0;  ///< 0: none was better than not a number
    Scores best = {};        ///< of the validation set, with the weights that the model has now
    FitEnd end = FitEnd::kEpochs;
};

/// Trains the model and leaves it with the weights of its best epoch.  Equal arguments give equal
/// weights on one executor.  A stop request ends the epoch after the batch in which it is seen.
/// Errors: kInvalidArgument for data that the model cannot take (shapes, labels out of range, naming
/// the sample), a metric that there is not, options out of range, and a training loss that is not
/// finite, naming the epoch; those of the executor and of files.
Result<FitResult> fit(SupervisedModel& model, const Dataset& data, const FitOptions& options = {});

}  // namespace hearth
