// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creates window, devices, presenter and renderer, and paces frames.

#include "host.hpp"

#include <pictures/png.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

namespace hearth::demo {
namespace {

constexpr uint32_t kRingImages = 3;

bool has_display() {
    return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
}

/// Creates an invisible surface on `instance`.
Result<VkSurfaceKHR> create_headless_surface(const standalone::Instance& instance) {
    const VkHeadlessSurfaceCreateInfoEXT info{VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    VkSurfaceKHR surface = VK_NULL_HANDLE;
    HEARTH_TRY(standalone::check_vulkan(
        instance.vk().CreateHeadlessSurfaceEXT(instance.handle(), &info, nullptr, &surface),
        "vkCreateHeadlessSurfaceEXT"));
    return surface;
}

}  // namespace

Result<std::unique_ptr<Host>> Host::create(const Options& options, const char* title,
                                           uint32_t span_count) {
    std::unique_ptr<Host> self(new Host);
    self->options_ = options;
    const VkExtent2D extent{options.width, options.height};
    if (!options.headless) {
        Status status = unsupported("no display");
        if (has_display()) {
            auto window = Window::create(title, extent);
            status = window.status();
            if (window.ok()) self->window_ = std::move(window).value();
        }
        if (!status.ok()) {
            std::fprintf(stderr, "%s: running headless, as fast as the device can\n",
                         status.message().c_str());
            self->options_.turbo = true;
        }
    }
    const bool wants_window = self->window_ != nullptr;

    standalone::InstanceOptions instance_options;
    instance_options.validation = options.validate;
    instance_options.application_name = title;
    instance_options.headless_surface = !wants_window;
    if (wants_window) {
        HEARTH_ASSIGN(instance_options.extensions, self->window_->instance_extensions());
    }
    HEARTH_ASSIGN(self->instance_, standalone::Instance::create(instance_options));

    const bool has_surface =
        wants_window || self->instance_->has_extension(VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME);
    standalone::DeviceOptions device_options;
    const bool is_cpu = options.device == "cpu";
    if (!is_cpu) device_options.index = std::stoi(options.device);
    device_options.async_compute = options.async_compute;
    if (has_surface) device_options.extensions.emplace_back(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
    HEARTH_ASSIGN(self->device_, standalone::Device::create(*self->instance_, device_options));
    if (!self->device_->has_graphics()) {
        return unsupported(std::string(self->device_->properties().deviceName) +
                           " has no graphics queue");
    }
    HEARTH_TRY(self->create_presenter(extent));

    const bool is_software = self->device_->properties().deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    if (is_cpu || (options.device == "-1" && is_software && !options.cpu_kernels.empty())) {
        HEARTH_ASSIGN(self->native_, native::open_device("cpu", {.threads = options.threads,
                                                                 .tables = options.cpu_kernels}));
    }
    HEARTH_ASSIGN(self->loop_, FrameLoop::create(*self->device_, span_count, &self->files_,
                                                 &self->mind_device()));
    const VkExtent2D actual = self->presenter_->extent();
    self->ui_ = Ui::create(static_cast<float>(actual.height) / 720.0f);
    HEARTH_ASSIGN(self->renderer_,
                  Renderer::create(*self->device_, self->presenter_->format(), self->ui_->atlas(),
                                   FrameLoop::kFramesInFlight));
    HEARTH_TRY(self->renderer_->create_targets(self->targets_, actual, self->presenter_->views()));
    self->next_frame_time_ = self->frame_began_ = std::chrono::steady_clock::now();
    return self;
}

Host::~Host() {
    if (device_) wait_idle();
}

void Host::wait_idle() {
    device_->vk().DeviceWaitIdle(device_->handle());
    if (native_.device) native_.device->vk().DeviceWaitIdle(native_.device->handle());
}

Status Host::create_presenter(VkExtent2D extent) {
    if (window_) {
        HEARTH_ASSIGN(const VkSurfaceKHR surface, window_->create_surface(*instance_));
        HEARTH_ASSIGN(presenter_, create_swapchain_presenter(*device_, surface, window_->extent(),
                                                             "swapchain of a window"));
        return {};
    }
    if (instance_->has_extension(VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME)) {
        HEARTH_ASSIGN(const VkSurfaceKHR surface, create_headless_surface(*instance_));
        HEARTH_ASSIGN(presenter_, create_swapchain_presenter(*device_, surface, extent,
                                                             "swapchain of a headless surface"));
        return {};
    }
    HEARTH_ASSIGN(presenter_, create_ring_presenter(*device_, extent, kRingImages));
    return {};
}

Input Host::poll() {
    if (!window_) return {};
    const Input input = window_->poll();
    is_clicked_ = is_clicked_ || input.is_mouse_down;
    has_picture_key_ = input.was_pressed("f9") || input.was_pressed("f12");
    return input;
}

void Host::set_full_screen(bool is_full) {
    if (window_) window_->set_full_screen(is_full);
}

Status Host::set_ui_scale(float scale) {
    HEARTH_TRY(loop_->wait());
    wait_idle();
    targets_.reset();
    renderer_.reset();
    ui_.reset();  // before the next one: there is one at a time
    ui_ = Ui::create(scale);
    HEARTH_ASSIGN(renderer_, Renderer::create(*device_, presenter_->format(), ui_->atlas(),
                                              FrameLoop::kFramesInFlight));
    return renderer_->create_targets(targets_, presenter_->extent(), presenter_->views());
}

Result<std::optional<Frame>> Host::begin_frame(bool has_picture) {
    has_picture_ = has_picture;
    if (!options_.turbo) {
        const auto now = std::chrono::steady_clock::now();
        if (window_)
            pace_.add(std::chrono::duration<double, std::milli>(now - frame_began_).count());
        std::this_thread::sleep_until(next_frame_time_);
        // After a hitch the schedule restarts from now instead of catching up.
        const auto period = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double>(kFrameSeconds));
        next_frame_time_ = std::max(next_frame_time_ + period, std::chrono::steady_clock::now());
        frame_began_ = std::chrono::steady_clock::now();
    }
    const VkExtent2D size = window_ ? window_->extent() : presenter_->extent();
    if (size.width == 0 || size.height == 0) return std::optional<Frame>();
    const bool was_resized =
        size.width != presenter_->extent().width || size.height != presenter_->extent().height;
    if (presenter_->is_outdated() || was_resized) {
        HEARTH_TRY(loop_->wait());
        HEARTH_TRY(standalone::check_vulkan(device_->vk().DeviceWaitIdle(device_->handle()),
                                            "vkDeviceWaitIdle"));
        HEARTH_TRY(presenter_->recreate(size));
        if (presenter_->is_outdated()) return std::optional<Frame>();
        HEARTH_TRY(renderer_->create_targets(targets_, presenter_->extent(), presenter_->views()));
    }
    return loop_->begin(has_picture ? presenter_.get() : nullptr);
}

void Host::begin_picture(const Frame& frame, const Input& input, Color background) {
    Input seen = input;
    seen.is_mouse_down = std::exchange(is_clicked_, false) || input.is_mouse_down;
    ui_->begin(presenter_->extent(), kFrameSeconds, seen);
    renderer_->begin(frame.cmd, frame.slot, targets_, frame.image_index, background,
                     pace_.has_smooth_edges() ? Edges::kSmooth : Edges::kPlain);
}

Status Host::end_picture() {
    renderer_->draw(ui_->end());
    return renderer_->end();
}

Status Host::write_picture(
    VkExtent2D extent, const std::string& path, const std::function<void(Renderer&)>& draw,
    std::function<Result<std::vector<std::byte>>(std::vector<std::byte>)> finish) {
    HEARTH_TRY(loop_->wait());
    HEARTH_ASSIGN(const auto ring, create_ring_presenter(*device_, extent, 1));
    HEARTH_ASSIGN(const auto renderer, Renderer::create(*device_, ring->format(), ui_->atlas(), 1));
    HEARTH_ASSIGN(const auto loop, FrameLoop::create(*device_, 0, &files_));
    RenderTargets targets;
    HEARTH_TRY(renderer->create_targets(targets, extent, ring->views()));
    HEARTH_ASSIGN(const auto frame, loop->begin(ring.get()));
    ui_->begin(extent, kFrameSeconds, {});
    renderer->begin(frame->cmd, 0, targets, frame->image_index, Color::hex(0x0f1318));
    draw(*renderer);
    renderer->draw(ui_->end());
    HEARTH_TRY(renderer->end());
    HEARTH_TRY(loop->record_copy(*frame, *ring, [&](const Pixels& pixels) {
        files_.write(path,
                     [copy = std::vector<uint8_t>(pixels.bytes.begin(), pixels.bytes.end()), extent,
                      is_bgra = pixels.is_bgra, finish]() -> Result<std::vector<std::byte>> {
                         HEARTH_ASSIGN(
                             std::vector<std::byte> png,
                             pictures::encode_png(extent.width, extent.height, copy, is_bgra));
                         if (finish) return finish(std::move(png));
                         return png;
                     });
    }));
    HEARTH_TRY(loop->end(*frame, ring.get()));
    return loop->wait();
}

}  // namespace hearth::demo
