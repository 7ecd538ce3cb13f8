// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records image conversions: one dispatch between two barriers. Its two operands are descriptors,
// because an image has no address. The descriptor sets, one per recording in flight, are created
// with the converter and updated when a recording uses them.

#include "device/session/converter.hpp"

#include "device/session/image_formats.hpp"

#include <algorithm>
#include <iterator>

namespace hearth::runtime {

namespace {

#include "device/session/image_kernels.inc"

/// The push constants of both kernels (shaders/*.comp).
struct Push {
    int32_t region[4];
    uint32_t extent[4];
    uint32_t swizzle[4];
    float scale[4], bias[4];
    float least[4], most[4];  // of integer components
};
static_assert(sizeof(Push) == 112);

constexpr uint32_t kTile = 8;  // local size of both kernels, along both axes
constexpr uint32_t kMostExtent = 1 << 15;
constexpr hearth_image_conversion_flags kKnownFlags =
    HEARTH_CONVERSION_CHANNELS_LAST | HEARTH_CONVERSION_FILTER_LINEAR | HEARTH_CONVERSION_FLIP_X |
    HEARTH_CONVERSION_FLIP_Y | HEARTH_CONVERSION_SRGB;

/// The kernel for each TexelType but kNone.
struct Kernels {
    std::span<const uint32_t> of_floats, of_uints, of_ints;

    std::span<const uint32_t> of(TexelType type) const {
        return type == TexelType::kUint ? of_uints : type == TexelType::kInt ? of_ints : of_floats;
    }
};
const Kernels kReaders = {kFloatImageToTensor, kUintImageToTensor, kIntImageToTensor};
const Kernels kWriters = {kTensorToFloatImage, kTensorToUintImage, kTensorToIntImage};

constexpr size_t kMaxWriterWords = std::max(
    {std::size(kTensorToFloatImage), std::size(kTensorToUintImage), std::size(kTensorToIntImage)});

/// Copies a writer, which stores to images of any format, into `code`.  With a SPIR-V image format,
/// the copy declares it in its OpTypeImage and needs no capability for formats that are not declared.
std::span<const uint32_t> declare_format(std::span<const uint32_t> writer, uint32_t spirv_format,
                                         uint32_t (&code)[kMaxWriterWords]) {
    std::copy(writer.begin(), writer.end(), code);
    if (spirv_format == 0) return {code, writer.size()};
    constexpr uint32_t kHeaderWords = 5, kOpTypeImage = 25, kFormatOperand = 8;
    constexpr uint32_t kOpCapability = 17, kShader = 1, kStorageImageWriteWithoutFormat = 56;
    for (size_t at = kHeaderWords; at < writer.size(); at += code[at] >> 16) {
        const uint32_t opcode = code[at] & 0xffffu;
        if (opcode == kOpTypeImage) code[at + kFormatOperand] = spirv_format;
        // Shader, which the kernel has declared already.
        if (opcode == kOpCapability && code[at + 1] == kStorageImageWriteWithoutFormat)
            code[at + 1] = kShader;
    }
    return {code, writer.size()};
}

unsigned long long wide(uint64_t value) {
    return value;
}

uint64_t tensor_bytes(const hearth_image_conversion_info& info) {
    return uint64_t{info.tensor_width} * info.tensor_height * info.channels * sizeof(float);
}

/// Returns the image region to convert; the whole level if none is given.
VkRect2D region_of(const hearth_image_conversion_info& info) {
    if (info.region_width == 0 && info.region_height == 0)
        return {{0, 0}, {info.image_width, info.image_height}};
    return {{static_cast<int32_t>(info.region_x), static_cast<int32_t>(info.region_y)},
            {info.region_width, info.region_height}};
}

}  // namespace

hearth_result Converter::create(Context& context, const hearth_image_converter_create_info& info,
                                Converter** out) {
    auto* converter = context.allocator().make<Converter>(context);
    if (converter == nullptr)
        return context.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "converter: out of host memory");
    if (const hearth_result r = converter->init(info); r != HEARTH_OK) {
        (void)context.fail(r, "%s", converter->error());
        context.allocator().destroy(converter);
        return r;
    }
    context.add(*converter);
    *out = converter;
    return HEARTH_OK;
}

hearth_result Converter::init(const hearth_image_converter_create_info& info) {
    if (context_->device().is_lost()) return fail_lost(*this, "converter");
    if (context_->native() != nullptr)
        return fail(
            HEARTH_ERROR_UNSUPPORTED,
            "converter: the CPU device has no images; create the converter on a Vulkan device");
    direction_ = info.direction;
    if (direction_ != HEARTH_IMAGE_TO_TENSOR && direction_ != HEARTH_TENSOR_TO_IMAGE)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "converter: direction is %d, expected 0 or 1",
                    static_cast<int>(direction_));
    constexpr uint32_t kMostRecordings = 1 << 14;
    if (info.recordings_in_flight == 0 || info.recordings_in_flight > kMostRecordings)
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "converter: recordings_in_flight is %u, expected 1..%u",
                    info.recordings_in_flight, kMostRecordings);
    format_ = static_cast<VkFormat>(info.format);
    if (const hearth_result r = check_format(); r != HEARTH_OK) return r;
    uint32_t code[kMaxWriterWords];
    const TexelType type = texel_type(format_);
    const std::span<const uint32_t> spirv =
        to_tensor() ? kReaders.of(type)
                    : declare_format(kWriters.of(type), basic_spirv_format(format_), code);
    if (const hearth_result r = create_layouts(); r != HEARTH_OK)
        return fail(r, "converter: cannot create its layouts");
    VkResult failure = VK_SUCCESS;
    if (const hearth_result r = create_pipeline(spirv, &failure); r != HEARTH_OK)
        return fail(r, "converter: cannot create its pipeline (VkResult %d)",
                    static_cast<int>(failure));
    if (const hearth_result r = create_sets(info.recordings_in_flight); r != HEARTH_OK)
        return fail(r, "converter: cannot create %u descriptor sets", info.recordings_in_flight);
    return HEARTH_OK;
}

hearth_result Converter::check_format() {
    if (texel_type(format_) == TexelType::kNone)
        return fail(HEARTH_ERROR_UNSUPPORTED,
                    "converter: images of VkFormat %d cannot be converted; expected a format of "
                    "color with components of up to 32 bits, depth, stencil, or a compressed one",
                    format_);
    const gpu::Device& device = context_->device();
    const VkFormatFeatureFlags features = device.image_format_features(format_);
    if (to_tensor()) {
        // A view of the stencil of a combined format is read like S8_UINT.
        if ((features & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT) != 0 || format_ == VK_FORMAT_S8_UINT)
            return HEARTH_OK;
        return fail(HEARTH_ERROR_UNSUPPORTED,
                    "converter: the device cannot sample images of VkFormat %d; use a format with "
                    "VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT",
                    format_);
    }
    if ((features & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT) == 0) {
        if (const VkFormat unorm = unorm_of_srgb(format_); unorm != VK_FORMAT_UNDEFINED)
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "converter: the device cannot store to images of VkFormat %d, which is "
                        "sRGB; write through a view of VkFormat %d, its UNORM twin, with "
                        "HEARTH_CONVERSION_SRGB",
                        format_, unorm);
        return fail(HEARTH_ERROR_UNSUPPORTED,
                    "converter: the device cannot store to images of VkFormat %d; use a format "
                    "with VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT, or a view of one: "
                    "R8G8B8A8_UNORM (37), with a swizzle, serves B8G8R8A8",
                    format_);
    }
    if (basic_spirv_format(format_) == 0 &&
        !device.has(HEARTH_FEATURE_SHADER_STORAGE_IMAGE_WRITE_WITHOUT_FORMAT))
        return fail(HEARTH_ERROR_UNSUPPORTED,
                    "converter: to write images of VkFormat %d enable the feature "
                    "shaderStorageImageWriteWithoutFormat when you create the device, and list it; "
                    "without it, R8G8B8A8 (UNORM, SNORM, UINT, SINT), R16G16B16A16 and "
                    "R32G32B32A32 (SFLOAT, UINT, SINT) and R32 (SFLOAT, UINT, SINT) can be "
                    "written, and B8G8R8A8 through a view of R8G8B8A8_UNORM with a swizzle",
                    format_);
    return HEARTH_OK;
}

hearth_result Converter::create_layouts() {
    gpu::Device& device = context_->device();
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {1, to_tensor() ? VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1,
         VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
    VkDescriptorSetLayoutCreateInfo set_info{};
    set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set_info.bindingCount = 2;
    set_info.pBindings = bindings;
    if (const hearth_result r = device.check(device.vk().CreateDescriptorSetLayout(
            device.handle(), &set_info, device.callbacks(), &set_layout_));
        r != HEARTH_OK)
        return set_layout_ = VK_NULL_HANDLE, r;
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push)};
    VkPipelineLayoutCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    info.setLayoutCount = 1;
    info.pSetLayouts = &set_layout_;
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
    const hearth_result r = device.check(
        device.vk().CreatePipelineLayout(device.handle(), &info, device.callbacks(), &layout_));
    if (r != HEARTH_OK) layout_ = VK_NULL_HANDLE;
    return r;
}

hearth_result Converter::create_pipeline(std::span<const uint32_t> spirv, VkResult* failure) {
    gpu::Device& device = context_->device();
    const gpu::DeviceFunctions& vk = device.vk();
    VkShaderModuleCreateInfo module_info{};
    module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module_info.codeSize = spirv.size_bytes();
    module_info.pCode = spirv.data();
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.pName = "main";
    info.layout = layout_;
    *failure = vk.CreateShaderModule(device.handle(), &module_info, device.callbacks(),
                                     &info.stage.module);
    if (const hearth_result r = device.check(*failure); r != HEARTH_OK) return r;
    *failure = vk.CreateComputePipelines(device.handle(), device.pipeline_cache(), 1, &info,
                                         device.callbacks(), &pipeline_);
    vk.DestroyShaderModule(device.handle(), info.stage.module, device.callbacks());
    if (*failure == VK_SUCCESS) {
        device.set_name(VK_OBJECT_TYPE_PIPELINE, gpu::handle_bits(pipeline_),
                        to_tensor() ? "hearth image to tensor" : "hearth tensor to image");
        return HEARTH_OK;
    }
    pipeline_ = VK_NULL_HANDLE;
    const hearth_result r = device.check(*failure);
    return r == HEARTH_ERROR_INTERNAL ? HEARTH_ERROR_PIPELINE_CREATION_FAILED : r;
}

hearth_result Converter::create_sets(uint32_t count) {
    gpu::Device& device = context_->device();
    if (!slots_.resize(context_->allocator(), count)) return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count},
        {to_tensor() ? VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, count}};
    VkDescriptorPoolCreateInfo pool_info{};
    pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool_info.maxSets = count;
    pool_info.poolSizeCount = 2;
    pool_info.pPoolSizes = sizes;
    if (const hearth_result r = device.check(device.vk().CreateDescriptorPool(
            device.handle(), &pool_info, device.callbacks(), &pool_));
        r != HEARTH_OK)
        return pool_ = VK_NULL_HANDLE, r;
    VkDescriptorSetAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    info.descriptorPool = pool_;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &set_layout_;
    for (size_t i = 0; i < slots_.size(); ++i)
        if (const hearth_result r = device.check(
                device.vk().AllocateDescriptorSets(device.handle(), &info, &slots_[i].set));
            r != HEARTH_OK)
            return r;
    return HEARTH_OK;
}

Converter::~Converter() {
    const gpu::Device& device = context_->device();
    const gpu::DeviceFunctions& vk = device.vk();
    if (pool_ != VK_NULL_HANDLE)
        vk.DestroyDescriptorPool(device.handle(), pool_, device.callbacks());
    if (pipeline_ != VK_NULL_HANDLE)
        vk.DestroyPipeline(device.handle(), pipeline_, device.callbacks());
    if (layout_ != VK_NULL_HANDLE)
        vk.DestroyPipelineLayout(device.handle(), layout_, device.callbacks());
    if (set_layout_ != VK_NULL_HANDLE)
        vk.DestroyDescriptorSetLayout(device.handle(), set_layout_, device.callbacks());
}

void Converter::take_back(uint64_t frame_number) {
    for (size_t i = 0; i < slots_.size(); ++i)
        if (slots_[i].frame_number == frame_number) slots_[i].frame_number = 0;
}

VkImageLayout Converter::used_layout(const hearth_image_conversion_info& info) const {
    const auto given = static_cast<VkImageLayout>(info.image_layout_before);
    if (given == VK_IMAGE_LAYOUT_GENERAL || !to_tensor()) return VK_IMAGE_LAYOUT_GENERAL;
    const bool is_readable = given == VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL ||
                             given == VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL;
    return is_readable ? given : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
}

gpu::Scope Converter::image_scope() const {
    return {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            to_tensor() ? VK_ACCESS_SHADER_READ_BIT : VK_ACCESS_SHADER_WRITE_BIT};
}
gpu::Scope Converter::tensor_scope() const {
    return {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            to_tensor() ? VK_ACCESS_SHADER_WRITE_BIT : VK_ACCESS_SHADER_READ_BIT};
}

hearth_result Converter::check(const hearth_image_conversion_info& info) {
    if (context_->device().is_lost()) return fail_lost(*this, "conversion");
    if (context_->frame_number() == 0)
        return fail(HEARTH_ERROR_INVALID_STATE, "conversion: call hearth_begin_frame first");
    if (info.command_buffer == VK_NULL_HANDLE)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "conversion: command_buffer is null, expected one in the recording state");
    if (info.barriers != HEARTH_BARRIERS_AUTOMATIC && info.barriers != HEARTH_BARRIERS_MANUAL)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "conversion: barriers is %d, expected 0 or 1",
                    static_cast<int>(info.barriers));
    if ((info.flags & ~kKnownFlags) != 0)
        return fail(
            HEARTH_ERROR_INVALID_ARGUMENT,
            "conversion: flags 0x%x has unknown bits; expected hearth_image_conversion_flags",
            info.flags);
    if (const hearth_result r = check_image(info); r != HEARTH_OK) return r;
    return check_tensor(info);
}

hearth_result Converter::check_image(const hearth_image_conversion_info& info) {
    if (info.image == VK_NULL_HANDLE || info.view == VK_NULL_HANDLE)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "conversion: %s is null",
                    info.image == VK_NULL_HANDLE ? "image" : "view");
    if (info.aspect == 0)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "conversion: aspect is 0, expected one of VkImageAspectFlagBits");
    if (info.image_width == 0 || info.image_height == 0 || info.image_width > kMostExtent ||
        info.image_height > kMostExtent)
        return fail(HEARTH_ERROR_OUT_OF_RANGE, "conversion: the image is %ux%u, expected 1..%u",
                    info.image_width, info.image_height, kMostExtent);
    const VkRect2D region = region_of(info);
    const auto outside = [](uint32_t begin, uint32_t size, uint32_t all) {
        return size == 0 || begin >= all || size > all - begin;
    };
    if (outside(static_cast<uint32_t>(region.offset.x), region.extent.width, info.image_width) ||
        outside(static_cast<uint32_t>(region.offset.y), region.extent.height, info.image_height))
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "conversion: the region %ux%u at (%u, %u) exceeds the image of %ux%u",
                    info.region_width, info.region_height, info.region_x, info.region_y,
                    info.image_width, info.image_height);
    if (info.barriers == HEARTH_BARRIERS_MANUAL &&
        used_layout(info) != static_cast<VkImageLayout>(info.image_layout_before))
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "conversion: with HEARTH_BARRIERS_MANUAL the image must be in %s, it is in "
                    "VkImageLayout %u",
                    to_tensor() ? "SHADER_READ_ONLY_OPTIMAL, DEPTH_STENCIL_READ_ONLY_OPTIMAL or "
                                  "GENERAL"
                                : "GENERAL",
                    info.image_layout_before);
    return HEARTH_OK;
}

hearth_result Converter::check_tensor(const hearth_image_conversion_info& info) {
    constexpr uint32_t kMostChannels = 4, kZero = HEARTH_SWIZZLE_ZERO, kOne = HEARTH_SWIZZLE_ONE;
    if (info.tensor_width == 0 || info.tensor_height == 0 || info.tensor_width > kMostExtent ||
        info.tensor_height > kMostExtent || info.channels == 0 || info.channels > kMostChannels)
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "conversion: the tensor is %ux%u of %u channels, expected 1..%u and 1..4",
                    info.tensor_width, info.tensor_height, info.channels, kMostExtent);
    // A read yields four components: Vulkan fills in missing ones.
    const uint32_t used = to_tensor() ? info.channels : kMostChannels;
    const uint32_t sources = to_tensor() ? kMostChannels : info.channels;
    for (uint32_t i = 0; i < used; ++i)
        if (info.swizzle[i] >= sources && info.swizzle[i] != kZero && info.swizzle[i] != kOne)
            return fail(
                HEARTH_ERROR_INVALID_ARGUMENT,
                "conversion: swizzle[%u] is %u, expected 0..%u, HEARTH_SWIZZLE_ZERO or _ONE", i,
                info.swizzle[i], sources - 1);
    const hearth_tensor_binding& tensor = info.tensor;
    const uint64_t bytes = tensor_bytes(info);
    const VkPhysicalDeviceLimits& limits = context_->device().limits();
    if (tensor.buffer == VK_NULL_HANDLE)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "conversion: tensor.buffer is null");
    if (tensor.bytes < bytes)
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "conversion: tensor has %llu bytes, expected %llu or more", wide(tensor.bytes),
                    wide(bytes));
    if (bytes > limits.maxStorageBufferRange)
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "conversion: tensor takes %llu bytes, a buffer descriptor at most %u",
                    wide(bytes), limits.maxStorageBufferRange);
    if ((tensor.usage & VK_BUFFER_USAGE_STORAGE_BUFFER_BIT) == 0 ||
        tensor.offset % limits.minStorageBufferOffsetAlignment != 0)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "conversion: tensor is in a buffer of usage 0x%x at offset %llu; create it "
                    "with STORAGE_BUFFER usage and use a multiple of %llu",
                    tensor.usage, wide(tensor.offset),
                    wide(limits.minStorageBufferOffsetAlignment));
    return HEARTH_OK;
}

void Converter::record_edge(const hearth_image_conversion_info& info, bool is_leading) const {
    const gpu::Device& device = context_->device();
    const uint32_t own = device.queue_family();
    const auto untrusted = [&](const hearth_sync_scope& scope) {
        return scope.queue_family != HEARTH_QUEUE_FAMILY_SAME && scope.queue_family != own;
    };
    const hearth_sync_scope& image =
        is_leading ? info.image_acquire_scope : info.image_release_scope;
    const hearth_sync_scope& tensor =
        is_leading ? info.tensor.acquire_scope : info.tensor.release_scope;
    const gpu::Scope image_host{image.stages, image.access};
    gpu::ImageBarrier change;
    change.image = info.image;
    change.range = {info.aspect, info.mip_level, 1, info.array_layer, 1};
    change.before = is_leading ? image_host : image_scope();
    change.after = is_leading ? image_scope() : image_host;
    const VkImageLayout used = used_layout(info);
    const auto given =
        static_cast<VkImageLayout>(is_leading ? info.image_layout_before : info.image_layout_after);
    // On the trailing edge VK_IMAGE_LAYOUT_UNDEFINED means: keep the layout.
    const VkImageLayout host = !is_leading && given == VK_IMAGE_LAYOUT_UNDEFINED ? used : given;
    change.old_layout = is_leading ? host : used;
    change.new_layout = is_leading ? used : host;
    if (untrusted(image)) {
        change.from_family = is_leading ? image.queue_family : own;
        change.to_family = is_leading ? own : image.queue_family;
    }
    gpu::OwnershipTransfer transfer{info.tensor.buffer,
                                    info.tensor.offset,
                                    info.tensor.bytes,
                                    is_leading ? tensor.queue_family : own,
                                    is_leading ? own : tensor.queue_family,
                                    is_leading ? gpu::Scope{} : tensor_scope(),
                                    is_leading ? tensor_scope() : gpu::Scope{}};
    const bool transfers = untrusted(tensor);
    const gpu::Scope tensor_host =
        transfers ? gpu::Scope{} : gpu::Scope{tensor.stages, tensor.access};
    gpu::record_barrier(device, info.command_buffer, is_leading ? tensor_host : tensor_scope(),
                        is_leading ? tensor_scope() : tensor_host,
                        {&transfer, transfers ? size_t{1} : size_t{0}});
    gpu::record_image_barrier(device, info.command_buffer, change);
}

void Converter::update(const Slot& slot, const hearth_image_conversion_info& info) const {
    const VkDescriptorBufferInfo buffer{info.tensor.buffer, info.tensor.offset, tensor_bytes(info)};
    const VkDescriptorImageInfo image{VK_NULL_HANDLE, info.view, used_layout(info)};
    VkWriteDescriptorSet writes[2]{};
    for (uint32_t i = 0; i < 2; ++i) {
        writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[i].dstSet = slot.set;
        writes[i].dstBinding = i;
        writes[i].descriptorCount = 1;
    }
    writes[0].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[0].pBufferInfo = &buffer;
    writes[1].descriptorType =
        to_tensor() ? VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    writes[1].pImageInfo = &image;
    const gpu::Device& device = context_->device();
    device.vk().UpdateDescriptorSets(device.handle(), 2, writes, 0, nullptr);
}

hearth_result Converter::record(const hearth_image_conversion_info& info) {
    if (const hearth_result r = check(info); r != HEARTH_OK) return r;
    Slot& slot = slots_[next_slot_];
    if (slot.frame_number > context_->completed_frame_number())
        return fail(
            HEARTH_ERROR_TOO_MANY_IN_FLIGHT,
            "conversion: all %zu recordings_in_flight are in flight, because the last "
            "hearth_begin_frame had completed_frame_number %llu; pass the newest frame number "
            "whose fence or timeline semaphore has signalled, or raise recordings_in_flight",
            slots_.size(), static_cast<unsigned long long>(context_->completed_frame_number()));
    slot.frame_number = context_->frame_number();
    next_slot_ = (next_slot_ + 1) % slots_.size();
    update(slot, info);

    const gpu::Device& device = context_->device();
    const gpu::DeviceFunctions& vk = device.vk();
    const VkCommandBuffer commands = info.command_buffer;
    gpu::begin_label(device, commands, to_tensor() ? "image to tensor" : "tensor to image");
    if (info.barriers == HEARTH_BARRIERS_AUTOMATIC) record_edge(info, /*is_leading=*/true);
    const VkRect2D region = region_of(info);
    Push push{};
    push.region[0] = region.offset.x;
    push.region[1] = region.offset.y;
    push.region[2] = static_cast<int32_t>(region.extent.width);
    push.region[3] = static_cast<int32_t>(region.extent.height);
    push.extent[0] = info.tensor_width;
    push.extent[1] = info.tensor_height;
    push.extent[2] = info.channels;
    push.extent[3] = info.flags;
    std::copy(std::begin(info.swizzle), std::end(info.swizzle), push.swizzle);
    std::copy(std::begin(info.scale), std::end(info.scale), push.scale);
    std::copy(std::begin(info.bias), std::end(info.bias), push.bias);
    for (uint32_t k = 0; k < 4; ++k) {
        const IntegerRange range = integer_range(format_, k);
        push.least[k] = range.least;
        push.most[k] = range.most;
    }
    vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &slot.set, 0,
                             nullptr);
    vk.CmdPushConstants(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
    const auto tiles = [](uint32_t extent) { return (extent + kTile - 1) / kTile; };
    if (to_tensor())
        vk.CmdDispatch(commands, tiles(info.tensor_width), tiles(info.tensor_height), 1);
    else
        vk.CmdDispatch(commands, tiles(region.extent.width), tiles(region.extent.height), 1);
    if (info.barriers == HEARTH_BARRIERS_AUTOMATIC) record_edge(info, /*is_leading=*/false);
    gpu::end_label(device, commands);
    return HEARTH_OK;
}

hearth_result Converter::fail(hearth_result result, const char* format, ...) {
    error_.clear();
    va_list arguments;
    va_start(arguments, format);
    error_.append_list(format, arguments);
    va_end(arguments);
    return result;
}

}  // namespace hearth::runtime
