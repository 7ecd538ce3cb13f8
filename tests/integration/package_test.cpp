// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Packages from cook to device: which profile each host gets, and the samples in tests/data, one
// for each version of the formats of packages and programs, which go on loading.

#include "program/package.hpp"

#include "compiler/driver/compile.hpp"
#include "compiler/driver/graph_file.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/brain_file.hpp>
#include <hearth/core/philox.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <algorithm>
#include <filesystem>

namespace hearth::test {
namespace {

namespace fs = std::filesystem;

// --- Profiles

class PackageProfiles : public VulkanTest {
  protected:
    static Result<Cooked> cooked() {
        Trace trace("act");
        const Tensor x = trace.input("x", {kBatch, 64});
        trace.output("y", nn::mlp(trace, "net", x, {64, 10}, relu, {.seed = 1}));
        DeviceTarget fp16{"fp16", {}}, descriptors{"descriptors", {}};
        fp16.options.caps.storage_buffer_16bit_access = true;
        descriptors.options.binding_model = BindingModel::kDescriptor;
        CookOptions options;
        options.device_targets = {fp16, DeviceTarget{}, descriptors};
        options.max_batch_size = 8;
        options.quantize.format = WeightFormat::kF16;
        return cook({&trace}, options);
    }

    static NamedTensors inputs() {
        HostTensor x(DType::kF32, {5, 64});
        for (int64_t i = 0; i < x.element_count(); ++i)
            x.set(i, uniform_from_bits(philox_bits(1, 0, static_cast<uint32_t>(i))) - 0.5);
        return {{"x", x}};
    }

    /// The profile that a host gets; what it computes is checked.
    std::string chosen(const Cooked& package, const standalone::DeviceOptions& options) {
        const auto host = make_device(options);
        if (host == nullptr) return {};
        const auto runner = standalone::ProgramRunner::create_from_package(*host, package.bytes);
        EXPECT_TRUE(runner.ok()) << runner.status().message();
        const auto found = runner.ok() ? (*runner)->run("act", 5, inputs()) : runner.status();
        EXPECT_TRUE(found.ok()) << found.status().message();
        if (!found.ok()) return {};
        const PackageView view = open(package.bytes);
        const auto graphs = load_graphs(view);
        EXPECT_TRUE(graphs.ok()) << graphs.status().message();
        NamedTensors weights;
        const auto expected = interpret(graphs->at(0), inputs(), weights, 5);
        EXPECT_TRUE(expected.ok()) << expected.status().message();
        const HostTensor &y = found->at("y"), &reference = expected->at("y");
        for (int64_t i = 0; i < y.element_count(); ++i)
            EXPECT_NEAR(y.get(i), reference.get(i), 1e-5);
        return (*runner)->program().info().device_target;
    }

    static PackageView open(std::span<const std::byte> bytes) {
        PackageView view;
        ViewError error;
        EXPECT_TRUE(view.open(bytes, &error)) << error.text.c_str();
        return view;
    }
};

TEST_F(PackageProfiles, EachHostGetsTheFirstThatItCanRun) {
    const Result<Cooked> package = cooked();
    ASSERT_TRUE(package.ok()) << package.status().message();
    ASSERT_EQ(package->quantized.size(), 1u);  // the other layer is too small
    standalone::DeviceOptions plain = test_device_options(), rich = plain, bound = plain;
    plain.features = bound.features = standalone::FeatureLevel::kRequired;
    rich.features = standalone::FeatureLevel::kRequiredAndOptional;
    plain.binding_model = rich.binding_model = HEARTH_BINDING_DEVICE_ADDRESS;
    bound.binding_model = HEARTH_BINDING_PUSH_DESCRIPTOR;
    EXPECT_EQ(chosen(*package, plain), "baseline");
    EXPECT_EQ(chosen(*package, bound), "descriptors");
    const auto host = make_device(rich);
    ASSERT_NE(host, nullptr);
    if (!host->caps()->storage_buffer_16bit_access)
        GTEST_SKIP() << "the device has no 16-bit storage";
    EXPECT_EQ(chosen(*package, rich), "fp16");
}

// Whether a program for matrix cores runs is for tests on such devices; here, who gets it.
TEST_F(PackageProfiles, MatrixCoresAreForHostsThatHaveThem) {
    Trace trace("act");
    const Tensor x = trace.input("x", {kBatch, 16, 64, 64}, DType::kF16);
    const Tensor w = trace.param("w", {32, 16, 2, 2}, Init::constant(1), DType::kF16);
    trace.output("y", conv(x, w));
    DeviceTarget fp16{"fp16", {}};
    fp16.options.caps.storage_buffer_16bit_access = fp16.options.caps.shader_float16 = true;
    DeviceTarget coopmat = fp16;
    coopmat.name = "coopmat";
    coopmat.options.caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
    coopmat.options.caps.max_compute_shared_memory_size = 32768;
    CookOptions options;
    options.device_targets = {coopmat, fp16, DeviceTarget{}};
    options.max_batch_size = 64;
    const auto package = cook({&trace}, options);
    ASSERT_TRUE(package.ok()) << package.status().message();
    const PackageView view = open(package->bytes);
    const auto program = load_program(view, 0);
    ASSERT_TRUE(program.ok()) << program.status().message();
    ASSERT_TRUE(std::ranges::any_of(program->kernels, [](const Kernel& k) {
        return k.needs_matrix_cores == CooperativeMatrixExt::kKhr && k.subgroup_size == 32;
    }));

    standalone::DeviceOptions host_options = test_device_options();
    host_options.binding_model = HEARTH_BINDING_DEVICE_ADDRESS;
    const auto host = make_device(host_options);
    ASSERT_NE(host, nullptr);
    const auto context = Context::create(host->host_info());
    ASSERT_TRUE(context.ok()) << context.status().message();
    const DeviceCaps caps = host->caps().value();
    const bool has_cores =
        (host->enabled_features() & HEARTH_FEATURE_COOPERATIVE_MATRIX_KHR) != 0 &&
        caps.cooperative_matrix != CooperativeMatrixExt::kNone &&
        caps.cooperative_matrix_shape == MatrixShape{} && caps.subgroup_size == 32;
    const auto best = LoadedProgram::load_package(*context, package->bytes, true);
    ASSERT_TRUE(best.ok()) << best.status().message();
    EXPECT_STREQ(best->info().device_target, has_cores                          ? "coopmat"
                                             : caps.storage_buffer_16bit_access ? "fp16"
                                                                                : "baseline");
    const auto named = LoadedProgram::load_package(*context, package->bytes, true, "coopmat");
    EXPECT_EQ(named.ok(), has_cores);
    if (!has_cores) {
        EXPECT_NE(named.status().message().find("device target coopmat: "), std::string::npos)
            << named.status().message();
    }
}

// --- Samples

constexpr int64_t kInputs = 3, kOutputs = 2;
constexpr double kRate = 0.25;

double first_weight(int64_t i) {
    return 0.25 * static_cast<double>(i) - 0.5;
}

/// A layer with relu, and an entry that trains it: sgd on the sum of the products.
class PackageSamples : public VulkanTest {
  protected:
    PackageSamples() {
        const Tensor y = product(act_) + act_.param("b", {kOutputs}, Init::constant(0.5));
        act_.output("y", relu(y));
        const Tensor loss = sum(product(learn_));
        minimize(loss, std::vector{learn_.params()[0]}, SgdOptions{.learning_rate = kRate});
        learn_.output("loss", loss);
    }

    static Tensor product(Trace& trace) {
        HostTensor w(DType::kF32, {kOutputs, kInputs});
        for (int64_t i = 0; i < w.element_count(); ++i) w.set(i, first_weight(i));
        return linear(trace.input("x", {kBatch, kInputs}),
                      trace.param("w", w.shape(), Init::from(w)));
    }

    static CookOptions options() {
        DeviceTarget baseline, descriptors{"descriptors", {}};
        descriptors.options.binding_model = BindingModel::kDescriptor;
        baseline.options.keep_source = descriptors.options.keep_source = false;
        CookOptions options;
        options.device_targets = {baseline, descriptors};
        options.max_batch_size = 4;
        return options;
    }

    /// Trains once and acts; what comes out is known without Hearth.
    void expect_runs(Result<std::unique_ptr<standalone::ProgramRunner>> runner) {
        ASSERT_TRUE(runner.ok()) << runner.status().message();
        HostTensor x(DType::kF32, {2, kInputs});
        for (int64_t i = 0; i < x.element_count(); ++i) x.set(i, 0.5 * static_cast<double>(i) - 1);
        ASSERT_TRUE((*runner)->run("learn", 2, {{"x", x}}).ok());
        const auto out = (*runner)->run("act", 2, {{"x", x}});
        ASSERT_TRUE(out.ok()) << out.status().message();
        for (int64_t row = 0; row < 2; ++row)
            for (int64_t o = 0; o < kOutputs; ++o) {
                double y = 0.5;
                for (int64_t i = 0; i < kInputs; ++i) {
                    const double gradient = x.get(i) + x.get(kInputs + i);
                    y += x.get(row * kInputs + i) *
                         (first_weight(o * kInputs + i) - kRate * gradient);
                }
                EXPECT_FLOAT_EQ(static_cast<float>(out->at("y").get(row * kOutputs + o)),
                                static_cast<float>(std::max(y, 0.0)));
            }
    }

    static fs::path folder() { return fs::path(HEARTH_TEST_DATA) / "packages"; }
    static fs::path sample(uint32_t package, uint32_t program) {
        return folder() / ("package" + std::to_string(package) + "_program" +
                           std::to_string(program) + ".hearth");
    }
    static fs::path program_sample(uint32_t version) {
        return folder() / ("program" + std::to_string(version) + ".bin");
    }

    Trace act_{"act"}, learn_{"learn"};
};

/// HEARTH_WRITE_SAMPLES=1 writes the samples of new versions.
TEST_F(PackageSamples, OfTheseVersionsRunAsTheyAre) {
    const fs::path package = sample(file::kPackageFormatVersion, kProgramFormatVersion),
                   program = program_sample(kProgramFormatVersion);
    if (std::getenv("HEARTH_WRITE_SAMPLES") != nullptr) {
        const auto cooked = cook({&act_, &learn_}, options());
        ASSERT_TRUE(cooked.ok()) << cooked.status().message();
        CompileOptions alone = options().device_targets[0].options;
        alone.max_batch_size = options().max_batch_size;
        const auto compiled = compile({&act_, &learn_}, alone);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        fs::create_directories(folder());
        ASSERT_TRUE(write_file_atomically(package.string(), cooked->bytes).ok());
        ASSERT_TRUE(write_file_atomically(program.string(), compiled->bytes).ok());
    }
    const auto package_bytes = read_whole_file(package.string());
    const auto program_bytes = read_whole_file(program.string());
    ASSERT_TRUE(package_bytes.ok() && program_bytes.ok())
        << "a new version needs samples: " << package << ", " << program;
    expect_runs(standalone::ProgramRunner::create_from_package(device(), *package_bytes));
    if (device().binding_model() == HEARTH_BINDING_DEVICE_ADDRESS)
        expect_runs(standalone::ProgramRunner::create(device(), *program_bytes));
}

// An older one would be refused at once, and a fuzzer would see nothing of the reader.
TEST_F(PackageSamples, TheSeedOfTheFuzzerIsOfTheseVersions) {
    const fs::path seed =
        fs::path(HEARTH_TEST_DATA).parent_path() / "fuzz/corpus/package/learner.hearth";
    const auto bytes = read_whole_file(seed.string());
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    PackageView package;
    ViewError error;
    ASSERT_TRUE(package.open(*bytes, &error)) << error.text.c_str();
    EXPECT_TRUE(load_program(package, 0).ok()) << "write it anew with fuzz_seeds";
}

// Programs of an older version are refused by name; the graph beside them is cooked again. Packages
// of an older version with programs of this one run.
TEST_F(PackageSamples, OfEachVersionAreCookedAgain) {
    size_t count = 0;
    for (const fs::directory_entry& file : fs::directory_iterator(folder())) {
        if (file.path().extension() != ".hearth") continue;
        SCOPED_TRACE(file.path().filename());
        ++count;
        const auto bytes = read_whole_file(file.path().string());
        ASSERT_TRUE(bytes.ok()) << bytes.status().message();
        const auto again = recook(*bytes, options());
        ASSERT_TRUE(again.ok()) << again.status().message();
        expect_runs(standalone::ProgramRunner::create_from_package(device(), again->bytes));
        auto old = standalone::ProgramRunner::create_from_package(device(), *bytes);
        if (file.path().stem().string().ends_with("program" +
                                                  std::to_string(kProgramFormatVersion))) {
            expect_runs(std::move(old));
            continue;
        }
        ASSERT_FALSE(old.ok());
        EXPECT_NE(old.status().message().find("this library reads version " +
                                              std::to_string(kProgramFormatVersion)),
                  std::string::npos)
            << old.status().message();
    }
    EXPECT_GT(count, 0u);
}

}  // namespace
}  // namespace hearth::test
