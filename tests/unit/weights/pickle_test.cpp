// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "import/torch/pickle.hpp"

#include <gtest/gtest.h>

namespace hearth {
namespace {

/// What a pickle of these opcodes gives.
Result<Pickle> machine(const std::string& opcodes) {
    ByteReader reader(std::as_bytes(std::span(opcodes)));
    Budget budget(opcodes.size());
    return read_pickle(reader, budget);
}

std::string message_of(const std::string& opcodes) {
    const auto pickle = machine(opcodes);
    return pickle.ok() ? "(no error)" : pickle.status().message();
}

TEST(Pickle, ValuesAndNamesAreBoundedByTheFilesSize) {
    // A byte for each list: as many as bytes would take 64 times the file's size.
    const auto lists = machine("\x80\x02" + std::string(2 << 20, ']') + ".");
    ASSERT_FALSE(lists.ok());
    EXPECT_EQ(lists.status().code(), StatusCode::kOutOfRange);
    // Five bytes for each class of a long name.
    std::string classes = "\x80\x02X" + std::string("\xf4\x01\0\0", 4) + std::string(500, 'm') +
                          std::string("q\0", 2);
    for (int i = 0; i < 200'000; ++i) classes += std::string("h\0h\0\x93", 5);
    const auto named = machine(classes + ".");
    ASSERT_FALSE(named.ok());
    EXPECT_NE(named.status().message().find("bytes of tensors, the limit for"), std::string::npos)
        << named.status().message();
}

TEST(Pickle, CallsAreWrittenDownAndNotMade) {
    const std::string evil = std::string("\x80\x02") + "cos\nsystem\n" + "X\x02" +
                             std::string(3, '\0') + "ls" + "\x85R.";
    const auto pickle = machine(evil);
    ASSERT_TRUE(pickle.ok()) << pickle.status().message();
    const PickleValue& root = (*pickle)[pickle->root];
    EXPECT_EQ(root.kind, PickleValue::Kind::kCall);
    EXPECT_EQ((*pickle)[root.items[0]].text, "os system");
}

struct Refusal {
    std::string opcodes;
    const char* expected;
};

TEST(Pickle, StacksThatDoNotWorkOutAreRejected) {
    const char *few = "pops more values than the stack has", *mark = "needs a mark",
               *key = "a dictionary key has no value",
               *other = "appends to a value that is not such a container";
    const Refusal refusals[] = {
        {".", few},
        {"0", mark},  // POP takes a mark where there is no value
        {"1", mark},
        {"2.", few},
        {"t.", mark},
        {"\x85.", few},
        {"N\x86.", few},
        {"\x87.", few},
        {"N(.", few},  // what lies below a mark cannot be reached
        {"N(\x85.", few},
        {"N(2.", few},
        {"(1.", few},
        {"s.", few},
        {"}s.", few},
        {"N(u.", other},
        {"(u.", "appends to an empty stack"},
        {"](NNu.", other},
        {"}(Nu.", key},
        {"(Nd.", key},
        {"Na.", "appends to an empty stack"},
        {"a.", few},
        {"NNa.", other},
        {")Na.", other},
        {"R.", few},
        {"NNR.", "calls a value that is not a known function"},
        {")NR.", "calls a value that is not a known function"},
        {"cm\nn\nNR.", "calls with arguments that are not a tuple"},
        {"b.", few},
        {"Nb.", "builds from an empty stack"},
        {"q\x01.", "memoizes from an empty stack"},
        {"N(q\x01.", "memoizes from an empty stack"},
        {"h\x01.", "recalls 1, which was never stored"},
        {"Q.", few},
        {"X\x01" + std::string(3, '\0') + "mN\x93.",
         "names a class by a value that is not a string"},
        {"NX\x01" + std::string(3, '\0') + "m\x93.",
         "names a class by a value that is not a string"},
        {"]h", "recalls 0, which was never stored"},
        {"]", "ends before its STOP; the file is truncated, copy it again"},
        {"\x95", "is truncated"},
        {"G", "is truncated"},
        {"X\xff\xff\xff\xff.", "is truncated"},
        {"\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", "is truncated"},
        {"c.", "is truncated"},
        {"cos\n", "is truncated"},
        {"\x8a\x05", "is truncated"},  // memcpy from nowhere, once
        {"I1\n.", "pickle opcode 0x49"},
        {"\x80\x06.", "pickle protocol 6; expected 2 to 5"},
        {"\x80\x01N.", "pickle protocol 1; expected 2 to 5"},
    };
    for (const Refusal& r : refusals)
        EXPECT_NE(message_of(r.opcodes).find(r.expected), std::string::npos)
            << r.opcodes << ": " << message_of(r.opcodes);
    EXPECT_EQ(message_of("N(."), "pickle: at byte 3: pops more values than the stack has");
}

TEST(Pickle, WhatWorksOutIsAccepted) {
    // Protocols 2 and 5; values and marks that are popped; pairs; lists of any length.
    for (const std::string opcodes : {"\x80\x02N.",
                                      "\x80\x05N.",
                                      "NN0.",
                                      "N(0.",
                                      "N(NN1.",
                                      "N2\x86.",
                                      "NN\x86.",
                                      "NNN\x87.",
                                      "(NNd.",
                                      "(Nl.",
                                      "(Nt.",
                                      "]Na.",
                                      "](Ne.",
                                      "}NNs.",
                                      "}(NNu.",
                                      "cm\nn\n)RNNs.",
                                      "cm\nn\n)R(Ne.",
                                      "cm\nn\n)RNb.",
                                      "Nq\x05h\x05\x86.",
                                      "NQ.",
                                      "\x8f(N\x90.",
                                      "(N\x91."})
        EXPECT_EQ(message_of(opcodes), "(no error)") << opcodes;
    EXPECT_EQ(message_of(std::string("N\x94h\0.", 5)), "(no error)");
}

TEST(Pickle, NamesOfClassesAreBounded) {
    const auto named = [](size_t module, size_t name) {
        return "c" + std::string(module, 'm') + "\n" + std::string(name, 'n') + "\n.";
    };
    EXPECT_EQ(message_of(named(1000, 24)), "(no error)");
    EXPECT_NE(message_of(named(1000, 25)).find("refers to a class without a name"),
              std::string::npos);
}

TEST(Pickle, NumbersHaveTheirValues) {
    const std::string numbers = std::string("(J\xfe\xff\xff\xffK\xffM\x01\x02") +
                                std::string("\x8a\x01\x80\x8a\x00", 5) + "G" +
                                std::string("\xbf\xf8\0\0\0\0\0\0", 8) + "\x88Nt.";
    const auto pickle = machine(numbers);
    ASSERT_TRUE(pickle.ok()) << pickle.status().message();
    const std::vector<uint32_t>& items = (*pickle)[pickle->root].items;
    ASSERT_EQ(items.size(), 8u);
    const int64_t expected[] = {-2, 255, 513, -128, 0};
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ((*pickle)[items[i]].integer, expected[i]);
    EXPECT_EQ((*pickle)[items[5]].real, -1.5);
    EXPECT_EQ((*pickle)[items[6]].integer, 1);
}

TEST(Pickle, IntegersOfUpTo64BitsAreNumbersAndLongerOnesAreBytes) {
    const auto root = [](const std::string& opcodes) {
        const auto pickle = machine(opcodes);
        EXPECT_TRUE(pickle.ok()) << pickle.status().message();
        return pickle.ok() ? (*pickle)[pickle->root] : PickleValue{};
    };
    const PickleValue least = root(std::string("\x8a\x08\0\0\0\0\0\0\0\x80.", 11));
    EXPECT_EQ(least.kind, PickleValue::Kind::kInteger);
    EXPECT_EQ(least.integer, INT64_MIN);
    const PickleValue big = root(std::string("\x8a\x09\0\0\0\0\0\0\0\0\x01.", 12));
    EXPECT_EQ(big.kind, PickleValue::Kind::kBig);
}

}  // namespace
}  // namespace hearth
