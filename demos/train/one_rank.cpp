// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The single-process implementation of join_ranks().

#include "train/gradient_reducer.hpp"

#include <cstdlib>
#include <string>

namespace hearth::train {

Result<std::unique_ptr<GradientReducer>> join_ranks() {
    // Uncoordinated processes would write to the same folder.
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
        const char* const size = std::getenv(name);
        if (size != nullptr && std::atoi(size) > 1)
            return unsupported(std::string("this is one of ") + size +
                               " MPI processes, and hearth_train is built without MPI; start "
                               "hearth_train_mpi (cmake -D HEARTH_WITH_MPI=ON)");
    }
    return std::unique_ptr<GradientReducer>(std::make_unique<OneRank>());
}

}  // namespace hearth::train
