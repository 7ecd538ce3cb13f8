// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "import/torch/pickle.hpp"
#include "readers.hpp"

namespace hearth::hostile {

Status read_pickle_alone(const Bytes& file) {
    Budget budget(file.size());
    ByteReader reader(file);
    return read_pickle(reader, budget).status();
}

}  // namespace hearth::hostile
