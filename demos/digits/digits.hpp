// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A small convolutional network that learns on the GPU to read handwritten digits.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <standalone/program_runner.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace hearth::demo {

/// Images, f32 [n, 1, 8, 8] in [0, 1], and their labels, i32 [n].
struct Digits {
    HostTensor images;
    HostTensor labels;

    int64_t count() const { return images.shape().rank() == 0 ? 0 : images.shape()[0].count; }
    /// The digits at these indices.
    Digits pick(std::span<const int64_t> places) const;
};

struct DigitsData {
    Digits train, test;
};

/// Reads the 1,797 digits of scikit-learn (E. Alpaydin and C. Kaynak, 1998): per line a label and
/// 64 pixels from 0 to 16, separated by commas; lines that begin with # are skipped. The first
/// 1,437 are the training set.
/// Errors: kNotFound, or kCorruptData naming the line.
Result<DigitsData> read_digits(const std::string& path);

/// x: [batch, 1, 8, 8] -> logits of the ten digits [batch, 10].
Tensor digits_net(Trace& trace, const Tensor& x, bool training, uint64_t seed);

struct DigitsOptions {
    uint64_t seed = 1;
    int64_t epochs = 8;
    int64_t batch = 64;
    double learning_rate = 4e-3;  ///< initial; cosine annealing to zero
    /// kF16: matrix products read f16, and the loss is scaled.
    Precision precision = Precision::kF32;
    BindingModel binding_model = BindingModel::kDeviceAddress;
};

/// Trains and evaluates one network on one device.
class DigitsLearner {
  public:
    static Result<std::unique_ptr<DigitsLearner>> create(standalone::Device& device,
                                                         const DigitsOptions& options,
                                                         int64_t train_count);

    /// Trains for one epoch, in an order that depends on seed and epoch. Returns the mean loss.
    Result<double> learn_epoch(const Digits& data);
    /// Returns the fraction of correctly classified digits.
    Result<double> accuracy(const Digits& data);
    /// As above, for a copy with all matrices and filters quantized to this format.
    Result<double> accuracy(const Digits& data, WeightFormat format);

    int64_t epoch() const { return epoch_; }
    standalone::ProgramRunner& runner() { return *runner_; }

  private:
    standalone::Device* device_ = nullptr;
    DigitsOptions options_;
    std::unique_ptr<standalone::ProgramRunner> runner_;
    int64_t epoch_ = 0;
};

}  // namespace hearth::demo
