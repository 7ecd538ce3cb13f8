// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The compiler's C functions: cooks models and agents into packages.

#include "agents_options.hpp"
#include "blob.hpp"
#include "core/out_of_memory.hpp"
#include "headless.hpp"
#include "program/package.hpp"
#include "result.hpp"

#include <hearth/compile.hpp>
#include <hearth/fit.hpp>
#include <hearth/io.hpp>

#include <onnx_export/export_model.hpp>
#include <programs/device_targets.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace hearth::workbench {

namespace {

constexpr int64_t kMaxBatchSize = int64_t{1} << 24;

/// Reads the options that all packages have.
/// notes  of the package that is cooked again, if one is.
Result<CookOptions> cook_options(Options& o, hearth_headless* host, std::string_view notes = {}) {
    CookOptions cook;
    cook.max_batch_size = static_cast<uint64_t>(o.whole("max_batch_size", 0, 1, kMaxBatchSize));
    const bool is_f16 = programs::precision_in(notes) == Precision::kF16;
    const std::string precision = o.text("precision", is_f16 ? "f16" : "f32", {"f32", "f16"});
    cook.notes = Json{{"by", hearth_build_info()}, {"precision", precision}}.dump();
    const std::string quantize = o.text("quantize", "", {"", "f16", "int8", "int4"});
    if (quantize == "f16") cook.quantize.format = WeightFormat::kF16;
    if (quantize == "int8") cook.quantize.format = WeightFormat::kInt8;
    if (quantize == "int4") cook.quantize.format = WeightFormat::kInt4;
    const bool strip = o.flag("strip", true);
    const bool assume_int32 = o.flag("assume_int32", false);
    const bool assume_float32 = o.flag("assume_float32", false);
    for (const std::string& name : o.texts("device_targets", {"baseline"})) {
        HEARTH_ASSIGN(
            DeviceTarget target,
            programs::make_device_target(name, host == nullptr ? nullptr : host->device.get()));
        if (!strip) target.options.keep_source = true;
        if (precision == "f16") target.options.precision = Precision::kF16;
        target.options.assume_int32 = assume_int32;
        target.options.assume_float32 = assume_float32;
        cook.device_targets.push_back(std::move(target));
    }
    return cook;
}

/// The notes of a package, which need not be aligned.
Result<std::string> notes_of(std::span<const std::byte> package) {
    std::vector<uint64_t> aligned((package.size() + 7) / 8);
    if (!package.empty()) std::memcpy(aligned.data(), package.data(), package.size());
    PackageView view;
    ViewError error;
    if (!view.open(std::as_bytes(std::span(aligned)).first(package.size()), &error))
        return Status(error.code, error.text.c_str());
    return std::string(view.notes());
}

Result<ImportOptions> import_options(Options& o) {
    ImportOptions import;
    const Json shapes = o.any("shapes");
    for (const auto& [name, extents] : shapes.items()) {
        NamedShape named{name, {}};
        if (!extents.is_array() || extents.size() > kMaxRank)
            return invalid_argument("options: shapes." + name + ": expected at most " +
                                    std::to_string(kMaxRank) + " extents, found " +
                                    programs::describe(extents));
        for (const Json& extent : extents) {
            if (extent == "batch")
                named.shape.push_back(kBatch);
            else if (extent.is_number_integer() && extent >= 0)
                named.shape.push_back(Dim(extent.get<int64_t>()));
            else
                return invalid_argument("options: shapes." + name +
                                        ": expected whole numbers or \"batch\", found " +
                                        programs::describe(extent));
        }
        import.input_shapes.push_back(std::move(named));
    }
    const Json bounds = o.any("bounds");
    for (const auto& [name, count] : bounds.items()) {
        if (!count.is_number_integer())
            return invalid_argument("options: bounds." + name +
                                    ": expected a whole number, found " +
                                    programs::describe(count));
        import.bounds.push_back({name, count.get<int64_t>()});
    }
    if (const std::string folder = o.text("folder", ""); !folder.empty())
        import.external_data = directory_loader(folder);
    return import;
}

std::vector<Tensor> run_model(Trace& trace, const ImportedModel& model) {
    std::vector<Tensor> inputs;
    for (const TensorSpec& spec : model.inputs())
        inputs.push_back(trace.input(spec.name, spec.shape, spec.dtype));
    return model.call(trace, inputs);
}

Result<size_t> find_output(const ImportedModel& model, const std::string& name) {
    std::string names;
    for (size_t i = 0; i < model.outputs().size(); ++i) {
        if (name.empty() || model.outputs()[i].name == name) return i;
        names += (names.empty() ? "" : ", ") + model.outputs()[i].name;
    }
    return not_found("options: learn: the model has no output '" + name + "'; there are: " + names);
}

/// Reads the options of a training step.
TrainingStep training_step(Options& o) {
    TrainingStep step;
    const std::string loss = o.text("loss", "mse", {"mse", "l1", "huber", "cross_entropy"});
    if (const Result<Loss> named = loss_named(loss); named.ok()) step.loss = *named;
    step.optimizer.name = o.text("optimizer", "adam");
    const Result<const OptimizerDef*> optimizer = optimizer_named(step.optimizer.name);
    if (optimizer.ok())
        for (const OptimizerOption& option : (*optimizer)->options) {
            const std::string name(option.name);
            if (o.has(name.c_str())) step.optimizer.options[name] = o.number(name.c_str(), 0);
        }
    if (const Status status = check_optimizer(step.optimizer); !status.ok())
        o.fail(status.message());
    step.max_grad_norm = o.number("max_grad_norm", 0);
    return step;
}

/// Traces one step of supervised training.
Status trace_learning(Trace& trace, const ImportedModel& model, Options o) {
    const TrainingStep step = training_step(o);
    HEARTH_ASSIGN(const size_t output, find_output(model, o.text("output", "")));
    HEARTH_TRY(o.finish());
    const std::vector<Tensor> outputs = run_model(trace, model);
    HEARTH_TRY(trace.status());
    trace_training_step(trace, outputs[output], step);
    return trace.status();
}

Result<std::vector<std::byte>> cook_onnx(std::span<const std::byte> bytes, const char* text,
                                         hearth_headless* host) {
    HEARTH_ASSIGN(Options o, Options::parse(text));
    HEARTH_ASSIGN(const CookOptions options, cook_options(o, host));
    HEARTH_ASSIGN(const ImportOptions import, import_options(o));
    const std::string name = o.text("name", "main");
    HEARTH_ASSIGN(const ImportedModel model, import_onnx(bytes, import));
    Trace act(name), learn("learn");
    std::vector<Trace*> entries{&act};
    const std::vector<Tensor> outputs = run_model(act, model);
    for (size_t i = 0; i < outputs.size(); ++i) act.output(model.outputs()[i].name, outputs[i]);
    if (o.has("learn")) {
        HEARTH_TRY(trace_learning(learn, model, o.object("learn")));
        entries.push_back(&learn);
    }
    HEARTH_TRY(o.finish());
    HEARTH_ASSIGN(Cooked cooked, cook(entries, options));
    return std::move(cooked.bytes);
}

}  // namespace

Result<std::vector<std::byte>> cook_package(std::span<const std::byte> bytes, const char* text,
                                            hearth_headless* host,
                                            std::span<const std::byte> weights) {
    HEARTH_ASSIGN(Options o, Options::parse(text));
    HEARTH_ASSIGN(const std::string notes, notes_of(bytes));
    HEARTH_ASSIGN(const CookOptions options, cook_options(o, host, notes));
    HEARTH_TRY(o.finish());
    HEARTH_ASSIGN(Cooked cooked, weights.empty() ? recook(bytes, options)
                                                 : recook_with_weights(bytes, weights, options));
    return std::move(cooked.bytes);
}

namespace {

Result<std::vector<std::byte>> cook_agents(const char* text, hearth_headless* host) {
    HEARTH_ASSIGN(Options o, Options::parse(text));
    HEARTH_ASSIGN(CookOptions options, cook_options(o, host));
    options.max_batch_size = std::max<uint64_t>(options.max_batch_size, 1);
    HEARTH_ASSIGN(const DescribedAgents agents,
                  build_described_agents(o, static_cast<int64_t>(options.max_batch_size)));
    HEARTH_TRY(o.finish());
    options.agents = agents.manifest.save();
    HEARTH_ASSIGN(Cooked cooked, cook(agents::all_entries(agents.graphs), options));
    return std::move(cooked.bytes);
}

Result<std::vector<std::byte>> cook_regression(const char* text, hearth_headless* host) {
    HEARTH_ASSIGN(Options o, Options::parse(text));
    HEARTH_ASSIGN(const CookOptions options, cook_options(o, host));
    HEARTH_ASSIGN(const agents::AgentGraphs graphs, build_described_regression(o));
    HEARTH_TRY(o.finish());
    HEARTH_ASSIGN(Cooked cooked, cook(agents::all_entries(graphs), options));
    return std::move(cooked.bytes);
}

Result<std::vector<std::byte>> cook_network(const char* text, hearth_headless* host) {
    HEARTH_ASSIGN(Options o, Options::parse(text));
    HEARTH_ASSIGN(const CookOptions options, cook_options(o, host));
    Options learn_options = o.object("learn");
    const TrainingStep step = training_step(learn_options);
    HEARTH_TRY(learn_options.finish());
    HEARTH_ASSIGN(const DescribedNetwork network, build_described_network(o));
    HEARTH_TRY(o.finish());
    Trace main("main"), learn("learn");
    main.output("y", network.forward(main, main.input("x", network.input)));
    trace_training_step(learn, network.forward(learn, learn.input("x", network.input)), step);
    HEARTH_ASSIGN(Cooked cooked, cook({&main, &learn}, options));
    return std::move(cooked.bytes);
}

Result<std::vector<std::byte>> export_package(std::span<const std::byte> package, const char* text,
                                              std::span<const std::byte> weights) {
    HEARTH_ASSIGN(Options o, Options::parse(text));
    const std::string entry = o.text("entry", "");
    HEARTH_TRY(o.finish());
    return export_package_entry(package, entry, weights);
}

/// Passes the result of `work` to the caller; `host`, which may be null, will load it.
template <class Work>
hearth_result deliver(hearth_headless* host, hearth_blob** out, hearth_messages* messages,
                      Work&& work) {
    if (out == nullptr) return set_messages(messages, invalid_argument("out is NULL"));
    Result<std::unique_ptr<hearth_blob>> blob =
        or_out_of_memory([&]() -> Result<std::unique_ptr<hearth_blob>> {
            auto made = std::make_unique<hearth_blob>();
            HEARTH_ASSIGN(made->bytes, work());
            if (host != nullptr) host->trust(made->bytes);
            return made;
        });
    if (!blob.ok()) return set_messages(messages, blob.status());
    *out = blob->release();
    return HEARTH_OK;
}

std::span<const std::byte> bytes_of(const void* bytes, uint64_t count) {
    return {static_cast<const std::byte*>(bytes), bytes == nullptr ? 0 : size_t{count}};
}

}  // namespace

}  // namespace hearth::workbench

using namespace hearth::workbench;

extern "C" {

const void* hearth_blob_data(const hearth_blob* blob) {
    return blob->bytes.data();
}

uint64_t hearth_blob_bytes(const hearth_blob* blob) {
    return blob->bytes.size();
}

void hearth_blob_destroy(hearth_blob* blob) {
    delete blob;
}

hearth_result hearth_cook_onnx(const void* bytes, uint64_t byte_count, const char* options,
                               hearth_headless* host, hearth_blob** out,
                               hearth_messages* messages) {
    return deliver(host, out, messages,
                   [&] { return cook_onnx(bytes_of(bytes, byte_count), options, host); });
}

hearth_result hearth_cook_package(const void* bytes, uint64_t byte_count, const char* options,
                                  hearth_headless* host, hearth_blob** out,
                                  hearth_messages* messages) {
    return deliver(host, out, messages,
                   [&] { return cook_package(bytes_of(bytes, byte_count), options, host); });
}

hearth_result hearth_cook_package_with_weights(const void* bytes, uint64_t byte_count,
                                               const char* options, const void* weights,
                                               uint64_t weight_bytes, hearth_headless* host,
                                               hearth_blob** out, hearth_messages* messages) {
    return deliver(host, out, messages, [&] {
        return cook_package(bytes_of(bytes, byte_count), options, host,
                            bytes_of(weights, weight_bytes));
    });
}

hearth_result hearth_export_onnx(const void* package, uint64_t byte_count, const char* options,
                                 const void* weights, uint64_t weight_bytes, hearth_blob** out,
                                 hearth_messages* messages) {
    return deliver(nullptr, out, messages, [&] {
        return export_package(bytes_of(package, byte_count), options,
                              bytes_of(weights, weight_bytes));
    });
}

hearth_result hearth_cook_agents(const char* options, hearth_headless* host, hearth_blob** out,
                                 hearth_messages* messages) {
    return deliver(host, out, messages, [&] { return cook_agents(options, host); });
}

hearth_result hearth_cook_regression(const char* options, hearth_headless* host, hearth_blob** out,
                                     hearth_messages* messages) {
    return deliver(host, out, messages, [&] { return cook_regression(options, host); });
}

hearth_result hearth_cook_network(const char* options, hearth_headless* host, hearth_blob** out,
                                  hearth_messages* messages) {
    return deliver(host, out, messages, [&] { return cook_network(options, host); });
}

}  // extern "C"
