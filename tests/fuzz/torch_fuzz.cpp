// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "fuzz_target.hpp"
#include "import/torch/pickle.hpp"

#include <hearth/weights.hpp>

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto tensors = read_torch(fuzz::as_bytes(data, size));
    if (!tensors.ok()) {
        fuzz::check_refusal(tensors.status());
    } else {
        size_t held = 0;
        for (const auto& [name, tensor] : *tensors) held += tensor.bytes().size();
        fuzz::require(held <= Budget(size).limit(Budget::Of::kCopiedBytes),
                      "more data than the file allows");
    }
    // Checksums keep most changes of an archive from its pickle.
    ByteReader reader(fuzz::as_bytes(data, size));
    Budget budget(size);
    const auto pickle = read_pickle(reader, budget);
    if (!pickle.ok()) fuzz::check_refusal(pickle.status());
    return 0;
}
