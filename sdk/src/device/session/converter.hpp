// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Converts images of the application to tensors and back, with built-in kernels.

#pragma once

#include "core/handle_tag.hpp"
#include "core/portable.hpp"
#include "device/session/context.hpp"
#include "device/vulkan/barrier.hpp"

namespace hearth::runtime {

class Converter : public HandleTag<0x48434e56> {
  public:
    /// `info` is complete.
    static hearth_result create(Context& context, const hearth_image_converter_create_info& info,
                                Converter** out);
    explicit Converter(Context& context) : context_(&context) {}
    ~Converter();

    hearth_result record(const hearth_image_conversion_info& info);

    /// Undoes what was recorded in frame `serial`, which will never be executed.
    void take_back(uint64_t frame_number);
    void retire(uint64_t frame_number) {
        is_retired_ = true;
        retired_frame_number_ = frame_number;
    }
    bool is_retired() const { return is_retired_; }
    uint64_t retired_frame_number() const { return retired_frame_number_; }
    Context& context() const { return *context_; }

    HEARTH_PRINTF(3, 4) hearth_result fail(hearth_result result, const char* format, ...);
    const char* error() const { return error_.c_str(); }

    Converter* next = nullptr;  ///< in the context's list
    Converter* previous = nullptr;

  private:
    /// A descriptor set and the frame number that uses it.
    struct Slot {
        VkDescriptorSet set = VK_NULL_HANDLE;
        uint64_t frame_number = 0;
    };
    hearth_result init(const hearth_image_converter_create_info& info);
    /// Whether the kernels and the device can convert images of format_.
    hearth_result check_format();
    hearth_result create_layouts();
    /// failure: receives the driver's result.
    hearth_result create_pipeline(std::span<const uint32_t> spirv, VkResult* failure);
    hearth_result create_sets(uint32_t count);
    hearth_result check(const hearth_image_conversion_info& info);
    hearth_result check_image(const hearth_image_conversion_info& info);
    hearth_result check_tensor(const hearth_image_conversion_info& info);
    bool to_tensor() const { return direction_ == HEARTH_IMAGE_TO_TENSOR; }
    /// Returns the layout of the image during the conversion.
    VkImageLayout used_layout(const hearth_image_conversion_info& info) const;
    gpu::Scope image_scope() const;
    gpu::Scope tensor_scope() const;
    /// is_leading: from the application's use to the kernel's; else the reverse.
    void record_edge(const hearth_image_conversion_info& info, bool is_leading) const;
    void update(const Slot& slot, const hearth_image_conversion_info& info) const;

    Context* context_;
    hearth_image_conversion_direction direction_ = HEARTH_IMAGE_TO_TENSOR;
    VkFormat format_ = VK_FORMAT_UNDEFINED;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    Array<Slot> slots_;
    size_t next_slot_ = 0;
    bool is_retired_ = false;
    uint64_t retired_frame_number_ = 0;
    FixedText<512> error_;
};

}  // namespace hearth::runtime
