// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Opens an SDL2 window, loading the library at run time.

#include "window.hpp"

#include "sdl.hpp"

#include <SDL_vulkan.h>

#include <cctype>

namespace hearth::demo {
namespace {

/// The few functions of SDL2 in use.
struct Sdl {
#define FUNCTIONS(X)             \
    X(Init)                      \
    X(Quit)                      \
    X(GetError)                  \
    X(CreateWindow)              \
    X(DestroyWindow)             \
    X(SetWindowFullscreen)       \
    X(GetKeyName)                \
    X(GetKeyFromScancode)        \
    X(GetKeyboardState)          \
    X(GetMouseState)             \
    X(GetWindowSize)             \
    X(PollEvent)                 \
    X(SetHint)                   \
    X(free)                      \
    X(GameControllerOpen)        \
    X(GameControllerClose)       \
    X(GameControllerGetAttached) \
    X(GameControllerGetAxis)     \
    X(Vulkan_CreateSurface)      \
    X(Vulkan_GetDrawableSize)    \
    X(Vulkan_GetInstanceExtensions)
    HEARTH_SDL_FUNCTIONS(FUNCTIONS)
#undef FUNCTIONS
};

std::string key_name(const Sdl& sdl, SDL_Keycode key) {
    std::string name = sdl.GetKeyName(key);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
}

class SdlWindow final : public Window {
  public:
    SdlWindow(const Sdl& sdl, SDL_Window* window) : sdl_(sdl), window_(window) {}
    ~SdlWindow() override {
        if (controller_) sdl_.GameControllerClose(controller_);
        sdl_.DestroyWindow(window_);
        sdl_.Quit();
    }

    Result<std::vector<std::string>> instance_extensions() override {
        unsigned int count = 0;
        if (!sdl_.Vulkan_GetInstanceExtensions(window_, &count, nullptr)) return failure();
        std::vector<const char*> names(count);
        if (!sdl_.Vulkan_GetInstanceExtensions(window_, &count, names.data())) return failure();
        return std::vector<std::string>(names.begin(), names.end());
    }

    Result<VkSurfaceKHR> create_surface(const standalone::Instance& instance) override {
        VkSurfaceKHR surface = VK_NULL_HANDLE;
        if (!sdl_.Vulkan_CreateSurface(window_, instance.handle(), &surface)) return failure();
        return surface;
    }

    VkExtent2D extent() override {
        int width = 0;
        int height = 0;
        sdl_.Vulkan_GetDrawableSize(window_, &width, &height);
        return {static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
    }

    void set_full_screen(bool is_full) override {
        sdl_.SetWindowFullscreen(window_, is_full ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);
    }

    Input poll() override {
        Input input;
        SDL_Event event;
        while (sdl_.PollEvent(&event)) {
            switch (event.type) {
                case SDL_QUIT:
                    input.wants_to_quit = true;
                    break;
                case SDL_KEYDOWN:
                    if (event.key.repeat == 0) {
                        input.pressed.push_back(key_name(sdl_, event.key.keysym.sym));
                    }
                    break;
                case SDL_TEXTINPUT:
                    input.text += event.text.text;
                    break;
                case SDL_DROPFILE:
                    input.dropped.emplace_back(event.drop.file);
                    sdl_.free(event.drop.file);
                    break;
                case SDL_CONTROLLERDEVICEADDED:
                    if (!controller_) controller_ = sdl_.GameControllerOpen(event.cdevice.which);
                    break;
                default:
                    break;
            }
        }
        read_keyboard(input);
        read_mouse(input);
        read_controller(input);
        return input;
    }

  private:
    Status failure() const { return unsupported(std::string("SDL2: ") + sdl_.GetError()); }

    void read_keyboard(Input& input) const {
        int count = 0;
        const Uint8* const state = sdl_.GetKeyboardState(&count);
        for (int i = 0; i < count; ++i) {
            if (state[i] == 0) continue;
            const auto scancode = static_cast<SDL_Scancode>(i);
            input.held.push_back(key_name(sdl_, sdl_.GetKeyFromScancode(scancode)));
        }
    }

    void read_mouse(Input& input) {
        int x = 0;
        int y = 0;
        const Uint32 buttons = sdl_.GetMouseState(&x, &y);
        int width = 0;
        int height = 0;
        sdl_.GetWindowSize(window_, &width, &height);
        const VkExtent2D pixels = extent();
        if (width > 0 && height > 0) {
            input.mouse = {static_cast<float>(x) * static_cast<float>(pixels.width) /
                               static_cast<float>(width),
                           static_cast<float>(y) * static_cast<float>(pixels.height) /
                               static_cast<float>(height)};
        }
        input.is_mouse_down = (buttons & SDL_BUTTON_LMASK) != 0;
    }

    void read_controller(Input& input) {
        if (controller_ && !sdl_.GameControllerGetAttached(controller_)) {
            sdl_.GameControllerClose(controller_);
            controller_ = nullptr;
        }
        if (!controller_) return;
        constexpr float kDeadZone = 0.12f;  // of a stick that does not quite centre at rest
        const auto axis = [&](SDL_GameControllerAxis which) {
            const float value =
                static_cast<float>(sdl_.GameControllerGetAxis(controller_, which)) / 32767.0f;
            return std::abs(value) < kDeadZone ? 0.0f : std::clamp(value, -1.0f, 1.0f);
        };
        input.stick = {axis(SDL_CONTROLLER_AXIS_LEFTX), -axis(SDL_CONTROLLER_AXIS_LEFTY)};
        input.right_trigger = axis(SDL_CONTROLLER_AXIS_TRIGGERRIGHT);
        input.left_trigger = axis(SDL_CONTROLLER_AXIS_TRIGGERLEFT);
    }

    Sdl sdl_;
    SDL_Window* window_;
    SDL_GameController* controller_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Window>> Window::create(const char* title, VkExtent2D extent) {
    HEARTH_ASSIGN(const Sdl sdl, open_sdl<Sdl>());
    // Keep the default handling of Ctrl-C.
    sdl.SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    if (sdl.Init(SDL_INIT_VIDEO | SDL_INIT_GAMECONTROLLER) != 0) {
        return unsupported(std::string("SDL2: ") + sdl.GetError());
    }
    SDL_Window* const window =
        sdl.CreateWindow(title, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                         static_cast<int>(extent.width), static_cast<int>(extent.height),
                         SDL_WINDOW_VULKAN | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
    if (!window) {
        Status status = unsupported(std::string("SDL2: ") + sdl.GetError());
        sdl.Quit();
        return status;
    }
    return std::unique_ptr<Window>(std::make_unique<SdlWindow>(sdl, window));
}

}  // namespace hearth::demo
