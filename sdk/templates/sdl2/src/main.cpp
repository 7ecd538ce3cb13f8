// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shows the game and its learning curve in a window, while the runners learn on this machine's CPU.
// Hold SPACE to run fast, ESCAPE ends.  Usage: my_game [FRAMES [LOG [PICTURE.bmp]]]

#define SDL_MAIN_HANDLED
#include "curve.hpp"
#include "game.hpp"

#include <SDL.h>

#include <cstdlib>
#include <memory>

using namespace hearth;

namespace {

constexpr int kSize = 640, kCurveHeight = 120;  // pixels
constexpr int kSampleFrames = 50;               // between two points of the curve
constexpr int kFastFrames = 50;                 // frames of the game for each picture

class Window {
  public:
    static Result<Window> open() {
        Window window;
        if (SDL_Init(SDL_INIT_VIDEO) != 0) return error("SDL_Init");
        window.window_.reset(SDL_CreateWindow("my_game", SDL_WINDOWPOS_CENTERED,
                                              SDL_WINDOWPOS_CENTERED, kSize, kSize + kCurveHeight,
                                              0));
        if (!window.window_) return error("SDL_CreateWindow");
        window.renderer_.reset(
            SDL_CreateRenderer(window.window_.get(), -1, SDL_RENDERER_PRESENTVSYNC));
        if (!window.renderer_) return error("SDL_CreateRenderer");
        return window;
    }

    void draw(const Game& game, const std::vector<float>& scores) {
        color(24, 26, 33), SDL_RenderClear(renderer_.get());
        for (const Runner& runner : game.runners()) {
            color(70, 74, 88), line(runner.place, runner.flag);
            color(240, 228, 66), square(runner.flag, 4);
            color(86, 180, 233), square(runner.place, 6);
        }
        draw_curve(scores);
        SDL_RenderPresent(renderer_.get());
    }
    /// Call it before draw() of the next frame.
    Status save_picture(const char* path) {
        const std::unique_ptr<SDL_Surface, void (*)(SDL_Surface*)> picture(
            SDL_CreateRGBSurfaceWithFormat(0, kSize, kSize + kCurveHeight, 32,
                                           SDL_PIXELFORMAT_ARGB8888),
            SDL_FreeSurface);
        if (!picture || SDL_RenderReadPixels(renderer_.get(), nullptr, SDL_PIXELFORMAT_ARGB8888,
                                             picture->pixels, picture->pitch) != 0)
            return error("SDL_RenderReadPixels");
        return SDL_SaveBMP(picture.get(), path) == 0 ? Status() : error(path);
    }

  private:
    Window() = default;
    static Status error(const char* call) {
        return internal_error(std::string(call) + ": " + SDL_GetError());
    }
    void color(Uint8 red, Uint8 green, Uint8 blue) {
        SDL_SetRenderDrawColor(renderer_.get(), red, green, blue, 255);
    }
    static int pixel(float at) { return static_cast<int>((at + 1) / 2 * kSize); }
    void line(Point from, Point to) {
        SDL_RenderDrawLine(renderer_.get(), pixel(from.x), pixel(from.y), pixel(to.x), pixel(to.y));
    }
    void square(Point center, int half) {
        const SDL_Rect area{pixel(center.x) - half, pixel(center.y) - half, 2 * half, 2 * half};
        SDL_RenderFillRect(renderer_.get(), &area);
    }
    /// The newest scores that fit; the bottom of the window is 0, a return of 2.5 at the top.
    void draw_curve(const std::vector<float>& scores) {
        color(36, 40, 50);
        const SDL_Rect area{0, kSize, kSize, kCurveHeight};
        SDL_RenderFillRect(renderer_.get(), &area);
        color(230, 159, 0);
        const size_t width = std::min(scores.size(), size_t{kSize / 2});
        const size_t begin = scores.size() - width;
        for (size_t i = 1; i < width; ++i)
            SDL_RenderDrawLine(renderer_.get(), static_cast<int>(2 * i - 2),
                               height(scores[begin + i - 1]), static_cast<int>(2 * i),
                               height(scores[begin + i]));
    }
    static int height(float score) {
        const float share = std::clamp(score / 2.5f, 0.0f, 1.0f);
        return kSize + kCurveHeight - 1 - static_cast<int>(share * (kCurveHeight - 1));
    }

    std::unique_ptr<SDL_Window, void (*)(SDL_Window*)> window_{nullptr, SDL_DestroyWindow};
    std::unique_ptr<SDL_Renderer, void (*)(SDL_Renderer*)> renderer_{nullptr, SDL_DestroyRenderer};
};

bool wants_to_quit() {
    SDL_Event event;
    while (SDL_PollEvent(&event))
        if (event.type == SDL_QUIT ||
            (event.type == SDL_KEYDOWN && event.key.keysym.sym == SDLK_ESCAPE))
            return true;
    return false;
}

bool is_fast() {
    return SDL_GetKeyboardState(nullptr)[SDL_SCANCODE_SPACE] != 0;
}

Status run(int frames, const char* log, const char* picture) {
    HEARTH_ASSIGN(cpu::Device device, cpu::open_device());
    HEARTH_ASSIGN(Game game, Game::create(device.context()));
    HEARTH_ASSIGN(Window window, Window::open());
    HEARTH_ASSIGN(Curve curve, Curve::open(log));
    std::vector<float> scores;
    // A limited run is one that nobody watches.
    for (int frame = 1; (frames == 0 || frame <= frames) && !wants_to_quit(); ++frame) {
        if (curve.follow(game)) break;
        HEARTH_TRY(device.context().begin_frame());
        HEARTH_TRY(game.play());
        HEARTH_TRY(device.run([&](VkCommandBuffer commands) { return game.record(commands); }));
        if (frame % kSampleFrames == 0) scores.push_back(game.score());
        if (frame % 250 == 0) HEARTH_TRY(curve.add(game, frame));
        if ((frames == 0 && !is_fast()) || frame % kFastFrames == 0) window.draw(game, scores);
    }
    return picture ? window.save_picture(picture) : Status();
}

}  // namespace

int main(int count, char** arguments) {
    const int frames = count > 1 ? std::atoi(arguments[1]) : 0;
    const Status status =
        run(frames, count > 2 ? arguments[2] : "run.jsonl", count > 3 ? arguments[3] : nullptr);
    SDL_Quit();
    if (!status.ok()) std::fprintf(stderr, "my_game: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
