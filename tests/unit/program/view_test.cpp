// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// One field at a time: each limit that ProgramView has, with the last value that it accepts and the
// first that it refuses.

#include "unit/program/program_file.hpp"

namespace hearth::test {
namespace {

using namespace file;

constexpr uint64_t kHuge = uint64_t{1} << 40;

/// A change of a file's records, and the sentence that refuses it; empty: it is accepted.
struct Change {
    std::function<void(File&)> make;
    std::string_view expected;
};

void expect_each(std::initializer_list<Change> changes,
                 BindingModel model = BindingModel::kDeviceAddress) {
    for (const Change& change : changes) {
        File file(make_program(model));
        change.make(file);
        const Status status = file.load();
        if (change.expected.empty()) {
            EXPECT_TRUE(status.ok()) << status.message();
        } else {
            EXPECT_EQ(status.code(), StatusCode::kCorruptData) << "no refusal: " << change.expected;
            EXPECT_EQ(status.message(),
                      "program: " + std::string(change.expected) + "; cook it again");
        }
    }
}

/// A change of record `index` of a section.
template <class Record, class Set>
std::function<void(File&)> set(Section section, size_t index, Set change) {
    return [=](File& file) { change(file.records<Record>(section)[index]); };
}
template <class Set>
std::function<void(File&)> header(Set change) {
    return [=](File& file) { change(file.header()); };
}
template <class Set>
std::function<void(File&)> kernel(size_t index, Set change) {
    return set<KernelRecord>(kKernels, index, change);
}
template <class Set>
std::function<void(File&)> operand_at(size_t index, Set change) {
    return set<OperandRecord>(kOperands, index, change);
}
template <class Set>
std::function<void(File&)> step(size_t index, Set change) {
    return set<CommandRecord>(kCommands, index, change);
}
template <class Set>
std::function<void(File&)> entry(size_t index, Set change) {
    return set<EntryRecord>(kEntries, index, change);
}
template <class Set>
std::function<void(File&)> binding(size_t index, Set change) {
    return set<BindingRecord>(kBindings, index, change);
}
template <class Set>
std::function<void(File&)> slot(size_t index, Set change) {
    return set<VariableRecord>(kVariables, index, change);
}

// --- The file

Status opened(std::span<const std::byte> bytes, std::span<const std::byte> outside = {}) {
    ProgramView view;
    ViewError error;
    return view.open(bytes, &error, outside) ? Status() : Status(error.code, error.text.c_str());
}

TEST(ProgramView, LooksAtTheHeaderBeforeAnythingElse) {
    const std::vector<std::byte> bytes = save_program(make_program());
    for (const size_t size : {size_t{0}, size_t{4}, sizeof(FileHeader) - 1}) {
        const std::vector<std::byte> cut(bytes.begin(),
                                         bytes.begin() + static_cast<ptrdiff_t>(size));
        EXPECT_EQ(load_program(cut).status().message(),
                  "program: shorter than its header, so the file is truncated; copy it again");
    }
    EXPECT_EQ(opened(std::span(bytes).first(sizeof(FileHeader))).message(),
              "program: " + std::to_string(sizeof(FileHeader)) + " bytes, and the header says " +
                  std::to_string(bytes.size()) + "; copy the file again");
    std::vector<std::byte> longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_EQ(opened(longer).message(), "program: " + std::to_string(longer.size()) +
                                            " bytes, and the header says " +
                                            std::to_string(bytes.size()) + "; copy the file again");
    EXPECT_EQ(opened(std::span(longer).subspan(1)).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(opened(std::span(longer).subspan(1)).message(),
              "program: the bytes must be at an address that is a multiple of 8; copy them to an "
              "aligned buffer");

    std::vector<std::byte> changed = bytes;
    changed[0] ^= std::byte{1};
    EXPECT_TRUE(
        opened(changed).message().starts_with("program: not a Hearth program; found another"))
        << opened(changed).message();
    changed = bytes;
    changed[sizeof(FileHeader)] ^= std::byte{1};
    EXPECT_EQ(
        opened(changed).message(),
        "program: the checksum differs, so the file is damaged; copy it again or make it again");
    changed = bytes;
    changed[4] ^= std::byte{64};
    EXPECT_EQ(opened(changed).code(), StatusCode::kUnsupported);
}

TEST(ProgramView, KeepsEachSectionInsideTheFile) {
    constexpr std::string_view outside = "a section lies outside the file";
    for (uint32_t i = 0; i < kSectionCount; ++i)
        expect_each({
            {header([=](FileHeader& h) { h.sections[i].offset += 4; }), outside},
            {header([=](FileHeader& h) { h.sections[i].offset = h.total_bytes + 8; }), outside},
            {header([=](FileHeader& h) { h.sections[i].offset = ~uint64_t{7}; }), outside},
            {header([=](FileHeader& h) {
                 const uint64_t left = h.total_bytes - h.sections[i].offset;
                 h.sections[i].count = left / kElementBytes[i] + 1;
             }),
             outside},
            {header([=](FileHeader& h) { h.sections[i].count = ~uint64_t{0}; }), outside},
        });
    // A section of nothing may begin where the file ends.
    expect_each({{header([](FileHeader& h) {
                      h.sections[kData] = {(h.total_bytes + 7) / 8 * 8, 0};
                  }),
                  "variable 0: initial values lie outside the data"}});
}

TEST(ProgramView, BoundsWhatTheHeaderSays) {
    expect_each({
        {header([](FileHeader& h) { h.binding_model = 2; }),
         "header 0: binding_model is not 0 or 1"},
        {header([](FileHeader& h) { h.flags |= 32; }), "header 0: unknown flags"},
        {header([](FileHeader& h) { h.outside_bytes = 4; }),
         "header 0: its data must be either inside or outside, and is both"},
        {header([](FileHeader& h) { h.flags |= kDataIsOutside; }),
         "header 0: its data must be either inside or outside, and is both"},
        {header([](FileHeader& h) { h.arena_bytes = uint64_t{1} << 62; }), ""},
        {header([](FileHeader& h) { h.weights_bytes = uint64_t{1} << 62; }), ""},
        {header([](FileHeader& h) { h.arena_bytes = (uint64_t{1} << 62) + 1; }),
         "header 0: a region is larger than 2^62 bytes"},
        {header([](FileHeader& h) { h.weights_bytes = (uint64_t{1} << 62) + 1; }),
         "header 0: a region is larger than 2^62 bytes"},
        {header([](FileHeader& h) { h.device_target.offset = 1 << 30; }),
         "header 0: device target is not a zero-terminated text inside the file"},
    });
}

TEST(ProgramView, TakesFirstContentsFromOutsideOnlyIfTheyAreTheOnesMeant) {
    const Program program = make_program();
    const std::vector<std::byte> bytes = save_program_without_data(program, program.data.size());
    EXPECT_TRUE(opened(bytes, program.data).ok());
    const char* expected =
        "header 0: its initial values are stored in a package, and other bytes were given for them";
    expect_corrupt(opened(bytes), expected);
    expect_corrupt(opened(bytes, std::span(program.data).first(program.data.size() - 1)), expected);
    // What is given beside a program that has its own is not looked at.
    EXPECT_TRUE(opened(save_program(program), std::span(program.data).first(1)).ok());
}

TEST(ProgramView, KeepsEachTextAndListInItsSection) {
    const auto outside = [](const auto& set, std::string_view expected) {
        for (const ListRef list : {ListRef{0, 1 << 30}, ListRef{1 << 30, 1},
                                   ListRef{0xffffffff, 0xffffffff}, ListRef{0xffffffff, 1}})
            expect_each({{set(list), expected}});
    };
    using S = std::function<void(File&)>;
    outside([](ListRef l) -> S { return kernel(1, [=](KernelRecord& k) { k.spirv = l; }); },
            "kernel 1: SPIR-V words lie outside their section");
    outside(
        [](ListRef l) -> S { return kernel(1, [=](KernelRecord& k) { k.spec_constants = l; }); },
        "kernel 1: specialization constants lie outside their section");
    outside([](ListRef l) -> S { return kernel(1, [=](KernelRecord& k) { k.operands = l; }); },
            "kernel 1: declared operands lie outside their section");
    outside([](ListRef l) -> S { return step(3, [=](CommandRecord& s) { s.operands = l; }); },
            "command 3: operands lie outside their section");
    outside([](ListRef l) -> S { return step(3, [=](CommandRecord& s) { s.words = l; }); },
            "command 3: words lie outside their section");
    outside([](ListRef l) -> S { return step(3, [=](CommandRecord& s) { s.computes = l; }); },
            "command 3: debug values lie outside their section");
    outside([](ListRef l) -> S { return step(3, [=](CommandRecord& s) { s.operand_values = l; }); },
            "command 3: debug values lie outside their section");
    outside([](ListRef l) -> S { return entry(1, [=](EntryRecord& e) { e.commands = l; }); },
            "entry 1: commands lie outside their section");
    outside([](ListRef l) -> S { return entry(1, [=](EntryRecord& e) { e.bindings = l; }); },
            "entry 1: bindings lie outside their section");
    outside([](ListRef l) -> S { return binding(2, [=](BindingRecord& b) { b.elements = l; }); },
            "binding 2: names of elements lie outside their section");

    const auto no_text = [](const auto& set, std::string_view expected) {
        // Outside, at the very end, and with a zero inside.
        for (const TextRef text :
             {TextRef{1 << 30, 1}, TextRef{0, 1 << 30}, TextRef{0xffffffff, 0xffffffff}})
            expect_each({{set(text), expected}});
    };
    no_text([](TextRef t) -> S { return kernel(0, [=](KernelRecord& k) { k.name = t; }); },
            "kernel 0: name is not a zero-terminated text inside the file");
    no_text([](TextRef t) -> S { return kernel(0, [=](KernelRecord& k) { k.source = t; }); },
            "kernel 0: source is not a zero-terminated text inside the file");
    no_text([](TextRef t) -> S { return step(0, [=](CommandRecord& s) { s.label = t; }); },
            "command 0: label is not a zero-terminated text inside the file");
    no_text([](TextRef t) -> S { return entry(0, [=](EntryRecord& e) { e.name = t; }); },
            "entry 0: name is not a zero-terminated text inside the file");
    no_text([](TextRef t) -> S { return binding(0, [=](BindingRecord& b) { b.name = t; }); },
            "binding 0: name is not a zero-terminated text inside the file");
    no_text([](TextRef t) -> S { return slot(0, [=](VariableRecord& s) { s.name = t; }); },
            "variable 0: name is not a zero-terminated text inside the file");
    // One without its zero, and one with a zero inside.
    expect_each({
        {kernel(0, [](KernelRecord& k) { k.name.size -= 1; }),
         "kernel 0: name is not a zero-terminated text inside the file"},
        {kernel(0, [](KernelRecord& k) { k.name.size += 1; }),
         "kernel 0: name is not a zero-terminated text inside the file"},
        {[](File& f) {
             const auto end = static_cast<uint32_t>(f.header().sections[kTexts].count);
             f.records<KernelRecord>(kKernels)[0].name = {end, 0};
         },
         "kernel 0: name is not a zero-terminated text inside the file"},
        {[](File& f) {
             f.records<char>(kTexts)[f.records<KernelRecord>(kKernels)[0].name.offset + 1] = 0;
         },
         "kernel 0: name is not a zero-terminated text inside the file"},
    });
}

// --- Kernels

/// Adds a kernel that no step runs.
Kernel& add_kernel(Program& p, uint32_t operands, uint32_t words, uint32_t located = 0) {
    Kernel kernel = p.kernels[2];
    kernel.name = "added";
    kernel.operand_count = operands;
    kernel.word_count = words;
    kernel.located_count = located;
    kernel.spec_constants.clear();
    for (uint32_t i = 0; i < located; ++i) kernel.spec_constants.push_back({i, 0});
    kernel.operands.assign(operands, {Access::kRead, {}, 0});
    p.kernels.push_back(kernel);
    return p.kernels.back();
}

TEST(ProgramView, BoundsPushConstantsAndDescriptors) {
    expect_accepted([](Program& p) { add_kernel(p, 16, 0); });
    expect_accepted([](Program& p) { add_kernel(p, 0, 32); });
    expect_refused([](Program& p) { add_kernel(p, 16, 1); },
                   "kernel 4: operands and words exceed 128 bytes of push constants");
    expect_refused([](Program& p) { add_kernel(p, 0, 33); },
                   "kernel 4: operands and words exceed 128 bytes of push constants");
    expect_refused([](Program& p) { add_kernel(p, 0, 0xffffffff); },
                   "kernel 4: operands and words exceed 128 bytes of push constants");
    expect_accepted([](Program& p) { add_kernel(p, 40, 0, 40); });
    expect_accepted([](Program& p) { add_kernel(p, 40, 2, 27); });
    expect_refused([](Program& p) { add_kernel(p, 40, 3, 27); },
                   "exceed 128 bytes of push constants");

    const auto with_descriptors = [](uint32_t operands, uint32_t words, uint32_t located) {
        Program program = make_program(BindingModel::kDescriptor);
        add_kernel(program, operands, words, located);
        return load_program(save_program(program)).status();
    };
    EXPECT_TRUE(with_descriptors(32, 32, 0).ok());
    expect_corrupt(with_descriptors(33, 0, 0), "kernel 4: has more than 32 descriptors");
    expect_corrupt(with_descriptors(1, 33, 0),
                   "kernel 4: operands and words exceed 128 bytes of push constants");
    EXPECT_TRUE(with_descriptors(40, 32, 10).ok());  // two regions, and 30 other operands
    expect_corrupt(with_descriptors(40, 0, 9), "kernel 4: has more than 32 descriptors");
    EXPECT_TRUE(with_descriptors(400, 0, 400).ok());
}

TEST(ProgramView, ReadsNoConstantsOfOtherKernels) {
    const auto located = [](uint32_t count) {
        return [=](Program& p) {
            add_kernel(p, 4, 0, 2).spec_constants.resize(count);
            // What follows in the section is what the kernel lacks.
            add_kernel(p, 4, 0, 0).spec_constants = {{count, 0}, {count + 1, 0}};
        };
    };
    expect_accepted(located(2));
    const char* expected =
        "kernel 4: must have one specialization constant for each located operand";
    expect_refused(located(1), expected);
    expect_refused(located(0), expected);
    expect_refused([](Program& p) { add_kernel(p, 2, 0, 3).operands.resize(2); },
                   "kernel 4: located_count exceeds its operands");
}

TEST(ProgramView, BoundsWhatAKernelDeclares) {
    expect_each({
        {kernel(2, [](KernelRecord& k) { k.flags = 128; }), "kernel 2: unknown flags"},
        {kernel(2, [](KernelRecord& k) { k.flags = 127; }), ""},
        {kernel(2, [](KernelRecord& k) { k.located_count = 5; }),
         "kernel 2: located_count exceeds its operands"},
        {kernel(2, [](KernelRecord& k) { k.access_bytes = 32; }),
         "kernel 2: access_bytes must be 1, 2, 4, 8 or 16"},
        {kernel(2, [](KernelRecord& k) { k.access_bytes = 1; }), ""},
        {kernel(2, [](KernelRecord& k) { k.local_size[1] = 1025; }),
         "kernel 2: local size is not in 1..1024"},
        {kernel(2, [](KernelRecord& k) { k.local_size[1] = 1024; }), ""},
        {kernel(2, [](KernelRecord& k) { k.local_size[2] = 0; }),
         "kernel 2: local size is not in 1..1024"},
        {kernel(2, [](KernelRecord& k) { k.operands.count -= 1; }),
         "kernel 2: must declare each of its operands once"},
        {set<KernelOperandRecord>(kKernelOperands, 1, [](KernelOperandRecord& o) { o.access = 4; }),
         "kernel 0: declares an operand with unknown access"},
        {set<KernelOperandRecord>(kKernelOperands, 1,
                                  [](KernelOperandRecord& o) { o.bytes.fixed = ~uint64_t{0}; }),
         "kernel 0: declares an operand whose size overflows"},
    });
}

TEST(ProgramView, WalksOverSpirvInBounds) {
    const auto with = [](std::vector<uint32_t> words) {
        return [=](Program& p) { p.kernels[3].spirv = words; };
    };
    const char* none = "kernel 3: does not begin with a SPIR-V header";
    expect_refused(with({}), none);
    expect_refused(with({0x07230203}), none);
    expect_refused(with({0x07230203, 0x00010500, 0, 1, 0}), none);
    expect_refused(with({0x07230204, 0x00010500, 0, 1, 0, 0x00010000}), none);
    expect_accepted(with({0x07230203, 0x00010500, 0, 1, 0, 0x00010000}));
    expect_accepted(with({0x07230203, 0x00010500, 0, 1, 0, 0x00020000, 7}));
    const char* length =
        "kernel 3: its SPIR-V has an instruction that is empty or ends outside the module";
    expect_refused(with({0x07230203, 0x00010500, 0, 1, 0, 0x00020000}), length);
    expect_refused(with({0x07230203, 0x00010500, 0, 1, 0, 0x00000000}), length);
    expect_refused(with({0x07230203, 0x00010500, 0, 0, 0, 0x00010000}),
                   "kernel 3: id bound of its SPIR-V is too large for the module's size");
}

// --- Operands

TEST(ProgramView, KeepsOperandsInTheirRegions) {
    // Operands 0 to 3 are those of t0: run block, x, x, arena.
    const auto arena_end = [](uint64_t more) {
        return operand_at(3, [=](OperandRecord& o) {
            o.offset = 4 * kRowsCapacity * kWidth * 4 - 384;
            o.bytes = {384 + more, 0};
        });
    };
    expect_each({
        {operand_at(3, [](OperandRecord& o) { o.region = 4; }), "operand 3: unknown region"},
        {operand_at(3, [](OperandRecord& o) { o.access = 0; }), "operand 3: unknown access"},
        {operand_at(3, [](OperandRecord& o) { o.access = 4; }), "operand 3: unknown access"},
        {operand_at(3, [](OperandRecord& o) { o.reserved = 1; }),
         "operand 3: reserved field is not zero"},
        {operand_at(3, [](OperandRecord& o) { o.binding = 1; }),
         "operand 3: has a binding, but is not in an external buffer"},
        {operand_at(3, [](OperandRecord& o) { o.offset = 2; }),
         "operand 3: offset is not a multiple of 4"},
        {operand_at(3, [](OperandRecord& o) { o.offset = ~uint64_t{3}; }),
         "operand 3: extent overflows"},
        {arena_end(4), "operand 3: lies outside its region"},
        {arena_end(0), "command 0: gives an operand smaller than its kernel declares"},
        {operand_at(0, [](OperandRecord& o) { o.offset = 4, o.bytes.fixed = 4; }),
         "operand 0: exceeds the run block"},
        {operand_at(0, [](OperandRecord& o) { o.bytes.fixed = 17; }),
         "operand 0: exceeds the run block"},
        {operand_at(0, [](OperandRecord& o) { o.bytes.is_batch = 4; }),
         "operand 0: exceeds the run block"},
        {operand_at(0, [](OperandRecord& o) { o.access = 3; }), "operand 0: writes the run block"},
        {operand_at(1, [](OperandRecord& o) { o.offset = 4; }),
         "operand 1: is in an external buffer, where the offset must be zero"},
        {operand_at(1, [](OperandRecord& o) { o.binding = 5; }),
         "operand 1: refers to a binding that does not exist"},
        {operand_at(1, [](OperandRecord& o) { o.access = 3; }), "operand 1: writes an input"},
        // Larger with one row, though not at capacity; and the other way around.
        {operand_at(1,
                    [](OperandRecord& o) {
                        o.bytes = {385, 0};
                    }),
         "operand 1: is larger than its binding"},
        {operand_at(1,
                    [](OperandRecord& o) {
                        o.binding = kLearnRate, o.bytes = {0, 4};
                    }),
         "operand 1: is larger than its binding"},
    });
    // The weights have an end of their own.
    expect_refused([](Program& p) { operand(p, kUpdate, 3).offset = p.weights_bytes - 380; },
                   "lies outside its region");
    expect_refused([](Program& p) { operand(p, kUpdate, 3).offset = p.weights_bytes; },
                   "lies outside its region");
}

// --- Bindings and slots

TEST(ProgramView, BoundsShapes) {
    const auto shaped = [](auto change) {
        return binding(1, [=](BindingRecord& b) { change(b.shape); });
    };
    constexpr std::string_view impossible = "binding 1: impossible shape";
    expect_each({
        {shaped([](ShapeRecord& s) { s.rank = 9; }), impossible},
        {shaped([](ShapeRecord& s) { s.rank = 0xffffffff; }), impossible},
        {shaped([](ShapeRecord& s) {
             s.rank = 8;
             for (int64_t& count : s.counts) count = 1;
         }),
         ""},
        {shaped([](ShapeRecord& s) { s.batch_mask = 2; }), impossible},
        {shaped([](ShapeRecord& s) { s.counts[0] = -1; }), impossible},
        {shaped([](ShapeRecord& s) { s.counts[1] = 1; }), impossible},
        {shaped([](ShapeRecord& s) { s.counts[7] = -1; }), impossible},
        {shaped([](ShapeRecord& s) { s.counts[0] = 2; }),
         "binding 1: its size in bytes does not match its shape and type"},
    });
}

TEST(ProgramView, BoundsBindings) {
    expect_each({
        {binding(1, [](BindingRecord& b) { b.direction = 3; }), "binding 1: unknown direction"},
        {binding(1, [](BindingRecord& b) { b.direction = 2; }), ""},
        {binding(1, [](BindingRecord& b) { b.dtype = kDTypeCount; }), "binding 1: unknown type"},
        {binding(1, [](BindingRecord& b) { b.bytes.fixed = ~uint64_t{0}; }),
         "binding 1: extent overflows"},
        {binding(1,
                 [](BindingRecord& b) {
                     b.bytes = {4, 4};
                 }),
         "binding 1: its size in bytes does not match its shape and type"},
    });
    // Names of elements.
    const auto named = [](uint32_t index, size_t count) {
        return [=](Program& p) { p.bindings[index].elements.resize(count, "e"); };
    };
    expect_accepted(named(kLearnRate, 1));
    const std::string as_many = ": must name each of its elements, or none";
    expect_refused(named(kLearnRate, 2), "binding 1" + as_many);
    expect_refused(named(kLearnX, 1), "binding 0" + as_many);
    expect_refused(
        [](Program& p) {
            p.bindings[kLearnRate].shape = {Dim(1), Dim(1)};
            p.bindings[kLearnRate].elements = {"e"};
        },
        "binding 1" + as_many);
    expect_refused(
        [](Program& p) {
            p.bindings[kActX].shape = {Dim(kWidth, true)};
            p.bindings[kActX].elements.resize(kWidth, "e");
        },
        "binding 3" + as_many);
    Program program = make_program();
    named(kLearnRate, 1)(program);
    File file(program);
    file.records<TextRef>(kNames)[0].offset = 1 << 30;
    expect_corrupt(file.load(),
                   "binding 1: name of an element is not a zero-terminated text inside the file");
}

TEST(ProgramView, BoundsSlots) {
    expect_each({
        {slot(1, [](VariableRecord& s) { s.kind = 4; }), "variable 1: unknown kind"},
        {slot(1, [](VariableRecord& s) { s.kind = 3; }), ""},
        {slot(1, [](VariableRecord& s) { s.dtype = kDTypeCount; }), "variable 1: unknown type"},
        {slot(1, [](VariableRecord& s) { s.shape.rank = 9; }), "variable 1: impossible shape"},
        {slot(1, [](VariableRecord& s) { s.shape.batch_mask = 1; }),
         "variable 1: impossible shape"},
        {slot(1, [](VariableRecord& s) { s.offset += 2; }),
         "variable 1: offset is not a multiple of 4"},
        // 64 bytes of the 1,024.
        {slot(1, [](VariableRecord& s) { s.offset = 960; }), ""},
        {slot(1, [](VariableRecord& s) { s.offset = 964; }),
         "variable 1: lies outside the weights"},
        {slot(1, [](VariableRecord& s) { s.offset = 1024; }),
         "variable 1: lies outside the weights"},
        {slot(1, [](VariableRecord& s) { s.offset = kHuge; }),
         "variable 1: lies outside the weights"},
        {slot(1, [](VariableRecord& s) { s.bytes = ~uint64_t{0}; }),
         "variable 1: lies outside the weights"},
        {slot(1, [](VariableRecord& s) { s.offset = 1024, s.bytes = 0, s.shape.counts[0] = 0; }),
         ""},
        // Just behind the slot ahead, which has 384 bytes at 256.
        {slot(1, [](VariableRecord& s) { s.offset = 640; }), ""},
        {slot(1, [](VariableRecord& s) { s.offset = 636; }),
         "variable 1: overlaps the previous variable, or precedes it in memory"},
        // 384 bytes of the 400.
        {slot(0, [](VariableRecord& s) { s.data_offset = 17; }),
         "variable 0: initial values lie outside the data"},
        {slot(0, [](VariableRecord& s) { s.data_offset = 400; }),
         "variable 0: initial values lie outside the data"},
        {slot(0, [](VariableRecord& s) { s.data_offset = kHuge; }),
         "variable 0: initial values lie outside the data"},
    });
    // An empty name is one too, the first in order.
    expect_accepted([](Program& p) { p.variables[0].name = ""; });
    // Nothing may lie where the data end.
    expect_accepted([](Program& p) {
        p.variables[1].shape = {Dim(0)}, p.variables[1].bytes = 0;
        p.variables[1].data_offset = p.data.size();
    });
}

// --- Steps and entries

TEST(ProgramView, BoundsSteps) {
    const auto with_grid = [](auto change) {
        return step(0, [=](CommandRecord& s) { change(s.grid[1]); });
    };
    expect_each({
        {step(2, [](CommandRecord& s) { s.kind = 4; }), "command 2: unknown kind"},
        {step(0, [](CommandRecord& s) { s.kernel = 4; }),
         "command 0: refers to a kernel that does not exist"},
        {step(0, [](CommandRecord& s) { s.kernel = ~0u; }),
         "command 0: refers to a kernel that does not exist"},
        {step(0, [](CommandRecord& s) { s.operands.count -= 1; }),
         "command 0: has another number of operands than its kernel"},
        {step(0, [](CommandRecord& s) { s.words.count -= 1; }),
         "command 0: has another number of words than its kernel"},
        {step(0, [](CommandRecord& s) { s.kind = uint32_t(CommandKind::kBarrier); }),
         "command 0: is a barrier, which has neither operands nor words"},
        {step(0,
              [](CommandRecord& s) { s.kind = uint32_t(CommandKind::kBarrier), s.operands = {}; }),
         "command 0: is a barrier, which has neither operands nor words"},
        {step(0, [](CommandRecord& s) { s.kind = uint32_t(CommandKind::kBarrier), s.words = {}; }),
         "command 0: is a barrier, which has neither operands nor words"},
        {with_grid([](GridAxisRecord& g) { g.tile = 0; }), "command 0: tile is zero"},
        {with_grid([](GridAxisRecord& g) { g.reserved = 1; }),
         "command 0: reserved field is not zero"},
        {with_grid([](GridAxisRecord& g) {
             g.work = {~uint64_t{0}, 0};
         }),
         "command 0: work overflows"},
        {with_grid([](GridAxisRecord& g) {
             g.work = {0, uint64_t{1} << 61};
         }),
         "command 0: work overflows"},
        {with_grid([](GridAxisRecord& g) {
             g = {{uint64_t{64} * 0xffffffff, 0}, 64, 0};
         }),
         ""},
        {with_grid([](GridAxisRecord& g) {
             g = {{uint64_t{64} * 0xffffffff + 1, 0}, 64, 0};
         }),
         "command 0: has more than 2^32 workgroups along an axis"},
    });
    // A barrier of words alone.
    expect_refused(
        [](Program& p) {
            p.commands[2].first_word = 0, p.commands[2].word_count = 1;
            p.commands[0] = Command();
        },
        "is a barrier, which has neither operands nor words");
}

TEST(ProgramView, BoundsCopies) {
    using P = Program;
    const auto to = [](P& p) -> Operand& { return operand(p, kCopy, 1); };
    const auto from = [](P& p) -> Operand& { return operand(p, kCopy, 0); };
    expect_refused([&](P& p) { from(p).access = Access::kReadWrite; },
                   "command 6: is a copy, whose first operand is read and whose second is written");
    expect_refused([&](P& p) { to(p).access = Access::kReadWrite; },
                   "command 6: is a copy, whose first operand is read and whose second is written");
    expect_refused([&](P& p) { to(p).offset -= 384, to(p).bytes.fixed += 4; },
                   "command 6: is a copy between operands of different sizes");
    expect_refused([&](P& p) { to(p).bytes.is_batch -= 4; },
                   "command 6: is a copy between operands of different sizes");
    // Side by side they may lie, in either order.
    const uint64_t bytes = kRowsCapacity * kWidth * 4;
    for (const bool is_reversed : {false, true}) {
        expect_accepted([&](P& p) {
            from(p).offset = is_reversed ? bytes : 0;
            to(p).offset = is_reversed ? 0 : bytes;
        });
        expect_refused(
            [&](P& p) {
                from(p).offset = is_reversed ? bytes - 4 : 0;
                to(p).offset = is_reversed ? 0 : bytes - 4;
            },
            "command 6: is a copy whose source and destination overlap");
    }
    // One offset in two regions is two places.
    expect_accepted([&](P& p) {
        from(p) = {Region::kWeights, Access::kRead, 0, 256, {384, 0}};
        to(p) = {Region::kArena, Access::kWrite, 0, 256, {384, 0}};
    });
}

TEST(ProgramView, BoundsFills) {
    expect_refused([](Program& p) { p.commands[kFill].word_count = 0; },
                   "command 4: is a fill, which has one operand and one word");
    expect_refused([](Program& p) { p.commands[kFill].operand_count = 0; },
                   "command 4: is a fill, which has one operand and one word");
    expect_refused([](Program& p) { operand(p, kFill, 0).access = Access::kReadWrite; },
                   "command 4: is a fill, whose operand must be written");
}

TEST(ProgramView, BoundsWhatLocatedOperandsCanReach) {
    // A kernel that locates its first operand, which lies at the end of an arena of 32 GB.
    const auto at = [](uint64_t offset) {
        return [=](Program& p) {
            p.arena_bytes = offset + 64;
            Kernel& kernel = add_kernel(p, 1, 0, 1);
            Operand o{Region::kArena, Access::kRead, 0, offset, {16, 0}};
            kernel.spec_constants[0].value = hearth::locate(o);
            Command s;
            s.kind = CommandKind::kDispatch;
            s.kernel = 4;
            s.first_operand = static_cast<uint32_t>(p.operands.size());
            s.operand_count = 1;
            p.operands.push_back(o);
            p.commands.push_back(s);
        };
    };
    expect_accepted(at(uint64_t{0x7fffffff} * kLocationUnit));
    const char* expected =
        "command 12: gives a located operand outside arena and weights, or at an unaligned offset";
    expect_refused(at(uint64_t{0x80000000} * kLocationUnit), expected);
    expect_refused(
        [&](Program& p) {
            at(1 << 20)(p);
            p.operands.back().offset += 8;
            p.kernels.back().access_bytes = 4;
        },
        expected);
}

TEST(ProgramView, BoundsEntries) {
    const uint64_t arena = 4 * kRowsCapacity * kWidth * 4;
    expect_each({
        {entry(1, [=](EntryRecord& e) { e.arena_offset = arena + 1; }),
         "entry 1: arena range lies outside the arena"},
        {entry(1, [=](EntryRecord& e) { e.arena_offset = kHuge; }),
         "entry 1: arena range lies outside the arena"},
        {entry(1, [=](EntryRecord& e) { e.arena_bytes = 1; }),
         "entry 1: arena range lies outside the arena"},
        {entry(1, [=](EntryRecord& e) { e.arena_bytes = ~uint64_t{0}; }),
         "entry 1: arena range lies outside the arena"},
        {entry(0, [=](EntryRecord& e) { e.arena_offset = 4, e.arena_bytes -= 4; }),
         "entry 0: a command uses memory that is not of this entry"},
        {set<uint32_t>(kEntryBindings, 0, [](uint32_t& b) { b = 5; }),
         "entry 0: refers to a binding that does not exist"},
        {set<uint32_t>(kEntryBindings, 0, [](uint32_t& b) { b = ~0u; }),
         "entry 0: refers to a binding that does not exist"},
    });
    const auto with_bindings = [](uint32_t count) {
        return [=](Program& p) {
            for (uint32_t i = 0; i < count; ++i) {
                Binding added = p.bindings[kLearnRate];
                added.name = "b" + std::to_string(i);
                p.entries[1].bindings.push_back(static_cast<uint32_t>(p.bindings.size()));
                p.bindings.push_back(added);
            }
        };
    };
    expect_accepted(with_bindings(62));
    expect_refused(with_bindings(63), "entry 1: has more than 64 bindings");
    const auto with_entries = [](uint32_t count) {
        return [=](Program& p) {
            while (p.entries.size() < count) {
                Entry added;
                added.name = "e" + std::to_string(p.entries.size());
                p.entries.push_back(added);
            }
        };
    };
    expect_accepted(with_entries(1024));
    expect_refused(with_entries(1025), "entry 1024: a program has at most 1024 entries");
}

}  // namespace
}  // namespace hearth::test
