// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A session as JSON.

#include "gpu/rig.hpp"

#include <cctype>
#include <string>
#include <string_view>

namespace hearth::test {
namespace {

/// Whether a text is one JSON value (RFC 8259), without a parser of others: the runtime's tests
/// have none.
class JsonCheck {
  public:
    static bool is_valid(std::string_view text) {
        JsonCheck check{text};
        return check.value() && check.text_.empty();
    }

  private:
    explicit JsonCheck(std::string_view text) : text_(text) {}

    bool take(std::string_view expected) {
        if (!text_.starts_with(expected)) return false;
        text_.remove_prefix(expected.size());
        return true;
    }
    bool string() {
        if (!take("\"")) return false;
        while (!text_.empty() && text_[0] != '"') {
            if (static_cast<unsigned char>(text_[0]) < 0x20) return false;
            text_.remove_prefix(text_[0] == '\\' ? 2 : 1);
        }
        return take("\"");
    }
    bool number() {
        size_t digits = 0;
        while (
            digits < text_.size() &&
            (std::isdigit(static_cast<unsigned char>(text_[digits])) != 0 || text_[digits] == '.'))
            ++digits;
        text_.remove_prefix(digits);
        return digits > 0;
    }
    bool list(std::string_view end, bool has_keys) {
        if (take(end)) return true;
        do {
            if (has_keys && !(string() && take(":"))) return false;
            if (!value()) return false;
        } while (take(","));
        return take(end);
    }
    bool value() {
        if (take("{")) return list("}", true);
        if (take("[")) return list("]", false);
        return text_.starts_with("\"") ? string() : number();
    }

    std::string_view text_;
};

class Describe : public RuntimeTest {};

TEST_F(Describe, TellsMemorySlotsEntriesStepsAndWhatTheyCost) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_TIMESTAMP_RUNS;
        info.name = "the \"guards\"";
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    auto described = rig->session.to_json();
    ASSERT_TRUE(described.ok()) << described.status().message();
    std::string json = *described;
    EXPECT_TRUE(JsonCheck::is_valid(json)) << json;
    EXPECT_EQ(json.find('\0'), std::string::npos);
    const auto says = [&](std::string_view text) { return json.find(text) != std::string::npos; };
    const hearth_context_stats stats = rig->context.stats();
    for (const std::string& text :
         {std::string("{\"session\":\"the \\\"guards\\\"\""),
          "\"weights\":" + std::to_string(stats.device_bytes[HEARTH_MEMORY_WEIGHTS]),
          std::string("\"pipelines\":4,\"pipelines_ready\":4"),
          std::string("{\"name\":\"state\",\"kind\":\"state\",\"dtype\":\"f32\",\"shape\":["),
          std::string(
              "{\"name\":\"x\",\"direction\":\"input\",\"dtype\":\"f32\",\"shape\":[\"batch\","),
          std::string("{\"kind\":\"dispatch\",\"kernel\":\"mix\",\"label\":\"t0\""),
          std::string("{\"kind\":\"barrier\"}"), std::string("\"dispatches\":5,\"barriers\":4")})
        EXPECT_TRUE(says(text)) << text << "\n" << json;
    EXPECT_FALSE(says("measured_us"));

    // What was measured belongs to it as soon as the host has read it.
    (void)rig->act(test_values(2 * kWidth, 1));
    rig->advance();
    hearth_timings profile = hearth_timings_default();
    if (hearth_session_next_timings(rig->session.handle(), &profile) == HEARTH_ERROR_UNSUPPORTED)
        GTEST_SKIP() << "the queue family has no timestamps; use one with timestampValidBits > 0";
    json = *rig->session.to_json();
    EXPECT_TRUE(JsonCheck::is_valid(json)) << json;
    EXPECT_TRUE(says("\"measured_us\":") && says("\"measured_batch_size\":2")) << json;
}

TEST_F(Describe, IsRefusedWhereItDoesNotFitAndWritesNothing) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    char out[16] = "as it was";
    uint64_t bytes = sizeof out;
    EXPECT_EQ(hearth_session_to_json(rig->session.handle(), out, &bytes),
              HEARTH_ERROR_OUT_OF_RANGE);
    EXPECT_STREQ(out, "as it was");
    EXPECT_GT(bytes, sizeof out);
}

}  // namespace
}  // namespace hearth::test
