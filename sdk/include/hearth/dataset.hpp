// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Data sets for supervised training (fit.hpp): from arrays, CSV, NumPy's .npz, and folders of images.
// Readers of bytes take untrusted ones.
//
//     HEARTH_ASSIGN(Dataset all, load_dataset("digits.csv", {.targets = {"0"}, .labels = true}));
//     const auto [train, validation] = split(all, 0.2, /*seed=*/1);

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth {

/// Samples: inputs with their targets, which are numbers, or labels of classes.
struct Dataset {
    HostTensor inputs = {};   ///< f32 [n, ...]
    HostTensor targets = {};  ///< f32 [n, ...], or labels i32 [n]
    std::vector<std::string> classes =
        {};  ///< names of the labels 0, 1, ...; empty: they have none

    int64_t size() const { return inputs.shape().rank() == 0 ? 0 : inputs.shape()[0].count; }
    bool has_labels() const { return targets.dtype() == DType::kI32; }
    /// The samples at these indices, each below size(), in this order.
    Dataset pick(std::span<const int64_t> indices) const;
};

/// Makes a data set of arrays.  inputs: [n, ...] of any type.  targets: integers [n] are labels,
/// floats [n, ...] numbers; [n] becomes [n, 1].
/// Errors: kInvalidArgument for no samples, other numbers of samples, an element that is not finite,
/// naming its sample, and a label that is negative or has no class.
Result<Dataset> make_dataset(const HostTensor& inputs, const HostTensor& targets,
                             std::vector<std::string> classes = {});

/// Divides at random: the second part has `fraction` of the samples, at least one if the fraction
/// is not 0, and the first has the others.  The seed alone decides which.
std::pair<Dataset, Dataset> split(const Dataset& data, double fraction, uint64_t seed = 0);

/// 0 to n - 1 in an order that depends on n, seed and round alone.
std::vector<int64_t> shuffled_indices(int64_t n, uint64_t seed, uint64_t round);

/// Options of the readers.
struct DatasetOptions {
    /// CSV: columns of the targets, by name or by position from 0; empty: the last.  .npz: the name of
    /// their array; empty: "y".
    std::vector<std::string> targets = {};
    /// .npz: the name of the array of inputs.
    std::string inputs = "x";
    /// The targets are labels of classes: whole numbers from 0, or names.
    bool labels = false;
    /// Names of the labels 0, 1, ...; empty: those that occur, sorted.  Give a validation set those of
    /// its training set.
    std::vector<std::string> classes = {};
    char delimiter = ',';  ///< of CSV
};

/// Reads CSV (RFC 4180, without line breaks within fields).  Lines that are empty or begin with # are
/// skipped; if a field of an input column of the first line is no number, that line names the
/// columns.  All columns that are not targets are inputs [n, columns].
/// Errors: kCorruptData naming the line, and the column, for lines of other lengths and fields that
/// are no finite number; kNotFound listing the columns; those of make_dataset().
Result<Dataset> read_csv(std::string_view text, const DatasetOptions& options = {});

/// Reads the arrays of a file of numpy.savez or savez_compressed.
/// Errors: kNotFound listing the arrays; kCorruptData; kUnsupported as read_npy(), and for compressed
/// arrays in builds without zlib (HEARTH_PNG=OFF); kOutOfRange beyond 64 MB and 50 times the file's
/// size; those of make_dataset().
Result<Dataset> read_npz(std::span<const std::byte> bytes, const DatasetOptions& options = {});

/// Decodes an image: PNG (by libpng), PGM (P5) or PPM (P6), the latter with values up to 255.
/// Returns f32 [channels, height, width] in [0, 1]: gray or colors, and transparency where a PNG has
/// it; palettes become colors.
/// Errors: kCorruptData; kOutOfRange for a PNG of more than 64 MB of floats and 50 times the file's
/// size; kUnsupported naming the format, and for PNG in builds without libpng (HEARTH_PNG=OFF).
Result<HostTensor> read_image(std::span<const std::byte> bytes);

/// Reads FOLDER/CLASS/IMAGE, in the order of names: inputs [n, channels, height, width], labels by
/// folder.  Names that begin with a dot are skipped.
/// Errors: kNotFound for a folder without classes; kInvalidArgument naming the first image of another
/// size, with both; those of read_image(), naming the file.
Result<Dataset> read_image_folder(const std::string& path, const DatasetOptions& options = {});

/// Reads a folder of images, an .npz file, or else CSV, by the path.
Result<Dataset> load_dataset(const std::string& path, const DatasetOptions& options = {});

}  // namespace hearth
