// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Opens the device that a command line selects.

#include "native/open_device.hpp"

#include <charconv>
#include <utility>

namespace hearth::native {

Result<OpenDevice> open_device(const std::string& wish, HostOptions native) {
    OpenDevice opened;
    standalone::DeviceOptions options;
    if (wish == "cpu") {
        opened.host = std::make_unique<Host>(std::move(native));
        HEARTH_ASSIGN(opened.instance, standalone::Instance::create_native(opened.host->info()));
    } else {
        const char* const end = wish.data() + wish.size();
        const auto [parsed, error] = std::from_chars(wish.data(), end, options.index);
        if (!wish.empty() && (parsed != end || error != std::errc()))
            return invalid_argument(
                "the device is '" + wish +
                "'; expected 'cpu' or the index of a GPU, as `hearth info` lists them");
        HEARTH_ASSIGN(opened.instance, standalone::Instance::create());
    }
    HEARTH_ASSIGN(opened.device, standalone::Device::create(*opened.instance, options));
    return opened;
}

}  // namespace hearth::native
