// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Images of the host's to tensors and back, by recorded kernels of the library's own.

#pragma once

#include "core/handle_tag.hpp"
#include "core/portable.hpp"
#include "device/session/context.hpp"
#include "device/vulkan/barrier.hpp"

namespace hearth::runtime {

class Converter : public HandleTag<0x48434e56> {
  public:
    /// `info` is complete.
    static hearth_result create(Context& context, const hearth_converter_create_info& info,
                                Converter** out);
    explicit Converter(Context& context) : context_(&context) {}
    ~Converter();

    hearth_result record(const hearth_conversion_info& info);

    /// What was recorded with `serial` will never be executed.
    void take_back(uint64_t serial);
    void retire(uint64_t serial) {
        is_retired_ = true;
        retired_serial_ = serial;
    }
    bool is_retired() const { return is_retired_; }
    uint64_t retired_serial() const { return retired_serial_; }
    Context& context() const { return *context_; }

    HEARTH_PRINTF(3, 4) hearth_result fail(hearth_result result, const char* format, ...);
    const char* error() const { return error_.c_str(); }

    Converter* next = nullptr;  ///< in the context's list
    Converter* previous = nullptr;

  private:
    /// One descriptor set, and the serial that uses it.
    struct Slot {
        VkDescriptorSet set = VK_NULL_HANDLE;
        uint64_t serial = 0;
    };
    hearth_result init(const hearth_converter_create_info& info);
    hearth_result create_layouts();
    hearth_result create_pipeline(std::span<const uint32_t> spirv);
    hearth_result create_sets(uint32_t count);
    hearth_result check(const hearth_conversion_info& info);
    hearth_result check_image(const hearth_conversion_info& info);
    hearth_result check_tensor(const hearth_conversion_info& info);
    bool to_tensor() const { return direction_ == HEARTH_IMAGE_TO_TENSOR; }
    /// The layout in which the kernel finds the image.
    VkImageLayout used_layout(const hearth_conversion_info& info) const;
    gpu::Scope image_scope() const;
    gpu::Scope tensor_scope() const;
    /// is_leading: from the host's use to the kernel's; else the other way round.
    void record_edge(const hearth_conversion_info& info, bool is_leading) const;
    void update(const Slot& slot, const hearth_conversion_info& info) const;

    Context* context_;
    hearth_conversion_direction direction_ = HEARTH_IMAGE_TO_TENSOR;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    Array<Slot> slots_;
    size_t next_slot_ = 0;
    bool is_retired_ = false;
    uint64_t retired_serial_ = 0;
    FixedText<512> error_;
};

}  // namespace hearth::runtime
