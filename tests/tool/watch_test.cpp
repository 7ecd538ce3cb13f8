// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// `hearth watch`: on a terminal made for the test, as a table, as PNG and as HTML, of logs that are
// whole, growing, cut, foreign or replaced.

#include "run_tool.hpp"

#include <hearth/agents/run_log.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace hearth {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Ran;

class Watch : public ::testing::Test {
  protected:
    void SetUp() override {
        const ::testing::TestInfo& info = *::testing::UnitTest::GetInstance()->current_test_info();
        root_ = fs::temp_directory_path() /
                ("hearth_watch_" + std::to_string(getpid()) + "_" + info.name());
        fs::create_directories(root_);
    }
    void TearDown() override { fs::remove_all(root_); }

    std::string path(const std::string& name) const { return (root_ / name).string(); }
    void append(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::app | std::ios::binary) << text;
    }
    std::string text_of(const std::string& name) const {
        std::ostringstream all;
        all << std::ifstream(path(name), std::ios::binary).rdbuf();
        return all.str();
    }
    /// Two metrics, a mark, and one number that is none.
    void write_run() const {
        append("run.jsonl", R"({"type":"run","program":"pets","at":"seconds","seed":3})"
                            "\n");
        for (int i = 0; i <= 40; ++i)
            append("run.jsonl", nlohmann::ordered_json{{"type", "bar"},
                                                       {"at", i},
                                                       {"reward", 2.5 * i},
                                                       {"ghost", {{"loss", std::exp(-0.1 * i)}}}}
                                        .dump() +
                                    "\n");
        append("run.jsonl",
               "{\"type\":\"event\",\"at\":40,\"text\":\"hot night\"}\n"
               "{\"type\":\"bar\",\"at\":41,\"reward\":null}\n"
               "{\"type\":\"end\",\"at\":41,\"hash\":\"ab\"}\n");
    }
    json summary(const std::string& name) const {
        const Ran ran = testing::run("watch " + path(name) + " --json");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        const json all = json::parse(ran.text, nullptr, false);
        return all.is_object() ? all["files"][0] : json();
    }

    fs::path root_;
};

/// `hearth watch` on a pseudo-terminal, killed when the test ends.
class Terminal {
  public:
    Terminal(const std::string& arguments, const char* type = "xterm") {
        struct winsize size = {30, 110, 0, 0};
        const std::string command = "exec '" + testing::program().string() + "' watch " + arguments;
        char* const name = nullptr;
        if (openpty(&host_, &guest_, name, nullptr, &size) != 0) return;
        tcgetattr(guest_, &before_);
        pid_ = fork();
        if (pid_ != 0) return;
        setenv("TERM", type, 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        login_tty(guest_);
        execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        _exit(127);
    }
    ~Terminal() {
        if (pid_ > 0 && !has_ended_) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
        close(host_);
        close(guest_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    void type(const std::string& keys) {
        shown_.clear();
        ASSERT_EQ(write(host_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
    }
    void resize(unsigned short rows, unsigned short columns) {
        shown_.clear();
        const struct winsize size = {rows, columns, 0, 0};
        ioctl(host_, TIOCSWINSZ, &size);
    }
    /// Waits until what was drawn since the last key holds this text.
    bool shows(const std::string& text) {
        return waits_for([&] { return shown_.find(text) != std::string::npos; });
    }
    /// The exit code; -1 if it goes on.
    int exit_code() {
        waits_for([&] { return has_ended_; });
        return has_ended_ && WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
    }
    /// Whether the terminal's settings are as they were before.
    bool is_restored() const {
        struct termios now {};
        tcgetattr(guest_, &now);
        return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag &&
               now.c_oflag == before_.c_oflag;
    }
    const std::string& shown() const { return shown_; }

  private:
    template <class Condition>
    bool waits_for(const Condition& condition) {
        using Clock = std::chrono::steady_clock;
        for (const auto end = Clock::now() + std::chrono::seconds(60); Clock::now() < end;) {
            has_ended_ = has_ended_ || waitpid(pid_, &status_, WNOHANG) == pid_;
            struct pollfd input = {host_, POLLIN, 0};
            const bool has_more = ::poll(&input, 1, 50) > 0;
            if (has_more) {
                char bytes[4096];
                const ssize_t size = read(host_, bytes, sizeof bytes);
                if (size > 0) shown_.append(bytes, static_cast<size_t>(size));
            }
            if (condition()) return true;
            if (has_ended_ && !has_more) return false;
        }
        return false;
    }

    int host_ = -1, guest_ = -1;
    pid_t pid_ = -1;
    bool has_ended_ = false;
    int status_ = 0;
    struct termios before_ {};
    std::string shown_;
};

TEST_F(Watch, ATerminalShowsCurvesFollowsTheFileAndIsRestoredByCtrlC) {
    write_run();
    Terminal terminal(path("run.jsonl"));
    ASSERT_TRUE(terminal.shows("ghost/loss")) << terminal.shown();
    EXPECT_TRUE(terminal.shows("hot night")) << terminal.shown();
    EXPECT_TRUE(terminal.shows("\xe2\xa1")) << "no dots of braille";
    EXPECT_TRUE(terminal.shows("1 not finite"));
    EXPECT_FALSE(terminal.is_restored()) << "so that the end of this test means something";
    terminal.type("jl");  // the second metric, on a logarithmic axis
    EXPECT_TRUE(terminal.shows("(log)")) << terminal.shown();
    append("run.jsonl", "{\"type\":\"bar\",\"at\":60,\"wolves\":7}\n");
    EXPECT_TRUE(terminal.shows("wolves")) << terminal.shown();
    terminal.resize(24, 90);
    EXPECT_TRUE(terminal.shows("ghost/loss")) << "drawn anew: " << terminal.shown();
    terminal.resize(5, 20);
    EXPECT_TRUE(terminal.shows("too small")) << terminal.shown();
    terminal.type("\x03");
    EXPECT_EQ(terminal.exit_code(), 128 + SIGINT);
    EXPECT_TRUE(terminal.shows("\x1b[?1049l")) << "the screen that was there before";
    EXPECT_TRUE(terminal.is_restored());
}

TEST_F(Watch, ATerminalWaitsForALogThatIsNotThereYet) {
    Terminal terminal(path("later.jsonl"));
    ASSERT_TRUE(terminal.shows("waiting for")) << terminal.shown();
    append("later.jsonl", "{\"at\":1,\"foxes\":3}\n");
    EXPECT_TRUE(terminal.shows("foxes")) << terminal.shown();
    terminal.type("q");
    EXPECT_EQ(terminal.exit_code(), 0);
    EXPECT_TRUE(terminal.is_restored());
}

TEST_F(Watch, RunsThatListenAreStoppedPausedAndFrozen) {
    append("run.jsonl", run_log_begin("foxes", "frames", kAllRunRequests));
    append("run.jsonl", "{\"at\":1,\"foxes\":3}\n");
    const std::string log = path("run.jsonl");
    Terminal terminal(log);
    ASSERT_TRUE(terminal.shows("P pause  F freeze  X stop")) << terminal.shown();
    EXPECT_FALSE(has_run_request(log, RunRequest::kStop));
    const auto press = [&](const char* key, RunRequest request, bool is_wanted) {
        terminal.type(key);
        for (int i = 0; i < 100 && has_run_request(log, request) != is_wanted; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_EQ(has_run_request(log, request), is_wanted) << key;
    };
    press("X", RunRequest::kStop, true);
    EXPECT_TRUE(terminal.shows("asked to stop")) << terminal.shown();
    press("P", RunRequest::kPause, true);
    press("P", RunRequest::kPause, false);
    press("F", RunRequest::kFreeze, true);
    press("F", RunRequest::kFreeze, false);
    EXPECT_TRUE(take_stop_request(log));

    const auto control = [&](const std::string& what) {
        return testing::run("watch --control " + what + " " + log).exit_code;
    };
    EXPECT_EQ(control("stop"), 0);
    EXPECT_TRUE(take_stop_request(log));
    EXPECT_EQ(control("pause"), 0);
    EXPECT_TRUE(has_run_request(log, RunRequest::kPause));
    EXPECT_EQ(control("resume"), 0);
    EXPECT_FALSE(has_run_request(log, RunRequest::kPause));
    EXPECT_EQ(control("freeze"), 0);
    EXPECT_TRUE(has_run_request(log, RunRequest::kFreeze));
    EXPECT_EQ(control("learn"), 0);
    EXPECT_FALSE(has_run_request(log, RunRequest::kFreeze));
}

TEST_F(Watch, ARunThatDoesNotListenIsNamed) {
    append("run.jsonl", run_log_begin("foxes", "frames"));
    const Ran deaf = testing::run("watch --control pause " + path("run.jsonl"));
    EXPECT_EQ(deaf.exit_code, 1);
    EXPECT_NE(deaf.text.find("the program foxes does not listen to \"pause\""), std::string::npos)
        << deaf.text;
    EXPECT_FALSE(has_run_request(path("run.jsonl"), RunRequest::kPause));
    const Ran none = testing::run("watch --control stop " + path("none.jsonl"));
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_NE(none.text.find("cannot open the run log"), std::string::npos) << none.text;
    EXPECT_NE(testing::run("watch --control rest " + path("run.jsonl")).exit_code, 0);
}

TEST_F(Watch, AnUnknownTerminalIsNamed) {
    write_run();
    Terminal terminal(path("run.jsonl"), "no_such_terminal");
    EXPECT_EQ(terminal.exit_code(), 1);
    EXPECT_NE(terminal.shown().find("no_such_terminal"), std::string::npos) << terminal.shown();
}

TEST_F(Watch, WithoutATerminalATableTellsEachMetric) {
    write_run();
    const Ran ran = testing::run("watch " + path("run.jsonl"));
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_TRUE(ran.says("45 lines, 1 events, 1 not finite")) << ran.text;
    EXPECT_TRUE(ran.says("ghost/loss")) << ran.text;
    EXPECT_TRUE(ran.says("up to 41 seconds")) << ran.text;
}

TEST_F(Watch, LinesThatAreNoSamplesAreCounted) {
    append("run.jsonl",
           "{\"at\":1,\"x\":1}\nnot json\n[1,2]\n{\"x\":3}\n{\"at\":0.5,\"x\":4}\n"
           "{\"at\":2,\"x\":true,\"why\":\"words\",\"list\":[1]}\n\n" +
               std::string(3 << 20, 'a') + "\n{\"at\":3,\"x\":9}\n{\"at\":4,\"x\"");
    const json s = summary("run.jsonl");
    EXPECT_EQ(s["lines"], 8);
    EXPECT_EQ(s["samples"], 3);
    EXPECT_EQ(s["foreign"], 4);
    EXPECT_EQ(s["out_of_order"], 1);
    EXPECT_GT(s["cut_bytes"], 0);
    EXPECT_EQ(s["metrics"].size(), 1u);
    EXPECT_EQ(s["metrics"]["x"]["last"], 9);
    EXPECT_EQ(s["metrics"]["x"]["count"], 3);
}

TEST_F(Watch, OfSeveralRunsInAFileTheLastIsShown) {
    append("run.jsonl",
           "{\"type\":\"run\",\"at\":\"steps\"}\n{\"at\":100,\"x\":1}\n"
           "{\"type\":\"run\",\"at\":\"steps\"}\n{\"at\":5,\"y\":2}\n");
    const json s = summary("run.jsonl");
    EXPECT_EQ(s["runs"], 2);
    EXPECT_EQ(s["out_of_order"], 0);
    EXPECT_EQ(s["last_at"], 5);
    EXPECT_FALSE(s["metrics"].contains("x"));
}

TEST_F(Watch, LongRunsAreThinnedAndKeepTheirSpikes) {
    std::string text;
    for (int i = 0; i < 300'000; ++i)
        text += "{\"at\":" + std::to_string(i) + ",\"x\":" + (i == 70'001 ? "99" : "1") + "}\n";
    append("run.jsonl", text);
    const json s = summary("run.jsonl");
    EXPECT_LT(s["metrics"]["x"]["count"], 1 << 18);
    EXPECT_EQ(s["metrics"]["x"]["max"], 99);
    EXPECT_EQ(s["samples"], 300'000);
}

TEST_F(Watch, WhatAgentsLogIsRead) {
    agents::AgentsStatus status{hearth_agents_status_default()};
    status.metrics_available = ~0u;
    status.metrics[static_cast<size_t>(agents::AgentMetric::kEpisodeReturn)] = 12.5f;
    status.metrics[static_cast<size_t>(agents::AgentMetric::kKl)] =
        std::numeric_limits<float>::quiet_NaN();
    status.counters[static_cast<size_t>(agents::Counter::kSamples)] = uint64_t{1} << 33;
    append("run.jsonl", agents::run_log_begin("a \"game\"", "frames") +
                            agents::run_log_sample(status, 60) +
                            agents::run_log_event(61, "line\nbreak"));
    const json s = summary("run.jsonl");
    EXPECT_EQ(s["program"], "a \"game\"");
    EXPECT_EQ(s["metrics"]["episode_return"]["last"], 12.5);
    EXPECT_EQ(s["metrics"]["samples"]["last"], uint64_t{1} << 33);
    EXPECT_EQ(s["non_finite"], 1);
    EXPECT_EQ(s["events"], 1);
    EXPECT_EQ(s["foreign"], 0);
    EXPECT_EQ(s["metrics"].size(), agents::kMetricCount + agents::kCounterCount +
                                       agents::detail::driver_counts(status).size());
}

TEST_F(Watch, ARunThatRoseInItsFirstQuarterIsLearningAndOneThatScattersIsNot) {
    // Of a project of `hearth new`: it rises within 500 of 5,000 frames.
    constexpr double kFast[] = {0.57, 1.71, 1.85, 1.84, 1.87, 1.91, 1.91, 1.93, 1.97, 1.90,
                                1.91, 1.98, 1.95, 2.06, 1.93, 1.88, 2.00, 1.93, 1.96, 1.89};
    constexpr double kScattered[] = {0.6, 1.2, 0.8, 1.1, 0.7, 1.3, 0.9, 1.2, 0.8, 1.0};
    constexpr double kFalling[] = {3.0, 2.9, 3.1, 2.8, 2.0, 1.5, 1.2, 1.1, 1.0, 1.0};
    const auto answer = [&](const std::string& name, span<const double> returns) {
        double at = 0;
        for (const double value : returns)
            append(name,
                   json{{"at", ++at}, {"episode_return", value}, {"samples", 80}}.dump() + "\n");
        return testing::run("watch " + path(name)).text;
    };
    const std::string fast = answer("fast.jsonl", kFast),
                      scattered = answer("scattered.jsonl", kScattered),
                      falling = answer("falling.jsonl", kFalling);
    EXPECT_NE(fast.find("Is it learning? yes: 0.57 at first, 1.93 now"), std::string::npos) << fast;
    EXPECT_NE(scattered.find("not visibly"), std::string::npos) << scattered;
    EXPECT_NE(falling.find("it gets worse"), std::string::npos) << falling;

    Terminal terminal(path("fast.jsonl"));
    for (const char* fits :
         {"How good? 1.89 reward an episode", "At what cost? 80 decisions", "q quit"})
        EXPECT_TRUE(terminal.shows(fits)) << fits << ": " << terminal.shown();
}

TEST_F(Watch, ObservationsAtTheirLimitsAreNamed) {
    using agents::ObservationAtLimit;
    using agents::ObservationLimit;
    const agents::AgentsStatus status{hearth_agents_status_default()};
    const auto log = [&](double at, const std::vector<ObservationAtLimit>& observations) {
        append("run.jsonl", agents::run_log_sample(status, at, observations));
    };
    log(60, {{"place.x", ObservationLimit::kClamped, 0.5}});
    log(120, {{"place.x", ObservationLimit::kClamped, 0.8},
              {"wolves[2]/place.y", ObservationLimit::kUnresolved, 0.25},
              {"speed", ObservationLimit::kClamped, 0.9}});
    append("run.jsonl", "{\"type\":\"bar\",\"at\":121,\"x\":1}\n");
    const Ran ran = testing::run("watch " + path("run.jsonl"));
    EXPECT_TRUE(ran.says("place.x: 80 % of samples at the limit")) << ran.text;
    EXPECT_TRUE(ran.says("wolves[2]/place.y: 25 % of samples too far away for an f32")) << ran.text;
    EXPECT_FALSE(ran.says("50 %")) << ran.text;
    const json s = summary("run.jsonl");
    EXPECT_EQ(s["metrics"]["at_limit/place.x"]["last"], 0.8);
    EXPECT_EQ(s["metrics"]["unresolved/wolves[2]/place.y"]["last"], 0.25);
    EXPECT_EQ(s["observations"][0], "speed: 90 % of samples at the limit") << "the largest first";
    EXPECT_EQ(s["observations"].size(), 3u);
    EXPECT_EQ(testing::run("watch " + path("run.jsonl") + " --html " + path("run.html")).exit_code,
              0);
    EXPECT_NE(text_of("run.html").find("speed: 90 % of samples at the limit, and 2 more"),
              std::string::npos);
    {
        Terminal terminal(path("run.jsonl"));
        EXPECT_TRUE(terminal.shows("speed: 90 % of samples at the limit, and 2 more"))
            << terminal.shown();
        terminal.type("q");
        EXPECT_EQ(terminal.exit_code(), 0);
    }
    log(180, {});
    EXPECT_TRUE(summary("run.jsonl")["observations"].empty()) << "they are at no limit any more";
}

TEST_F(Watch, SharesThatAreNoneAreNotReported) {
    append("run.jsonl",
           R"({"type":"agents","at":1,"at_limit":{"a":2,"b":-1,"c":null,"d":"0.5","e":[0.5],)"
           R"("\u001b[2J\u202e":0.5},"unresolved":7})"
           "\n");
    const json s = summary("run.jsonl");
    ASSERT_EQ(s["observations"].size(), 1u) << s.dump();
    EXPECT_EQ(s["observations"][0].get<std::string>().find('\x1b'), std::string::npos);
    EXPECT_NE(s["observations"][0].get<std::string>().find("[2J"), std::string::npos);
    std::string many = R"({"type":"agents","at":2,"at_limit":{"x":0.5)";
    for (int i = 0; i < 1000; ++i) many += ",\"y" + std::to_string(i) + "\":0.5";
    append("run.jsonl", many + "}}\n");
    EXPECT_EQ(summary("run.jsonl")["observations"].size(), 256u);
}

TEST_F(Watch, LogsOfVersion01AreReadUnderTheNamesOfToday) {
    for (const char* name : {"agents.jsonl", "train.jsonl"}) {
        const Ran ran =
            testing::run("watch '" HEARTH_LEGACY_DATA "/" + std::string(name) + "' --json");
        ASSERT_EQ(ran.exit_code, 0) << ran.text;
        const json all = json::parse(ran.text, nullptr, false);
        ASSERT_TRUE(all.is_object()) << ran.text;
        const json& metrics = all["files"][0]["metrics"];
        for (const char* now :
             {"episode_return", "ent_coef", "reference_kl", "update_to_weight_ratio",
              "samples_rejected", "gradient_steps", "skipped_non_finite", "publications_rejected"})
            EXPECT_TRUE(metrics.contains(now)) << name << ": " << now;
        for (const char* then :
             {"return", "temperature", "leash", "update_ratio", "samples_refused", "learn_steps",
              "skipped_not_finite", "publications_refused", "learn_us_p95"})
            EXPECT_FALSE(metrics.contains(then)) << name << ": " << then;
        if (std::string_view(name) == "agents.jsonl") {
            EXPECT_TRUE(metrics.contains("minibatch_us_p95"));
            EXPECT_EQ(metrics["gradient_steps"]["last"], 44);
        }
    }
    // A metric of the game's own keeps its name.
    append("run.jsonl", "{\"type\":\"bar\",\"at\":1,\"temperature\":21}\n");
    EXPECT_TRUE(summary("run.jsonl")["metrics"].contains("temperature"));
}

TEST_F(Watch, APngHasAllMetricsInIt) {
    write_run();
    const Ran ran = testing::run("watch " + path("run.jsonl") + " --png " + path("run.png"));
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    const std::string png = text_of("run.png");
    ASSERT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n"));
    const auto word = [&](size_t at) {
        uint32_t value = 0;
        for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png[at + i]);
        return value;
    };
    EXPECT_GE(word(16), 900u) << "two charts side by side, or below one another";
    EXPECT_GE(word(20), 300u);
    // One metric is a smaller picture, and not the same one.
    testing::run("watch " + path("run.jsonl") + " -m reward --png " + path("one.png"));
    EXPECT_LT(text_of("one.png").size(), png.size());
}

TEST_F(Watch, AnHtmlPageHoldsTheCurvesAndLoadsNothing) {
    write_run();
    append("run.jsonl", "{\"at\":50,\"<b>&'\\\"\":1}\n");
    const Ran ran = testing::run("watch " + path("run.jsonl") + " --html " + path("run.html"));
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    const std::string html = text_of("run.html");
    EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
    EXPECT_NE(html.find("hot night"), std::string::npos);
    EXPECT_NE(html.find("&lt;b&gt;&amp;&#39;&quot;"), std::string::npos) << "names are escaped";
    EXPECT_EQ(html.find("<b>"), std::string::npos);
    for (const char* outside : {"http", "src=", "@import", "url(", "fetch("})
        EXPECT_EQ(html.find(outside), std::string::npos) << outside;
    // The straight line of 41 rewards, by its ends: 50 is where the axis ends.
    const size_t at = html.find("points=\"", html.find(">reward<"));
    ASSERT_NE(at, std::string::npos);
    const std::string points = html.substr(at + 8, html.find('"', at + 8) - at - 8);
    EXPECT_EQ(std::count(points.begin(), points.end(), ','), 41);
    double x = 0, y = 0, last_x = 0, last_y = 0;
    ASSERT_EQ(std::sscanf(points.c_str(), "%lf,%lf", &x, &y), 2);
    ASSERT_EQ(std::sscanf(points.c_str() + points.rfind(' ', points.size() - 2), "%lf,%lf", &last_x,
                          &last_y),
              2);
    EXPECT_NEAR(x, 58, 0.01);
    EXPECT_NEAR(last_x, 58 + 410 * 0.8, 0.01);
    EXPECT_GT(y, last_y) << "rewards go up";
}

TEST_F(Watch, WhatCannotBeReadWrittenOrFoundIsNamed) {
    write_run();
    const auto fails = [&](const std::string& arguments, const std::string& why) {
        const Ran ran = testing::run("watch " + arguments + " < /dev/null");
        EXPECT_EQ(ran.exit_code, 1) << arguments;
        EXPECT_TRUE(ran.says(why)) << ran.text;
    };
    fails(path("none.jsonl"), "cannot open");
    fails(root_.string(), "not a regular file");
    fails(path("run.jsonl") + " -m rewrd --png " + path("a.png"),
          "no metric 'rewrd'; there are: reward, ghost/loss");
    fails(path("run.jsonl") + " --png " + path("no/such/folder.png"), "cannot create");
    EXPECT_FALSE(fs::exists(path("a.png")));
}

}  // namespace
}  // namespace hearth
