// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// CPU cost of loading a network: from a package, and cold (import of an ONNX file, compile, load).
// Both end with a session whose pipelines are not built yet. Building them, the driver's part, is
// reported separately, without and with the pipeline cache that a game keeps between runs.

#include "bench.hpp"
#include "mlp.hpp"

#include <hearth/brain_file.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#if defined(HEARTH_PERF_IMPORT)
#include <hearth/io.hpp>
#endif

#include <fmt/format.h>

#include <cstdlib>

namespace hearth::perf {

namespace {

/// An operation to be timed once.
using Step = std::function<Status()>;

/// A network before compilation.
struct Source {
    /// Reads or traces it from scratch: the part of a cold start before compiling.
    std::function<Result<std::unique_ptr<Trace>>()> trace;
    std::string what;
};

/// A context with a loaded program and a session; destroys all of them.
struct Loaded {
    Context context;
    LoadedProgram program;
    Session session;
};

Status make_context(standalone::Device& device, std::span<const std::byte> cache, Loaded& loaded) {
    hearth_context_create_info info = device.host_info();
    info.pipeline_cache_data = cache.data();
    info.pipeline_cache_bytes = cache.size();
    HEARTH_ASSIGN(loaded.context, Context::create(info));
    return {};
}

/// CPU times of one way to load, in us.
struct Times {
    std::vector<double> prepare;  ///< import and compile
    std::vector<double> load;     ///< checks, memory, session
    std::vector<double> build;    ///< pipelines
};

Result<double> timed(const Step& step) {
    const double begin_us = now_us();
    HEARTH_TRY(step());
    return now_us() - begin_us;
}

class LoadTimer {
  public:
    LoadTimer(standalone::Device& device, const Source& source)
        : device_(device), source_(source) {}

    Status prepare() {
        HEARTH_ASSIGN(caps_, device_.caps());
        HEARTH_ASSIGN(const std::unique_ptr<Trace> trace, source_.trace());
        CookOptions options;
        options.device_targets.push_back({"device", compile_options()});
        HEARTH_ASSIGN(const Cooked cooked, cook({trace.get()}, options));
        package_ = cooked.bytes;
        return {};
    }

    Result<Times> cold(int count) {
        Times times;
        for (int i = 0; i < count; ++i) {
            Compiled compiled;
            HEARTH_ASSIGN(const double prepare_us, timed([&]() -> Status {
                              HEARTH_ASSIGN(const std::unique_ptr<Trace> trace, source_.trace());
                              HEARTH_ASSIGN(compiled, compile({trace.get()}, compile_options()));
                              return {};
                          }));
            times.prepare.push_back(prepare_us);
            HEARTH_TRY(load(times, {}, false, [&](const Context& context) {
                return LoadedProgram::load(context, compiled.bytes, true);
            }));
        }
        return times;
    }

    /// cache: saved by an earlier run, or empty. build_count: how many of the `count` sessions also
    /// build their pipelines: the first ones.
    Result<Times> cooked(int count, int build_count, std::span<const std::byte> cache) {
        Times times;
        for (int i = 0; i < count; ++i)
            HEARTH_TRY(load(times, cache, i < build_count, [&](const Context& context) {
                return LoadedProgram::load_package(context, package_, true);
            }));
        return times;
    }

    const std::vector<std::byte>& package() const { return package_; }
    const std::vector<std::byte>& saved_cache() const { return saved_cache_; }
    uint32_t pipelines() const { return pipelines_; }

  private:
    CompileOptions compile_options() const {
        CompileOptions options;
        options.caps = caps_;
        options.keep_source = false;
        return options;
    }

    template <class Load>
    Status load(Times& times, std::span<const std::byte> cache, bool builds,
                const Load& load_program) {
        Loaded loaded;
        HEARTH_TRY(make_context(device_, cache, loaded));
        HEARTH_ASSIGN(const double load_us, timed([&]() -> Status {
                          HEARTH_ASSIGN(loaded.program, load_program(loaded.context));
                          HEARTH_ASSIGN(loaded.session,
                                        Session::create(loaded.context, loaded.program));
                          return {};
                      }));
        times.load.push_back(load_us);
        if (builds) {
            HEARTH_ASSIGN(const double build_us,
                          timed([&] { return loaded.session.create_pipelines(); }));
            times.build.push_back(build_us);
            pipelines_ = loaded.session.status().pipeline_count;
            if (saved_cache_.empty()) {
                HEARTH_ASSIGN(saved_cache_, loaded.context.save_pipeline_cache());
            }
        }
        loaded.session = Session();
        loaded.program = LoadedProgram();
        return {};
    }

    standalone::Device& device_;
    const Source& source_;
    DeviceCaps caps_;
    std::vector<std::byte> package_, saved_cache_;
    uint32_t pipelines_ = 0;
};

Status time_load(Bench& bench, const Source& source, Row& row) {
    // A software driver takes minutes to build a large network's pipelines, and drivers have caches
    // of their own: only the first build counts.
    constexpr int kCold = 3, kCooked = 20, kBuilt = 1, kCached = 5;
    LoadTimer timer(bench.device(), source);
    HEARTH_TRY(timer.prepare());
    HEARTH_ASSIGN(const Times cooked, timer.cooked(kCooked, kBuilt, {}));
    HEARTH_ASSIGN(const Times cached, timer.cooked(kCached, kCached, timer.saved_cache()));
    HEARTH_ASSIGN(const Times cold, timer.cold(kCold));
    std::vector<double> cold_us, ready_us;
    for (size_t i = 0; i < cold.prepare.size(); ++i)
        cold_us.push_back(cold.prepare[i] + cold.load[i]);
    for (size_t i = 0; i < cached.load.size(); ++i)
        ready_us.push_back(cached.load[i] + cached.build[i]);
    row.repeated_us = statistics_of(cooked.load);
    row.repetitions = 1;
    row.single_us = statistics_of(cold_us);
    row.wall_us = statistics_of(ready_us);
    row.state = Row::State::kOk;
    const double faster = row.single_us.median / row.repeated_us.median;
    row.note = fmt::format(
        "{}: us is loading the package on the host, single us the same cold: "
        "{:.0f} times as long; wall us until it can run, with a saved pipeline cache",
        source.what, faster);
    row.details = {{"bytes of the package", static_cast<double>(timer.package().size())},
                   {"us import or trace, and compile", statistics_of(cold.prepare).median},
                   {"us load what was compiled", statistics_of(cold.load).median},
                   {"us build pipelines, the first time", statistics_of(cooked.build).median},
                   {"us build pipelines with a saved cache", statistics_of(cached.build).median},
                   {"pipelines", static_cast<double>(timer.pipelines())},
                   {"bytes of the saved cache", static_cast<double>(timer.saved_cache().size())}};
    return {};
}

/// A policy with four layers of 64.
Status load_mlp(Bench& bench, Row& row) {
    const Source source{[]() -> Result<std::unique_ptr<Trace>> {
                            auto trace = std::make_unique<Trace>("act");
                            const Tensor x = trace->input("x", {kBatch, 64});
                            trace->output("y", nn::mlp(*trace, "net", x, {64, 64, 64, 64}, relu));
                            return trace;
                        },
                        "64x4 MLP, traced"};
    return time_load(bench, source, row);
}

#if defined(HEARTH_PERF_IMPORT)
/// Loads an ONNX file of the reference cases.
Status load_onnx(Bench& bench, Row& row, const char* file) {
    const char* cases = std::getenv("HEARTH_CASES");
    if (cases == nullptr) return not_found("HEARTH_CASES is not set: no models to load");
    HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                  read_whole_file(std::string(cases) + "/" + file));
    const Source source{[&bytes]() -> Result<std::unique_ptr<Trace>> {
                            HEARTH_ASSIGN(const ImportedModel model, import_onnx(bytes));
                            auto trace = std::make_unique<Trace>("act");
                            std::vector<Tensor> inputs;
                            for (const TensorSpec& port : model.inputs())
                                inputs.push_back(trace->input(port.name, port.shape, port.dtype));
                            const std::vector<Tensor> outputs = model.call(*trace, inputs);
                            for (size_t i = 0; i < outputs.size(); ++i)
                                trace->output(model.outputs()[i].name, outputs[i]);
                            return trace;
                        },
                        fmt::format("{}, {} bytes", file, bytes.size())};
    return time_load(bench, source, row);
}

Status load_digits(Bench& bench, Row& row) {
    return load_onnx(bench, row, "digits/digits_cnn_script.onnx");
}

Status load_squeezenet(Bench& bench, Row& row) {
    return load_onnx(bench, row, "nets/squeezenet1_1/model.onnx");
}
#endif

constexpr Scene kScenes[] = {
    {"load_mlp_64x4", "load a 64x4 MLP from a package, and cold", load_mlp},
#if defined(HEARTH_PERF_IMPORT)
    {"load_digits_cnn", "load the digits CNN from a package, and cold", load_digits},
    {"load_squeezenet", "load SqueezeNet 1.1 from a package, and cold", load_squeezenet},
#endif
};

}  // namespace

std::span<const Scene> load_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
