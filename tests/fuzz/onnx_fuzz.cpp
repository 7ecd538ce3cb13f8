// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/ir/graph.hpp"
#include "fuzz_target.hpp"

#include <hearth/io.hpp>

using namespace hearth;

namespace {

void import(std::span<const std::byte> bytes, BatchNormImport batch_norm) {
    ImportOptions options;
    options.batch_norm = batch_norm;
    options.external_data = [](const std::string&, uint64_t offset,
                               uint64_t length) -> Result<std::vector<std::byte>> {
        if (offset > 64 || length > 64 - offset) return corrupt_data("the file has 64 bytes");
        return std::vector<std::byte>(length, std::byte{1});
    };
    const Result<ImportedModel> model = import_onnx(bytes, options);
    if (!model.ok()) return fuzz::check_refusal(model.status());
    const Status verified = verify(model->graph());
    fuzz::require(verified.ok(), verified.message().c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto bytes = fuzz::as_bytes(data, size);
    import(bytes, BatchNormImport::kTrainable);
    import(bytes, BatchNormImport::kFolded);
    if (const auto tensor = read_onnx_tensor(bytes); !tensor.ok())
        fuzz::check_refusal(tensor.status());
    return 0;
}
