// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/driver/tuning_data.hpp"
#include "fuzz_target.hpp"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto tuning = parse_tuning({reinterpret_cast<const char*>(data), size});
    if (!tuning.ok()) {
        fuzz::check_refusal(tuning.status());
        return 0;
    }
    const std::string text = print_tuning(*tuning);
    const auto again = parse_tuning(text);
    fuzz::require(again.ok() && again->variants == tuning->variants &&
                      again->remarks == tuning->remarks && print_tuning(*again) == text,
                  "what was written is read otherwise");
    return 0;
}
