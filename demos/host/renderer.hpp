// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws canvases and the user interface: one pipeline, one atlas, four samples per pixel.

#pragma once

#include "canvas.hpp"

#include <standalone/device.hpp>

#include <memory>
#include <vector>

struct ImDrawData;

namespace hearth::demo {

/// Part of a canvas' plane that the picture shows: `center` in its middle, the unit vectors `right`
/// and `up` pointing to its right and top edges.
struct View {
    glm::vec2 center;
    float units_per_pixel = 1.0f;
    glm::vec2 right = {1.0f, 0.0f};
    glm::vec2 up = {0.0f, 1.0f};

    /// Pixels from the top left, as in a user interface.
    static View pixels(VkExtent2D extent);
};

/// An alpha-only picture with the glyphs and a white texel.
struct Atlas {
    std::span<const uint8_t> coverage;
    uint32_t width = 0;
    uint32_t height = 0;
};

/// A canvas stored on the device, for static scenery.
struct StaticMesh {
    standalone::Buffer vertices;
    standalone::Buffer indices;
    uint32_t index_count = 0;
};

/// Images of one size and format that a Renderer can draw into.
class RenderTargets {
  public:
    RenderTargets() = default;
    ~RenderTargets() { reset(); }
    RenderTargets(const RenderTargets&) = delete;
    RenderTargets& operator=(const RenderTargets&) = delete;
    void reset();

  private:
    friend class Renderer;
    standalone::Device* device_ = nullptr;
    VkExtent2D extent_{};
    VkImage samples_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    VkImageView samples_view_ = VK_NULL_HANDLE;
    std::vector<VkFramebuffer> framebuffers_;
};

/// Scenery rendered once, then copied into every picture.
class Backdrop {
  public:
    Backdrop() = default;
    ~Backdrop() { reset(); }
    Backdrop(const Backdrop&) = delete;
    Backdrop& operator=(const Backdrop&) = delete;
    void reset();
    VkExtent2D extent() const { return extent_; }

  private:
    friend class Renderer;
    standalone::Device* device_ = nullptr;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    VkExtent2D extent_{};
    VkImage image_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    VkImageView view_ = VK_NULL_HANDLE;
    VkDescriptorSet set_ = VK_NULL_HANDLE;
};

/// A custom fragment shader for rectangles: `layout(location = 0) in vec2 uv`, and push constants
/// from byte Effect::kFirstConstant on.
class Effect {
  public:
    static constexpr uint32_t kFirstConstant = 32, kMostConstantBytes = 64;
    Effect() = default;
    ~Effect() { reset(); }
    Effect(const Effect&) = delete;
    Effect& operator=(const Effect&) = delete;
    void reset();

  private:
    friend class Renderer;
    standalone::Device* device_ = nullptr;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
};

class Renderer {
  public:
    /// `format` of the images to draw into; `slots` is the number of frames in flight.
    static Result<std::unique_ptr<Renderer>> create(standalone::Device& device, VkFormat format,
                                                    const Atlas& atlas, uint32_t slots);
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    Result<StaticMesh> upload(const Canvas& canvas);
    /// Prepares `targets` for these images. The device must no longer use the old ones.
    Status create_targets(RenderTargets& targets, VkExtent2D extent,
                          std::span<const VkImageView> views);

    /// Draws `mesh` into `backdrop`. The device must be idle.
    Status bake(Backdrop& backdrop, const StaticMesh& mesh, const View& view, VkExtent2D extent,
                Color background);

    /// Starts a picture whose geometry goes to the buffers of `slot`; the last picture drawn with
    /// them must have completed.
    void begin(VkCommandBuffer cmd, uint32_t slot, const RenderTargets& targets,
               uint32_t image_index, Color background);
    void draw(const Canvas& canvas, const View& view);
    void draw(const StaticMesh& mesh, const View& view);
    /// Fills the whole picture, which must be of the backdrop's size.
    void draw(const Backdrop& backdrop);
    /// Creates an effect from SPIR-V. The device must no longer use the old one.
    Status create_effect(Effect& effect, std::span<const uint32_t> fragment_shader);
    /// Fills a rectangle of the picture, in pixels; `uv` is (0, 0) at `from` and (1, 1) at `to`.
    void draw(const Effect& effect, glm::vec2 from, glm::vec2 to,
              std::span<const std::byte> constants);
    void draw(const ImDrawData& ui);
    /// Ends the picture; its image is then in VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL.
    void end();

  private:
    struct Slot {
        standalone::Buffer vertices;
        standalone::Buffer indices;
    };

    Renderer() = default;
    Status create_atlas(const Atlas& atlas);
    Status create_render_pass(VkFormat format);
    Status create_layouts();
    Result<VkPipeline> create_pipeline(std::span<const uint32_t> fragment_shader);
    Result<VkDescriptorSet> create_texture_set(VkImageView view);
    void bind(VkPipeline pipeline, VkDescriptorSet set);
    void set_view(const View& view);
    void draw_range(VkBuffer vertices, VkBuffer indices, uint32_t first_index, uint32_t index_count,
                    int32_t vertex_offset);

    standalone::Device* device_ = nullptr;
    VkFormat format_ = VK_FORMAT_UNDEFINED;
    VkRenderPass render_pass_ = VK_NULL_HANDLE;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkDescriptorPool descriptor_pool_ = VK_NULL_HANDLE;
    VkDescriptorSet atlas_set_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline shape_pipeline_ = VK_NULL_HANDLE;
    VkPipeline picture_pipeline_ = VK_NULL_HANDLE;
    VkImage atlas_image_ = VK_NULL_HANDLE;
    VkDeviceMemory atlas_memory_ = VK_NULL_HANDLE;
    VkImageView atlas_view_ = VK_NULL_HANDLE;
    VkSampler sampler_ = VK_NULL_HANDLE;
    std::vector<Slot> slots_;

    // The picture being drawn.
    VkCommandBuffer cmd_ = VK_NULL_HANDLE;
    uint32_t slot_ = 0;
    VkExtent2D extent_{};
    uint32_t used_vertices_ = 0;
    uint32_t used_indices_ = 0;
};

}  // namespace hearth::demo
