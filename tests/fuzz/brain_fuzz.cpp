// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brains.  Each input is read twice: as it is, and with its checksum made right.

#include "mend.hpp"

#include <vector>

using namespace hearth;

namespace {

void open(std::span<const std::byte> bytes) {
    constexpr uint64_t kMostDecoded = 1 << 20;
    BrainView brain;
    ViewError error;
    if (!brain.open(bytes, &error)) {
        fuzz::require(!error.text.empty(), "refused without a message");
        return;
    }
    for (const file::BrainTensorRecord& tensor : brain.tensors()) {
        const file::BrainTensorRecord* const found = brain.find(brain.name(tensor));
        fuzz::require(found == &tensor, "a name finds another tensor");
        if (tensor.bytes > kMostDecoded) continue;
        std::vector<std::byte> parent(static_cast<size_t>(tensor.bytes)), out(parent.size());
        const bool same = brain.decode(tensor, {}, out);
        if (same) fuzz::require(checksum(out) == tensor.checksum, "decoded to something else");
        (void)brain.decode(tensor, parent, out);
    }
    (void)brain.host_data();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz::open_twice(data, size, open, fuzz::mend_brain);
    return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
    return fuzz::mutate(data, size, max_size, seed, fuzz::change_brain, fuzz::mend_brain);
}
