// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Command line options of all demos.

#pragma once

#include <hearth/hearth.h>

#include <CLI/CLI.hpp>
#include <programs/arguments.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::demo {

constexpr uint64_t kMostFrames = uint64_t{1} << 32;  ///< over two years

struct Options {
    bool headless = false;  ///< no window; the default without a display
    bool turbo = false;     ///< do not wait for the clock between frames
    bool validate = false;  ///< use validation layers; any message is a failure
    uint64_t seed = 1;
    uint64_t frames = 0;  ///< to run; 0: until the window closes
    /// Index of the Vulkan device, negative: the best one; "cpu": the best one draws, and
    /// networks run on the CPU.
    std::string device = "-1";
    /// Cooked kernels of the game's networks for CPUs. With them, networks also run on the CPU by
    /// default where only a driver on the CPU draws.
    std::vector<const hearth_cpu_kernel_table*> cpu_kernels;
    uint32_t threads = 1;        ///< of a CPU device
    bool async_compute = false;  ///< run networks on a compute queue beside the graphics queue
    uint32_t width = 1280;
    uint32_t height = 720;
    std::string input;        ///< a recorded drive to replay
    std::string out;          ///< JSON lines to write
    std::string screenshots;  ///< folder for pictures
};

/// Adds the options to a demo's own command line.
inline void add_options(CLI::App& app, Options& options) {
    app.add_flag("--headless", options.headless, "Run without a window");
    app.add_flag("--turbo", options.turbo, "Run as fast as the device can");
    app.add_flag("--validate", options.validate, "Run with validation layers; any message fails");
    app.add_option("--seed", options.seed, "Seed of all random numbers")
        ->check(programs::whole_number());
    app.add_option("--frames", options.frames, "Frames of 1/60 s to run (0: until closed)")
        ->check(programs::whole_number(0, kMostFrames));
    app.add_option(
           "--device", options.device,
           "Index of the Vulkan device; -1: the best one; cpu: that one draws, and networks "
           "run on this machine's CPU")
        ->check(programs::device_index() | CLI::IsMember({"cpu"}));
    app.add_option("--threads", options.threads, "Threads of the CPU device")
        ->check(programs::whole_number(1, 256));
    app.add_flag("--async-compute", options.async_compute,
                 "Run the networks on a compute queue of their own, beside the picture");
    app.add_option("--width", options.width, "Width of the picture")
        ->check(programs::whole_number(320, 7680));
    app.add_option("--height", options.height, "Height of the picture")
        ->check(programs::whole_number(240, 4320));
    app.add_option("--input", options.input, "Replay the controls in this file")
        ->check(CLI::ExistingFile);
    app.add_option("--out", options.out, "Write one JSON line for each lap and report here");
    app.add_option("--screenshots", options.screenshots, "Write pictures into this folder");
}

}  // namespace hearth::demo
