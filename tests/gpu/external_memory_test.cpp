// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// engine_bridge/external_memory: memory that another device, another process or the host has, bound
// as Hearth's inputs and outputs.

#include "external_memory/hearth_external_memory.h"
#include "gpu/rig.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hearth::test {
namespace {

constexpr uint64_t kBytes = 4 * kWidth * 4;

bool has_extension(standalone::Device& device, const char* name) {
    uint32_t count = 0;
    const auto& vk = device.instance().vk();
    vk.EnumerateDeviceExtensionProperties(device.physical_device(), nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> all(count);
    vk.EnumerateDeviceExtensionProperties(device.physical_device(), nullptr, &count, all.data());
    return std::any_of(all.begin(), all.end(), [&](const VkExtensionProperties& e) {
        return std::string_view(e.extensionName) == name;
    });
}

/// A buffer that the game's device has, mapped, with a descriptor for others.
struct Exported {
    VkDevice device = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    float* values = nullptr;
    uint64_t allocation_bytes = 0;
    uint32_t memory_type = 0;
};

class ExternalMemory : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        for (const char* name :
             {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME})
            if (!has_extension(RuntimeTest::device(), name)) GTEST_SKIP() << "no " << name;
        standalone::DeviceOptions options = test_device_options();
        options.extensions = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
                              VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME};
        game_ = make_device(options);
        hearth_ = make_device(options);
        ASSERT_TRUE(game_ && hearth_);
    }
    void TearDown() override {
        game_.reset();
        hearth_.reset();
        RuntimeTest::TearDown();
    }

    Exported make_exported() {
        const auto& vk = game_->vk();
        Exported e;
        e.device = game_->handle();
        VkExternalMemoryBufferCreateInfo external{};
        external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
        external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
        VkBufferCreateInfo create{};
        create.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        create.pNext = &external;
        create.size = kBytes;
        create.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
        EXPECT_EQ(vk.CreateBuffer(e.device, &create, nullptr, &e.buffer), VK_SUCCESS);
        VkMemoryRequirements needs{};
        vk.GetBufferMemoryRequirements(e.device, e.buffer, &needs);
        VkExportMemoryAllocateInfo exported{};
        exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
        exported.handleTypes = external.handleTypes;
        VkMemoryAllocateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        info.pNext = &exported;
        e.allocation_bytes = info.allocationSize = needs.size;
        e.memory_type = info.memoryTypeIndex =
            game_->find_memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                                              VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
        EXPECT_EQ(vk.AllocateMemory(e.device, &info, nullptr, &e.memory), VK_SUCCESS);
        EXPECT_EQ(vk.BindBufferMemory(e.device, e.buffer, e.memory, 0), VK_SUCCESS);
        void* mapped = nullptr;
        EXPECT_EQ(vk.MapMemory(e.device, e.memory, 0, VK_WHOLE_SIZE, 0, &mapped), VK_SUCCESS);
        e.values = static_cast<float*>(mapped);
        return e;
    }
    void destroy(Exported& e) {
        game_->vk().DestroyBuffer(e.device, e.buffer, nullptr);
        game_->vk().FreeMemory(e.device, e.memory, nullptr);
    }
    int fd_of(const Exported& e) {
        const auto get = reinterpret_cast<PFN_vkGetMemoryFdKHR>(
            instance().vk().GetDeviceProcAddr(e.device, "vkGetMemoryFdKHR"));
        VkMemoryGetFdInfoKHR info{};
        info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
        info.memory = e.memory;
        info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
        int fd = -1;
        EXPECT_EQ(get(e.device, &info, &fd), VK_SUCCESS);
        return fd;
    }

    hearth_import import_here() {
        hearth_import import{};
        import.device = hearth_->handle();
        import.get_device_proc_addr = instance().vk().GetDeviceProcAddr;
        import.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
        if (binding_model(*hearth_) == BindingModel::kDeviceAddress) {
            import.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
            import.flags = HEARTH_IMPORT_ADDRESS;
        }
        return import;
    }

    /// Learns once on Hearth's device, from imported memory into imported memory.
    void learn(Rig& rig, const hearth_import& import, const hearth_imported& x,
               const hearth_imported& y, float rate) {
        rig.frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 3> bounds;
            const hearth_record_info info = rig.learn_info(commands, 4, rate, bounds);
            for (hearth_tensor_binding& bound : bounds) {
                if (bound.binding == kLearnX)
                    bound = hearth_bind_buffer(kLearnX, x.buffer, 0, kBytes, import.usage);
                if (bound.binding == kLearnY)
                    bound = hearth_bind_buffer(kLearnY, y.buffer, 0, kBytes, import.usage);
            }
            ASSERT_TRUE(rig.session.record(info).ok()) << rig.session.error();
        });
        rig.finish();
    }

    std::unique_ptr<standalone::Device> game_, hearth_;
};

TEST_F(ExternalMemory, WhatOneDeviceExportedAnotherLearnsFrom) {
    const hearth_import import = import_here();
    Exported x = make_exported(), y = make_exported();
    hearth_imported x_here, y_here;
    ASSERT_EQ(
        hearth_import_fd(&import, fd_of(x), x.allocation_bytes, x.memory_type, kBytes, &x_here),
        VK_SUCCESS);
    ASSERT_EQ(
        hearth_import_fd(&import, fd_of(y), y.allocation_bytes, y.memory_type, kBytes, &y_here),
        VK_SUCCESS);
    TestReference reference;
    {
        const auto rig = Rig::create(*hearth_);
        ASSERT_TRUE(rig);
        for (uint64_t i = 0; i < 3; ++i) {
            const std::vector<float> values = test_values(4 * kWidth, i);
            std::copy(values.begin(), values.end(), x.values);
            learn(*rig, import, x_here, y_here, 0.25f);
            const std::vector<float> found(y.values, y.values + values.size());
            EXPECT_EQ(found, reference.learn(values, 0.25f)) << i;
        }
        EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
    }
    hearth_imported_destroy(&import, &x_here);
    hearth_imported_destroy(&import, &y_here);
    destroy(x);
    destroy(y);
}

TEST_F(ExternalMemory, TheHostsPagesAreReadAndWrittenInPlace) {
    const hearth_import import = import_here();
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t bytes = (kBytes + page - 1) / page * page;
    void* const pages =
        mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    auto* const x = static_cast<float*>(pages);
    float* const y = x + bytes / sizeof(float);
    hearth_imported x_here, y_here;
    ASSERT_EQ(hearth_import_host_pointer(&import, x, bytes, &x_here), VK_SUCCESS);
    ASSERT_EQ(hearth_import_host_pointer(&import, y, bytes, &y_here), VK_SUCCESS);
    {
        const auto rig = Rig::create(*hearth_);
        ASSERT_TRUE(rig);
        TestReference reference;
        const std::vector<float> values = test_values(4 * kWidth, 1);
        std::copy(values.begin(), values.end(), x);
        learn(*rig, import, x_here, y_here, 0.25f);
        EXPECT_EQ(std::vector<float>(y, y + values.size()), reference.learn(values, 0.25f));
    }
    hearth_imported_destroy(&import, &x_here);
    hearth_imported_destroy(&import, &y_here);
    munmap(pages, 2 * bytes);
}

TEST_F(ExternalMemory, WhatDoesNotFitIsRefusedAndTheDescriptorStaysTheCallers) {
    const hearth_import import = import_here();
    Exported x = make_exported();
    const int fd = fd_of(x);
    hearth_imported here;
    EXPECT_EQ(hearth_import_fd(&import, fd, x.allocation_bytes, x.memory_type,
                               x.allocation_bytes + 1, &here),
              VK_ERROR_INVALID_EXTERNAL_HANDLE);
    EXPECT_EQ(hearth_import_fd(&import, fd, x.allocation_bytes, 31, kBytes, &here),
              VK_ERROR_INVALID_EXTERNAL_HANDLE);
    EXPECT_EQ(here.buffer, VK_NULL_HANDLE);
    EXPECT_EQ(close(fd), 0);
    destroy(x);
}

}  // namespace
}  // namespace hearth::test
