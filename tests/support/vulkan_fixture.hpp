// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A test with a device of its own, in which any validation message is a failure.
//
// The same suite runs on other hosts by environment variables:
// HEARTH_TEST_DEVICE      index of the physical device (default: the best one); "cpu": this
// machine's CPU,
// without Vulkan, in programs that CMake gives hearth::native (hearth_test(... NATIVE ...))
//   HEARTH_TEST_FEATURES    "required": exactly what Hearth cannot do without (default: also the
//                           optional ones)
// HEARTH_TEST_VULKAN      "1.1": a host of Vulkan 1.1, to which extensions give the rest (default:
// 1.3)
//   HEARTH_TEST_BINDING     "descriptor": programs with push descriptors (default: "address")
//   HEARTH_TEST_VALIDATION  "off": without the layers, where they are not installed

#pragma once

#include <gtest/gtest.h>
#include <standalone/device.hpp>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#if defined(HEARTH_TEST_NATIVE)
#include "native/native_host.hpp"
#endif

namespace hearth::test {

inline std::string_view test_setting(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

/// Puts a setting into the environment unless it is there.
inline void set_if_unset(const char* name, const char* value) {
#if defined(_WIN32)
    if (std::getenv(name) == nullptr) (void)_putenv_s(name, value);
#else
    setenv(name, value, 0);
#endif
}

/// The device options that the environment asks for.
inline standalone::DeviceOptions test_device_options() {
    standalone::DeviceOptions options;
    if (const std::string_view index = test_setting("HEARTH_TEST_DEVICE");
        !index.empty() && index != "cpu") {
        options.index = std::atoi(index.data());
    }
    if (test_setting("HEARTH_TEST_FEATURES") == "required") {
        options.features = standalone::FeatureLevel::kRequired;
    }
    if (test_setting("HEARTH_TEST_BINDING") == "descriptor") {
        options.binding_model = HEARTH_BINDING_PUSH_DESCRIPTOR;
    }
    return options;
}

/// An instance as the environment asks for.
/// extensions  required ones, of a window system for example
inline Result<std::unique_ptr<standalone::Instance>> make_test_instance(
    const std::vector<std::string>& extensions = {}) {
#if defined(HEARTH_TEST_NATIVE)
    if (test_setting("HEARTH_TEST_DEVICE") == "cpu") {
        // Most kernels run seldom, and building them takes the longest.
        static native::Host host({.build = {.flags = "-O1"}});
        return standalone::Instance::create_native(host.info());
    }
#endif
    standalone::InstanceOptions options;
    options.validation = test_setting("HEARTH_TEST_VALIDATION") != "off";
    options.print_messages = false;  // TearDown tells them
    options.extensions = extensions;
    if (test_setting("HEARTH_TEST_VULKAN") == "1.1") options.api_version = VK_API_VERSION_1_1;
    return standalone::Instance::create(options);
}

/// Derive from it, or use it as it is: TEST_F(VulkanTest, ...).
class VulkanTest : public ::testing::Test {
  protected:
    explicit VulkanTest(const standalone::DeviceOptions& options = test_device_options())
        : device_options_(options) {}

    void SetUp() override {
        // Some drivers cannot be loaded again and again in one process: this one keeps them loaded.
        static const auto keeps_driver_loaded = make_test_instance();
        auto instance = make_test_instance();
        ASSERT_TRUE(instance.ok()) << instance.status().message();
        instance_ = std::move(instance).value();
        device_ = make_device(device_options_);
        ASSERT_NE(device_, nullptr);
    }

    /// Destroy everything made from the device before this runs: a leak is a message, too.
    void TearDown() override {
        device_.reset();
        if (!instance_) return;
        for (const standalone::ValidationMessage& message : instance_->messages().take()) {
            ADD_FAILURE() << "validation: " << message.text;
        }
    }

    standalone::Instance& instance() { return *instance_; }
    standalone::Device& device() { return *device_; }
    const standalone::VulkanApi& vk() { return device_->vk(); }

    /// Another device of the same instance; null after a reported failure.
    std::unique_ptr<standalone::Device> make_device(const standalone::DeviceOptions& options) {
        auto device = standalone::Device::create(*instance_, options);
        if (!device.ok()) {
            ADD_FAILURE() << device.status().message();
            return nullptr;
        }
        return std::move(device).value();
    }

    /// A buffer, or an empty one after a reported failure.
    standalone::Buffer make_buffer(VkDeviceSize size_bytes, standalone::MemoryKind kind) {
        auto buffer = standalone::Buffer::create(*device_, size_bytes, kind);
        if (!buffer.ok()) {
            ADD_FAILURE() << buffer.status().message();
            return {};
        }
        return std::move(buffer).value();
    }

    /// The messages so far, which then no longer fail the test: for tests that expect some.
    std::vector<standalone::ValidationMessage> take_messages() {
        return instance_->messages().take();
    }

  private:
    standalone::DeviceOptions device_options_;
    std::unique_ptr<standalone::Instance> instance_;
    std::unique_ptr<standalone::Device> device_;
};

/// A test whose suite shares one device, for suites of many short tests: making a device takes
/// longer than most of them.
class SharedDeviceTest : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        // Mesa's software driver optimizes each kernel, and these tests run each once or twice:
        // without that they take a quarter less time.
        set_if_unset("GALLIVM_PERF", "nopt");
        auto instance = make_test_instance();
        ASSERT_TRUE(instance.ok()) << instance.status().message();
        instance_ = std::move(instance).value();
        auto device = standalone::Device::create(*instance_, test_device_options());
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_ = std::move(device).value();
    }
    static void TearDownTestSuite() {
        device_.reset();
        expect_no_messages();
        instance_.reset();
    }
    void TearDown() override { expect_no_messages(); }

    static void expect_no_messages() {
        if (!instance_) return;
        for (const auto& message : instance_->messages().take())
            ADD_FAILURE() << "validation: " << message.text;
    }

    inline static std::unique_ptr<standalone::Instance> instance_;
    inline static std::unique_ptr<standalone::Device> device_;
};

}  // namespace hearth::test
