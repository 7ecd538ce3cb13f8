// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hosts of Vulkan 1.1, to which extensions give what later versions have in their core.

#include "support/vulkan_fixture.hpp"

#include <hearth/compile.hpp>
#include <hearth/core/philox.hpp>
#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <programs/device_targets.hpp>
#include <standalone/program_runner.hpp>

#include <algorithm>

namespace hearth::test {
namespace {

constexpr int64_t kRowCount = 37, kInputs = 9, kOutputs = 3;

/// Either binding model.
class Vulkan11 : public testing::TestWithParam<hearth_binding_model> {
  protected:
    /// A host with a device of its own.
    struct Host {
        std::unique_ptr<standalone::Instance> instance;
        std::unique_ptr<standalone::Device> device;

        ~Host() {
            device.reset();
            if (instance == nullptr) return;
            for (const standalone::ValidationMessage& message : instance->messages().take())
                ADD_FAILURE() << "validation: " << message.text;
        }
    };

    static bool uses_addresses() { return GetParam() == HEARTH_BINDING_DEVICE_ADDRESS; }
    static const char* newer() { return uses_addresses() ? "baseline" : "descriptors"; }
    static const char* older() {
        return uses_addresses() ? "vulkan-1.1" : "vulkan-1.1-descriptors";
    }

    static void make(uint32_t api_version, Host& host) {
        standalone::InstanceOptions options;
        options.validation = test_setting("HEARTH_TEST_VALIDATION") != "off";
        options.print_messages = false;
        options.api_version = api_version;
        auto instance = standalone::Instance::create(options);
        ASSERT_TRUE(instance.ok()) << instance.status().message();
        host.instance = std::move(*instance);
        standalone::DeviceOptions device_options = test_device_options();
        device_options.binding_model = GetParam();
        auto device = standalone::Device::create(*host.instance, device_options);
        ASSERT_TRUE(device.ok()) << device.status().message();
        host.device = std::move(*device);
        ASSERT_EQ(host.device->api_version() >= VK_API_VERSION_1_2,
                  api_version >= VK_API_VERSION_1_2);
    }

    /// A policy that acts, and an entry that trains it by a step of Adam.
    static Result<Cooked> cooked(std::initializer_list<const char*> names) {
        Trace act("act"), learn("learn");
        const auto policy = [](Trace& t) {
            return nn::mlp(t, "net", t.input("x", {kBatch, kInputs}), {32, 32, kOutputs}, tanh,
                           {.seed = 4});
        };
        act.output("y", softmax(policy(act), -1));
        const Tensor loss =
            cross_entropy(policy(learn), learn.input("labels", {kBatch}, DType::kI32));
        learn.output("loss", loss);
        minimize(loss, learn.params(), AdamOptions{});
        CookOptions options;
        options.max_batch_size = 64;
        for (const char* name : names) {
            HEARTH_ASSIGN(DeviceTarget profile, programs::make_device_target(name, nullptr));
            options.device_targets.push_back(std::move(profile));
        }
        return cook({&act, &learn}, options);
    }

    struct Found {
        std::string profile;
        NamedTensors before, losses, after, weights;
    };

    /// Acts, takes a step and acts again.
    static void run(Host& host, const Cooked& package, Found& found) {
        const auto made =
            standalone::ProgramRunner::create_from_package(*host.device, package.bytes);
        ASSERT_TRUE(made.ok()) << made.status().message();
        standalone::ProgramRunner& runner = **made;
        found.profile = runner.program().info().device_target;
        HostTensor x(DType::kF32, {kRowCount, kInputs}), labels(DType::kI32, {kRowCount});
        for (int64_t i = 0; i < x.element_count(); ++i)
            x.set(i, 2 * uniform_from_bits(philox_bits(3, 0, static_cast<uint32_t>(i))) - 1);
        for (int64_t i = 0; i < kRowCount; ++i) labels.set(i, static_cast<double>(i % kOutputs));
        const auto call = [&](const char* entry, const NamedTensors& inputs, NamedTensors& out) {
            auto outputs = runner.run(entry, kRowCount, inputs);
            ASSERT_TRUE(outputs.ok()) << outputs.status().message();
            out = std::move(*outputs);
        };
        call("act", {{"x", x}}, found.before);
        call("learn", {{"x", x}, {"labels", labels}}, found.losses);
        call("act", {{"x", x}}, found.after);
        auto weights = runner.read_variables();
        ASSERT_TRUE(weights.ok()) << weights.status().message();
        found.weights = std::move(*weights);
    }
};

TEST_P(Vulkan11, ActsAndLearnsByExtensionsToTheBitAsANewerHostDoes) {
    const Result<Cooked> package = cooked({newer(), older()});
    ASSERT_TRUE(package.ok()) << package.status().message();
    Host new_host, old_host;
    ASSERT_NO_FATAL_FAILURE(make(VK_API_VERSION_1_3, new_host));
    ASSERT_NO_FATAL_FAILURE(make(VK_API_VERSION_1_1, old_host));
    const auto extensions = old_host.device->enabled_extensions();
    EXPECT_TRUE(std::ranges::any_of(extensions, [](const std::string_view name) {
        return name ==
               (uses_addresses() ? "VK_KHR_buffer_device_address" : "VK_KHR_push_descriptor");
    }));
    Found expected, found;
    ASSERT_NO_FATAL_FAILURE(run(new_host, *package, expected));
    ASSERT_NO_FATAL_FAILURE(run(old_host, *package, found));
    EXPECT_EQ(expected.profile, newer());
    EXPECT_EQ(found.profile, older());
    EXPECT_EQ(found.before, expected.before);
    EXPECT_EQ(found.losses, expected.losses);
    EXPECT_EQ(found.after, expected.after);
    EXPECT_EQ(found.weights, expected.weights);
    EXPECT_NE(found.after, found.before);
}

TEST_P(Vulkan11, APackageWithoutAProfileForItIsRefusedWithWhatEachProfileLacks) {
    const Result<Cooked> package = cooked({"fp16", newer()});
    ASSERT_TRUE(package.ok()) << package.status().message();
    Host host;
    ASSERT_NO_FATAL_FAILURE(make(VK_API_VERSION_1_1, host));
    const auto context = Context::create(host.device->host_info());
    ASSERT_TRUE(context.ok()) << context.status().message();
    const auto loaded = LoadedProgram::load_package(*context, package->bytes);
    ASSERT_FALSE(loaded.ok());
    const std::string text = loaded.status().message();
    EXPECT_NE(text.find("device target fp16: "), std::string::npos) << text;
    EXPECT_NE(text.find(std::string("device target ") + newer() +
                        ": its SPIR-V is of version 1.5, the Vulkan version in use accepts up to "
                        "1.3; raise the api version, or cook with --device-targets vulkan-1.1"),
              std::string::npos)
        << text;
}

/// Programs that are compiled in the game are of the SPIR-V that its device takes.
TEST_P(Vulkan11, WhatIsCompiledForTheDeviceRunsOnIt) {
    Host host;
    ASSERT_NO_FATAL_FAILURE(make(VK_API_VERSION_1_1, host));
    Trace act("act");
    act.output("y", tanh(act.input("x", {kBatch, 4})) * 2.0);
    CompileOptions options{.caps = host.device->caps().value(), .max_batch_size = 8};
    EXPECT_EQ(options.caps.spirv_version, 0x00010300u);
    if (!uses_addresses()) options.binding_model = BindingModel::kDescriptor;
    const auto compiled = compile({&act}, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const auto runner = standalone::ProgramRunner::create(*host.device, compiled->bytes);
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    HostTensor x(DType::kF32, {2, 4});
    const auto out = (*runner)->run("act", 2, {{"x", x}});
    ASSERT_TRUE(out.ok()) << out.status().message();
    EXPECT_EQ(out->at("y"), x);  // zeros
}

INSTANTIATE_TEST_SUITE_P(With, Vulkan11,
                         testing::Values(HEARTH_BINDING_DEVICE_ADDRESS,
                                         HEARTH_BINDING_PUSH_DESCRIPTOR),
                         [](const auto& test) {
                             return test.param == HEARTH_BINDING_DEVICE_ADDRESS ? "Addresses"
                                                                                : "Descriptors";
                         });

}  // namespace
}  // namespace hearth::test
