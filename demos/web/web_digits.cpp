// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Trains the brain that the page starts with, and continues training one that the page has saved,
// as C or on a Vulkan device.
//
//     web_digits train DIGITS.csv BRAIN DIGITS.bin
//     web_digits learn c|gpu DIGITS.bin STEPS BRAIN    prints the loss of each step
//
// DIGITS.bin has 65 bytes per digit, a label and 64 pixels from 0 to 16. `learn` reads and writes
// BRAIN.

#include "digits.h"  // cooked for this CPU
#include "digits.hpp"
#include "nets.hpp"

#include <hearth/file.hpp>

#include <programs/streams.hpp>
#include <standalone/device.hpp>
#include <standalone/program_runner.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <string_view>

using namespace hearth;

namespace {

constexpr int64_t kRowsOfStep = 32;
constexpr float kRate = 1e-3f;
using Bytes = std::vector<std::byte>;

/// Continues training a brain.
class Learner {
  public:
    virtual ~Learner() = default;
    virtual Status load(std::span<const std::byte> brain) = 0;
    virtual Result<Bytes> save() = 0;
    virtual Result<double> learn(const demo::Digits& batch, float rate) = 0;
};

class LearnerInC final : public Learner {
  public:
    Status begin() { return status_of(digits_init(&memory_, &error_)); }
    Status load(std::span<const std::byte> brain) override {
        return status_of(digits_load(&memory_, brain.data(), brain.size(), &error_));
    }
    Result<Bytes> save() override {
        Bytes brain(DIGITS_BRAIN_BYTES);
        HEARTH_TRY(status_of(digits_save(&memory_, brain.data(), brain.size(), &error_)));
        return brain;
    }
    Result<double> learn(const demo::Digits& batch, float rate) override {
        float loss = 0;
        const digits_learn_tensors tensors = {.image = batch.images.as<float>().data(),
                                              .digit = batch.labels.as<int32_t>().data(),
                                              .rate = &rate,
                                              .loss = &loss};
        HEARTH_TRY(status_of(
            digits_learn(&memory_, &tensors, static_cast<uint32_t>(batch.count()), &error_)));
        return static_cast<double>(loss);
    }
    /// Returns the fraction of correctly classified digits.
    Result<double> accuracy(const demo::Digits& digits) {
        int64_t right = 0;
        for (int64_t first = 0; first < digits.count(); first += DIGITS_ROWS) {
            const auto rows = std::min<int64_t>(DIGITS_ROWS, digits.count() - first);
            float scores[DIGITS_ROWS * 10];
            const digits_read_tensors tensors = {
                .image = digits.images.as<float>().data() + first * 64, .scores = scores};
            HEARTH_TRY(
                status_of(digits_read(&memory_, &tensors, static_cast<uint32_t>(rows), &error_)));
            for (int64_t i = 0; i < rows; ++i) {
                const float* row = scores + i * 10;
                right += std::max_element(row, row + 10) - row == digits.labels.get_int(first + i);
            }
        }
        return static_cast<double>(right) / static_cast<double>(digits.count());
    }

  private:
    Status status_of(hearth_c_result result) const {
        return result == HEARTH_C_OK ? Status() : invalid_argument(error_.text);
    }

    alignas(DIGITS_ALIGNMENT) unsigned char weights_[DIGITS_WEIGHTS_BYTES]{};
    alignas(DIGITS_ALIGNMENT) unsigned char arena_[DIGITS_ARENA_BYTES]{};
    hearth_c_memory memory_ = {weights_,      sizeof weights_, arena_,
                               sizeof arena_, digits_cooked,   DIGITS_COOKED_BYTES};
    hearth_c_error error_{};
};

class LearnerOnGpu final : public Learner {
  public:
    Status begin() {
        HEARTH_ASSIGN(instance_, standalone::Instance::create());
        HEARTH_ASSIGN(device_, standalone::Device::create(*instance_, {}));
        CompileOptions options;
        HEARTH_ASSIGN(options.caps, device_->caps());
        options.max_batch_size = web::kDigitsRows;
        const auto traces = web::trace_digits();
        HEARTH_ASSIGN(const Compiled compiled,
                      compile({traces[0].get(), traces[1].get()}, options));
        HEARTH_ASSIGN(runner_, standalone::ProgramRunner::create(*device_, compiled.bytes));
        return {};
    }
    Status load(std::span<const std::byte> brain) override {
        return runner_->submit([&](VkCommandBuffer commands) {
            return runner_->session().record_load_brain(commands, brain);
        });
    }
    Result<Bytes> save() override {
        std::optional<hearth_readback> id;
        HEARTH_TRY(runner_->submit([&](VkCommandBuffer commands) -> Status {
            HEARTH_ASSIGN(id, runner_->session().record_save_brain(commands));
            return {};
        }));
        HEARTH_TRY(runner_->begin_frame());
        HEARTH_ASSIGN(const auto data, runner_->session().poll(*id));
        if (!data) return internal_error("the snapshot has not arrived");
        Result<Bytes> brain = runner_->program().serialize_brain(data->bytes);
        runner_->session().release(*id);
        return brain;
    }
    Result<double> learn(const demo::Digits& batch, float rate) override {
        HostTensor rates(DType::kF32, {});
        rates.set(0, static_cast<double>(rate));
        HEARTH_ASSIGN(
            const NamedTensors outputs,
            runner_->run("learn", batch.count(),
                         {{"image", batch.images}, {"digit", batch.labels}, {"rate", rates}}));
        return outputs.at("loss").get(0);
    }

  private:
    std::unique_ptr<standalone::Instance> instance_;
    std::unique_ptr<standalone::Device> device_;
    std::unique_ptr<standalone::ProgramRunner> runner_;
};

Bytes packed(const demo::DigitsData& data) {
    Bytes bytes;
    for (const demo::Digits* digits : {&data.train, &data.test})
        for (int64_t i = 0; i < digits->count(); ++i) {
            bytes.push_back(static_cast<std::byte>(digits->labels.get_int(i)));
            for (int64_t p = 0; p < 64; ++p)
                bytes.push_back(
                    static_cast<std::byte>(std::lround(16 * digits->images.get(i * 64 + p))));
        }
    return bytes;
}

Result<demo::Digits> unpacked(const std::string& path) {
    HEARTH_ASSIGN(const Bytes bytes, read_whole_file(path, 1 << 20));
    const auto count = static_cast<int64_t>(bytes.size() / 65);
    demo::Digits digits{HostTensor(DType::kF32, {Dim(count), 1, 8, 8}),
                        HostTensor(DType::kI32, {Dim(count)})};
    for (int64_t i = 0; i < count; ++i) {
        const std::byte* const at = bytes.data() + i * 65;
        digits.labels.set(i, std::to_integer<int>(at[0]));
        for (int64_t p = 0; p < 64; ++p)
            digits.images.set(i * 64 + p, std::to_integer<int>(at[1 + p]) / 16.0);
    }
    return digits;
}

Status train(const std::string& csv, const std::string& brain_path,
             const std::string& packed_path) {
    constexpr int64_t kEpochs = 8, kBatch = 64;
    HEARTH_ASSIGN(const demo::DigitsData data, demo::read_digits(csv));
    const auto learner = std::make_unique<LearnerInC>();
    HEARTH_TRY(learner->begin());
    std::vector<int64_t> order(static_cast<size_t>(data.train.count()));
    std::iota(order.begin(), order.end(), 0);
    std::mt19937_64 random(1);
    const int64_t steps = kEpochs * ((data.train.count() + kBatch - 1) / kBatch);
    for (int64_t epoch = 0, step = 0; epoch < kEpochs; ++epoch) {
        for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
        for (int64_t first = 0; first < data.train.count(); first += kBatch, ++step) {
            const auto rows = std::min(kBatch, data.train.count() - first);
            // Cosine annealing from 4e-3 to zero.
            const double done = static_cast<double>(step) / static_cast<double>(steps);
            const double rate = 2e-3 * (1 + std::cos(std::numbers::pi * done));
            HEARTH_TRY(learner
                           ->learn(data.train.pick(std::span(order).subspan(
                                       static_cast<size_t>(first), static_cast<size_t>(rows))),
                                   static_cast<float>(rate))
                           .status());
        }
    }
    HEARTH_ASSIGN(const double accuracy, learner->accuracy(data.test));
    std::printf("reads %.2f %% of %d digits that it has not seen\n", 100 * accuracy,
                static_cast<int>(data.test.count()));
    HEARTH_ASSIGN(const Bytes brain, learner->save());
    HEARTH_TRY(write_file_atomically(brain_path, brain));
    return write_file_atomically(packed_path, packed(data));
}

/// Step k trains on the 32 digits from 32 k on, as the page's test does.
Status learn(Learner& learner, const std::string& digits_path, int64_t steps,
             const std::string& brain_path) {
    HEARTH_ASSIGN(const demo::Digits digits, unpacked(digits_path));
    HEARTH_ASSIGN(const Bytes before, read_whole_file(brain_path, 1 << 24));
    HEARTH_TRY(learner.load(before));
    for (int64_t step = 0; step < steps; ++step) {
        std::vector<int64_t> places(kRowsOfStep);
        std::iota(places.begin(), places.end(), step * kRowsOfStep);
        HEARTH_ASSIGN(const double loss, learner.learn(digits.pick(places), kRate));
        std::printf("%.9g\n", loss);
    }
    HEARTH_ASSIGN(const Bytes after, learner.save());
    return write_file_atomically(brain_path, after);
}

Status run(int argc, char** argv) {
    const std::string_view command = argc > 1 ? argv[1] : "";
    if (command == "train" && argc == 5) return train(argv[2], argv[3], argv[4]);
    const std::string_view device = argc > 2 ? argv[2] : "";
    if (command != "learn" || argc != 6 || (device != "c" && device != "gpu"))
        return invalid_argument(
            "usage: web_digits train DIGITS.csv BRAIN DIGITS.bin, or web_digits learn c|gpu "
            "DIGITS.bin STEPS BRAIN");
    const int64_t steps = std::min(std::max(std::atoll(argv[4]), 1LL), 40LL);
    if (device == "c") {
        const auto learner = std::make_unique<LearnerInC>();
        HEARTH_TRY(learner->begin());
        return learn(*learner, argv[3], steps, argv[5]);
    }
    LearnerOnGpu learner;
    HEARTH_TRY(learner.begin());
    return learn(learner, argv[3], steps, argv[5]);
}

}  // namespace

int main(int argc, char** argv) {
    return programs::run_program("web_digits", [&] {
        const Status status = run(argc, argv);
        if (!status.ok()) std::fprintf(stderr, "web_digits: %s\n", status.message().c_str());
        return status.ok() ? 0 : 1;
    });
}
