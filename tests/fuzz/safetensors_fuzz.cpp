// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "fuzz_target.hpp"

#include <hearth/weights.hpp>

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Metadata metadata;
    const auto tensors = read_safetensors(fuzz::as_bytes(data, size), &metadata);
    if (!tensors.ok()) {
        fuzz::check_refusal(tensors.status());
        return 0;
    }
    size_t held = 0;
    for (const auto& [name, tensor] : *tensors) held += tensor.bytes().size();
    fuzz::require(held <= size, "more data than the file has");
    const auto again = read_safetensors(write_safetensors(*tensors, metadata));
    fuzz::require(again.ok() && *again == *tensors, "what was written is read otherwise");
    return 0;
}
