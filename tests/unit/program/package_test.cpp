// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "program/package.hpp"

#include "core/checksum.hpp"
#include "support/test_program.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <random>

namespace hearth::test {
namespace {

// A header and one OpNop: enough for what is checked of SPIR-V.
constexpr uint32_t kSpirv[] = {0x07230203, 0x00010500, 0, 1, 0, 0x00010000};

Program make_program(const char* profile) {
    Program program =
        TestProgramBuilder({kSpirv, kSpirv, kSpirv}, BindingModel::kDeviceAddress).build();
    program.device_target = profile;
    program.graph_hash = 42;
    return program;
}

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

PackageContents make_contents() {
    PackageContents contents;
    contents.graph = bytes_of("a graph, which the device column never reads");
    contents.graph_hash = 42;
    contents.device_targets.push_back({"fast", make_program("fast"), 32768, 32});
    contents.device_targets.push_back({"baseline", make_program("baseline"), 16384, 0});
    contents.notes = "{}";
    contents.compress = false;  // so that tests can change bytes of its sections
    return contents;
}

std::vector<std::byte> make_package() {
    return save_package(make_contents()).value();
}

bool opens(std::span<const std::byte> bytes, ViewError* error) {
    PackageView view;
    if (!view.open(bytes, error)) return false;
    for (uint32_t i = 0; i < view.device_targets().size(); ++i) {
        const Result<OpenProgram> program = open_program(view, i);
        if (program.ok()) continue;
        error->code = program.status().code();
        error->text.set("%s", program.status().message().c_str());
        return false;
    }
    return true;
}

/// Expects a refusal with `expected` in the message.
void expect_refused(std::span<const std::byte> bytes, std::string_view expected) {
    ViewError error;
    EXPECT_FALSE(opens(bytes, &error));
    EXPECT_NE(std::string_view(error.text.c_str()).find(expected), std::string_view::npos)
        << error.text.c_str();
}

template <class Change>
std::vector<std::byte> with_header(std::vector<std::byte> bytes, Change change) {
    file::PackageHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

TEST(Package, HoldsEachProfileAndTheWeightsOnce) {
    const std::vector<std::byte> bytes = make_package();
    PackageView view;
    ViewError error;
    ASSERT_TRUE(view.open(bytes, &error)) << error.text.c_str();
    EXPECT_EQ(view.header().graph_hash, 42u);
    ASSERT_EQ(view.device_targets().size(), 2u);
    EXPECT_EQ(view.find_device_target("baseline"), 1);
    EXPECT_EQ(view.find_device_target("other"), -1);
    EXPECT_EQ(view.device_targets()[0].shared_memory_bytes, 32768u);
    EXPECT_EQ(view.notes(), "{}");
    const Program original = make_program("fast");
    uint64_t contents = 0;
    for (const Variable& slot : original.variables)
        if (slot.data_offset != kZeroFilled) contents += (slot.bytes + 15) / 16 * 16;
    EXPECT_LE(view.weights().size(), contents);
    for (uint32_t i = 0; i < 2; ++i) {
        const Result<Program> program = load_program(view, i);
        ASSERT_TRUE(program.ok()) << program.status().message();
        EXPECT_EQ(program->device_target, view.device_targets()[i].name);
        ASSERT_EQ(program->variables.size(), original.variables.size());
        for (size_t s = 0; s < original.variables.size(); ++s) {
            const Variable &a = original.variables[s], &b = program->variables[s];
            ASSERT_EQ(a.data_offset == kZeroFilled, b.data_offset == kZeroFilled);
            if (a.data_offset == kZeroFilled) continue;
            EXPECT_EQ(std::memcmp(original.data.data() + a.data_offset,
                                  program->data.data() + b.data_offset, a.bytes),
                      0);
        }
    }
}

TEST(Package, ProgramsOfOtherContentsOrGraphsThanStatedAreFound) {
    const auto checked = [](const std::function<void(Program&)>& change) {
        PackageContents contents = make_contents();
        Program& program = contents.device_targets[1].program;
        for (PackedDeviceTarget& target : contents.device_targets) {
            target.program.graph_hash = contents.graph_hash;
            target.program.hash = content_hash(target.program);
        }
        change(program);
        const std::vector<std::byte> bytes = save_package(std::move(contents)).value();
        PackageView view;
        ViewError error;
        EXPECT_TRUE(view.open(bytes, &error)) << error.text.c_str();
        return view.check_programs(&error) ? std::string() : std::string(error.text.c_str());
    };
    EXPECT_EQ(checked([](Program&) {}), "");
    // Source, labels and debug tables are for people.
    EXPECT_EQ(checked([](Program& p) { p.kernels[0].source = "none", p.commands[0].label = "x"; }),
              "");
    const std::string differs = "program: its content hash is ";
    for (const auto& change : std::vector<std::function<void(Program&)>>{
             [](Program& p) { p.hash ^= 1; }, [](Program& p) { p.max_batch_size -= 1; },
             [](Program& p) { p.kernels[0].name = "other"; },
             [](Program& p) { p.bindings[0].name = "other"; },
             [](Program& p) { p.data.back() ^= std::byte{1}; },
             [](Program& p) { p.variables[0].kind = VariableKind::kParam; }})
        EXPECT_EQ(checked(change).substr(0, differs.size()), differs);
    EXPECT_EQ(checked([](Program& p) { p.graph_hash = 43; }),
              "package: device target 1: its program is of another graph; cook it again");
}

// Packages store initial values once, so that their positions differ from those that were hashed.
TEST(Package, TheContentHashDoesNotDependOnWhereInitialValuesLie) {
    Program program = make_program("fast");
    program.hash = content_hash(program);
    PackageContents contents = make_contents();
    const std::vector<std::byte> front = bytes_of("something that other programs have in front");
    (void)contents.pool.add(front);
    contents.device_targets[0].program = program;
    const std::vector<std::byte> bytes = save_package(std::move(contents)).value();
    PackageView view;
    ViewError error;
    ASSERT_TRUE(view.open(bytes, &error)) << error.text.c_str();
    const Result<Program> packed = load_program(view, 0);
    ASSERT_TRUE(packed.ok()) << packed.status().message();
    EXPECT_NE(packed->variables[0].data_offset, program.variables[0].data_offset);
    EXPECT_EQ(content_hash(*packed), program.hash);
}

// Variables that share initial values could make hashing take longer than any file does.
TEST(Package, HashingManyVariablesOfTheSameValuesIsBounded) {
    Program program = make_program("fast");
    program.data.resize(8 << 20);
    const Variable first = program.variables[0];
    program.variables.clear();
    for (uint64_t i = 0; i < 4000; ++i) {
        Variable variable = first;
        variable.name = "v" + std::to_string(i);
        variable.shape = {Dim(2 << 20)};
        variable.bytes = 8 << 20;
        variable.offset = i * variable.bytes;
        variable.data_offset = 0;
        program.variables.push_back(variable);
    }
    program.weights_bytes = 4000 * (uint64_t{8} << 20);
    const auto begin = std::chrono::steady_clock::now();
    (void)content_hash(program);  // 32 GB, were they all hashed
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(Package, HoldsAManifestOfAgentsWhereThereIsOne) {
    ViewError error;
    PackageView view;
    const std::vector<std::byte> without = make_package();
    ASSERT_TRUE(view.open(without, &error));
    EXPECT_TRUE(view.agents().empty());
    PackageContents contents = make_contents();
    contents.agents = {std::byte{1}, std::byte{2}, std::byte{3}};
    const std::vector<std::byte> with = save_package(std::move(contents)).value();
    ASSERT_TRUE(view.open(with, &error)) << error.text.c_str();
    ASSERT_EQ(view.agents().size(), 3u);
    EXPECT_EQ(view.agents()[2], std::byte{3});
    EXPECT_EQ(view.notes(), "{}");
}

TEST(Package, SectionsLieWhereTheyCanBeMapped) {
    const std::vector<std::byte> bytes = make_package();
    PackageView view;
    ViewError error;
    ASSERT_TRUE(view.open(bytes, &error));
    EXPECT_EQ((view.weights().data() - bytes.data()) % 4096, 0);
    for (uint32_t i = 0; i < view.sections().size(); ++i)
        EXPECT_EQ((view.section(i).data() - bytes.data()) % 64, 0);
}

TEST(Package, SavingIsDeterministic) {
    EXPECT_EQ(make_package(), make_package());
}

TEST(Package, EachTruncationIsRejectedWithAMessage) {
    const std::vector<std::byte> bytes = make_package();
    for (size_t size = 0; size < bytes.size(); ++size) {
        // A copy of its own, so that a sanitizer sees reads beyond the end.
        const std::vector<std::byte> cut(bytes.begin(),
                                         bytes.begin() + static_cast<ptrdiff_t>(size));
        ViewError error;
        EXPECT_FALSE(opens(cut, &error)) << size;
        EXPECT_FALSE(error.text.empty()) << size;
    }
}

TEST(Package, EachFlippedBitIsRejected) {
    std::vector<std::byte> bytes = make_package();
    for (size_t bit = 0; bit < bytes.size() * 8; bit += bit < 8192 ? 1 : 13) {
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        ViewError error;
        EXPECT_FALSE(opens(bytes, &error)) << "bit " << bit;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
}

TEST(Package, AnythingUnderARightChecksumIsRejectedOrReadInBounds) {
    const std::vector<std::byte> original = make_package();
    const size_t tables =
        sizeof(file::PackageHeader) + 5 * sizeof(file::PackageSectionRecord) + 2 * 48;
    std::mt19937_64 random(7);
    for (int round = 0; round < 20000; ++round) {
        std::vector<std::byte> bytes = original;
        for (uint64_t change = random() % 3; change < 3; ++change)
            bytes[24 + random() % (tables - 24)] = static_cast<std::byte>(random());
        const uint64_t sum = checksum(std::span(bytes).first(tables).subspan(24));
        std::memcpy(bytes.data() + 16, &sum, sizeof sum);
        ViewError error;
        (void)opens(bytes, &error);
    }
}

TEST(Package, SaysWhatIsWrong) {
    const std::vector<std::byte> bytes = make_package();
    expect_refused({}, "shorter than its header, so the file is truncated; copy it again");
    expect_refused(with_header(bytes, [](auto& h) { h.magic = 0; }), "not a Hearth package");
    expect_refused(with_header(bytes, [](auto& h) { h.format_version = 9; }),
                   "format version 9, this library reads version 2; update Hearth");
    expect_refused(with_header(bytes, [](auto& h) { h.graph_hash = 0; }), "checksum");
    expect_refused(std::span(bytes).first(bytes.size() - 1), "the header says");
    std::vector<std::byte> longer = bytes;
    longer.push_back({});
    expect_refused(longer, "the header says");
}

TEST(Package, AProgramOfAnotherVersionIsToldApartFromDamage) {
    PackageContents contents = make_contents();
    contents.device_targets[0].program.format_version += 1;
    const std::vector<std::byte> bytes = save_package(std::move(contents)).value();
    ViewError error;
    EXPECT_FALSE(opens(bytes, &error));
    EXPECT_EQ(error.code, StatusCode::kUnsupported);
}

TEST(Package, AnOlderProgramSaysHowToCookThePackageAgain) {
    PackageContents contents = make_contents();
    contents.device_targets[0].program.format_version = kProgramFormatVersion - 1;
    const std::vector<std::byte> bytes = save_package(std::move(contents)).value();
    ViewError error;
    EXPECT_FALSE(opens(bytes, &error));
    EXPECT_NE(std::string_view(error.text.c_str()).find("hearth cook OLD -o NEW"),
              std::string_view::npos)
        << error.text.c_str();
}

TEST(Package, AProgramOrBrainInItsPlaceIsNamed) {
    ViewError error;
    EXPECT_FALSE(opens(save_program(make_program("fast")), &error));
    EXPECT_STREQ(error.text.c_str(),
                 "package: not a Hearth package; found a Hearth program; load it by "
                 "hearth_program_load");
    ProgramView program;
    std::vector<std::byte> package = make_package();
    EXPECT_FALSE(program.open(package, &error));
    EXPECT_STREQ(error.text.c_str(),
                 "program: not a Hearth program; found a Hearth package; load it by "
                 "hearth_package_load");
}

TEST(Package, AProgramWithoutItsWeightsIsRefused) {
    const std::vector<std::byte> bytes = make_package();
    PackageView view;
    ViewError error;
    ASSERT_TRUE(view.open(bytes, &error));
    ASSERT_TRUE(open_program(view, 0).ok());
    const auto contents = contents_of(view, view.program_section(0));
    ProgramView program;
    EXPECT_FALSE(program.open(*contents, &error));
    EXPECT_FALSE(program.open(*contents, &error, view.weights().first(8)));
}

TEST(Package, NamesOfProfilesMustDiffer) {
    PackageContents contents = make_contents();
    contents.device_targets[1].name = "fast";
    const auto twice = save_package(std::move(contents));
    ASSERT_FALSE(twice.ok());
    EXPECT_EQ(twice.status().message(), "two device targets are named 'fast'");
    EXPECT_FALSE(save_package({}).ok());
}

/// A package of which something is changed, with all checksums mended.
class PackageBytes {
  public:
    explicit PackageBytes(const PackageContents& contents = make_contents())
        : bytes_(save_package(contents).value()) {}
    file::PackageHeader& header() { return *reinterpret_cast<file::PackageHeader*>(bytes_.data()); }
    file::PackageSectionRecord& section(size_t i) {
        return reinterpret_cast<file::PackageSectionRecord*>(&header() + 1)[i];
    }
    file::DeviceTargetRecord& profile(size_t i) {
        return reinterpret_cast<file::DeviceTargetRecord*>(&section(header().section_count))[i];
    }
    std::vector<std::byte>& bytes() { return bytes_; }
    std::string opened() {
        const size_t tables = sizeof(file::PackageHeader) +
                              header().section_count * sizeof(file::PackageSectionRecord) +
                              header().device_target_count * sizeof(file::DeviceTargetRecord);
        if (tables <= bytes_.size())
            header().checksum = checksum(std::span(bytes_).first(tables).subspan(24));
        ViewError error;
        return opens(bytes_, &error) ? "" : error.text.c_str();
    }

  private:
    std::vector<std::byte> bytes_;
};

std::string with(const std::function<void(PackageBytes&)>& change) {
    PackageBytes package;
    change(package);
    return package.opened();
}

TEST(Package, ChecksEachFieldOfItsTables) {
    EXPECT_EQ(with([](PackageBytes&) {}), "");
    const std::string
        count = "package: the header declares no device target, or too many sections or targets",
        parts =
            "package: needs exactly one graph section and one weights section, and at most one of "
            "notes and one of agents";
    EXPECT_EQ(with([](PackageBytes& p) { p.header().section_count = 65; }), count);
    EXPECT_EQ(with([](PackageBytes& p) { p.header().section_count = ~0u; }), count);
    EXPECT_EQ(with([](PackageBytes& p) { p.header().device_target_count = 9; }), count);
    EXPECT_EQ(with([](PackageBytes& p) { p.header().device_target_count = 0; }), count);
    // Tables that reach to the end of the file, or beyond it.
    for (const size_t more : {size_t{0}, size_t{1}}) {
        PackageBytes package;
        package.bytes().resize(sizeof(file::PackageHeader) + 48 - more);
        package.header().section_count = 0;
        package.header().device_target_count = 1;
        package.header().total_bytes = package.bytes().size();
        EXPECT_EQ(package.opened(), more == 0 ? parts : count);
    }
    const std::string again = "; cook it again",
                      order = ": it lies outside the file, or overlaps the previous one" + again;
    const auto section = [](size_t i, auto change) {
        return with([&](PackageBytes& p) { change(p.section(i)); });
    };
    EXPECT_EQ(section(2, [](auto& s) { s.offset += 32; }), "package: section 2" + order);
    EXPECT_EQ(section(2, [](auto& s) { s.offset = 0; }), "package: section 2" + order);
    EXPECT_EQ(section(2, [](auto& s) { s.offset += 4096; }), "package: section 2" + order);
    EXPECT_EQ(section(2, [](auto& s) { s.offset = ~uint64_t{63}; }), "package: section 2" + order);
    // Behind the end of the file, though not far behind the section before.
    for (const uint64_t bytes : {0, 1})
        EXPECT_EQ(with([=](PackageBytes& p) {
                      p.section(4).offset = p.bytes().size() / 64 * 64 + 64;
                      p.section(4).bytes = bytes;
                  }),
                  "package: section 4" + order);
    EXPECT_EQ(section(4, [](auto& s) { s.bytes += 1; }), "package: section 4" + order);
    EXPECT_EQ(section(4, [](auto& s) { s.bytes = ~uint64_t{0}; }), "package: section 4" + order);
    EXPECT_EQ(section(4, [](auto& s) { s.bytes -= 1, s.checksum = checksum({}); }),
              "package: section 4: its checksum differs, so the file is damaged" + again);
    EXPECT_EQ(with([](PackageBytes& p) {
                  const auto notes = std::span(p.bytes()).subspan(p.section(4).offset, 1);
                  p.section(4).bytes = 1, p.section(4).checksum = checksum(notes);
              }),
              "package: there are bytes after the last section");
    for (const size_t i : {3, 4})
        EXPECT_EQ(section(i, [](auto& s) { s.decompressed_bytes = 1; }),
                  "package: section " + std::to_string(i) +
                      ": its contents must not be compressed" + again);
    EXPECT_EQ(section(2, [](auto& s) { s.kind = 9; }),
              "package: section 2: its kind is 9, which is unknown" + again);
    EXPECT_EQ(section(2, [](auto& s) { s.kind = 0; }),
              "package: section 2: its kind is 0, which is unknown" + again);
    EXPECT_EQ(section(2, [](auto& s) { s.kind = 2; }),
              "package: section 2: the weights must begin at a multiple of the page size" + again);
    // Each kind turned into each other: too many of one, or too few of the other.
    using Kind = file::PackageSectionKind;
    for (size_t i = 0; i < 5; ++i)
        for (const Kind kind : {Kind::kGraph, Kind::kNotes, Kind::kAgents})
            if (PackageBytes package; package.section(i).kind != static_cast<uint32_t>(kind) &&
                                      package.section(i).kind != 3 &&
                                      (package.section(i).kind != 4 || kind != Kind::kAgents)) {
                package.section(i).kind = static_cast<uint32_t>(kind);
                EXPECT_EQ(package.opened(), parts);
            }
    EXPECT_EQ(with([](PackageBytes& p) {
                  for (size_t i = 0; i < 5; ++i)
                      if (p.section(i).kind == 3) p.section(i).kind = 5;
              }),
              parts);
    EXPECT_EQ(with([](PackageBytes& p) { p.bytes()[p.section(1).offset - 1] = std::byte{1}; }),
              "package: section 1: the padding before it must be zero" + again);

    const auto profile = [](auto change) {
        return with([&](PackageBytes& p) { change(p.profile(1)); });
    };
    EXPECT_EQ(profile([](auto& p) { p.name[0] = '\0'; }),
              "package: device target 1: it has no name" + again);
    EXPECT_EQ(profile([](auto& p) { std::memset(p.name, 'x', sizeof p.name); }),
              "package: device target 1: it has no name" + again);
    EXPECT_EQ(profile([](auto& p) { std::memset(p.name, 'x', sizeof p.name - 1); }), "");
    EXPECT_EQ(profile([](auto& p) { p.reserved = 1; }),
              "package: device target 1: its reserved field must be zero" + again);
    EXPECT_EQ(profile([](auto& p) { std::memcpy(p.name, "fast", 5); }),
              "package: device target 1: another one is named 'fast', too" + again);
    EXPECT_EQ(profile([](auto& p) { p.section = 5; }),
              "package: device target 1: 'baseline' has no program section" + again);
    EXPECT_EQ(profile([](auto& p) { p.section = ~0u; }),
              "package: device target 1: 'baseline' has no program section" + again);
    EXPECT_EQ(profile([](auto& p) { p.section = 0; }),
              "package: device target 1: 'baseline' has no program section" + again);
}

TEST(Package, CompressesItsGraphAndItsPrograms) {
    PackageContents contents = make_contents();
    contents.graph.resize(1000, std::byte{'g'});
    const std::vector<std::byte> stored = save_package(contents).value();
    contents.compress = true;
    const std::vector<std::byte> compressed = save_package(contents).value();
    PackageView view, of_stored;
    ViewError error;
    ASSERT_TRUE(view.open(compressed, &error)) << error.text.c_str();
    ASSERT_TRUE(of_stored.open(stored, &error)) << error.text.c_str();
    uint64_t smaller = 0;
    for (uint32_t i = 0; i < view.sections().size(); ++i) {
        const uint32_t kind = view.sections()[i].kind;
        EXPECT_EQ(view.is_compressed(i), kind == 1 || kind == 3);
        EXPECT_FALSE(of_stored.is_compressed(i));
        EXPECT_EQ(view.contents_bytes(i), of_stored.contents_bytes(i));
        EXPECT_EQ(contents_of(view, i).value(), contents_of(of_stored, i).value());
        if (view.is_compressed(i))
            smaller += of_stored.section(i).size() > 2 * view.section(i).size();
    }
    EXPECT_EQ(smaller, 3u);
    EXPECT_EQ(save_program(load_program(view, 1).value()),
              save_program(load_program(of_stored, 1).value()));
    // What would not get smaller is stored as it is.
    contents.graph = bytes_of("abc");
    const std::vector<std::byte> small = save_package(contents).value();
    ASSERT_TRUE(view.open(small, &error)) << error.text.c_str();
    EXPECT_FALSE(view.is_compressed(view.graph_section()));
}

TEST(Package, RefusesBlocksThatAreNotWhatTheTableSays) {
    PackageContents contents = make_contents();
    contents.compress = true;
    const auto changed = [&](const std::function<void(PackageBytes&)>& change) {
        PackageBytes package(contents);
        change(package);
        return package.opened();
    };
    EXPECT_EQ(changed([](PackageBytes&) {}), "");
    const std::string block = "package: section 1: it is no block of LZ4 with contents of ",
                      again = " bytes; cook it again";
    const uint32_t size = PackageBytes(contents).section(1).decompressed_bytes;
    for (const int by : {-1, 1}) {
        const uint32_t other = size + static_cast<uint32_t>(by);
        EXPECT_EQ(changed([=](PackageBytes& p) { p.section(1).decompressed_bytes = other; }),
                  block + std::to_string(other) + again);
    }
    EXPECT_EQ(changed([](PackageBytes& p) {
                  auto& s = p.section(1);
                  const auto bytes = std::span(p.bytes()).subspan(s.offset, s.bytes);
                  bytes.back() ^= std::byte{1};
                  bytes.front() = std::byte{0xf0};
                  s.checksum = checksum(bytes);
              }),
              block + std::to_string(size) + again);
    EXPECT_EQ(
        changed([](PackageBytes& p) { p.section(1).decompressed_bytes = 1u << 30; }).substr(0, 59),
        "package: section 1: it claims 1073741824 bytes of contents,");
    // Version 1 has no compression.
    EXPECT_EQ(changed([](PackageBytes& p) { p.header().format_version = 1; }),
              "package: section 1: its contents must not be compressed; cook it again");
    EXPECT_EQ(with([](PackageBytes& p) { p.header().format_version = 1; }), "");
}

TEST(Package, IsRecognizedByItsFirstBytes) {
    const std::vector<std::byte> bytes = make_package();
    EXPECT_TRUE(is_package(bytes));
    EXPECT_TRUE(is_package(std::span(bytes).first(4)));
    EXPECT_FALSE(is_package(std::span(bytes).first(3)));
    EXPECT_FALSE(is_package(std::span(bytes).subspan(1)));
    std::vector<uint64_t> words(bytes.size() / 8 + 1);
    std::memcpy(reinterpret_cast<std::byte*>(words.data()) + 1, bytes.data(),
                std::min(bytes.size(), words.size() * 8 - 1));
    ViewError error;
    PackageView view;
    EXPECT_FALSE(view.open(std::as_bytes(std::span(words)).subspan(1), &error));
    EXPECT_EQ(error.code, StatusCode::kInvalidArgument);
    // Without notes there are none.
    PackageContents contents = make_contents();
    contents.notes.clear();
    const std::vector<std::byte> bare = save_package(std::move(contents)).value();
    ASSERT_TRUE(view.open(bare, &error)) << error.text.c_str();
    EXPECT_EQ(view.notes(), "");
}

TEST(Package, HasOneToEightProfilesOfShortNames) {
    const auto named = [](std::initializer_list<std::string> names) {
        PackageContents contents = make_contents();
        contents.device_targets.clear();
        for (const std::string& name : names)
            contents.device_targets.push_back({name, make_program("p"), 0, 0});
        return save_package(std::move(contents)).status().message();
    };
    EXPECT_EQ(named({}), "a package has 1 to 8 device targets, found 0");
    EXPECT_EQ(named({"1", "2", "3", "4", "5", "6", "7", "8"}), "");
    EXPECT_EQ(named({"1", "2", "3", "4", "5", "6", "7", "8", "9"}),
              "a package has 1 to 8 device targets, found 9");
    EXPECT_EQ(named({""}), "a device target's name has 1 to 31 characters, found ''");
    EXPECT_EQ(named({std::string(31, 'x')}), "");
    EXPECT_EQ(
        named({std::string(32, 'x')}),
        "a device target's name has 1 to 31 characters, found '" + std::string(32, 'x') + "'");
}

TEST(DataPool, StoresEqualBytesOnce) {
    DataPool pool;
    const std::vector<std::byte> weights = bytes_of("weights"), other = bytes_of("weight");
    const uint64_t a = pool.add(weights);
    EXPECT_EQ(pool.add(bytes_of("weights")), a);
    const uint64_t b = pool.add(other);
    EXPECT_NE(b, a);
    std::vector<std::byte> all(pool.size(), std::byte{0xff});
    pool.copy_to(all);
    EXPECT_EQ(all.size(), 22u);
    EXPECT_TRUE(std::ranges::equal(weights, std::span(all).subspan(a, weights.size())));
    EXPECT_TRUE(std::ranges::equal(other, std::span(all).subspan(b, other.size())));
    EXPECT_EQ(all[weights.size()], std::byte{0});
}

TEST(Checksum, EachBitOfEachLengthMatters) {
    for (size_t size = 0; size < 80; ++size) {
        std::vector<std::byte> data(size);
        const uint64_t zeros = checksum(data);
        std::vector<std::byte> longer(size + 1);
        EXPECT_NE(checksum(longer), zeros);
        for (size_t bit = 0; bit < size * 8; ++bit) {
            data[bit / 8] = std::byte{1} << (bit % 8);
            EXPECT_NE(checksum(data), zeros) << size << " " << bit;
            data[bit / 8] = {};
        }
    }
    // Computed apart, by the formula in checksum.hpp: files depend on it for ever.
    EXPECT_EQ(checksum(bytes_of("The quick brown fox jumps over the lazy dog")),
              0x937d1b546494d5c6);
}

}  // namespace
}  // namespace hearth::test
