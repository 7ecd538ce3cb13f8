// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A Package (`.hearth`): graph, weights and one Program per device target in one file.  Weights are
// used in place, mapped or read; the graph and the programs are compressed.  Format:
// docs/reference/package_format.md.
//
// The graph is an opaque section (compiler/driver/graph_file.hpp writes and reads it), so that a
// package can be cooked again; the runtime never reads it.  Weights are stored once: the programs'
// variables and the graph's values refer to bytes of one pool.

#pragma once

#include "program/view.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hearth {

namespace file {

inline constexpr uint32_t kPackageMagic = 0x4b505248;  // "HRPK"
inline constexpr uint32_t kPackageFormatVersion = 2;   ///< 1: nothing is compressed
inline constexpr uint32_t kMaxProfiles = 8;
inline constexpr uint32_t kMaxPackageSections = 64;
inline constexpr uint64_t kPackageAlignment = 64;    ///< of sections, in bytes
inline constexpr uint64_t kWeightsAlignment = 4096;  ///< of the pool: whole pages can be mapped

enum class PackageSectionKind : uint32_t {
    kGraph = 1,    ///< exactly one
    kWeights = 2,  ///< exactly one: the pool
    kProgram = 3,  ///< one per device target, saved without data
    kNotes = 4,    ///< at most one: UTF-8 for people and tools
    kAgents = 5,   ///< at most one: bytes of AgentManifest::save()
};

struct PackageSectionRecord {
    uint32_t kind;
    /// 0: the section is stored as it is. Otherwise it is a block of LZ4 with contents of that
    /// many bytes; only graphs and programs are compressed.
    uint32_t decompressed_bytes;
    uint64_t offset, bytes;
    uint64_t checksum;  ///< checksum() of the section as stored
};

struct DeviceTargetRecord {
    char name[32];                 ///< zero-terminated
    uint32_t section;              ///< index of its program's section
    uint32_t shared_memory_bytes;  ///< largest shared memory of a workgroup of its kernels
    uint32_t subgroup_size;        ///< required by its kernels; 0: any
    uint32_t reserved;
};

/// Followed by section_count PackageSectionRecords and device_target_count ProfileRecords.
struct PackageHeader {
    uint32_t magic, format_version;
    uint64_t total_bytes;
    uint64_t checksum;  ///< checksum() of every byte from here to the end of the ProfileRecords
    uint64_t graph_hash;
    uint32_t section_count, device_target_count;
};

static_assert(sizeof(PackageSectionRecord) == 32 && sizeof(DeviceTargetRecord) == 48 &&
              sizeof(PackageHeader) == 40);

}  // namespace file

/// Deduplicated byte runs that several tables refer to; they are not copied.
class DataPool {
  public:
    /// Adds a run unless the pool has an equal one; returns its offset.
    /// owner  keeps the bytes alive; null: they outlive the pool.
    uint64_t add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner = nullptr);
    uint64_t size() const { return size_; }
    /// Copies all runs, with zeros between them. out: size() bytes.
    void copy_to(std::span<std::byte> out) const;

  private:
    static constexpr uint64_t kAlignment = 16;
    struct Run {
        uint64_t offset;
        std::span<const std::byte> bytes;
        std::shared_ptr<const void> owner;
    };
    uint64_t size_ = 0;
    std::unordered_multimap<uint64_t, Run> runs_;  ///< by checksum
};

/// One device target's program, to be packed.
struct PackedDeviceTarget {
    std::string name;
    Program program;  ///< data included, unless move_data() was called
    uint32_t shared_memory_bytes = 0;
    uint32_t subgroup_size = 0;  ///< 0: any
};

struct PackageContents {
    std::vector<std::byte> graph;  ///< refers to `pool`
    uint64_t graph_hash = 0;
    DataPool pool;  ///< saving adds the programs' data
    std::vector<PackedDeviceTarget>
        device_targets;  ///< by priority: a device uses the first that it supports
    std::string notes;
    std::vector<std::byte> agents;  ///< an AgentManifest, or empty
    /// Compresses the graph and the programs where that makes them smaller.
    bool compress = true;
};

/// Moves the initial values of the program's variables into the pool, which becomes their owner.
void move_data(Program& program, DataPool& pool);

/// Serializes a package.  Errors: kInvalidArgument for no device targets, too many, or names that
/// are equal, empty or too long.  Deterministic.
Result<std::vector<std::byte>> save_package(PackageContents contents);

/// Reads a package in place.  Allocates nothing, unless stated.
class PackageView {
  public:
    /// Checks `bytes`, which must be 8-byte aligned and outlive the view.  Returns false and fills
    /// *error if they are invalid.
    ///
    /// Checked: magic, version, size, the header's checksum; each section inside the file, aligned
    /// and with the right checksum; exactly one graph and one pool; each device target's name and
    /// program index; that no compressed section claims more than kLz4MostRatio times its size.
    /// A program itself is checked when it is opened.
    [[nodiscard]] bool open(std::span<const std::byte> bytes, ViewError* error);
    /// Opens the program of a device target and checks that it is of the package's graph.
    /// program_bytes  contents of its section (read()); must outlive the view.
    [[nodiscard]] bool open_program(uint32_t device_target,
                                    std::span<const std::byte> program_bytes, ProgramView* program,
                                    ViewError* error) const;
    /// Opens all programs and checks their content hashes; for tools, which may use none of them.
    /// Those of other format versions are skipped. Allocates memory for one of them at a time.
    [[nodiscard]] bool check_programs(ViewError* error) const;

    const file::PackageHeader& header() const { return *header_; }
    std::span<const file::PackageSectionRecord> sections() const { return sections_; }
    std::span<const file::DeviceTargetRecord> device_targets() const { return device_targets_; }
    /// Index of the device target, or -1.
    int find_device_target(std::string_view name) const;

    /// Index of the section of the graph, or of a device target's program.
    uint32_t graph_section() const { return graph_; }
    uint32_t program_section(uint32_t device_target) const {
        return device_targets_[device_target].section;
    }
    /// Bytes of a section as stored.
    std::span<const std::byte> section(uint32_t index) const {
        return bytes_.subspan(static_cast<size_t>(sections_[index].offset),
                              static_cast<size_t>(sections_[index].bytes));
    }
    bool is_compressed(uint32_t section) const {
        return sections_[section].decompressed_bytes != 0;
    }
    /// Size in bytes of a section's contents.
    uint64_t contents_bytes(uint32_t section) const {
        return is_compressed(section) ? sections_[section].decompressed_bytes
                                      : sections_[section].bytes;
    }
    /// Decompresses a section's contents, or copies them. out: contents_bytes() of the section.
    [[nodiscard]] bool read(uint32_t section, std::span<std::byte> out, ViewError* error) const;
    std::span<const std::byte> weights() const { return section(weights_); }
    std::string_view notes() const;
    /// The agents' manifest; empty if there is none.
    std::span<const std::byte> agents() const;

  private:
    bool check_sections(ViewError* error);
    bool check_device_targets(ViewError* error);

    std::span<const std::byte> bytes_;
    const file::PackageHeader* header_ = nullptr;
    std::span<const file::PackageSectionRecord> sections_;
    std::span<const file::DeviceTargetRecord> device_targets_;
    uint32_t graph_ = 0, weights_ = 0;  ///< section indices
    uint32_t notes_ = 0, agents_ = 0;   ///< section indices; equal to graph_ if absent
};

/// Contents of a section, decompressed or copied.
/// Errors: kCorruptData for a block that does not have the contents that the table states.
Result<std::vector<std::byte>> contents_of(const PackageView& package, uint32_t section);

/// A device target's program in memory of its own; its initial values stay in the package.
struct OpenProgram {
    std::vector<uint64_t> contents;
    ProgramView view;
};

/// Decompresses and opens the program of a device target, for tools. Errors: kCorruptData, and
/// kUnsupported for a program of another format version.
Result<OpenProgram> open_program(const PackageView& package, uint32_t device_target);

/// Loads the program of a device target with its data. Errors: as above.
Result<Program> load_program(const PackageView& package, uint32_t device_target);

/// True if the bytes begin with the magic of a package.
bool is_package(std::span<const std::byte> bytes);

}  // namespace hearth
