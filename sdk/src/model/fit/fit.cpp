// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/out_of_memory.hpp"

#include <hearth/file.hpp>
#include <hearth/fit.hpp>
#include <hearth/run_log.hpp>
#include <hearth/weights.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

namespace hearth {

namespace {

bool is_higher_better(std::string_view metric) {
    return metric == "accuracy" || metric == "f1" || metric == "r2";
}

std::string sample_line(const Epoch& epoch) {
    std::string line = "{\"type\":\"epoch\",\"at\":" + std::to_string(epoch.number) +
                       ",\"train_loss\":" + detail::json_number(epoch.train_loss);
    if (!epoch.validation.values.empty()) line += ",\"validation\":{";
    for (bool is_first = true; const auto& [name, value] : epoch.validation.values) {
        line += (is_first ? "" : ",") + detail::json_text(name) + ":" + detail::json_number(value);
        is_first = false;
    }
    return line + (epoch.validation.values.empty() ? "}\n" : "}}\n");
}

}  // namespace

/// One call of fit().
class Fitting {
  public:
    Fitting(SupervisedModel& model, const Dataset& data, const FitOptions& options)
        : model_(model), data_(data), options_(options) {}

    Result<FitResult> run() {
        HEARTH_TRY(check());
        if (!options_.log.empty()) {
            HEARTH_ASSIGN(log_, RunLogWriter::open(options_.log, RunLogWriter::Mode::kAppend));
            constexpr RunRequest kListens[] = {RunRequest::kStop, RunRequest::kPause};
            HEARTH_TRY(log_.write(run_log_begin(options_.program, "epochs", kListens)));
        }
        if (options_.epochs == 0 && options_.validation != nullptr) {
            HEARTH_ASSIGN(result_.best, validate());
        }
        int64_t without_better = 0;
        for (int64_t number = 1; number <= options_.epochs; ++number) {
            HEARTH_ASSIGN(Epoch epoch, learn(number));
            HEARTH_TRY(log_.write(sample_line(epoch)));
            HEARTH_TRY(keep_if_better(epoch));
            without_better = result_.best_epoch == number ? 0 : without_better + 1;
            result_.history.push_back(epoch);
            const bool goes_on = !options_.on_epoch || options_.on_epoch(epoch);
            if (is_stopped_) {
                result_.end = FitEnd::kStopRequest;
            } else if (!goes_on) {
                result_.end = FitEnd::kCallback;
            } else if (options_.patience > 0 && without_better >= options_.patience) {
                result_.end = FitEnd::kPatience;
            } else {
                continue;
            }
            static constexpr const char* kReasons[] = {
                "", "stopped early", "stopped by the program", "stopped by hearth watch"};
            HEARTH_TRY(log_.write(run_log_event(static_cast<double>(number),
                                                kReasons[static_cast<size_t>(result_.end)])));
            break;
        }
        if (result_.best_epoch > 0) HEARTH_TRY(model_.write_weights(best_));
        HEARTH_TRY(log_.write("{\"type\":\"end\",\"at\":" + std::to_string(result_.history.size()) +
                              ",\"best_epoch\":" + std::to_string(result_.best_epoch) + "}\n"));
        return std::move(result_);
    }

  private:
    Status check() {
        HEARTH_TRY(model_.check(data_));
        if (options_.validation != nullptr) {
            Status status = model_.check(*options_.validation);
            if (!status.ok()) return status.with_context("validation");
        }
        if ((options_.loss == Loss::kCrossEntropy) != model_.learns_labels())
            return invalid_argument("fit: the loss is " + std::string(name_of(options_.loss)) +
                                    ", but the model's step of training learns " +
                                    (model_.learns_labels() ? "labels" : "numbers"));
        if (options_.epochs < 0 || options_.batch_size < 1 || !(options_.learning_rate >= 0))
            return invalid_argument(
                "fit: expected epochs of at least 0, a batch_size of at least 1 "
                "and a learning_rate of at least 0");
        if (options_.batch_size > model_.max_batch_size())
            return invalid_argument(
                "fit: the batch_size is " + std::to_string(options_.batch_size) +
                ", the model's max_batch_size " + std::to_string(model_.max_batch_size()));
        return check_metrics();
    }

    Status check_metrics() const {
        using Names = std::vector<std::string_view>;
        const Names known = options_.validation == nullptr ? Names{"loss"}
                            : model_.learns_labels()       ? Names{"loss", "accuracy", "f1"}
                                                           : Names{"loss", "mae", "r2"};
        std::vector<std::string> wanted = options_.metrics;
        wanted.push_back(options_.monitor);
        for (const std::string& name : wanted) {
            if (std::find(known.begin(), known.end(), name) != known.end()) continue;
            std::string list;
            for (const std::string_view each : known)
                list += (list.empty() ? "" : ", ") + std::string(each);
            return invalid_argument(
                "fit: no metric is named '" + name + "'; there are: " + list +
                (options_.validation == nullptr ? ", and others with a validation set" : ""));
        }
        return {};
    }

    Result<Epoch> learn(int64_t number) {
        const std::vector<int64_t> order =
            shuffled_indices(data_.size(), options_.seed, static_cast<uint64_t>(number));
        Epoch epoch{number};
        int64_t seen = 0;
        while (seen < data_.size() && !is_stopped_) {
            const int64_t count = std::min(options_.batch_size, data_.size() - seen);
            const Dataset batch = data_.pick(
                std::span(order).subspan(static_cast<size_t>(seen), static_cast<size_t>(count)));
            HEARTH_ASSIGN(const NamedTensors outputs,
                          model_.executor_->run(
                              "learn",
                              {{model_.input_, batch.inputs},
                               {"target", batch.targets},
                               {"learning_rate", HostTensor::scalar(options_.learning_rate)}},
                              count));
            epoch.train_loss += outputs.at("loss").get(0) * static_cast<double>(count);
            seen += count;
            is_stopped_ = log_.waits_or_stops();
        }
        epoch.train_loss /= static_cast<double>(seen);
        if (!std::isfinite(epoch.train_loss))
            return invalid_argument("fit: the training loss of epoch " + std::to_string(number) +
                                    " is not finite; use a lower learning_rate than " +
                                    detail::json_number(options_.learning_rate) +
                                    ", scale the inputs, or set max_grad_norm");
        if (options_.validation != nullptr) {
            HEARTH_ASSIGN(epoch.validation, validate());
        }
        return epoch;
    }

    Result<Scores> validate() {
        HEARTH_ASSIGN(const HostTensor predictions, model_.predict(options_.validation->inputs));
        HEARTH_ASSIGN(Scores scores, score(predictions, *options_.validation, options_.loss));
        const std::vector<std::string>& kept = options_.metrics;
        std::erase_if(scores.values, [&](const auto& metric) {
            return !kept.empty() && metric.first != "loss" && metric.first != options_.monitor &&
                   std::find(kept.begin(), kept.end(), metric.first) == kept.end();
        });
        return scores;
    }

    Status keep_if_better(const Epoch& epoch) {
        const double value = options_.validation == nullptr
                                 ? epoch.train_loss
                                 : epoch.validation.values.find(options_.monitor)->second;
        const double gain =
            is_higher_better(options_.monitor) ? value - best_value_ : best_value_ - value;
        if (std::isnan(value) || (result_.best_epoch > 0 && !(gain > options_.min_delta)))
            return {};
        best_value_ = value;
        result_.best_epoch = epoch.number;
        result_.best = epoch.validation;
        HEARTH_ASSIGN(best_, model_.read_weights());
        if (options_.checkpoint.empty()) return {};
        return write_file_atomically(
            options_.checkpoint,
            write_safetensors(best_, {{"epoch", std::to_string(epoch.number)}}));
    }

    SupervisedModel& model_;
    const Dataset& data_;
    const FitOptions& options_;
    RunLogWriter log_;
    FitResult result_;
    NamedTensors best_;
    double best_value_ = 0;
    bool is_stopped_ = false;
};

Result<FitResult> fit(SupervisedModel& model, const Dataset& data, const FitOptions& options) {
    return or_out_of_memory([&] { return Fitting(model, data, options).run(); });
}

}  // namespace hearth
