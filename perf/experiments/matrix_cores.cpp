// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Experiment 3 (docs/design/0008-fused-network-generator.md): the network of experiment 1 on matrix
// cores. Inputs, targets and activations are f16, accumulators f32; parameters are f32 with an f16
// copy that the optimizer writes. Shaders are named by their shape (CMakeLists.txt).

#include "experiments.hpp"
#include "network.hpp"
#include "shaders.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

namespace hearth::experiments {
namespace {

constexpr double kTrainFlop = 14.0 * 2 * kWidth * kWidth;
constexpr double kInferFlop = 5.0 * 2 * kWidth * kWidth;
// f16 has 11 bits, and rounds after each of five layers.
constexpr double kOutputTolerance = 3e-3;
constexpr double kLossTolerance = 3e-3;
// Adam divides by the root of the second moment, so a gradient near zero counts as much as any
// other, and rounding may flip its sign.
constexpr double kUpdateTolerance = 0.1;

/// Rounds to nearest even. The data are far from overflow; subnormals may round to zero.
uint16_t half_of(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude < 0x38800000u) {  // below the least normal number, 2^-14
        const float scaled = std::bit_cast<float>(magnitude) * 0x1p24f;
        return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(scaled)));
    }
    const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float float_of(uint16_t half) {
    const uint32_t magnitude = half & 0x7fffu;
    const float value = magnitude < 0x400u ? static_cast<float>(magnitude) * 0x1p-24f
                                           : std::bit_cast<float>((magnitude << 13) + 0x38000000u);
    return half & 0x8000u ? -value : value;
}

void upload_halfs(Gpu& gpu, const Buffer& buffer, std::span<const float> values) {
    std::vector<float> packed((values.size() + 1) / 2);
    std::vector<uint16_t> halfs(packed.size() * 2);
    std::transform(values.begin(), values.end(), halfs.begin(), half_of);
    std::memcpy(packed.data(), halfs.data(), packed.size() * sizeof(float));
    gpu.upload(buffer, packed);
}

struct RowPush {
    VkDeviceAddress x, target, weights, weights_h, partials, y, loss_partials, state;
    uint32_t rows, groups;
};

struct AdamPush {
    VkDeviceAddress partials, loss_partials, weights, weights_h, m, v, state;
    uint32_t groups, loss_groups;
    float learning_rate;
};

/// Returns the integers in a shader's name.
std::vector<uint32_t> numbers_in(std::string_view name) {
    std::vector<uint32_t> numbers;
    for (size_t at = 0; at < name.size();) {
        const size_t end = std::min(name.find('_', at), name.size());
        const std::string field(name.substr(at, end - at));
        if (!field.empty() && field.find_first_not_of("0123456789") == std::string::npos)
            numbers.push_back(static_cast<uint32_t>(std::stoul(field)));
        at = end + 1;
    }
    return numbers;
}

using Record = std::function<void(Recorder&)>;

class Batch {
  public:
    Batch(Gpu& gpu, Report& report, uint32_t rows, double budget_s)
        : gpu_(gpu),
          report_(report),
          rows_(rows),
          budget_s_(budget_s),
          steps_(rows > 65536 ? 1 : 2),
          problem_(make_problem(rows)),
          reference_(train_on_cpu(problem_, steps_)),
          most_groups_(std::max(rows / 16, 8 * gpu.units())) {
        const uint64_t halfs = uint64_t{rows} * kWidth * sizeof(uint16_t);
        for (Buffer* b : {&x_, &target_, &y_}) *b = gpu.allocate(halfs);
        for (Buffer* b : {&weights_, &weights_h_, &m_, &v_})
            *b = gpu.allocate(kParamFloats * sizeof(float));
        partials_ =
            gpu.allocate(kParamFloats * sizeof(float) *
                         std::min(most_groups_, rows <= 4096 ? rows / 16 : 8 * gpu.units()));
        loss_partials_ = gpu.allocate(most_groups_ * sizeof(float));
        state_ = gpu.allocate(256);
    }
    ~Batch() {
        for (Buffer* b : {&x_, &target_, &y_, &weights_, &weights_h_, &m_, &v_, &partials_,
                          &loss_partials_, &state_})
            gpu_.free(*b);
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    void run(const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            const std::vector<uint32_t> n = numbers_in(name);
            if (name.starts_with("coop_train_"))
                train_rows(name, n[0], n[6] == 1);
            else if (name.starts_with("coop_infer_"))
                infer_rows(name, n[0]);
            else if (name.starts_with("coop_reg_"))
                infer_rows(name, n[0] * n[1] * 16);
        }
    }

  private:
    RowPush push(uint32_t groups) const {
        return {x_.address,
                target_.address,
                weights_.address,
                weights_h_.address,
                partials_.address,
                y_.address,
                loss_partials_.address,
                state_.address,
                rows_,
                groups};
    }

    void train_rows(const std::string& name, uint32_t tile_rows, bool keeps) {
        const uint32_t tiles = rows_ / tile_rows;
        if (!keeps && tiles > 256) return;
        if (keeps && tiles < gpu_.units()) return;
        for (const uint32_t each : {1u, 2u, 3u}) {
            const uint32_t groups = keeps ? std::min(tiles, each * gpu_.units()) : tiles;
            for (const uint32_t columns : {8u, 16u}) {
                if (columns != 16 && (each != 1 || tile_rows > 32)) continue;
                train_row(name, groups, columns);
            }
            if (groups == tiles) break;
        }
    }

    void infer_rows(const std::string& name, uint32_t group_rows) {
        const uint32_t most = std::max(1u, rows_ / group_rows);
        uint32_t last = 0;
        for (const uint32_t wanted : {gpu_.units(), 2 * gpu_.units(), most}) {
            const uint32_t groups = std::min(wanted, most);
            if (groups != last) infer_row(name, groups);
            last = groups;
        }
    }

    void reset() {
        upload_halfs(gpu_, x_, problem_.x);
        upload_halfs(gpu_, target_, problem_.target);
        gpu_.upload(weights_, problem_.weights);
        upload_halfs(gpu_, weights_h_, problem_.weights);
        for (const Buffer* b : {&m_, &v_, &state_}) gpu_.fill(*b, 0);
        for (const Buffer* b : {&y_, &partials_, &loss_partials_}) gpu_.fill(*b, ~0u);
    }

    void reset_params() {
        gpu_.upload(weights_, problem_.weights);
        upload_halfs(gpu_, weights_h_, problem_.weights);
        for (const Buffer* b : {&m_, &v_, &state_}) gpu_.fill(*b, 0);
        for (const Buffer* b : {&partials_, &loss_partials_}) gpu_.fill(*b, ~0u);
    }

    void train_row(const std::string& name, uint32_t groups, uint32_t columns) {
        ResultRow row{
            .name = "mctrain_b" + std::to_string(rows_),
            .variant = name + " g" + std::to_string(groups) + " a" + std::to_string(columns)};
        if (!report_.wants(row.name, row.variant)) return;
        if (!is_set_) reset();
        is_set_ = true;
        const Pipeline& rows_pipeline = gpu_.pipeline(name, sizeof(RowPush));
        const Pipeline& adam_pipeline =
            gpu_.pipeline("coop_adam_" + std::to_string(columns), sizeof(AdamPush));
        const AdamPush adam{partials_.address,
                            loss_partials_.address,
                            weights_.address,
                            weights_h_.address,
                            m_.address,
                            v_.address,
                            state_.address,
                            groups,
                            groups,
                            kLearningRate};
        const Record record = [&](Recorder& r) {
            r.dispatch(rows_pipeline, push(groups), groups);
            r.barrier();
            r.dispatch(adam_pipeline, adam, kParamFloats / 4 / columns + 1);
            r.barrier();
        };
        double loss_error = 0;
        std::vector<float> weights;
        bool is_repeatable = true;
        for (int round = 0; round < 2; ++round) {
            reset_params();
            for (int step = 0; step < steps_; ++step) {
                gpu_.run(record);
                const double error =
                    std::abs(gpu_.download(state_, 2)[1] / reference_.losses[step] - 1);
                if (!(error <= loss_error)) loss_error = error;
            }
            const std::vector<float> now = gpu_.download(weights_, kParamFloats);
            if (round == 0) weights = now;
            is_repeatable = std::memcmp(now.data(), weights.data(), kParamFloats * 4) == 0;
        }
        double difference = 0, size = 0;
        for (size_t i = 0; i < weights.size(); ++i) {
            const double wanted = reference_.weights[i], from = problem_.weights[i];
            difference += (weights[i] - wanted) * (weights[i] - wanted);
            size += (wanted - from) * (wanted - from);
        }
        const double update_error = std::sqrt(difference / size);
        row.is_correct =
            loss_error < kLossTolerance && update_error < kUpdateTolerance && is_repeatable;
        char text[128];
        std::snprintf(text, sizeof(text), "loss %.1e, update %.1e%s", loss_error, update_error,
                      is_repeatable ? "" : ", differs from run to run");
        row.check = text;
        finish(row, record, kTrainFlop);
    }

    void infer_row(const std::string& name, uint32_t groups) {
        ResultRow row{.name = "mcinfer_b" + std::to_string(rows_),
                      .variant = name + " g" + std::to_string(groups)};
        if (!report_.wants(row.name, row.variant)) return;
        if (!is_set_) reset();
        is_set_ = true;
        const std::vector<uint32_t> n = numbers_in(name);
        const bool is_whole = !name.starts_with("coop_reg_") || (n[5] == 1 && n[6] == kLayers);
        reset_params();
        gpu_.fill(y_, ~0u);
        const Pipeline& pipeline = gpu_.pipeline(name, sizeof(RowPush));
        const Record record = [&](Recorder& r) {
            r.dispatch(pipeline, push(groups), groups);
            r.barrier();
        };
        gpu_.run(record);
        const std::vector<float> words = gpu_.download(y_, uint64_t{rows_} * kWidth / 2);
        const std::vector<float>& sample = reference_.sample_y;
        const size_t count = uint64_t{rows_} * kWidth;
        const size_t part = sample.size() > count ? count : sample.size() / 2;
        double difference = 0, size = 0;
        for (size_t i = 0; i < sample.size(); ++i) {
            const size_t at = i < part ? i : count - part + (i - part) % part;
            const uint32_t word = std::bit_cast<uint32_t>(words[at / 2]);
            const double found = float_of(static_cast<uint16_t>(at % 2 ? word >> 16 : word));
            difference += (found - sample[i]) * (found - sample[i]);
            size += static_cast<double>(sample[i]) * sample[i];
        }
        const double error = std::sqrt(difference / size);
        row.is_correct = error < kOutputTolerance || !is_whole;
        char text[64];
        std::snprintf(text, sizeof(text), "output %.1e%s", error,
                      is_whole ? "" : " (another network)");
        row.check = text;
        finish(row, record, kInferFlop);
    }

    void finish(ResultRow& row, const Record& record, double flop_per_row) {
        gpu_.run([&](Recorder& recorder) {
            record(recorder);
            row.dispatches = recorder.dispatches();
            row.barriers = recorder.barriers();
        });
        row.timing = gpu_.measure(record, gpu_.is_cpu() ? 1 : 20, budget_s_);
        row.gflop_per_s = flop_per_row * rows_ / row.timing.gpu_us.median * 1e-3;
        report_.add(row);
    }

    Gpu& gpu_;
    Report& report_;
    uint32_t rows_;
    double budget_s_;
    int steps_;
    Problem problem_;
    Reference reference_;
    uint32_t most_groups_;
    bool is_set_ = false;
    Buffer x_, target_, y_, weights_, weights_h_, m_, v_, partials_, loss_partials_, state_;
};

}  // namespace

void run_matrix_cores(Gpu& gpu, Report& report, std::span<const uint32_t> batches,
                      double budget_s) {
    std::vector<std::string> names;
    for (const Shader& shader : shaders()) {
        const bool is_khr = shader.name.ends_with("_khr");
        const bool is_row =
            shader.name.starts_with("coop_") && !shader.name.starts_with("coop_adam") &&
            (is_khr ? gpu.has_khr_matrices() && gpu.is_cpu() : gpu.has_nv_matrices());
        if (is_row && report.wants("mctrain mcinfer", std::string(shader.name)))
            names.emplace_back(shader.name);
    }
    if (names.empty()) return;
    gpu.prepare(names, sizeof(RowPush));
    for (const uint32_t rows : batches) Batch(gpu, report, rows, budget_s).run(names);
}

}  // namespace hearth::experiments
