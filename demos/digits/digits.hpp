// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A small convolutional network that learns to read handwritten digits on the GPU.

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

/// Images [n, 1, 8, 8] of f32 in [0, 1], and what they show, i32 [n].
struct Digits {
    HostTensor images;
    HostTensor labels;

    int64_t count() const { return images.shape().rank() == 0 ? 0 : images.shape()[0].count; }
    /// Those at these places.
    Digits pick(std::span<const int64_t> places) const;
};

struct DigitsData {
    Digits train, test;
};

/// Reads the 1,797 digits of scikit-learn (E. Alpaydin and C. Kaynak, 1998) from lines of a label
/// and 64 pixels of 0 to 16, with commas between; lines that begin with # are skipped.  The first
/// 1,437 are to learn from.  Errors: kNotFound, or kCorruptData naming the line.
Result<DigitsData> read_digits(const std::string& path);

/// x: [rows, 1, 8, 8] -> scores of the ten digits [rows, 10].
Tensor digits_net(Trace& trace, const Tensor& x, bool training, uint64_t seed);

struct DigitsOptions {
    uint64_t seed = 1;
    int64_t epochs = 8;
    int64_t batch = 64;
    double learning_rate = 4e-3;  ///< at first; it falls to zero along a cosine
    /// kF16: products read f16, and gradients come from a scaled loss.
    Precision precision = Precision::kF32;
    BindingModel binding_model = BindingModel::kDeviceAddress;
};

/// Trains and asks one network on one device.
class DigitsLearner {
  public:
    static Result<std::unique_ptr<DigitsLearner>> create(standalone::Device& device,
                                                         const DigitsOptions& options,
                                                         int64_t train_count);

    /// One pass over the data in an order that depends on seed and epoch.  Returns the mean loss.
    Result<double> learn_epoch(const Digits& data);
    /// The part of the digits that it reads right.
    Result<double> accuracy(const Digits& data);
    /// The same of a copy that keeps every matrix and filter in this format.
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
