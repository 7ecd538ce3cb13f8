// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Traces, trains and evaluates the digits network, and reads the data set.

#include "digits.hpp"

#include <hearth/file.hpp>
#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>
#include <hearth/weights.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <vector>

namespace hearth::demo {

namespace {

constexpr int64_t kPixels = 64, kTrainCount = 1437;
constexpr int64_t kMostAsked = 360;  ///< batch size of one evaluation recording

/// Parses the comma-separated integers of a line; stops early at anything else.
std::vector<int> numbers_of(const std::string& line) {
    std::vector<int> numbers;
    const char *at = line.data(), *end = at + line.size();
    while (at < end) {
        int number = 0;
        const auto [next, error] = std::from_chars(at, end, number);
        if (error != std::errc()) break;
        numbers.push_back(number);
        at = next < end && *next == ',' ? next + 1 : end;
    }
    return numbers;
}

}  // namespace

Digits Digits::pick(std::span<const int64_t> places) const {
    const auto n = static_cast<int64_t>(places.size());
    Digits picked{HostTensor(DType::kF32, {n, 1, 8, 8}), HostTensor(DType::kI32, {n})};
    for (int64_t i = 0; i < n; ++i) {
        const int64_t from = places[static_cast<size_t>(i)];
        picked.labels.set(i, labels.get(from));
        for (int64_t p = 0; p < kPixels; ++p)
            picked.images.set(i * kPixels + p, images.get(from * kPixels + p));
    }
    return picked;
}

Result<DigitsData> read_digits(const std::string& path) {
    constexpr uint64_t kMostBytes = uint64_t{64} << 20;  // scikit-learn's file has 260 KB
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path, kMostBytes));
    std::istringstream file(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    std::vector<double> pixels, labels;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        if (line.empty() || line[0] == '#') continue;
        const std::vector<int> numbers = numbers_of(line);
        const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
        if (numbers.size() != 1 + kPixels || *low < 0 || *high > 16 || numbers[0] > 9)
            return corrupt_data(path + ":" + std::to_string(number) +
                                ": expected a digit and 64 numbers from 0 to 16");
        labels.push_back(numbers[0]);
        for (size_t p = 1; p < numbers.size(); ++p) pixels.push_back(numbers[p] / 16.0);
    }
    const auto count = static_cast<int64_t>(labels.size());
    if (count <= kTrainCount)
        return corrupt_data(path + ": " + std::to_string(count) + " digits leave none to test");
    const Digits all{HostTensor::of({count, 1, 8, 8}, pixels),
                     HostTensor::of({count}, labels, DType::kI32)};
    std::vector<int64_t> places(static_cast<size_t>(count));
    std::iota(places.begin(), places.end(), 0);
    return DigitsData{all.pick(std::span(places).first(kTrainCount)),
                      all.pick(std::span(places).subspan(kTrainCount))};
}

Tensor digits_net(Trace& trace, const Tensor& x, bool training, uint64_t seed) {
    const nn::ConvLayerOptions conv{.window = {.pad_begin = {1}}, .seed = seed};
    const nn::LinearOptions linear{.seed = seed};
    Tensor y = nn::conv2d(trace, "conv1", x, 16, {3}, conv);
    y = relu(nn::batch_norm(trace, "bn", y, {.training = training}));
    y = nn::conv2d(trace, "conv2", max_pool(y, {2}), 32, {3}, conv);
    y = flatten(max_pool(gelu(y), {2}), 1);
    y = relu(nn::linear(trace, "fc1", y, 64, linear));
    return nn::linear(trace, "fc2", y, 10, linear);
}

namespace {

const Shape kImage{kBatch, 1, 8, 8};

void build_reader(Trace& trace, const DigitsOptions& options) {
    trace.output("scores", digits_net(trace, trace.input("image", kImage), false, options.seed));
}

CompileOptions compile_options(const DeviceCaps& caps, const DigitsOptions& options) {
    return {.caps = caps,
            .binding_model = options.binding_model,
            .max_batch_size = static_cast<uint64_t>(std::max(kMostAsked, options.batch)),
            .precision = options.precision};
}

Result<Compiled> compile_digits(const DeviceCaps& caps, const DigitsOptions& options,
                                int64_t steps) {
    Trace read("read");
    build_reader(read, options);

    Trace learn("learn");
    std::optional<GradScaler> scale;  // gradients may underflow in f16
    if (options.precision == Precision::kF16) scale.emplace(learn);
    const Tensor scores = digits_net(learn, learn.input("image", kImage), true, options.seed);
    const Tensor loss = cross_entropy(scores, learn.input("digit", {kBatch}, DType::kI32));
    const ScalarOrTensor rate =
        with_schedule(learn, schedules::cosine_annealing(options.learning_rate, steps));
    const std::vector<Tensor> params = learn.params();
    adam(params, scale ? scale->grad(loss, params) : grad(loss, params), {.learning_rate = rate});
    if (scale) scale->update();
    learn.output("loss", loss);
    return compile({&read, &learn}, compile_options(caps, options));
}

/// A permutation that depends only on its arguments (std::shuffle may differ between libraries).
std::vector<int64_t> shuffled(int64_t count, uint64_t seed, int64_t epoch) {
    std::vector<int64_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::mt19937_64 random(seed * 1000003 + static_cast<uint64_t>(epoch));
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    return order;
}

}  // namespace

Result<std::unique_ptr<DigitsLearner>> DigitsLearner::create(standalone::Device& device,
                                                             const DigitsOptions& options,
                                                             int64_t train_count) {
    HEARTH_ASSIGN(const DeviceCaps caps, device.caps());
    const int64_t steps = options.epochs * ((train_count + options.batch - 1) / options.batch);
    HEARTH_ASSIGN(const Compiled compiled, compile_digits(caps, options, steps));
    auto learner = std::make_unique<DigitsLearner>();
    learner->device_ = &device;
    learner->options_ = options;
    HEARTH_ASSIGN(learner->runner_, standalone::ProgramRunner::create(device, compiled.bytes));
    return learner;
}

Result<double> DigitsLearner::learn_epoch(const Digits& data) {
    const std::vector<int64_t> order = shuffled(data.count(), options_.seed, epoch_++);
    double total = 0;
    for (int64_t begin = 0; begin < data.count(); begin += options_.batch) {
        const int64_t rows = std::min(options_.batch, data.count() - begin);
        const Digits batch = data.pick(
            std::span(order).subspan(static_cast<size_t>(begin), static_cast<size_t>(rows)));
        HEARTH_ASSIGN(
            const NamedTensors outputs,
            runner_->run("learn", rows, {{"image", batch.images}, {"digit", batch.labels}}));
        total += outputs.at("loss").get(0) * static_cast<double>(rows);
    }
    return total / static_cast<double>(data.count());
}

namespace {

Result<double> accuracy_of(standalone::ProgramRunner& reader, const Digits& data) {
    int64_t right = 0;
    for (int64_t begin = 0; begin < data.count(); begin += kMostAsked) {
        const int64_t rows = std::min(kMostAsked, data.count() - begin);
        std::vector<int64_t> places(static_cast<size_t>(rows));
        std::iota(places.begin(), places.end(), begin);
        const Digits some = data.pick(places);
        HEARTH_ASSIGN(const NamedTensors outputs,
                      reader.run("read", rows, {{"image", some.images}}));
        const std::span<const float> scores = outputs.at("scores").as<float>();
        for (int64_t i = 0; i < rows; ++i) {
            const auto row = scores.subspan(static_cast<size_t>(i * 10), 10);
            const auto best = std::max_element(row.begin(), row.end()) - row.begin();
            right += best == some.labels.get_int(i);
        }
    }
    return static_cast<double>(right) / static_cast<double>(data.count());
}

}  // namespace

Result<double> DigitsLearner::accuracy(const Digits& data) {
    return accuracy_of(*runner_, data);
}

Result<double> DigitsLearner::accuracy(const Digits& data, WeightFormat format) {
    HEARTH_ASSIGN(const NamedTensors learned, runner_->read_variables());
    HEARTH_ASSIGN(const DeviceCaps caps, device_->caps());
    Trace read("read");
    build_reader(read, options_);
    // Training-only parameters are left out.
    HEARTH_TRY(load_weights(learned, read, {.strict = false}).status());
    CompileOptions options = compile_options(caps, options_);
    options.quantize = {.format = format, .min_elements = 1};
    HEARTH_ASSIGN(const Compiled compiled, compile({&read}, options));
    HEARTH_ASSIGN(const auto reader, standalone::ProgramRunner::create(*device_, compiled.bytes));
    return accuracy_of(*reader, data);
}

}  // namespace hearth::demo
