// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "import/safetensors/json.hpp"

#include <gtest/gtest.h>

namespace hearth {
namespace {

/// What reading a text gives: the text, or the message.
std::string text_of(std::string_view json) {
    const auto text = JsonReader(json).text();
    return text.ok() ? *text : text.status().message();
}

std::string numbers_of(std::string_view json) {
    const auto numbers = JsonReader(json).numbers();
    if (!numbers.ok()) return numbers.status().message();
    std::string text;
    for (const int64_t number : *numbers) text += std::to_string(number) + ";";
    return text;
}

/// The keys and texts of an object that has only texts, and what is wrong with it.
std::string object_of(std::string_view json) {
    std::string members;
    JsonReader reader(json);
    Status status = reader.object([&](const std::string& key) -> Status {
        HEARTH_ASSIGN(const std::string value, reader.text());
        members += key + "=" + value + ";";
        return {};
    });
    if (status.ok()) status = reader.end();
    return status.ok() ? members : status.message();
}

TEST(Json, TextsMayEscapeEveryCharacter) {
    EXPECT_EQ(text_of(R"("")"), "");
    EXPECT_EQ(text_of(" \t\r\n\"a b\""), "a b");
    EXPECT_EQ(text_of(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
    // One, two, three and four bytes of UTF-8, at both ends of each.
    EXPECT_EQ(text_of(R"("\u0020\u007f")"), " \x7f");
    EXPECT_EQ(text_of(R"("\u0080\u07ff")"), "\xc2\x80\xdf\xbf");
    EXPECT_EQ(text_of(R"("\u0800\uffff")"), "\xe0\xa0\x80\xef\xbf\xbf");
    EXPECT_EQ(text_of(R"("\ud7ff\ue000")"), "\xed\x9f\xbf\xee\x80\x80");
    EXPECT_EQ(text_of(R"("\ud800\udc00\udbff\udfff")"), "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
    EXPECT_EQ(text_of(R"("\uD83D\uDE00")"), "\xf0\x9f\x98\x80");
}

TEST(Json, TextsThatAreNoneAreRefusedWithTheirPlace) {
    EXPECT_EQ(text_of("a"), "JSON: expected '\"' at byte 0");
    EXPECT_EQ(text_of(""), "JSON: expected '\"' at byte 0");
    EXPECT_EQ(text_of("\"a"), "JSON: expected the end of a string at byte 2");
    EXPECT_EQ(text_of("\"a\x1f\""), "JSON: expected no control characters in a string at byte 3");
    EXPECT_EQ(text_of(R"("\x")"), "JSON: expected an escape at byte 3");
    EXPECT_EQ(text_of(R"("\u00g0")"), "JSON: expected four hexadecimal digits at byte 3");
    EXPECT_EQ(text_of(R"("\u004)"), "JSON: expected four hexadecimal digits at byte 3");
    EXPECT_EQ(text_of(R"("\u0041)"), "JSON: expected the end of a string at byte 7");
    const char* const second = "JSON: expected the second half of a surrogate pair at byte ";
    EXPECT_EQ(text_of(R"("\ud800")"), second + std::string("7"));
    EXPECT_EQ(text_of(R"("\ud800\n")"), second + std::string("7"));
    EXPECT_EQ(text_of(R"("\ud800\udbff")"), second + std::string("13"));
    EXPECT_EQ(text_of(R"("\ud800\ue000")"), second + std::string("13"));
    for (const char* lone : {R"("\udc00")", R"("\udfff")"})
        EXPECT_EQ(text_of(lone), "JSON: expected the first half of a surrogate pair at byte 7");
}

TEST(Json, NothingIsReadBehindTheEnd) {
    // The bytes behind the end would go on where the text stops.
    const auto cut = [](std::string_view whole, size_t behind) {
        return text_of(whole.substr(0, whole.size() - behind));
    };
    EXPECT_EQ(cut(R"("\n")", 2), "JSON: expected an escape at byte 2");
    EXPECT_EQ(cut(R"("\u0041")", 2), "JSON: expected four hexadecimal digits at byte 3");
    EXPECT_EQ(cut(R"("a")", 1), "JSON: expected the end of a string at byte 2");
    EXPECT_EQ(numbers_of(std::string_view("[12]").substr(0, 2)), "JSON: expected ']' at byte 2");
    EXPECT_EQ(numbers_of(std::string_view("[12]").substr(0, 3)), "JSON: expected ']' at byte 3");
    EXPECT_EQ(numbers_of(std::string_view("[]").substr(0, 1)),
              "JSON: expected a whole number at byte 1");
    EXPECT_EQ(object_of(std::string_view("{}").substr(0, 1)), "JSON: expected '\"' at byte 1");
    EXPECT_EQ(object_of(std::string_view("{}").substr(0, 0)), "JSON: expected '{' at byte 0");
}

TEST(Json, NumbersAreWholeAndNotNegative) {
    EXPECT_EQ(numbers_of("[]"), "");
    EXPECT_EQ(numbers_of(" [ 0 , 7,\n9223372036854775807 ]"), "0;7;9223372036854775807;");
    EXPECT_EQ(numbers_of("[9223372036854775808]"), "JSON: expected a whole number at byte 1");
    EXPECT_EQ(numbers_of("[-1]"), "JSON: expected a whole number at byte 1");
    EXPECT_EQ(numbers_of("[a]"), "JSON: expected a whole number at byte 1");
    EXPECT_EQ(numbers_of("[1,]"), "JSON: expected a whole number at byte 3");
    EXPECT_EQ(numbers_of("[1.5]"), "JSON: expected ']' at byte 2");
    EXPECT_EQ(numbers_of("1]"), "JSON: expected '[' at byte 0");
    EXPECT_EQ(numbers_of("[1}"), "JSON: expected ']' at byte 2");
}

TEST(Json, ObjectsHaveEachKeyOnce) {
    EXPECT_EQ(object_of("{}"), "");
    EXPECT_EQ(object_of(R"( { "a" : "1" , "b":"2" } )"), "a=1;b=2;");
    EXPECT_EQ(object_of(R"({"a":"1","a":"2"})"),
              "JSON: expected a key that differs from the previous ones at byte 12");
    EXPECT_EQ(object_of("[]"), "JSON: expected '{' at byte 0");
    EXPECT_EQ(object_of(R"({"a" "1"})"), "JSON: expected ':' at byte 5");
    EXPECT_EQ(object_of(R"({"a":"1",})"), "JSON: expected '\"' at byte 9");
    EXPECT_EQ(object_of(R"({"a":"1")"), "JSON: expected '}' at byte 8");
    EXPECT_EQ(object_of("{}x"), "JSON: expected the end at byte 2");
}

TEST(Json, WhatIsWrittenIsReadTheSame) {
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    EXPECT_EQ(text_of(json_text(all)), all);
    EXPECT_EQ(json_text("\x1f\x20\"\\"), R"("\u001f \"\\")");
}

}  // namespace
}  // namespace hearth
