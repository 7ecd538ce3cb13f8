// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Supervised training: networks on the CPU device, and metrics by hand.

#include "support/cases.hpp"

#include <hearth/cpu.hpp>
#include <hearth/file.hpp>
#include <hearth/fit.hpp>
#include <hearth/nn.hpp>
#include <hearth/run_log.hpp>
#include <hearth/weights.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

namespace hearth {
namespace {

Tensor linear_network(Trace& trace, const Tensor& x, bool) {
    return nn::linear(trace, "net", x, 2);
}

Tensor digits_network(Trace& trace, const Tensor& x, bool) {
    const nn::ConvLayerOptions same{.window = {.pad_begin = {1}}};
    Tensor y = reshape(x * (1.0 / 16), {kBatch, 1, 8, 8});
    y = max_pool(relu(nn::conv2d(trace, "conv1", y, 16, {3}, same)), {2});
    y = max_pool(relu(nn::conv2d(trace, "conv2", y, 32, {3}, same)), {2});
    return nn::mlp(trace, "net", flatten(y, 1), {64, 10}, relu);
}

/// Two classes that a line divides; as numbers the two distances from it.
Dataset halves(int64_t n, bool as_labels = true) {
    HostTensor x = Init::uniform(-1, 1, 5).make("x", DType::kF32, {n, 3});
    HostTensor labels(DType::kI32, {n}), numbers(DType::kF32, {n, 2});
    for (int64_t i = 0; i < n; ++i) {
        const double side = x.get(3 * i) + 2 * x.get(3 * i + 1);
        labels.set(i, side > 0);
        numbers.set(2 * i, side);
        numbers.set(2 * i + 1, -side + 1);
    }
    return make_dataset(x, as_labels ? labels : numbers).value();
}

class Fit : public ::testing::Test {
  protected:
    void SetUp() override {
        auto made = cpu::make_executor({.flags = "-O1", .progress = {}});
        ASSERT_TRUE(made.ok()) << made.status().message();
        executor_ = std::move(*made);
        folder_ = testing::TempDir() + "/hearth_fit_" +
                  testing::UnitTest::GetInstance()->current_test_info()->name();
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    SupervisedModel model(const Dataset& data, const TrainingStep& step = {},
                          const SupervisedNetwork& network = linear_network) {
        auto made = SupervisedModel::trace(*executor_, network, data, step);
        EXPECT_TRUE(made.ok()) << made.status().message();
        return std::move(*made);
    }
    std::string error_of(SupervisedModel& model, const Dataset& data, const FitOptions& options) {
        const auto result = fit(model, data, options);
        return result.ok() ? "no error" : result.status().message();
    }
    std::string log_text(const std::string& path) {
        const auto bytes = read_whole_file(path);
        return bytes.ok() ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())
                          : bytes.status().message();
    }

    std::unique_ptr<Executor> executor_;
    std::string folder_;
};

TEST_F(Fit, DigitsAreLearnedTo98PercentAndStopEarly) {
    const auto path = reference_cases::place_of("digits/digits.csv");
    if (!path) GTEST_SKIP() << "neither tests/data/torch nor HEARTH_CASES is there";
    const auto all = load_dataset(path->string(), {.targets = {"0"}, .labels = true});
    ASSERT_TRUE(all.ok()) << all.status().message();
    ASSERT_EQ(all->inputs.shape(), Shape({1797, 64}));
    const auto [train, validation] = split(*all, 0.2, 1);
    SupervisedModel net = model(train, {}, digits_network);
    FitOptions options{.epochs = 200, .batch_size = 64, .validation = &validation};
    options.monitor = "accuracy";
    options.learning_rate = 2e-3;
    options.patience = 15;
    const auto result = fit(net, train, options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->end, FitEnd::kPatience);
    EXPECT_EQ(result->history.size(), static_cast<size_t>(result->best_epoch + 15));
    EXPECT_GE(result->best.values.at("accuracy"), 0.98);
    EXPECT_GE(result->best.values.at("f1"), 0.975);
    EXPECT_EQ(
        std::accumulate(result->best.confusion.begin(), result->best.confusion.end(), int64_t{0}),
        validation.size());
    // The model is left with the weights of its best epoch.
    const auto predictions = net.predict(validation.inputs);
    ASSERT_TRUE(predictions.ok());
    const auto scores = score(*predictions, validation, Loss::kCrossEntropy);
    ASSERT_TRUE(scores.ok());
    EXPECT_EQ(scores->values, result->best.values);
}

TEST_F(Fit, SeedsDecideEveryBitAndCheckpointsHoldTheBestWeights) {
    const Dataset train = halves(100), validation = halves(40);
    const auto weights_of = [&](uint64_t seed, const std::string& checkpoint) {
        SupervisedModel net = model(train);
        const auto result =
            fit(net, train,
                {.epochs = 3, .seed = seed, .validation = &validation, .checkpoint = checkpoint});
        EXPECT_TRUE(result.ok()) << result.status().message();
        return net.read_weights().value();
    };
    const NamedTensors first = weights_of(1, folder_ + "/best.safetensors");
    EXPECT_EQ(first, weights_of(1, ""));
    EXPECT_NE(first, weights_of(2, ""));
    const auto kept = read_safetensors(read_whole_file(folder_ + "/best.safetensors").value());
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    EXPECT_EQ(*kept, first);
}

TEST_F(Fit, NumbersAreLearnedWithEachLoss) {
    const Dataset data = halves(200, false);
    for (const Loss loss : {Loss::kMse, Loss::kL1, Loss::kHuber}) {
        SupervisedModel net = model(data, {.loss = loss, .max_grad_norm = 10});
        const auto result = fit(net, data,
                                {.loss = loss,
                                 .epochs = 60,
                                 .learning_rate = 0.02,
                                 .validation = &data,
                                 .monitor = "r2"});
        ASSERT_TRUE(result.ok()) << result.status().message();
        EXPECT_GE(result->best.values.at("r2"), 0.99) << name_of(loss);
        EXPECT_LE(result->best.values.at("mae"), 0.1) << name_of(loss);
    }
}

TEST_F(Fit, EachOptimizerLearnsByItsName) {
    const Dataset data = halves(100, false);
    for (const OptimizerDef& def : optimizers()) {
        if (def.name == "muon") continue;  // for matrices alone
        SupervisedModel net =
            model(data, {.loss = Loss::kMse, .optimizer = {.name = std::string(def.name)}});
        const auto result = fit(net, data,
                                {.loss = Loss::kMse,
                                 .epochs = 40,
                                 .learning_rate = std::max(0.02, 10 * def.learning_rate)});
        ASSERT_TRUE(result.ok()) << result.status().message();
        EXPECT_LT(result->history.back().train_loss, 0.7 * result->history.front().train_loss)
            << def.name;
    }
    const auto error_with = [&](const Optimizer& optimizer) {
        return SupervisedModel::trace(*executor_, linear_network, data,
                                      {.loss = Loss::kMse, .optimizer = optimizer})
            .status()
            .message();
    };
    EXPECT_NE(error_with({"muon"}).find("not a matrix"), std::string::npos);
    EXPECT_NE(error_with({"adamw"}).find("no optimizer is named 'adamw'; there are: sgd, adam, "
                                         "adagrad, rmsprop, lion, adan, muon"),
              std::string::npos)
        << error_with({"adamw"});
    EXPECT_NE(error_with({"lion", {{"momentum", 0.9}}})
                  .find("lion has no option 'momentum'; there are: beta1, beta2, weight_decay"),
              std::string::npos);
    EXPECT_NE(error_with({"sgd", {{"momentum", NAN}}}).find("momentum is nan, expected 0.0"),
              std::string::npos);
}

TEST_F(Fit, ScoresOfTheHostEqualTheLossOfTheStep) {
    for (const Loss loss : {Loss::kMse, Loss::kL1, Loss::kHuber, Loss::kCrossEntropy}) {
        const Dataset data = halves(64, loss == Loss::kCrossEntropy);
        SupervisedModel net = model(data, {.loss = loss});
        const auto result = fit(
            net, data,
            {.loss = loss, .epochs = 1, .batch_size = 64, .learning_rate = 0, .validation = &data});
        ASSERT_TRUE(result.ok()) << result.status().message();
        EXPECT_NEAR(result->history[0].train_loss, result->history[0].validation.values.at("loss"),
                    1e-5)
            << name_of(loss);
    }
}

TEST_F(Fit, LogsAreReadByWatchAndStopRequestsEndTraining) {
    const Dataset data = halves(64);
    const std::string log = folder_ + "/run.jsonl";
    SupervisedModel net = model(data);
    FitOptions options{.epochs = 1'000'000, .validation = &data, .log = log};
    options.on_epoch = [&](const Epoch& epoch) {
        return epoch.number != 3 || request_run(log, RunRequest::kStop).ok();
    };
    const auto result = fit(net, data, options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->end, FitEnd::kStopRequest);
    EXPECT_GE(result->history.size(), 3u);
    EXPECT_FALSE(std::filesystem::exists(run_request_file(log, RunRequest::kStop)));
    const std::string text = log_text(log);
    EXPECT_TRUE(
        text.starts_with("{\"type\":\"run\",\"program\":\"fit\",\"at\":\"epochs\",\"listens\":["
                         "\"stop\",\"pause\"]}\n"
                         "{\"type\":\"epoch\",\"at\":1,\"train_loss\":0."))
        << text.substr(0, 200);
    EXPECT_NE(text.find("\"validation\":{\"accuracy\":"), std::string::npos);
    EXPECT_NE(text.find("\"text\":\"stopped by hearth watch\"}\n{\"type\":\"end\""),
              std::string::npos);
    EXPECT_NE(request_run(folder_ + "/none.jsonl", RunRequest::kStop)
                  .message()
                  .find("there is no run log"),
              std::string::npos);
    options.epochs = 5;
    options.on_epoch = [](const Epoch& epoch) { return epoch.number < 2; };
    EXPECT_EQ(fit(net, data, options)->end, FitEnd::kCallback);
}

TEST_F(Fit, WrongDataAndOptionsAreNamed) {
    const Dataset data = halves(10);
    SupervisedModel net = model(data);
    Dataset wrong = data;
    wrong.targets.set(7, 2);
    EXPECT_EQ(error_of(net, wrong, {}),
              "fit: sample 7 has the label 2, the model's classes are 0 to 1");
    EXPECT_EQ(error_of(net, data, {.validation = &wrong}),
              "validation: fit: sample 7 has the label 2, the model's classes are 0 to 1");
    EXPECT_EQ(error_of(net, {}, {}), "fit: the data set is empty");
    const Dataset other =
        make_dataset(HostTensor(DType::kF32, {4, 5}), HostTensor(DType::kI32, {4})).value();
    EXPECT_EQ(error_of(net, other, {}),
              "fit: the model takes inputs [batch, 3], the data set has [4, 5]");
    EXPECT_EQ(error_of(net, halves(10, false), {}),
              "fit: the model learns labels, the data set's targets are f32[10, 2]; expected "
              "integers [n]");
    EXPECT_EQ(error_of(net, data, {.loss = Loss::kMse}),
              "fit: the loss is mse, but the model's step of training learns labels");
    EXPECT_EQ(error_of(net, data, {.batch_size = 1000}),
              "fit: the batch_size is 1000, the model's max_batch_size 256");
    EXPECT_EQ(
        error_of(net, data, {.monitor = "accuracy"}),
        "fit: no metric is named 'accuracy'; there are: loss, and others with a validation set");
    EXPECT_EQ(error_of(net, data, {.validation = &data, .monitor = "r2"}),
              "fit: no metric is named 'r2'; there are: loss, accuracy, f1");
    EXPECT_EQ(error_of(net, data, {.validation = &data, .metrics = {"mae"}}),
              "fit: no metric is named 'mae'; there are: loss, accuracy, f1");
    const Dataset numbers = halves(10, false);
    SupervisedModel regression = model(numbers, {.loss = Loss::kMse, .optimizer = {"sgd"}});
    EXPECT_NE(
        error_of(regression, numbers, {.loss = Loss::kMse, .epochs = 200, .learning_rate = 1e30})
            .find("is not finite; use a lower learning_rate than 1e+30"),
        std::string::npos);
    EXPECT_EQ(loss_named("nll").status().message(),
              "no loss is named 'nll'; there are: mse, l1, huber, cross_entropy");
    Trace only("main");
    only.output("y", only.input("x", {kBatch, 2}));
    std::vector<Graph> entries;
    entries.push_back(only.build().value());
    EXPECT_NE(SupervisedModel::load(*executor_, std::move(entries), 4)
                  .status()
                  .message()
                  .find("the entry 'learn' is missing; expected a step of training"),
              std::string::npos);
}

TEST(Score, MetricsAreThoseOfTheDefinitions) {
    // Predicted 0, 1, 1, 2 for 0, 1, 0, 0 of four classes.
    const HostTensor logits =
        HostTensor::of({4, 4}, std::vector<double>{3, 0, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 0, 3, 0});
    const Dataset data =
        make_dataset(HostTensor(DType::kF32, {4, 1}),
                     HostTensor::of({4}, std::vector<double>{0, 1, 0, 0}, DType::kI32))
            .value();
    const auto labels = score(logits, data, Loss::kCrossEntropy);
    ASSERT_TRUE(labels.ok()) << labels.status().message();
    EXPECT_EQ(labels->values.at("accuracy"), 0.5);
    // f1: 2 * 1 / (3 + 1), 2 * 1 / (1 + 2), 0, and 0 for the class that never occurs.
    EXPECT_NEAR(labels->values.at("f1"), (0.5 + 2.0 / 3) / 4, 1e-12);
    const double hit = std::log(1 + 3 * std::exp(-3)), miss = hit + 3;
    EXPECT_NEAR(labels->values.at("loss"), (hit + hit + miss + miss) / 4, 1e-6);
    EXPECT_EQ(labels->confusion,
              (std::vector<int64_t>{1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
    const Dataset numbers = make_dataset(HostTensor(DType::kF32, {4, 1}),
                                         HostTensor::of({4}, std::vector<double>{1, 2, 3, 4}))
                                .value();
    const auto found =
        score(HostTensor::of({4, 1}, std::vector<double>{1, 2, 4, 6}), numbers, Loss::kHuber);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_DOUBLE_EQ(found->values.at("mae"), 0.75);
    EXPECT_DOUBLE_EQ(found->values.at("r2"), 1 - 5.0 / 5);
    EXPECT_DOUBLE_EQ(found->values.at("loss"), (0.5 + 1.5) / 4);
    EXPECT_FALSE(score(HostTensor(DType::kF32, {3, 1}), numbers, Loss::kMse).ok());
}

}  // namespace
}  // namespace hearth
