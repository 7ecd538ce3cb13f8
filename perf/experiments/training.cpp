// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Experiment 1 (docs/design/0002-fused-networks.md): the same training step and the same inference
// in three forms. All use device addresses, deterministic sums, and barriers only between dependent
// dispatches.

#include "experiments.hpp"
#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

namespace hearth::experiments {
namespace {

constexpr uint32_t kParamVec4s = kParamFloats / 4;
constexpr double kTrainFlop = 14.0 * 2 * kWidth * kWidth;  // per row: 5 forward, 4 + 5 backward
constexpr double kInferFlop = 5.0 * 2 * kWidth * kWidth;
// Tolerances of f32 against double over a few Adam steps: sums of up to 65,536 terms, and Adam's
// division by the root of tiny second moments, which makes near-zero gradients count as much as
// large ones. The bias correction 1 - 0.999^step alone has a relative error of 1e-5 to 1e-4 in f32
// at the first steps.
constexpr double kLossTolerance = 1e-4;
constexpr double kUpdateTolerance = 1e-3;
constexpr double kOutputTolerance = 1e-5;

uint32_t divide_up(uint32_t a, uint32_t b) {
    return (a + b - 1) / b;
}

/// Form and tiling of a fused network; names the shader (CMakeLists.txt lists the forms).
struct RowShape {
    const char* form;
    uint32_t rows;
    uint32_t threads;
    uint32_t groups_per_unit;  // persistent workgroups, at most one per tile

    std::string shader(const char* prefix) const {
        return std::string(prefix) + form + "_" + std::to_string(rows) + "_" +
               std::to_string(threads);
    }
    std::string label() const {
        return std::string("row ") + form + " " + std::to_string(rows) + "x" +
               std::to_string(threads) + " g" + std::to_string(groups_per_unit);
    }
};

constexpr RowShape kSmallTrainShapes[] = {
    {"stage", 4, 64, 2},   {"fetch", 4, 64, 2},   {"cache", 8, 128, 2},  {"stage", 8, 128, 2},
    {"fetch", 8, 128, 2},  {"stage", 16, 64, 2},  {"cache", 16, 128, 2}, {"stage", 16, 128, 2},
    {"fetch", 16, 128, 2}, {"stage", 16, 256, 2}, {"fetch", 16, 256, 2}, {"stage", 32, 256, 2},
    {"loop", 4, 64, 2},    {"loop", 8, 64, 2},    {"loop", 8, 128, 2},   {"loop", 16, 64, 2},
    {"loop", 16, 128, 2}};
constexpr RowShape kLargeTrainShapes[] = {
    {"fetch", 8, 128, 4},      {"stage", 16, 128, 2}, {"fetch", 16, 128, 2},
    {"stage", 32, 64, 2},      {"stage", 32, 128, 2}, {"fetch", 32, 128, 2},
    {"stage", 32, 256, 2},     {"keep", 32, 256, 1},  {"keepfetch", 32, 256, 1},
    {"stage", 64, 128, 2},     {"stage", 64, 256, 2}, {"keepcache", 64, 256, 1},
    {"keep", 64, 256, 1},      {"keep", 64, 256, 2},  {"keepfetch", 64, 256, 1},
    {"keepfetch", 64, 256, 2}, {"loop", 16, 64, 4},   {"loop", 16, 128, 2}};
constexpr RowShape kSmallInferShapes[] = {
    {"stage", 4, 64, 2},  {"fetch", 4, 64, 2},   {"cache", 8, 128, 2},  {"stage", 8, 128, 2},
    {"fetch", 8, 128, 2}, {"cache", 16, 128, 2}, {"stage", 16, 128, 2}, {"fetch", 16, 128, 2},
    {"loop", 4, 64, 2},   {"loop", 8, 64, 2},    {"loop", 8, 128, 2},   {"loop", 16, 64, 2}};
constexpr RowShape kLargeInferShapes[] = {
    {"stage", 16, 128, 8}, {"fetch", 16, 128, 8}, {"stage", 32, 64, 8},  {"stage", 32, 128, 8},
    {"fetch", 32, 128, 8}, {"stage", 64, 128, 8}, {"stage", 64, 256, 4}, {"cache", 64, 256, 4},
    {"loop", 16, 64, 8},   {"loop", 16, 128, 8}};

/// All device memory of one batch size.
struct Data {
    Data(Gpu& gpu_in, uint32_t rows_in, uint32_t max_groups)
        : gpu(gpu_in), rows(rows_in), tile_groups(max_groups) {
        const uint64_t batch_bytes = uint64_t{rows} * kWidth * sizeof(float);
        const uint64_t param_bytes = kParamFloats * sizeof(float);
        for (Buffer* b : {&x, &target, &y, &delta[0], &delta[1], &h[0], &h[1], &h[2], &h[3]}) {
            *b = gpu.allocate(batch_bytes);
        }
        for (Buffer* b : {&weights, &weights_t, &m, &v, &gradient}) *b = gpu.allocate(param_bytes);
        partials = gpu.allocate(param_bytes * max_groups);
        loss_partials = gpu.allocate(sizeof(float) * std::max(max_groups, 1024u));
        state = gpu.allocate(256);
    }
    ~Data() {
        for (Buffer* b :
             {&x, &target, &y, &delta[0], &delta[1], &h[0], &h[1], &h[2], &h[3], &weights,
              &weights_t, &m, &v, &gradient, &partials, &loss_partials, &state}) {
            gpu.free(*b);
        }
    }
    Data(const Data&) = delete;
    Data& operator=(const Data&) = delete;

    /// Resets everything to the state before the first step; outputs are filled with NaN.
    void reset(const Problem& problem) {
        gpu.upload(x, problem.x);
        gpu.upload(target, problem.target);
        gpu.upload(weights, problem.weights);
        gpu.upload(weights_t, transposed(problem.weights));
        for (const Buffer* b : {&m, &v, &state}) gpu.fill(*b, 0);
        for (const Buffer* b : {&y, &delta[0], &delta[1], &h[0], &h[1], &h[2], &h[3], &gradient,
                                &partials, &loss_partials}) {
            gpu.fill(*b, ~0u);
        }
    }

    Gpu& gpu;
    uint32_t rows;
    uint32_t tile_groups;
    Buffer x, target, y, delta[2], h[4];
    Buffer weights, weights_t, m, v, gradient, partials, loss_partials, state;
};

/// Records one step or one inference.
using Record = std::function<void(Recorder&)>;

struct RowPush {
    VkDeviceAddress x, target, weights, weights_t, partials, y, loss_partials, state;
    uint32_t rows, groups;
};

struct ReduceAdamPush {
    VkDeviceAddress partials, loss_partials, weights, weights_t, m, v, state;
    uint32_t groups, loss_groups;
    float learning_rate;
};

struct MatmulPush {
    VkDeviceAddress a, b, c, extra;
    uint32_t m, n, k, k_per_split, split_stride;
};

struct ElementwisePush {
    VkDeviceAddress c, extra;
    uint32_t count;
};

struct MsePush {
    VkDeviceAddress y, target, delta, loss_partials, state;
    uint32_t count, groups;
};

struct ColumnSumPush {
    VkDeviceAddress delta, partials;
    uint32_t rows, rows_per_group, stride_vec4s;
};

struct ReducePush {
    VkDeviceAddress partials, sum;
    uint32_t groups, stride_vec4s;
};

struct ReduceLossPush {
    VkDeviceAddress loss_partials, state;
    uint32_t groups;
};

struct AdamPush {
    VkDeviceAddress gradient, weights, m, v, state;
    uint32_t count;
    float learning_rate;
};

void reduce_adam(Recorder& recorder, const Data& d, uint32_t groups, uint32_t loss_groups) {
    const ReduceAdamPush push{d.partials.address, d.loss_partials.address,
                              d.weights.address,  d.weights_t.address,
                              d.m.address,        d.v.address,
                              d.state.address,    groups,
                              loss_groups,        kLearningRate};
    recorder.dispatch(d.gpu.pipeline("reduce_adam", sizeof(push)), push, kParamVec4s / 16);
}

uint32_t row_groups(const Data& d, const RowShape& shape) {
    return std::min(divide_up(d.rows, shape.rows), d.gpu.units() * shape.groups_per_unit);
}

RowPush row_push(const Data& d, uint32_t groups) {
    return {d.x.address,
            d.target.address,
            d.weights.address,
            d.weights_t.address,
            d.partials.address,
            d.y.address,
            d.loss_partials.address,
            d.state.address,
            d.rows,
            groups};
}

/// Two dispatches: the tiles, then the sum of their gradients and Adam.
Record row_training(Data& d, const RowShape& shape) {
    const uint32_t groups = row_groups(d, shape);
    const Pipeline& pipeline = d.gpu.pipeline(shape.shader("row_train_"), sizeof(RowPush));
    return [&d, groups, &pipeline](Recorder& recorder) {
        recorder.dispatch(pipeline, row_push(d, groups), groups);
        recorder.barrier();
        reduce_adam(recorder, d, groups, groups);
        recorder.barrier();
    };
}

Record row_inference(Data& d, const RowShape& shape) {
    const uint32_t groups = row_groups(d, shape);
    const Pipeline& pipeline = d.gpu.pipeline(shape.shader("row_infer_"), sizeof(RowPush));
    return [&d, groups, &pipeline](Recorder& recorder) {
        recorder.dispatch(pipeline, row_push(d, groups), groups);
        recorder.barrier();
    };
}

/// Records the network kernel by kernel.
class Layerwise {
  public:
    /// tile, dw_tile: BM and BN of the products over rows and of the weight gradients.
    /// is_fused: bias, relu and its gradient are epilogues; gradients are summed in the optimizer.
    Layerwise(Data& d, const std::string& tile, const std::string& dw_tile, bool is_fused)
        : d_(d), tile_(tile), dw_tile_(dw_tile), is_fused_(is_fused) {
        splits_ = std::clamp(d.rows / 32, 1u, d.gpu.units() * 2);
        rows_per_split_ = divide_up(divide_up(d.rows, splits_), 16) * 16;
        splits_ = divide_up(d.rows, rows_per_split_);
        loss_groups_ = std::clamp(d.rows * kWidth / 4 / 256, 1u, 256u);
    }

    void forward(Recorder& r) const {
        for (uint32_t l = 0; l < kLayers; ++l) {
            const bool is_last = l + 1 == kLayers;
            const std::string relu = is_last ? "bias" : "relu";
            product(r, "matmul_nn_" + (is_fused_ ? relu + "_" : ""), input(l), weight(l), output(l),
                    is_fused_ ? bias(l) : 0);
            r.barrier();
            if (!is_fused_) {
                elementwise(r, is_last ? "bias" : "bias_relu", output(l), bias(l));
                r.barrier();
            }
        }
    }

    void train(Recorder& r) const {
        forward(r);
        const MsePush mse{
            d_.y.address,     d_.target.address,    d_.delta[0].address, d_.loss_partials.address,
            d_.state.address, d_.rows * kWidth / 4, loss_groups_};
        r.dispatch(d_.gpu.pipeline("mse", sizeof(mse)), mse, loss_groups_);
        r.barrier();
        if (!is_fused_) {
            const ReduceLossPush push{d_.loss_partials.address, d_.state.address, loss_groups_};
            r.dispatch(d_.gpu.pipeline("reduce_loss", sizeof(push)), push, 1);
        }
        uint32_t from = 0;
        for (uint32_t l = kLayers; l-- > 0;) {
            backward(r, l, d_.delta[from].address, d_.delta[1 - from].address);
            from = 1 - from;
        }
        if (is_fused_) {
            reduce_adam(r, d_, splits_, loss_groups_);
        } else {
            // Layer 0's gradients are still being computed.
            for (uint32_t l = 0; l < kLayers; ++l) {
                adam(r, l * kLayerFloats, kWidth * kWidth);
                adam(r, l * kLayerFloats + kWidth * kWidth, kWidth);
            }
        }
        r.barrier();
    }

  private:
    VkDeviceAddress input(uint32_t l) const { return l ? d_.h[l - 1].address : d_.x.address; }
    VkDeviceAddress output(uint32_t l) const {
        return l + 1 < kLayers ? d_.h[l].address : d_.y.address;
    }
    VkDeviceAddress weight(uint32_t l) const { return d_.weights.address + l * kLayerFloats * 4; }
    VkDeviceAddress bias(uint32_t l) const { return weight(l) + kWidth * kWidth * 4; }

    /// c[rows, 64] = a[rows, 64] * 64x64 matrix.
    void product(Recorder& r, const std::string& shader, VkDeviceAddress a, VkDeviceAddress b,
                 VkDeviceAddress c, VkDeviceAddress extra) const {
        const auto [bm, bn] = tile_size(tile_);
        const MatmulPush push{a, b, c, extra, d_.rows, kWidth, kWidth, kWidth, 0};
        r.dispatch(d_.gpu.pipeline(shader + tile_, sizeof(push)), push, divide_up(d_.rows, bm),
                   kWidth / bn);
    }

    void elementwise(Recorder& r, const char* shader, VkDeviceAddress c,
                     VkDeviceAddress extra) const {
        const ElementwisePush push{c, extra, d_.rows * kWidth / 4};
        r.dispatch(d_.gpu.pipeline(shader, sizeof(push)), push, divide_up(push.count, 256));
    }

    void reduce(Recorder& r, uint32_t first_float, uint32_t count_floats) const {
        const ReducePush push{d_.partials.address + first_float * 4,
                              d_.gradient.address + first_float * 4, splits_, kParamVec4s};
        r.dispatch(d_.gpu.pipeline("reduce", sizeof(push)), push, count_floats / 64);
    }

    void adam(Recorder& r, uint32_t first_float, uint32_t count_floats) const {
        const uint64_t at = first_float * 4;
        const AdamPush push{
            d_.gradient.address + at, d_.weights.address + at, d_.m.address + at, d_.v.address + at,
            d_.state.address,         count_floats / 4,        kLearningRate};
        r.dispatch(d_.gpu.pipeline("adam", sizeof(push)), push, divide_up(push.count, 64));
    }

    /// Gradients of layer l from its output gradient `delta`; ends with a barrier.
    void backward(Recorder& r, uint32_t l, VkDeviceAddress delta, VkDeviceAddress next) const {
        const auto [bm, bn] = tile_size(dw_tile_);
        const uint64_t at = uint64_t{l} * kLayerFloats * 4;
        const MatmulPush dw{input(l), delta,   d_.partials.address + at, 0,           kWidth,
                            kWidth,   d_.rows, rows_per_split_,          kParamFloats};
        r.dispatch(d_.gpu.pipeline("matmul_tn_" + dw_tile_, sizeof(dw)), dw, kWidth / bm,
                   kWidth / bn, splits_);
        const ColumnSumPush db{delta, d_.partials.address + at + kWidth * kWidth * 4, d_.rows,
                               rows_per_split_, kParamVec4s};
        r.dispatch(d_.gpu.pipeline("column_sum", sizeof(db)), db, splits_);
        if (l > 0) {
            product(r, is_fused_ ? "matmul_nt_mask_" : "matmul_nt_", delta, weight(l), next,
                    is_fused_ ? input(l) : 0);
        }
        r.barrier();
        if (is_fused_) return;
        reduce(r, l * kLayerFloats, kWidth * kWidth);
        reduce(r, l * kLayerFloats + kWidth * kWidth, kWidth);
        if (l > 0) elementwise(r, "relu_backward", next, input(l));
        r.barrier();
    }

    static std::pair<uint32_t, uint32_t> tile_size(const std::string& tile) {
        const size_t cross = tile.find('x');
        return {static_cast<uint32_t>(std::stoul(tile.substr(0, cross))),
                static_cast<uint32_t>(std::stoul(tile.substr(cross + 1)))};
    }

    Data& d_;
    std::string tile_;
    std::string dw_tile_;
    bool is_fused_;
    uint32_t splits_ = 1;
    uint32_t rows_per_split_ = 0;
    uint32_t loss_groups_ = 1;
};

/// ||a - b|| / ||b - origin||.
double relative_error(std::span<const float> a, std::span<const double> b,
                      std::span<const float> origin) {
    double difference = 0, size = 0;
    for (size_t i = 0; i < b.size(); ++i) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        size += (b[i] - origin[i]) * (b[i] - origin[i]);
    }
    return std::sqrt(difference / size);
}

/// One batch size: problem, reference and device memory.
class Batch {
  public:
    Batch(Gpu& gpu, Report& report, uint32_t rows, double budget_s)
        : gpu_(gpu),
          report_(report),
          rows_(rows),
          budget_s_(budget_s),
          steps_(rows > 4096 ? 2 : 4),
          problem_(make_problem(rows)),
          reference_(train_on_cpu(problem_, steps_)),
          data_(gpu, rows, std::min(rows / 4, gpu.units() * 8)) {}

    void run() {
        const bool is_small = rows_ <= 1024;
        const std::string train = "train_b" + std::to_string(rows_);
        const std::string infer = "infer_b" + std::to_string(rows_);
        const std::vector<const char*> tiles =
            is_small ? std::vector<const char*>{"16x16", "32x32", "64x64"}
                     : std::vector<const char*>{"32x32", "64x64", "128x64"};
        for (const bool is_fused : {false, true}) {
            for (const std::string tile : tiles) {
                const std::string label = (is_fused ? "epilogues " : "separate ") + tile;
                const Layerwise layers(data_, tile, tile == "128x64" ? "64x64" : tile, is_fused);
                train_row(train, label,
                          [&] { return Record([&](Recorder& r) { layers.train(r); }); });
                infer_row(infer, label,
                          [&] { return Record([&](Recorder& r) { layers.forward(r); }); });
            }
        }
        const std::span<const RowShape> train_shapes =
            is_small ? std::span<const RowShape>(kSmallTrainShapes) : kLargeTrainShapes;
        const std::span<const RowShape> infer_shapes =
            is_small ? std::span<const RowShape>(kSmallInferShapes) : kLargeInferShapes;
        for (const RowShape& shape : train_shapes) {
            train_row(train, shape.label(), [&] { return row_training(data_, shape); });
        }
        for (const RowShape& shape : infer_shapes) {
            infer_row(infer, shape.label(), [&] { return row_inference(data_, shape); });
        }
    }

  private:
    void train_row(const std::string& name, const std::string& variant,
                   const std::function<Record()>& make) {
        if (!report_.wants(name, variant)) return;
        ResultRow row{.name = name, .variant = variant};
        data_.reset(problem_);
        const double begin_us = now_us();
        const Record record = make();
        gpu_.run(record);
        row.first_ms = (now_us() - begin_us) * 1e-3;
        double loss_error = 0;
        std::vector<float> weights;
        bool is_repeatable = true;
        for (int round = 0; round < 2; ++round) {
            data_.reset(problem_);
            for (int step = 0; step < steps_; ++step) {
                gpu_.run(record);
                const double loss = gpu_.download(data_.state, 2)[1];
                const double error = std::abs(loss / reference_.losses[step] - 1);
                if (!(error <= loss_error)) loss_error = error;  // keeps NaN
            }
            const std::vector<float> now = gpu_.download(data_.weights, kParamFloats);
            if (round == 0) weights = now;
            is_repeatable = std::memcmp(now.data(), weights.data(), kParamFloats * 4) == 0;
            if (gpu_.is_cpu() && rows_ > 4096) break;  // seconds per step
        }
        const double update_error = relative_error(weights, reference_.weights, problem_.weights);
        row.is_correct =
            loss_error < kLossTolerance && update_error < kUpdateTolerance && is_repeatable;
        char text[128];
        std::snprintf(text, sizeof(text), "%d steps: loss %.1e, update %.1e%s", steps_, loss_error,
                      update_error, is_repeatable ? "" : ", differs from run to run");
        row.check = text;
        finish(row, record, kTrainFlop);
    }

    void infer_row(const std::string& name, const std::string& variant,
                   const std::function<Record()>& make) {
        if (!report_.wants(name, variant)) return;
        ResultRow row{.name = name, .variant = variant};
        data_.reset(problem_);
        const double begin_us = now_us();
        const Record record = make();
        gpu_.run(record);
        row.first_ms = (now_us() - begin_us) * 1e-3;
        data_.reset(problem_);
        gpu_.run(record);
        const std::vector<float> all = gpu_.download(data_.y, uint64_t{rows_} * kWidth);
        const size_t part =
            reference_.sample_y.size() > all.size() ? all.size() : reference_.sample_y.size() / 2;
        double difference = 0, size = 0;
        for (size_t i = 0; i < reference_.sample_y.size(); ++i) {
            const size_t at = i < part ? i : all.size() - part + (i - part) % part;
            const double expected = reference_.sample_y[i];
            difference += (all[at] - expected) * (all[at] - expected);
            size += expected * expected;
        }
        const double error = std::sqrt(difference / size);
        row.is_correct = error < kOutputTolerance;
        char text[64];
        std::snprintf(text, sizeof(text), "output %.1e", error);
        row.check = text;
        finish(row, record, kInferFlop);
    }

    void finish(ResultRow& row, const Record& record, double flop_per_row) {
        gpu_.run([&](Recorder& recorder) {
            record(recorder);
            row.dispatches = recorder.dispatches();
            row.barriers = recorder.barriers();
        });
        row.timing = gpu_.measure(record, rows_ <= 1024 ? 20 : gpu_.is_cpu() ? 1 : 10, budget_s_);
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
    Data data_;
};

}  // namespace

void run_training(Gpu& gpu, Report& report, std::span<const uint32_t> batches, double budget_s) {
    for (const uint32_t rows : batches) Batch(gpu, report, rows, budget_s).run();
}

}  // namespace hearth::experiments
