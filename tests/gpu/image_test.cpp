// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Images to tensors and back, against the same on the CPU: each format at odd sizes, resampling,
// regions, flips, swizzles, layouts, and what a host can get wrong.

#include "gpu/image_formats.hpp"
#include "gpu/rig.hpp"
#include "gpu/vulkan_objects.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

namespace hearth::test {
namespace {

/// An image of the host's with all that belongs to it.
class TestImage {
  public:
    TestImage(standalone::Device& device, VkFormat format, uint32_t width, uint32_t height,
              VkImageUsageFlags usage, VkImageAspectFlags aspect = VK_IMAGE_ASPECT_COLOR_BIT,
              VkFormat view_format = VK_FORMAT_UNDEFINED)
        : device_(device),
          image_(device, format, width, height,
                 usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, aspect,
                 view_format),
          width_(width),
          height_(height),
          aspect_(aspect) {
        // Layouts are those of both aspects.
        if (format >= VK_FORMAT_D16_UNORM_S8_UINT && format <= VK_FORMAT_D32_SFLOAT_S8_UINT)
            all_aspects_ = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
        else
            all_aspects_ = aspect;
    }

    /// A conversion of the whole image, which comes from `layout`.
    hearth_image_conversion_info info(VkCommandBuffer commands, VkImageLayout layout) const {
        hearth_image_conversion_info info = hearth_image_conversion_info_default();
        info.command_buffer = commands;
        info.image = image_.image();
        info.view = image_.view();
        info.aspect = all_aspects_;
        info.image_width = width_;
        info.image_height = height_;
        info.image_layout_before = static_cast<uint32_t>(layout);
        return info;
    }
    void transition(VkCommandBuffer commands, VkImageLayout from, VkImageLayout to) const {
        VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
        barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        barrier.oldLayout = from;
        barrier.newLayout = to;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = image_.image();
        barrier.subresourceRange = {all_aspects_, 0, 1, 0, 1};
        device_.vk().CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0,
                                        nullptr, 1, &barrier);
    }
    VkBufferImageCopy whole() const {
        VkBufferImageCopy copy{};
        copy.imageSubresource = {aspect_, 0, 0, 1};
        copy.imageExtent = {width_, height_, 1};
        return copy;
    }
    /// Puts bytes into the image and leaves it in `layout`.
    void fill(std::span<const std::byte> bytes, VkImageLayout layout) const {
        const auto staging =
            standalone::Buffer::create(device_, bytes.size(), standalone::MemoryKind::kUpload);
        ASSERT_TRUE(staging.ok());
        std::memcpy(staging->data(), bytes.data(), bytes.size());
        const VkBufferImageCopy copy = whole();
        const Status status = device_.run([&](VkCommandBuffer commands) {
            transition(commands, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
            device_.vk().CmdCopyBufferToImage(commands, staging->handle(), image_.image(),
                                              VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
            transition(commands, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, layout);
        });
        ASSERT_TRUE(status.ok()) << status.message();
    }
    VkImage image() const { return image_.image(); }
    uint32_t width() const { return width_; }
    uint32_t height() const { return height_; }

  private:
    standalone::Device& device_;
    OwnedImage image_;
    uint32_t width_, height_;
    VkImageAspectFlags aspect_, all_aspects_ = 0;
};

const TexelFormat& texel_format(VkFormat format) {
    static const std::vector<TexelFormat> all = all_texel_formats();
    return *std::find_if(all.begin(), all.end(),
                         [&](const TexelFormat& f) { return f.format == format; });
}

/// What the kernels compute, in doubles.  source(x, y) is an element of width x height.
template <class Source>
Texel resampled(const Source& source, int width, int height, double x, double y, bool is_linear) {
    const auto at = [&](int column, int row) {
        return source(std::clamp(column, 0, width - 1), std::clamp(row, 0, height - 1));
    };
    if (!is_linear) return at(static_cast<int>(std::floor(x)), static_cast<int>(std::floor(y)));
    const double left = std::floor(x - 0.5), top = std::floor(y - 0.5);
    const double right = x - 0.5 - left, down = y - 0.5 - top;
    Texel sum{};
    for (int row = 0; row < 2; ++row)
        for (int column = 0; column < 2; ++column) {
            const Texel part = at(static_cast<int>(left) + column, static_cast<int>(top) + row);
            const double weight = (column != 0 ? right : 1 - right) * (row != 0 ? down : 1 - down);
            for (size_t c = 0; c < 4; ++c) sum[c] += weight * part[c];
        }
    return sum;
}

class Images : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        auto context = Context::create(device().host_info());
        ASSERT_TRUE(context.ok()) << context.status().message();
        context_ = std::move(*context);
        ASSERT_TRUE(context_.begin_frame(1, 0).ok());
    }
    void TearDown() override {
        context_ = Context();
        RuntimeTest::TearDown();
    }

    bool can(VkFormat format, VkFormatFeatureFlags features) {
        VkFormatProperties properties;
        instance().vk().GetPhysicalDeviceFormatProperties(device().physical_device(), format,
                                                          &properties);
        return (properties.optimalTilingFeatures & features) == features;
    }
    /// Executes the conversion, which leaves `image` ready for transfers, and copies it to `bytes`.
    void record_and_read(ImageConverter& writer, hearth_image_conversion_info info,
                         const TestImage& image, const standalone::Buffer& bytes) {
        const VkBufferImageCopy copy = image.whole();
        Status recorded;
        const Status executed = device().run([&](VkCommandBuffer commands) {
            info.command_buffer = commands;
            recorded = writer.record(info);
            vk().CmdCopyImageToBuffer(commands, image.image(), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                      bytes.handle(), 1, &copy);
        });
        ASSERT_TRUE(executed.ok()) << executed.message();
        ASSERT_TRUE(recorded.ok()) << recorded.message();
    }
    standalone::Buffer floats(size_t count) {
        auto buffer = standalone::Buffer::create(device(), count * sizeof(float),
                                                 standalone::MemoryKind::kReadback);
        EXPECT_TRUE(buffer.ok());
        return std::move(*buffer);
    }
    static hearth_tensor_binding whole(const standalone::Buffer& buffer) {
        hearth_tensor_binding bound =
            hearth_bind_buffer(0, buffer.handle(), 0, buffer.size_bytes(), buffer.usage());
        bound.release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
        return bound;
    }
    void run(ImageConverter& converter, hearth_image_conversion_info info) {
        Status status;
        const Status submitted = device().run([&](VkCommandBuffer commands) {
            info.command_buffer = commands;
            status = converter.record(info);
        });
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_TRUE(submitted.ok()) << submitted.message();
    }
    ImageConverter converter(hearth_image_conversion_direction direction, VkFormat format) {
        auto made = ImageConverter::create(context_, direction, static_cast<uint32_t>(format), 2);
        EXPECT_TRUE(made.ok()) << made.status().message();
        return made.ok() ? std::move(*made) : ImageConverter();
    }
    /// Reads the whole image, which is in TRANSFER_DST_OPTIMAL, as [height, width, 4].
    std::vector<float> read_image(const TestImage& image, const TexelFormat& f) {
        const size_t count = size_t{image.width()} * image.height() * 4;
        const standalone::Buffer tensor = floats(count);
        const bool is_stencil = f.aspect == VK_IMAGE_ASPECT_STENCIL_BIT;
        ImageConverter reader =
            converter(HEARTH_IMAGE_TO_TENSOR, is_stencil ? VK_FORMAT_S8_UINT : f.format);
        hearth_image_conversion_info info = image.info({}, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        info.image_acquire_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
        info.tensor = whole(tensor);
        info.tensor_width = image.width();
        info.tensor_height = image.height();
        info.channels = 4;
        info.flags = HEARTH_CONVERSION_CHANNELS_LAST;
        run(reader, info);
        const auto found = tensor.as<float>();
        return {found.begin(), found.end()};
    }
    /// Whether converters write every format that the device stores.
    bool writes_any_format() {
        return (device().host_info().features &
                HEARTH_FEATURE_SHADER_STORAGE_IMAGE_WRITE_WITHOUT_FORMAT) != 0;
    }
    /// The formats that can be written without further features.
    static bool is_basic(VkFormat format) {
        constexpr VkFormat kBasic[] = {
            VK_FORMAT_R8G8B8A8_UNORM,    VK_FORMAT_R8G8B8A8_SNORM,      VK_FORMAT_R8G8B8A8_UINT,
            VK_FORMAT_R8G8B8A8_SINT,     VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R16G16B16A16_UINT,
            VK_FORMAT_R16G16B16A16_SINT, VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R32G32B32A32_UINT,
            VK_FORMAT_R32G32B32A32_SINT, VK_FORMAT_R32_SFLOAT,          VK_FORMAT_R32_UINT,
            VK_FORMAT_R32_SINT};
        return std::find(std::begin(kBasic), std::end(kBasic), format) != std::end(kBasic);
    }
    static constexpr VkFormatFeatureFlags kStorable = VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT;

    /// The converter's recordings so far have completed.
    void advance() {
        ++serial_;
        ASSERT_TRUE(context_.begin_frame(serial_, serial_ - 1).ok());
    }

    Context context_;
    uint64_t serial_ = 1;
};

TEST_F(Images, EachFormatIsReadAsTheCpuDecodesIt) {
    constexpr uint32_t kWide = 37, kHigh = 23;
    int read = 0;
    for (const TexelFormat& f : all_texel_formats()) {
        if (!can(f.format,
                 VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT))
            continue;
        ++read;
        const std::vector<std::byte> texels = f.random_texels(kWide * kHigh);
        const TestImage image(device(), f.format, kWide, kHigh, VK_IMAGE_USAGE_SAMPLED_BIT,
                              f.aspect);
        image.fill(texels, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        const std::vector<float> found = read_image(image, f);
        for (size_t i = 0; i < kWide * kHigh; ++i) {
            const Texel expected = f.decode(&texels[i * f.bytes()]);
            for (size_t c = 0; c < 4; ++c) {
                // Drivers decode sRGB by table, to about eight bits (NVIDIA: within 3.2e-3); f32
                // has 24.
                const double wide = std::max(1.0, std::abs(expected[c]));
                const double tolerance = f.encoding == Encoding::kSrgb ? 4e-3 : 1e-6 * wide;
                ASSERT_NEAR(found[i * 4 + c], expected[c], tolerance)
                    << "VkFormat " << f.format << " texel " << i << " component " << c;
            }
        }
        advance();
    }
    EXPECT_GE(read, 40) << "formats that every device samples";
}

// A block of each compressed format with one color.
TEST_F(Images, CompressedFormatsAreReadAsTheDriverDecodesThem) {
    struct Block {
        VkFormat format;
        std::vector<uint8_t> bytes;
        Texel color;
        double tolerance;
    };
    // BC1 and BC3: two equal endpoints of R5G6B5 {10, 20, 30}.  BC4: the endpoint 51.  ASTC: a
    // void-extent block with UNORM16 components.  ETC2: 4-bit base colors, and the modifier 2 of the
    // first table.  EAC: base 100, multiplier 0, whose modifiers are not scaled.
    const Texel rgb = {10 / 31.0, 20 / 63.0, 30 / 31.0, 1};
    const double kStep = 1 / 255.0;
    const std::vector<uint8_t> bc1 = {0x9e, 0x52, 0x9e, 0x52, 0, 0, 0, 0};
    const std::vector<uint8_t> bc4 = {51, 51, 0, 0, 0, 0, 0, 0};
    std::vector<uint8_t> bc3 = bc4;
    bc3.insert(bc3.end(), bc1.begin(), bc1.end());
    std::vector<uint8_t> bc5 = bc4;
    bc5.insert(bc5.end(), {102, 102, 0, 0, 0, 0, 0, 0});
    const Block kBlocks[] = {
        {VK_FORMAT_BC1_RGB_UNORM_BLOCK, bc1, rgb, kStep},
        {VK_FORMAT_BC3_UNORM_BLOCK, bc3, {rgb[0], rgb[1], rgb[2], 51 / 255.0}, kStep},
        {VK_FORMAT_BC4_UNORM_BLOCK, bc4, {51 / 255.0, 0, 0, 1}, kStep},
        {VK_FORMAT_BC5_UNORM_BLOCK, bc5, {51 / 255.0, 102 / 255.0, 0, 1}, kStep},
        {VK_FORMAT_BC3_SRGB_BLOCK,
         bc3,
         {from_srgb(rgb[0]), from_srgb(rgb[1]), from_srgb(rgb[2]), 51 / 255.0},
         2 * kStep},
        {VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK,
         {0x55, 0xaa, 0xff, 0, 0, 0, 0, 0},
         {87 / 255.0, 172 / 255.0, 1, 1},
         kStep},
        {VK_FORMAT_ASTC_4x4_UNORM_BLOCK,
         {0xfc, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x20, 0, 0x40, 0, 0x80, 0, 0xc0},
         {0x2000 / 65535.0, 0x4000 / 65535.0, 0x8000 / 65535.0, 0xc000 / 65535.0},
         kStep},
    };
    constexpr uint32_t kWide = 7, kHigh = 5, kBlockCount = 4;
    int read = 0;
    for (const Block& block : kBlocks) {
        if (!can(block.format,
                 VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT))
            continue;
        ++read;
        const TestImage image(device(), block.format, kWide, kHigh, VK_IMAGE_USAGE_SAMPLED_BIT);
        std::vector<std::byte> bytes;
        for (uint32_t i = 0; i < kBlockCount; ++i)
            for (const uint8_t b : block.bytes) bytes.push_back(std::byte{b});
        image.fill(bytes, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        const std::vector<float> found = read_image(image, {block.format, "rgba", {}, {}});
        for (size_t i = 0; i < found.size(); ++i)
            ASSERT_NEAR(found[i], block.color[i % 4], block.tolerance)
                << "VkFormat " << block.format << " element " << i;
        advance();
    }
    if (read == 0) GTEST_SKIP() << "the device samples no compressed format";
}

TEST_F(Images, EachStorableFormatIsWrittenAsTheCpuEncodesIt) {
    constexpr uint32_t kWide = 19, kHigh = 31;
    int written = 0;
    for (const TexelFormat& f : all_texel_formats()) {
        if (f.aspect != VK_IMAGE_ASPECT_COLOR_BIT || !can(f.format, kStorable)) continue;
        if (!writes_any_format() && !is_basic(f.format)) continue;
        ++written;
        // Beyond the range of most formats, on both sides.
        const float unit = f.is_integer() ? 0.37f * std::ldexp(1.0f, f.bits[0]) : 1.0f;
        std::vector<float> values(kWide * kHigh * 4);
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = (static_cast<float>(i % 97) / 32.0f - 1.25f) * unit;
        const standalone::Buffer tensor = floats(values.size());
        std::copy(values.begin(), values.end(), tensor.as<float>().begin());
        const TestImage image(device(), f.format, kWide, kHigh, VK_IMAGE_USAGE_STORAGE_BIT);
        ImageConverter writer = converter(HEARTH_TENSOR_TO_IMAGE, f.format);
        const auto bytes = standalone::Buffer::create(device(), kWide * kHigh * f.bytes(),
                                                      standalone::MemoryKind::kReadback);
        hearth_image_conversion_info info = image.info({}, VK_IMAGE_LAYOUT_UNDEFINED);
        info.image_layout_after = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        info.image_release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
        info.tensor = whole(tensor);
        info.tensor_width = kWide;
        info.tensor_height = kHigh;
        info.channels = 4;
        info.flags = HEARTH_CONVERSION_CHANNELS_LAST;
        record_and_read(writer, info, image, *bytes);
        for (size_t i = 0; i < kWide * kHigh; ++i) {
            const Texel found =
                f.decode(static_cast<const std::byte*>(bytes->data()) + i * f.bytes());
            for (size_t k = 0; k < f.channels.size(); ++k) {
                const size_t c = TexelFormat::place(f.channels[k]);
                const double value = values[i * 4 + c];
                const auto [expected, tolerance] = f.stored(value, f.bits[k], f.channels[k]);
                if (f.bits[k] == 32 && f.is_integer())  // the next float below the largest integer
                    ASSERT_NEAR(found[c], expected, 128) << "VkFormat " << f.format;
                else
                    ASSERT_NEAR(found[c], expected, tolerance)
                        << "VkFormat " << f.format << " texel " << i << " component " << c << " of "
                        << value;
            }
        }
        advance();
    }
    EXPECT_GE(written, writes_any_format() ? 20 : 13) << "formats that every device stores";
}

TEST_F(Images, NaNIsStoredAsZeroInIntegerFormats) {
    const standalone::Buffer tensor = floats(4);
    for (float& value : tensor.as<float>()) value = std::numeric_limits<float>::quiet_NaN();
    for (const VkFormat format : {VK_FORMAT_R8G8B8A8_UINT, VK_FORMAT_R32G32B32A32_SINT}) {
        const TexelFormat& f = texel_format(format);
        const TestImage image(device(), format, 1, 1, VK_IMAGE_USAGE_STORAGE_BIT);
        ImageConverter writer = converter(HEARTH_TENSOR_TO_IMAGE, format);
        const auto bytes =
            standalone::Buffer::create(device(), f.bytes(), standalone::MemoryKind::kReadback);
        hearth_image_conversion_info info = image.info({}, VK_IMAGE_LAYOUT_UNDEFINED);
        info.image_layout_after = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        info.image_release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
        info.tensor = whole(tensor);
        info.tensor_width = info.tensor_height = 1;
        info.channels = 4;
        record_and_read(writer, info, image, *bytes);
        EXPECT_EQ(f.decode(static_cast<const std::byte*>(bytes->data())), (Texel{0, 0, 0, 0}));
        advance();
    }
}

TEST_F(Images, FormatsThatTheDeviceCannotConvertAreRefusedWithTheRemedy) {
    const auto refusal = [&](hearth_image_conversion_direction direction, VkFormat format) {
        const auto made =
            ImageConverter::create(context_, direction, static_cast<uint32_t>(format), 1);
        if (made.ok()) return std::string();
        EXPECT_EQ(made.status().code(), StatusCode::kUnsupported) << format;
        return std::string(made.status().message());
    };
    const auto expect = [](const std::string& text, const std::string& part, VkFormat format) {
        EXPECT_NE(text.find(part), std::string::npos)
            << "VkFormat " << format << ": " << text << "\nexpected " << part;
    };
    for (int i = 0; i <= VK_FORMAT_ASTC_12x12_SRGB_BLOCK; ++i) {
        const auto format = static_cast<VkFormat>(i);
        const std::string reading = refusal(HEARTH_IMAGE_TO_TENSOR, format);
        const std::string writing = refusal(HEARTH_TENSOR_TO_IMAGE, format);
        const bool is_64_bits = i >= VK_FORMAT_R64_UINT && i <= VK_FORMAT_R64G64B64A64_SFLOAT;
        if (format == VK_FORMAT_UNDEFINED || is_64_bits) {
            expect(reading, "cannot be converted", format);
            expect(writing, "cannot be converted", format);
            continue;
        }
        VkFormatProperties properties;
        instance().vk().GetPhysicalDeviceFormatProperties(device().physical_device(), format,
                                                          &properties);
        const VkFormatFeatureFlags features =
            properties.optimalTilingFeatures | properties.linearTilingFeatures;
        if ((features & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT) != 0)
            EXPECT_EQ(reading, "") << format;
        else if (format != VK_FORMAT_S8_UINT)
            expect(reading, "the device cannot sample", format);
        if ((features & kStorable) == 0)
            expect(writing, "the device cannot store", format);
        else if (!writes_any_format() && !is_basic(format))
            expect(writing, "enable the feature shaderStorageImageWriteWithoutFormat", format);
        else
            EXPECT_EQ(writing, "") << format;
    }
    for (const auto& [srgb, unorm] : {std::pair{VK_FORMAT_R8G8B8A8_SRGB, "VkFormat 37"},
                                      {VK_FORMAT_B8G8R8A8_SRGB, "VkFormat 44"}})
        if (!can(srgb, kStorable))
            expect(refusal(HEARTH_TENSOR_TO_IMAGE, srgb), std::string("through a view of ") + unorm,
                   srgb);
    // Multi-planar: read by a sampler with Y'CBCR conversion alone.
    expect(refusal(HEARTH_IMAGE_TO_TENSOR, VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM),
           "cannot be converted", VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM);
}

// Render targets and swapchains have formats that few devices can write: an RGBA8 view of theirs can
// be written everywhere.  The image is resized between frames, as a window is.
TEST_F(Images, ResizedImagesOfBgraAndSrgbFormatsAreWrittenThroughAnRgbaView) {
    ImageConverter writer = converter(HEARTH_TENSOR_TO_IMAGE, VK_FORMAT_R8G8B8A8_UNORM);
    const auto write = [&](VkFormat format, uint32_t width, uint32_t height) {
        std::vector<float> values(size_t{width} * height * 3);
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(i % 97) / 64.0f - 0.25f;  // beyond 0..1 on both sides
        const standalone::Buffer tensor = floats(values.size());
        std::copy(values.begin(), values.end(), tensor.as<float>().begin());
        const TestImage image(device(), format, width, height,
                              VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
                              VK_IMAGE_ASPECT_COLOR_BIT, VK_FORMAT_R8G8B8A8_UNORM);
        const auto bytes = standalone::Buffer::create(device(), size_t{width} * height * 4,
                                                      standalone::MemoryKind::kReadback);
        const bool is_bgra =
            format == VK_FORMAT_B8G8R8A8_UNORM || format == VK_FORMAT_B8G8R8A8_SRGB;
        const bool is_srgb = format == VK_FORMAT_R8G8B8A8_SRGB || format == VK_FORMAT_B8G8R8A8_SRGB;
        hearth_image_conversion_info info = image.info({}, VK_IMAGE_LAYOUT_UNDEFINED);
        info.image_layout_after = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        info.image_release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
        info.tensor = whole(tensor);
        info.tensor_width = width;
        info.tensor_height = height;
        info.channels = 3;
        info.flags = HEARTH_CONVERSION_CHANNELS_LAST | (is_srgb ? HEARTH_CONVERSION_SRGB : 0u);
        if (is_bgra) std::swap(info.swizzle[0], info.swizzle[2]);
        info.swizzle[3] = HEARTH_SWIZZLE_ONE;
        record_and_read(writer, info, image, *bytes);
        for (size_t i = 0; i < size_t{width} * height; ++i) {
            const Texel found =
                texel_format(format).decode(static_cast<const std::byte*>(bytes->data()) + i * 4);
            for (size_t c = 0; c < 3; ++c) {
                const double value = std::clamp(double{values[i * 3 + c]}, 0.0, 1.0);
                // Half a step of the code, by the slope of sRGB, which is at most 2.4.
                ASSERT_NEAR(found[c], value, (is_srgb ? 2.4 : 1.0) * 0.51 / 255)
                    << format << " " << width << " x " << height << " texel " << i;
            }
            ASSERT_EQ(found[3], 1);
        }
        advance();
    };
    for (const auto& [width, height] :
         {std::pair{19u, 31u}, std::pair{64u, 48u}, std::pair{1u, 7u}}) {
        write(VK_FORMAT_B8G8R8A8_UNORM, width, height);
        write(VK_FORMAT_R8G8B8A8_SRGB, width, height);
        write(VK_FORMAT_B8G8R8A8_SRGB, width, height);
    }
}

TEST_F(Images, RegionsFlipsSwizzlesAndResamplingFollowTheCpu) {
    constexpr int kWide = 21, kHigh = 13;
    const TexelFormat& f = texel_format(VK_FORMAT_R32G32B32A32_SFLOAT);
    const std::vector<std::byte> texels = f.random_texels(kWide * kHigh);
    const TestImage image(device(), f.format, kWide, kHigh, VK_IMAGE_USAGE_SAMPLED_BIT);
    image.fill(texels, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    ImageConverter reader = converter(HEARTH_IMAGE_TO_TENSOR, f.format);
    const struct {
        int x, y, width, height;  // of the region
        int tensor_width, tensor_height;
        uint32_t flags;
    } kCases[] = {
        {0, 0, kWide, kHigh, kWide, kHigh, HEARTH_CONVERSION_FILTER_LINEAR},
        {0, 0, kWide, kHigh, 10, 7, 0},
        {0, 0, kWide, kHigh, 10, 7, HEARTH_CONVERSION_FILTER_LINEAR},
        {0, 0, kWide, kHigh, 64, 33, HEARTH_CONVERSION_FILTER_LINEAR | HEARTH_CONVERSION_FLIP_Y},
        {5, 3, 9, 4, 9, 4, HEARTH_CONVERSION_FLIP_X},
        {5, 3, 9, 4, 17, 5, HEARTH_CONVERSION_FILTER_LINEAR | HEARTH_CONVERSION_CHANNELS_LAST},
        {20, 12, 1, 1, 3, 3, HEARTH_CONVERSION_FILTER_LINEAR | HEARTH_CONVERSION_FLIP_X},
        {0, 0, kWide, kHigh, 11, 11, HEARTH_CONVERSION_SRGB},
    };
    for (const auto& test : kCases) {
        const auto places = static_cast<size_t>(test.tensor_width * test.tensor_height);
        const standalone::Buffer tensor = floats(places * 3);
        hearth_image_conversion_info info =
            image.info({}, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
        info.region_x = static_cast<uint32_t>(test.x);
        info.region_y = static_cast<uint32_t>(test.y);
        info.region_width = static_cast<uint32_t>(test.width);
        info.region_height = static_cast<uint32_t>(test.height);
        info.tensor = whole(tensor);
        info.tensor_width = static_cast<uint32_t>(test.tensor_width);
        info.tensor_height = static_cast<uint32_t>(test.tensor_height);
        info.flags = test.flags;
        // Blue, one, red, each with a scale and bias of its own.
        const uint32_t swizzle[] = {2, HEARTH_SWIZZLE_ONE, 0, 0};
        std::copy(std::begin(swizzle), std::end(swizzle), info.swizzle);
        const float scale[] = {2, 3, -1, 0}, bias[] = {0.5f, -1, 4, 0};
        std::copy(std::begin(scale), std::end(scale), info.scale);
        std::copy(std::begin(bias), std::end(bias), info.bias);
        run(reader, info);
        advance();
        const auto source = [&](int x, int y) {
            Texel t = f.decode(
                &texels[static_cast<size_t>((y + test.y) * kWide + x + test.x) * f.bytes()]);
            if ((test.flags & HEARTH_CONVERSION_SRGB) != 0)
                for (size_t c = 0; c < 3; ++c) t[c] = from_srgb(t[c]);
            return t;
        };
        for (int y = 0; y < test.tensor_height; ++y)
            for (int x = 0; x < test.tensor_width; ++x) {
                const bool flip_x = (test.flags & HEARTH_CONVERSION_FLIP_X) != 0;
                const bool flip_y = (test.flags & HEARTH_CONVERSION_FLIP_Y) != 0;
                const int column = flip_x ? test.tensor_width - 1 - x : x;
                const int row = flip_y ? test.tensor_height - 1 - y : y;
                const Texel t = resampled(source, test.width, test.height,
                                          (column + 0.5) * test.width / test.tensor_width,
                                          (row + 0.5) * test.height / test.tensor_height,
                                          (test.flags & HEARTH_CONVERSION_FILTER_LINEAR) != 0);
                const double expected[] = {t[2] * 2 + 0.5, 2, 4 - t[0]};
                const auto place = static_cast<size_t>(y * test.tensor_width + x);
                for (size_t c = 0; c < 3; ++c) {
                    const size_t element = (test.flags & HEARTH_CONVERSION_CHANNELS_LAST) != 0
                                               ? place * 3 + c
                                               : c * places + place;
                    // pow() is as exact as the driver's logarithm.
                    const bool is_srgb = (test.flags & HEARTH_CONVERSION_SRGB) != 0;
                    ASSERT_NEAR(tensor.as<float>()[element], expected[c], is_srgb ? 5e-4 : 2e-5)
                        << "flags " << test.flags << " at " << x << ", " << y << ", " << c;
                }
            }
    }
}

TEST_F(Images, ARegionIsWrittenResampledAndEncodedAndTheRestIsLeft) {
    constexpr int kWide = 17, kHigh = 11, kFromWide = 5, kFromHigh = 4;
    constexpr uint32_t kX = 3, kY = 2, kRegionWide = 12, kRegionHigh = 7;
    std::vector<float> values(kFromWide * kFromHigh);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 20.0f;
    const standalone::Buffer tensor = floats(values.size());
    std::copy(values.begin(), values.end(), tensor.as<float>().begin());
    // A texture of the game's that holds sRGB, in a format that can be stored to.
    const TestImage image(device(), VK_FORMAT_R8G8B8A8_UNORM, kWide, kHigh,
                          VK_IMAGE_USAGE_STORAGE_BIT);
    image.fill(std::vector<std::byte>(kWide * kHigh * 4, std::byte{7}), VK_IMAGE_LAYOUT_GENERAL);
    ImageConverter writer = converter(HEARTH_TENSOR_TO_IMAGE, VK_FORMAT_R8G8B8A8_UNORM);
    const auto bytes =
        standalone::Buffer::create(device(), kWide * kHigh * 4, standalone::MemoryKind::kReadback);
    hearth_image_conversion_info info = image.info({}, VK_IMAGE_LAYOUT_GENERAL);
    info.image_release_scope =
        hearth_make_sync_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    info.image_layout_after = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    info.region_x = kX;
    info.region_y = kY;
    info.region_width = kRegionWide;
    info.region_height = kRegionHigh;
    info.tensor = whole(tensor);
    info.tensor_width = kFromWide;
    info.tensor_height = kFromHigh;
    info.channels = 1;
    info.flags =
        HEARTH_CONVERSION_FILTER_LINEAR | HEARTH_CONVERSION_SRGB | HEARTH_CONVERSION_FLIP_Y;
    const uint32_t swizzle[] = {0, HEARTH_SWIZZLE_ZERO, 0, HEARTH_SWIZZLE_ONE};
    std::copy(std::begin(swizzle), std::end(swizzle), info.swizzle);
    info.scale[2] = 0.5f;
    record_and_read(writer, info, image, *bytes);
    const auto source = [&](int x, int y) {
        return Texel{values[static_cast<size_t>(y * kFromWide + x)]};
    };
    for (uint32_t y = 0; y < kHigh; ++y)
        for (uint32_t x = 0; x < kWide; ++x) {
            const uint8_t* texel = &bytes->as<uint8_t>()[(y * kWide + x) * 4];
            const bool inside = x >= kX && x < kX + kRegionWide && y >= kY && y < kY + kRegionHigh;
            if (!inside) {
                for (int c = 0; c < 4; ++c) ASSERT_EQ(texel[c], 7) << x << ", " << y;
                continue;
            }
            const double value =
                resampled(source, kFromWide, kFromHigh, (x - kX + 0.5) * kFromWide / kRegionWide,
                          (kRegionHigh - 1 - (y - kY) + 0.5) * kFromHigh / kRegionHigh, true)[0];
            const double expected[] = {to_srgb(value), 0, to_srgb(value / 2), 1};
            for (int c = 0; c < 4; ++c)
                ASSERT_NEAR(texel[c], expected[c] * 255, 0.6) << x << ", " << y << ", " << c;
        }
}

TEST_F(Images, AnImageGoesThroughAnEntryInOneCommandBuffer) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const TestImage image(device(), VK_FORMAT_R32_SFLOAT, kWidth, 1, VK_IMAGE_USAGE_SAMPLED_BIT);
    const std::vector<float> x = test_values(kWidth, 3);
    image.fill(std::as_bytes(std::span(x)), VK_IMAGE_LAYOUT_GENERAL);
    auto reader =
        ImageConverter::create(rig->context, HEARTH_IMAGE_TO_TENSOR, VK_FORMAT_R32_SFLOAT);
    ASSERT_TRUE(reader.ok()) << reader.status().message();
    rig->set_x(std::vector<float>(kWidth, 0.0f));
    const hearth_sync_scope kernel =
        hearth_make_sync_scope(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
    rig->frame([&](VkCommandBuffer commands) {
        hearth_image_conversion_info info = image.info(commands, VK_IMAGE_LAYOUT_GENERAL);
        info.tensor = rig->bind(0, rig->x(), kWidth * sizeof(float));
        info.tensor.release_scope = kernel;
        info.tensor_width = kWidth;
        info.tensor_height = 1;
        info.channels = 1;
        EXPECT_TRUE(reader->record(info).ok());
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info act = rig->act_info(commands, 1, bounds);
        EXPECT_TRUE(rig->session.record(act).ok()) << rig->session.error();
    });
    EXPECT_EQ(rig->get_y(1), TestReference().act(x));
    *reader = ImageConverter();  // before its context
}

/// Numbers go into an image and come back, in frames of which one in ten is dropped, while images
/// are resized and converters replaced in flight.  HEARTH_FRAMES: how many frames.
TEST_F(Images, RandomFramesWithImagesResizedAndConvertersReplacedArriveUnlessDropped) {
    const char* const asked = std::getenv("HEARTH_FRAMES");
    const uint64_t frames = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 300;
    constexpr uint32_t kMostPixels = 40;
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    uint64_t drawn = 0;
    const auto random = [&](uint64_t below) { return Hash().number(drawn++).value() % below; };
    struct Slot {
        std::unique_ptr<TestImage> image;
        uint32_t width = 0, height = 0;
        std::vector<float> values;
        standalone::Buffer in, out;
    };
    std::array<Slot, 3> slots;
    const auto resize = [&](Slot& slot) {
        rig->finish();
        slot.width = static_cast<uint32_t>(1 + random(kMostPixels));
        slot.height = static_cast<uint32_t>(1 + random(kMostPixels));
        slot.values = test_values(slot.width * slot.height, random(1000));
        std::copy(slot.values.begin(), slot.values.end(), slot.in.as<float>().begin());
        slot.image =
            std::make_unique<TestImage>(device(), VK_FORMAT_R32_SFLOAT, slot.width, slot.height,
                                        VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT);
    };
    for (Slot& slot : slots) {
        slot.in = floats(kMostPixels * kMostPixels);
        slot.out = floats(kMostPixels * kMostPixels);
        resize(slot);
    }
    ImageConverter writer, reader;
    const auto replace = [&](ImageConverter& converter,
                             hearth_image_conversion_direction direction) {
        auto made = ImageConverter::create(rig->context, direction, VK_FORMAT_R32_SFLOAT,
                                           static_cast<uint32_t>(1 + random(4)));
        ASSERT_TRUE(made.ok()) << made.status().message();
        converter = std::move(made).value();
    };
    replace(writer, HEARTH_TENSOR_TO_IMAGE);
    replace(reader, HEARTH_IMAGE_TO_TENSOR);

    struct Expected {
        hearth_readback id;
        uint64_t serial;
        std::vector<float> values;
    };
    std::vector<Expected> expected;
    const hearth_sync_scope kernels =
        hearth_make_sync_scope(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                               VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    const auto record = [&](VkCommandBuffer commands) {
        Slot& slot = slots[random(slots.size())];
        const uint64_t bytes = slot.values.size() * sizeof(float);
        hearth_image_conversion_info in = slot.image->info(commands, VK_IMAGE_LAYOUT_UNDEFINED);
        in.image_layout_after = VK_IMAGE_LAYOUT_GENERAL;
        in.image_acquire_scope = in.image_release_scope = kernels;
        in.tensor = rig->bind(0, slot.in, bytes);
        in.tensor_width = slot.width;
        in.tensor_height = slot.height;
        in.channels = 1;
        for (uint32_t k = 1; k < 4; ++k) in.swizzle[k] = HEARTH_SWIZZLE_ZERO;
        in.scale[0] = random(2) == 0 ? 2.0f : -0.5f;
        in.bias[0] = static_cast<float>(random(9)) - 4;
        if (random(2) == 0) in.flags |= HEARTH_CONVERSION_FLIP_X;
        hearth_image_conversion_info out = in;
        out.image_layout_before = VK_IMAGE_LAYOUT_GENERAL;
        out.tensor = rig->bind(0, slot.out, bytes);
        out.tensor.acquire_scope = hearth_make_sync_scope(
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT);
        out.tensor.release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
        out.scale[0] = 1;
        out.bias[0] = 0;
        out.flags = random(2) == 0 ? HEARTH_CONVERSION_FLIP_Y : 0;
        const auto done = [](hearth_result result, const char* error) {
            EXPECT_TRUE(result == HEARTH_OK || result == HEARTH_ERROR_TOO_MANY_IN_FLIGHT) << error;
            return result == HEARTH_OK;
        };
        if (!done(hearth_record_convert_image(writer.handle(), &in),
                  hearth_image_converter_error(writer.handle())) ||
            !done(hearth_record_convert_image(reader.handle(), &out),
                  hearth_image_converter_error(reader.handle())))
            return;
        const hearth_readback_region part =
            hearth_readback_of_buffer(slot.out.handle(), 0, bytes, hearth_make_sync_scope(0, 0));
        const auto id = rig->session.record_readback(commands, std::span(&part, 1));
        if (!id.ok()) return;  // the ring is full
        Expected e{*id, rig->serial(), std::vector<float>(slot.values.size())};
        for (uint32_t y = 0; y < slot.height; ++y)
            for (uint32_t x = 0; x < slot.width; ++x) {
                const bool flips_x = (in.flags & HEARTH_CONVERSION_FLIP_X) != 0;
                const bool flips_y = (out.flags & HEARTH_CONVERSION_FLIP_Y) != 0;
                const uint32_t from_x = flips_x ? slot.width - 1 - x : x;
                const uint32_t from_y = flips_y ? slot.height - 1 - y : y;
                e.values[y * slot.width + x] =
                    slot.values[from_y * slot.width + from_x] * in.scale[0] + in.bias[0];
            }
        expected.push_back(std::move(e));
    };
    uint64_t arrived = 0, lost = 0;
    for (uint64_t frame = 0; frame < frames && !HasFailure(); ++frame) {
        if (random(10) == 0) resize(slots[random(slots.size())]);
        if (random(15) == 0) replace(writer, HEARTH_TENSOR_TO_IMAGE);
        if (random(15) == 0) replace(reader, HEARTH_IMAGE_TO_TENSOR);
        const auto several = [&](VkCommandBuffer commands) {
            for (uint64_t i = random(3); i < 3; ++i) record(commands);
        };
        const bool is_dropped = random(10) == 0;
        if (is_dropped)
            (void)rig->drop(several);
        else
            rig->frame(several);
        if (frame + 1 == frames || random(40) == 0) rig->advance();
        std::vector<Expected> pending;
        for (Expected& e : expected) {
            const void* data = nullptr;
            uint64_t bytes = 0, serial = 0;
            hearth_session* const session = rig->session.handle();
            const hearth_result result =
                hearth_readback_poll(session, e.id, &data, &bytes, &serial);
            if (result == HEARTH_NOT_READY) {
                pending.push_back(std::move(e));
                continue;
            }
            if (result == HEARTH_OK) {
                ++arrived;
                ASSERT_EQ(bytes, e.values.size() * sizeof(float));
                EXPECT_EQ(std::memcmp(data, e.values.data(), bytes), 0) << "frame " << frame;
            } else {
                ++lost;
                EXPECT_EQ(result, HEARTH_ERROR_DISCARDED);
            }
            hearth_readback_release(session, e.id);
        }
        expected = std::move(pending);
    }
    EXPECT_TRUE(expected.empty());
    EXPECT_GT(arrived, frames / 2);
    EXPECT_GT(lost, frames / 60);
    rig->finish();
    writer = ImageConverter();  // before their context
    reader = ImageConverter();
}

TEST_F(Images, WithHostBarriersTheImageStaysAsItIs) {
    const TestImage image(device(), VK_FORMAT_R32_SFLOAT, 8, 8, VK_IMAGE_USAGE_SAMPLED_BIT);
    std::vector<float> values(64);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    image.fill(std::as_bytes(std::span(values)), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    const standalone::Buffer tensor = floats(64);
    ImageConverter reader = converter(HEARTH_IMAGE_TO_TENSOR, VK_FORMAT_R32_SFLOAT);
    hearth_image_conversion_info info = image.info({}, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    info.barriers = HEARTH_BARRIERS_MANUAL;
    info.tensor = whole(tensor);
    info.tensor_width = info.tensor_height = 8;
    info.channels = 1;
    run(reader, info);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), tensor.as<float>().begin()));
    info.image_layout_before = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    info.command_buffer = reinterpret_cast<VkCommandBuffer>(uintptr_t{1});
    const Status refused = reader.record(info);
    EXPECT_NE(refused.message().find("the image must be in SHADER_READ_ONLY_OPTIMAL"),
              std::string::npos)
        << refused.message();
}

TEST_F(Images, WhatAHostGetsWrongIsNamedAndRecordsNothing) {
    const TestImage image(device(), VK_FORMAT_R32_SFLOAT, 16, 9, VK_IMAGE_USAGE_SAMPLED_BIT);
    const standalone::Buffer tensor = floats(16 * 9);
    ImageConverter reader = converter(HEARTH_IMAGE_TO_TENSOR, VK_FORMAT_R32_SFLOAT);
    const auto nowhere = reinterpret_cast<VkCommandBuffer>(uintptr_t{1});
    hearth_image_conversion_info right = image.info(nowhere, VK_IMAGE_LAYOUT_GENERAL);
    right.tensor = whole(tensor);
    right.tensor_width = 16;
    right.tensor_height = 9;
    right.channels = 1;
    const auto refusal = [&](auto change) {
        hearth_image_conversion_info info = right;
        change(info);
        const Status status = reader.record(info);
        EXPECT_FALSE(status.ok());
        return status.message();
    };
    using Info = hearth_image_conversion_info;
    const struct {
        const char* says;
        void (*change)(Info&);
    } kCases[] = {
        {"command_buffer is null", [](Info& i) { i.command_buffer = VK_NULL_HANDLE; }},
        {"image is null", [](Info& i) { i.image = VK_NULL_HANDLE; }},
        {"view is null", [](Info& i) { i.view = VK_NULL_HANDLE; }},
        {"aspect is 0", [](Info& i) { i.aspect = 0; }},
        {"the image is 0x9", [](Info& i) { i.image_width = 0; }},
        {"the region 4x2 at (13, 0) exceeds the image of 16x9",
         [](Info& i) { i.region_x = 13, i.region_width = 4, i.region_height = 2; }},
        {"the region 4294967295x2 at (1, 0)",
         [](Info& i) { i.region_x = 1, i.region_width = UINT32_MAX, i.region_height = 2; }},
        {"the tensor is 16x9 of 5 channels", [](Info& i) { i.channels = 5; }},
        {"swizzle[0] is 6", [](Info& i) { i.swizzle[0] = 6; }},
        {"tensor.buffer is null", [](Info& i) { i.tensor.buffer = VK_NULL_HANDLE; }},
        {"tensor has 572 bytes, expected 576 or more", [](Info& i) { i.tensor.bytes = 572; }},
        {"create it with STORAGE_BUFFER usage", [](Info& i) { i.tensor.usage = 0; }},
        {"at offset 1;", [](Info& i) { i.tensor.offset = 1; }},
        {"flags 0x400", [](Info& i) { i.flags = 0x400; }},
        {"barriers is 7", [](Info& i) { i.barriers = static_cast<hearth_barriers>(7); }},
        {"make it with hearth_image_conversion_info_default",
         [](Info& i) { i.type = HEARTH_STRUCT_NONE; }},
    };
    for (const auto& test : kCases) {
        const std::string text = refusal(test.change);
        EXPECT_NE(text.find(test.says), std::string::npos) << text << "\nexpected " << test.says;
    }
    for (const uint32_t format : {0u, 112u, 1000156000u})
        EXPECT_EQ(ImageConverter::create(context_, HEARTH_IMAGE_TO_TENSOR, format).status().code(),
                  StatusCode::kUnsupported)
            << format;
    EXPECT_FALSE(ImageConverter::create(context_, HEARTH_IMAGE_TO_TENSOR, 37, 0).ok());
}

TEST_F(Images, MoreThanAgreedInFlightIsRefusedAndADroppedFrameGivesItBack) {
    const TestImage image(device(), VK_FORMAT_R32_SFLOAT, 4, 4, VK_IMAGE_USAGE_SAMPLED_BIT);
    image.fill(std::vector<std::byte>(64), VK_IMAGE_LAYOUT_GENERAL);
    const standalone::Buffer tensor = floats(16);
    ImageConverter reader =
        converter(HEARTH_IMAGE_TO_TENSOR, VK_FORMAT_R32_SFLOAT);  // two in flight
    hearth_image_conversion_info info = image.info({}, VK_IMAGE_LAYOUT_GENERAL);
    info.tensor = whole(tensor);
    info.tensor_width = info.tensor_height = 4;
    info.channels = 1;
    ASSERT_TRUE(context_.begin_frame(2, 1).ok());
    Status third;
    ASSERT_TRUE(device()
                    .run([&](VkCommandBuffer commands) {
                        info.command_buffer = commands;
                        EXPECT_TRUE(reader.record(info).ok());
                        info.tensor.acquire_scope = hearth_make_sync_scope(
                            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT);
                        EXPECT_TRUE(reader.record(info).ok());
                        third = reader.record(info);
                    })
                    .ok());
    EXPECT_NE(third.message().find("HEARTH_ERROR_TOO_MANY_IN_FLIGHT"), std::string::npos)
        << third.message();
    // Had it not been submitted, there would be room again at once.
    ASSERT_TRUE(context_.discard_frame(2).ok());
    run(reader, info);
    // Destroyed while in use: freed when its serial has completed.
    reader = ImageConverter();
    ASSERT_TRUE(context_.begin_frame(3, 2).ok());
}

}  // namespace
}  // namespace hearth::test
