// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "audio.hpp"

#include "sdl.hpp"

#include <string>
#include <utility>

namespace hearth::demo {
namespace {

struct Sdl {
#define FUNCTIONS(X)    \
    X(InitSubSystem)    \
    X(QuitSubSystem)    \
    X(GetError)         \
    X(OpenAudioDevice)  \
    X(CloseAudioDevice) \
    X(PauseAudioDevice) \
    X(LockAudioDevice)  \
    X(UnlockAudioDevice)
    HEARTH_SDL_FUNCTIONS(FUNCTIONS)
#undef FUNCTIONS
};

class SdlAudio final : public Audio {
  public:
    SdlAudio(const Sdl& sdl, Render render) : sdl_(sdl), render_(std::move(render)) {}
    ~SdlAudio() override {
        if (device_ != 0) sdl_.CloseAudioDevice(device_);
        sdl_.QuitSubSystem(SDL_INIT_AUDIO);
    }

    Status open(int samples_per_second) {
        SDL_AudioSpec spec{};
        spec.freq = samples_per_second;
        spec.format = AUDIO_F32SYS;
        spec.channels = 1;
        spec.samples = 1024;
        spec.callback = fill;
        spec.userdata = this;
        device_ = sdl_.OpenAudioDevice(nullptr, 0, &spec, nullptr, 0);
        if (device_ == 0) return unsupported(std::string("SDL2: ") + sdl_.GetError());
        sdl_.PauseAudioDevice(device_, 0);
        return {};
    }

    void change(const std::function<void()>& change) override {
        sdl_.LockAudioDevice(device_);
        change();
        sdl_.UnlockAudioDevice(device_);
    }

  private:
    static void fill(void* self, Uint8* bytes, int size_bytes) {
        static_cast<SdlAudio*>(self)->render_(
            {reinterpret_cast<float*>(bytes), static_cast<size_t>(size_bytes) / sizeof(float)});
    }

    Sdl sdl_;
    Render render_;
    SDL_AudioDeviceID device_ = 0;
};

}  // namespace

Result<std::unique_ptr<Audio>> Audio::open(int samples_per_second, Render render) {
    HEARTH_ASSIGN(const Sdl sdl, open_sdl<Sdl>());
    if (sdl.InitSubSystem(SDL_INIT_AUDIO) != 0)
        return unsupported(std::string("SDL2: ") + sdl.GetError());
    auto audio = std::make_unique<SdlAudio>(sdl, std::move(render));
    HEARTH_TRY(audio->open(samples_per_second));
    return std::unique_ptr<Audio>(std::move(audio));
}

}  // namespace hearth::demo
