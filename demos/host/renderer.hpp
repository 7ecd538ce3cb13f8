// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws canvases, instanced meshes and the user interface: one atlas, four samples per pixel, or one
// where there is no time for more.

#pragma once

#include "canvas.hpp"

#include <standalone/device.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

struct ImDrawData;

namespace hearth::demo {

/// The edges of shapes.
enum class Edges : uint8_t {
    kSmooth,  ///< four samples per pixel
    kPlain,   ///< one; cheaper, above all where the CPU draws
};
constexpr size_t kEdgesCount = 2;
/// One for each of Edges.
using Pipelines = std::array<VkPipeline, kEdgesCount>;

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

/// Instance data of meshes without a vertex shader of their own.
struct Sprite {
    glm::vec2 position;       ///< image of the mesh's origin
    glm::vec2 axis = {1, 0};  ///< image of the mesh's (1, 0): rotates and scales
    Color inner = {};         ///< factor of the mesh's colours at its origin
    Color rim = inner;        ///< the same from a distance of 1 on, and between them a blend
};

/// A mesh that is drawn many times in one draw call, each time with other instance data.
class InstancedMesh {
  public:
    InstancedMesh() = default;
    ~InstancedMesh() { reset(); }
    InstancedMesh(const InstancedMesh&) = delete;
    InstancedMesh& operator=(const InstancedMesh&) = delete;
    void reset();

  private:
    friend class Renderer;
    standalone::Device* device_ = nullptr;
    std::string name_;
    Pipelines pipelines_{};
    StaticMesh mesh_;
    std::vector<standalone::Buffer> instances_;  ///< per slot
    uint32_t instance_bytes_ = 0, capacity_ = 0;
    uint64_t picture_ = 0;  ///< in which it was drawn last
    size_t used_ = 0;       ///< instances in that picture
};

struct InstancedMeshInfo {
    const char* name = "";                         ///< in messages
    uint32_t capacity = 0;                         ///< most instances in a picture
    uint32_t instance_bytes = sizeof(Sprite);      ///< a multiple of 16, at most 224
    std::span<const uint32_t> vertex_shader = {};  ///< SPIR-V; empty: instances are sprites
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
    std::array<std::vector<VkFramebuffer>, kEdgesCount> framebuffers_;
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
    Pipelines pipelines_{};
};

class Renderer {
  public:
    /// Geometry that the canvases, effects and panels of one picture may have.
    static constexpr uint32_t kVertices = 1u << 17, kIndices = 1u << 18;

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
               uint32_t image_index, Color background, Edges edges = Edges::kSmooth);
    void draw(const Canvas& canvas, const View& view);
    void draw(const StaticMesh& mesh, const View& view);
    /// Fills the whole picture, which must be of the backdrop's size.
    void draw(const Backdrop& backdrop);
    /// Creates an effect from SPIR-V. The device must no longer use the old one.
    Status create_effect(Effect& effect, std::span<const uint32_t> fragment_shader);
    /// Fills a rectangle of the picture, in pixels; `uv` is (0, 0) at `from` and (1, 1) at `to`.
    void draw(const Effect& effect, glm::vec2 from, glm::vec2 to,
              std::span<const std::byte> constants);
    /// Prepares instances of `mesh`. The vertex shader includes view.glsl, reads of a vertex `vec4`
    /// at location 0, position and uv, and `vec4` at 1, its colour, and of the instance one `vec4`
    /// for each 16 bytes from 2 on; it writes a `vec4` colour to location 0. The device must no
    /// longer use the old one.
    Status create_instanced_mesh(InstancedMesh& instanced, const Canvas& mesh,
                                 const InstancedMeshInfo& info);
    /// Draws one instance for each `instance_bytes` of `instances`, in their order.
    void draw(InstancedMesh& mesh, std::span<const std::byte> instances, const View& view);
    void draw(const ImDrawData& ui);
    /// Ends the picture; its image is then in VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL. Errors:
    /// kOutOfRange if the picture has more geometry than its buffers hold, or a mesh more instances
    /// than its capacity; then the picture lacks some and must not be shown.
    Status end();

  private:
    struct Slot {
        standalone::Buffer vertices;
        standalone::Buffer indices;
    };

    Renderer() = default;
    Status create_atlas(const Atlas& atlas);
    Result<VkRenderPass> create_render_pass(Edges edges);
    Status create_layouts();
    /// instance_bytes: of the second vertex buffer; 0: there is none.
    Result<Pipelines> create_pipelines(std::span<const uint32_t> vertex_shader,
                                       std::span<const uint32_t> fragment_shader,
                                       uint32_t instance_bytes = 0);
    Status create_pipelines(Pipelines& pipelines, VkShaderModule vertex_shader,
                            VkShaderModule fragment_shader, uint32_t instance_bytes);
    Result<VkDescriptorSet> create_texture_set(VkImageView view);
    void bind(const Pipelines& pipelines, VkDescriptorSet set);
    void set_view(const View& view);
    /// Space in this picture's buffers; empty spans if they are full, which end() reports.
    struct Room {
        std::span<Vertex> vertices;
        std::span<uint32_t> indices;
        int32_t vertex_offset = 0;
        uint32_t first_index = 0;
        explicit operator bool() const { return !indices.empty(); }
    };
    Room take_room(size_t vertex_count, size_t index_count);
    /// Draws a rectangle with the bound pipeline.
    void draw_rectangle(glm::vec2 from, glm::vec2 to);
    void draw_range(VkBuffer vertices, VkBuffer indices, uint32_t first_index, uint32_t index_count,
                    int32_t vertex_offset, uint32_t instance_count = 1);

    standalone::Device* device_ = nullptr;
    VkFormat format_ = VK_FORMAT_UNDEFINED;
    std::array<VkRenderPass, kEdgesCount> render_passes_{};
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkDescriptorPool descriptor_pool_ = VK_NULL_HANDLE;
    VkDescriptorSet atlas_set_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    Pipelines shape_pipelines_{};
    Pipelines picture_pipelines_{};
    VkImage atlas_image_ = VK_NULL_HANDLE;
    VkDeviceMemory atlas_memory_ = VK_NULL_HANDLE;
    VkImageView atlas_view_ = VK_NULL_HANDLE;
    VkSampler sampler_ = VK_NULL_HANDLE;
    std::vector<Slot> slots_;

    // The picture being drawn.
    VkCommandBuffer cmd_ = VK_NULL_HANDLE;
    uint32_t slot_ = 0;
    Edges edges_ = Edges::kSmooth;
    VkExtent2D extent_{};
    uint64_t picture_ = 0;
    size_t used_vertices_ = 0;  ///< may exceed the capacity, as used_indices_
    size_t used_indices_ = 0;
    std::string too_many_instances_;
};

}  // namespace hearth::demo
