// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/status.hpp>

#include <gtest/gtest.h>

namespace hearth {
namespace {

TEST(Status, MessagesAreBoundedAndKeepBothEnds) {
    const Status s =
        corrupt_data("first " + std::string(20 << 20, 'x') + " last").with_context("where");
    EXPECT_LT(s.message().size(), 5000u);
    EXPECT_TRUE(s.message().starts_with("where: first"));
    EXPECT_TRUE(s.message().ends_with(" last"));
    Status nested = s;
    for (int i = 0; i < 1000; ++i) nested = nested.with_context("a rather long name of a context");
    EXPECT_LT(nested.message().size(), 5000u);
}

TEST(Status, MessagesHaveNoControlCharactersButLineBreaks) {
    std::string text;
    for (int c = 0; c < 256; ++c) text += static_cast<char>(c);
    const Status s = invalid_argument(text);
    for (char c : s.message())
        EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n') << static_cast<int>(c);
    EXPECT_EQ(invalid_argument("a\nb").message(), "a\nb");
    EXPECT_EQ(invalid_argument("\x1b[31m\x7f").message(), "?[31m?");
}

TEST(Status, MessagesHaveNoMarksThatTurnTheDirectionOfText) {
    const auto utf8 = [](unsigned code) {
        if (code < 0x800)
            return std::string{static_cast<char>(0xc0 | code >> 6),
                               static_cast<char>(0x80 | (code & 0x3f))};
        return std::string{static_cast<char>(0xe0 | code >> 12),
                           static_cast<char>(0x80 | (code >> 6 & 0x3f)),
                           static_cast<char>(0x80 | (code & 0x3f))};
    };
    for (unsigned code = 0x80; code < 0x3000; ++code) {
        const bool is_control = code < 0xa0 || code == 0x61c || code == 0x200e || code == 0x200f ||
                                (code >= 0x2028 && code <= 0x202e) ||
                                (code >= 0x2066 && code <= 0x2069);
        const std::string text = utf8(code);
        EXPECT_EQ(corrupt_data("a" + text + "b").message(),
                  is_control ? "a" + std::string(text.size(), '?') + "b" : "a" + text + "b")
            << std::hex << code;
    }
    // Ends of sequences alone, and at the end of a text, are no marks.
    for (const char* part : {"\xe2", "\xe2\x80", "\xd8", "\x80\xae", "\xae"})
        EXPECT_EQ(corrupt_data(part).message(), part);
    EXPECT_EQ(corrupt_data("").message(), "");
}

void exit_with_seven(const char*, const char*, int) {
    std::_Exit(7);
}

TEST(ResultDeathTest, AFailureThatIsTakenForAValueIsToldToTheAssertHandler) {
    const Result<int> failure = not_found("there is no file 'x'");
    EXPECT_DEATH((void)failure.value(),
                 "broken invariant: value\\(\\) of a failure: there is no file 'x'");
    const auto with_handler = [&] {
        set_assert_handler(exit_with_seven);
        (void)*failure;
    };
    EXPECT_EXIT(with_handler(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace hearth
