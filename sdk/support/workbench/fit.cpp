// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Supervised training as C functions.

#include "blob.hpp"
#include "core/out_of_memory.hpp"
#include "headless.hpp"
#include "options.hpp"
#include "result.hpp"

#include <hearth/brain.hpp>
#include <hearth/fit.hpp>

#include <native/device_executor.hpp>
#include <onnx_export/export_model.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

struct hearth_dataset {
    hearth::Dataset data;
};

namespace hearth::workbench {

namespace {

constexpr int64_t kMaxCount = int64_t{1} << 40;

std::unique_ptr<hearth_blob> blob_of(const std::string& text) {
    auto blob = std::make_unique<hearth_blob>();
    const std::span bytes = std::as_bytes(std::span(text));
    blob->bytes.assign(bytes.begin(), bytes.end());
    return blob;
}

Json extents_of(const HostTensor& tensor) {
    Json extents = Json::array();
    for (const Dim dim : tensor.shape().dims()) extents.push_back(dim.count);
    return extents;
}

/// Copies an array of 4-byte elements.
Result<HostTensor> array_of(const void* data, DType dtype, const uint64_t* dims, uint32_t rank) {
    if (data == nullptr || dims == nullptr || rank == 0 || rank > kMaxRank)
        return invalid_argument("data set: expected an array of 1 to " + std::to_string(kMaxRank) +
                                " dimensions");
    Shape shape;
    uint64_t count = 1;
    for (uint32_t i = 0; i < rank; ++i) {
        if (dims[i] != 0 && count > uint64_t{kMaxCount} / dims[i])
            return out_of_range("data set: an array is too large");
        count *= dims[i];
        shape.push_back(Dim(static_cast<int64_t>(dims[i])));
    }
    HostTensor tensor(dtype, shape);
    std::memcpy(tensor.bytes().data(), data, tensor.bytes().size());
    return tensor;
}

Result<DatasetOptions> dataset_options(const char* text) {
    HEARTH_ASSIGN(Options o, Options::parse(text == nullptr ? "" : text));
    DatasetOptions options;
    options.targets = o.texts("targets", {});
    options.inputs = o.text("inputs", "x");
    options.labels = o.flag("labels", false);
    options.classes = o.texts("classes", {});
    const std::string delimiter = o.text("delimiter", ",");
    HEARTH_TRY(o.finish());
    if (delimiter.size() != 1)
        return invalid_argument("options: delimiter: expected one character, found '" + delimiter +
                                "'");
    options.delimiter = delimiter[0];
    return options;
}

/// Numbers that are not finite become null.
Json json_of(const Scores& scores) {
    Json values = Json::object();
    for (const auto& [name, value] : scores.values)
        values[name] = std::isfinite(value) ? Json(value) : Json();
    return values;
}

Json json_of(const Epoch& epoch) {
    return {{"epoch", epoch.number},
            {"train_loss", epoch.train_loss},
            {"validation", json_of(epoch.validation)}};
}

Json json_of(const FitResult& result) {
    static constexpr const char* kEnds[] = {"epochs", "early_stopping", "callback", "stop_request"};
    Json history = Json::array(), confusion = Json::array();
    for (const Epoch& epoch : result.history) history.push_back(json_of(epoch));
    const std::vector<int64_t>& counts = result.best.confusion;
    const auto classes =
        static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(counts.size()))));
    for (size_t row = 0; row < classes; ++row)
        confusion.push_back(std::vector<int64_t>(
            counts.begin() + static_cast<std::ptrdiff_t>(row * classes),
            counts.begin() + static_cast<std::ptrdiff_t>((row + 1) * classes)));
    return {{"history", std::move(history)},
            {"best_epoch", result.best_epoch},
            {"best", json_of(result.best)},
            {"confusion", std::move(confusion)},
            {"end", kEnds[static_cast<size_t>(result.end)]}};
}

Result<FitOptions> fit_options(const char* text) {
    HEARTH_ASSIGN(Options o, Options::parse(text == nullptr ? "" : text));
    FitOptions options;
    const std::string loss =
        o.text("loss", "cross_entropy", {"mse", "l1", "huber", "cross_entropy"});
    if (const Result<Loss> named = loss_named(loss); named.ok()) options.loss = *named;
    options.epochs = o.whole("epochs", options.epochs, 0, kMaxCount);
    options.batch_size = o.whole("batch_size", options.batch_size, 1, kMaxCount);
    options.learning_rate = o.number("learning_rate", options.learning_rate);
    options.seed =
        static_cast<uint64_t>(o.whole("seed", 0, 0, std::numeric_limits<int64_t>::max()));
    options.monitor = o.text("monitor", options.monitor);
    options.metrics = o.texts("metrics", {});
    options.patience = o.whole("patience", 0, 0, kMaxCount);
    options.min_delta = o.number("min_delta", 0);
    options.checkpoint = o.text("checkpoint", "");
    options.log = o.text("log", "");
    options.program = o.text("program", options.program);
    HEARTH_TRY(o.finish());
    return options;
}

struct Trained {
    std::vector<std::byte> brain;
    FitResult result;
};

/// Trains the package's graphs and returns the best weights in its brain.
Result<Trained> train(hearth_headless& host, std::span<const std::byte> package,
                      std::span<const std::byte> brain_bytes, const Dataset& data,
                      const FitOptions& options) {
    std::vector<uint64_t> aligned((package.size() + 7) / 8);
    if (!package.empty()) std::memcpy(aligned.data(), package.data(), package.size());
    const auto bytes = std::as_bytes(std::span(aligned)).first(package.size());
    HEARTH_ASSIGN(std::vector<Graph> graphs, package_graphs(bytes));
    HEARTH_ASSIGN(Brain brain, initial_brain(bytes));
    HEARTH_ASSIGN(const std::unique_ptr<Executor> executor,
                  native::make_device_executor(*host.device, host.native ? "cpu" : "gpu"));
    const int64_t largest = std::max<int64_t>(options.batch_size, 256);
    HEARTH_ASSIGN(SupervisedModel model,
                  SupervisedModel::load(*executor, std::move(graphs), largest));
    if (!brain_bytes.empty()) {
        HEARTH_ASSIGN(const Brain given, load_brain(brain_bytes, &brain));
        for (const BrainTensor& tensor : given.tensors) {
            HEARTH_ASSIGN(const HostTensor held, executor->read(tensor.name));
            HEARTH_TRY(executor->write(tensor.name, tensor.value.cast(held.dtype())));
        }
    }
    Trained trained;
    HEARTH_ASSIGN(trained.result, fit(model, data, options));
    for (BrainTensor& tensor : brain.tensors) {
        HEARTH_ASSIGN(const HostTensor value, executor->read(tensor.name));
        tensor.value = value.cast(tensor.value.dtype());
    }
    HEARTH_ASSIGN(trained.brain, save_brain(brain));
    return trained;
}

hearth_result deliver(Result<Dataset> data, hearth_dataset** out, hearth_messages* messages) {
    if (data.ok()) *out = new (std::nothrow) hearth_dataset{std::move(*data)};
    if (data.ok() && *out == nullptr) data = out_of_range("out of memory");
    return set_messages(messages, data.status());
}

}  // namespace

}  // namespace hearth::workbench

using namespace hearth;
using namespace hearth::workbench;

extern "C" {

hearth_result hearth_dataset_create(const float* inputs, const uint64_t* input_dims,
                                    uint32_t input_rank, const void* targets,
                                    const uint64_t* target_dims, uint32_t target_rank,
                                    uint32_t has_labels, const char* options, hearth_dataset** out,
                                    hearth_messages* messages) {
    if (out == nullptr) return set_messages(messages, invalid_argument("out is NULL"));
    return deliver(or_out_of_memory([&]() -> Result<Dataset> {
                       HEARTH_ASSIGN(DatasetOptions read, dataset_options(options));
                       HEARTH_ASSIGN(const HostTensor x,
                                     array_of(inputs, DType::kF32, input_dims, input_rank));
                       HEARTH_ASSIGN(const HostTensor y,
                                     array_of(targets, has_labels != 0 ? DType::kI32 : DType::kF32,
                                              target_dims, target_rank));
                       return make_dataset(x, y, std::move(read.classes));
                   }),
                   out, messages);
}

hearth_result hearth_dataset_load(const char* path, const char* options, hearth_dataset** out,
                                  hearth_messages* messages) {
    if (out == nullptr || path == nullptr)
        return set_messages(messages, invalid_argument("path or out is NULL"));
    return deliver(or_out_of_memory([&]() -> Result<Dataset> {
                       HEARTH_ASSIGN(const DatasetOptions read, dataset_options(options));
                       return load_dataset(path, read);
                   }),
                   out, messages);
}

hearth_result hearth_dataset_split(const hearth_dataset* dataset, double fraction, uint64_t seed,
                                   hearth_dataset** first, hearth_dataset** second,
                                   hearth_messages* messages) {
    if (dataset == nullptr || first == nullptr || second == nullptr || !(fraction > 0) ||
        !(fraction < 1) || dataset->data.size() < 2)
        return set_messages(messages,
                            invalid_argument("split: expected a data set of at least 2 samples and "
                                             "a fraction between 0 and 1"));
    return set_messages(messages, or_out_of_memory([&]() -> Status {
                            auto [a, b] = split(dataset->data, fraction, seed);
                            if (a.size() == 0)
                                return invalid_argument("split: the fraction leaves no samples");
                            auto kept =
                                std::make_unique<hearth_dataset>(hearth_dataset{std::move(a)});
                            *second = new hearth_dataset{std::move(b)};
                            *first = kept.release();
                            return {};
                        }));
}

hearth_result hearth_dataset_describe(const hearth_dataset* dataset, hearth_blob** out,
                                      hearth_messages* messages) {
    if (dataset == nullptr || out == nullptr)
        return set_messages(messages, invalid_argument("dataset or out is NULL"));
    return set_messages(messages, or_out_of_memory([&]() -> Status {
                            const Dataset& data = dataset->data;
                            *out =
                                blob_of(Json{{"inputs", extents_of(data.inputs)},
                                             {"targets", extents_of(data.targets)},
                                             {"labels", data.has_labels()},
                                             {"classes", data.classes}}
                                            .dump(-1, ' ', false, Json::error_handler_t::replace))
                                    .release();
                            return {};
                        }));
}

const float* hearth_dataset_inputs(const hearth_dataset* dataset) {
    return dataset->data.inputs.as<float>().data();
}

const void* hearth_dataset_targets(const hearth_dataset* dataset) {
    return dataset->data.targets.bytes().data();
}

void hearth_dataset_destroy(hearth_dataset* dataset) {
    delete dataset;
}

hearth_result hearth_fit(hearth_headless* host, const void* package, uint64_t byte_count,
                         const void* brain, uint64_t brain_bytes, const hearth_dataset* train_set,
                         const hearth_dataset* validation, const char* options,
                         hearth_fit_callback callback, void* user_data, hearth_blob** out_brain,
                         hearth_blob** report, hearth_messages* messages) {
    if (host == nullptr || package == nullptr || train_set == nullptr || out_brain == nullptr ||
        report == nullptr)
        return set_messages(messages, invalid_argument("host, package, train, out_brain or report "
                                                       "is NULL"));
    return set_messages(
        messages, or_out_of_memory([&]() -> Status {
            HEARTH_ASSIGN(FitOptions read, fit_options(options));
            read.validation = validation == nullptr ? nullptr : &validation->data;
            if (callback != nullptr)
                read.on_epoch = [&](const Epoch& epoch) {
                    return callback(user_data, json_of(epoch).dump().c_str()) != 0;
                };
            const auto bytes_of = [](const void* data, uint64_t count) {
                return std::span(static_cast<const std::byte*>(data),
                                 data == nullptr ? size_t{0} : static_cast<size_t>(count));
            };
            HEARTH_ASSIGN(Trained trained,
                          train(*host, bytes_of(package, byte_count), bytes_of(brain, brain_bytes),
                                train_set->data, read));
            auto text = blob_of(json_of(trained.result).dump());
            auto kept = std::make_unique<hearth_blob>();
            kept->bytes = std::move(trained.brain);
            *out_brain = kept.release();
            *report = text.release();
            return {};
        }));
}

}  // extern "C"
