// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What a player of Ember sees, reads and hears.

#include "ears.hpp"
#include "hands.hpp"
#include "menu.hpp"
#include "palette.hpp"
#include "settings.hpp"
#include "sounds.hpp"
#include "texts.hpp"

#include <hearth/file.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace hearth::ember {
namespace {

using demo::kSampleRate, demo::Mixer, demo::Timbre;

// --- Texts ---------------------------------------------------------------------------------------

std::string source(const std::string& name) {
    const auto bytes = read_whole_file(std::string(EMBER_SOURCES) + "/" + name);
    EXPECT_TRUE(bytes.ok()) << bytes.status().message();
    if (!bytes.ok()) return {};
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

/// All literals of a source file, without its comments and includes.
std::vector<std::string> literals(const std::string& text) {
    std::vector<std::string> all;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text.compare(at, 2, "//") == 0 || text.compare(at, 8, "#include") == 0) {
            at = std::min(text.find('\n', at), text.size());
            continue;
        }
        if (text[at] == '\'') {
            at = text.find('\'', at + (text[at + 1] == '\\' ? 3 : 2));
            continue;
        }
        if (text[at] != '"') continue;
        std::string literal;
        for (++at; at < text.size() && text[at] != '"'; ++at) {
            if (text[at] == '\\') ++at;
            literal += text[at];
        }
        all.push_back(literal);
    }
    return all;
}

TEST(EmberTexts, SpeakOfMachineLearningOnlyUnderTheHood) {
    const std::string text = source("texts.hpp");
    const size_t begin = text.find("namespace hood {"), end = text.find("}  // namespace hood");
    ASSERT_LT(begin, end);
    ASSERT_NE(end, std::string::npos);
    const std::vector<std::string> told = literals(text.substr(0, begin) + text.substr(end));
    ASSERT_GT(told.size(), 80u);
    const std::set<std::string> words = {"ai",
                                         "agent",
                                         "agents",
                                         "algorithm",
                                         "artificial",
                                         "backpropagation",
                                         "batch",
                                         "bias",
                                         "classifier",
                                         "cloning",
                                         "dataset",
                                         "entropy",
                                         "episode",
                                         "epoch",
                                         "gpu",
                                         "gradient",
                                         "gradients",
                                         "inference",
                                         "kl",
                                         "layer",
                                         "layers",
                                         "loss",
                                         "machine",
                                         "minibatch",
                                         "model",
                                         "models",
                                         "network",
                                         "networks",
                                         "neural",
                                         "neuron",
                                         "optimizer",
                                         "parameter",
                                         "parameters",
                                         "policy",
                                         "ppo",
                                         "regression",
                                         "reinforcement",
                                         "reward",
                                         "rewards",
                                         "sample",
                                         "samples",
                                         "session",
                                         "tamer",
                                         "tensor",
                                         "train",
                                         "trained",
                                         "training",
                                         "value",
                                         "variance",
                                         "weight",
                                         "weights"};
    for (const std::string& sentence : told) {
        std::string word;
        for (const char c : sentence + " ") {
            const auto byte = static_cast<unsigned char>(c);
            if (std::isalpha(byte) != 0) {
                word += static_cast<char>(std::tolower(byte));
                continue;
            }
            EXPECT_EQ(words.count(word), 0u) << word << " in: " << sentence;
            word.clear();
        }
    }
    // They are there under the hood, so the test finds such words.
    EXPECT_NE(text.substr(begin, end - begin).find("gradient"), std::string::npos);
}

TEST(EmberTexts, AreAllInOneFile) {
    for (const char* file : {"menu.cpp", "card_view.cpp", "hood.cpp", "screen.cpp", "card.cpp"})
        for (const std::string& literal : literals(source(file))) {
            const bool is_id = literal.find("##") != std::string::npos;
            const auto letters = std::ranges::count_if(
                literal, [](unsigned char c) { return std::isalpha(c) != 0; });
            // Formats such as "{:.0f} %" have letters, too.
            EXPECT_TRUE(is_id || letters <= 2) << file << ": " << literal;
        }
}

// --- Settings ------------------------------------------------------------------------------------

TEST(EmberSettings, AreReadAsTheyWereWritten) {
    const Settings settings{.volume = 0.25f,
                            .text_size = 1.5f,
                            .has_distinct_colours = true,
                            .is_full_screen = true,
                            .eagerness = Eagerness::kEagerly,
                            .last = "Ash 2"};
    const auto read = settings_of(to_text(settings));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*read, settings);
}

TEST(EmberSettings, OfLaterVersionsAreSkipped) {
    const auto read = settings_of("# a remark\n\nvolume=0.5\r\nweather = rain\n");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->volume, 0.5f);
}

TEST(EmberSettings, ThatAreWrongAreRefusedByLine) {
    for (const char* line :
         {"volume = loud", "volume = nan", "volume = 1.5", "volume =", "text_size = 99",
          "full_screen = 1", "learns = madly", "last = ../../etc/passwd", "nothing"}) {
        const auto read = settings_of(std::string("volume = 1\n") + line + "\n");
        ASSERT_FALSE(read.ok()) << line;
        EXPECT_NE(read.status().message().find("line 2"), std::string::npos)
            << read.status().message();
    }
    EXPECT_FALSE(settings_of(std::string(1 << 20, 'a')).ok());
}

TEST(EmberSettings, AFileThatIsMissingGivesDefaults) {
    const auto read = load_settings("/nowhere/at/all");
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, Settings());
}

// --- Windows -------------------------------------------------------------------------------------

/// Clicks at all places of a window, and returns what was ordered.
std::set<Order> orders(MenuState state, Settings settings) {
    const auto ui = demo::Ui::create(1);
    constexpr VkExtent2D kExtent = {1280, 720};
    std::set<Order> all;
    const auto draw = [&](glm::vec2 mouse, bool is_down) {
        demo::Input input;
        input.mouse = mouse, input.is_mouse_down = is_down;
        ui->begin(kExtent, 1.0f / 60, input);
        Settings changed = settings;
        const MenuAnswer answer = draw_menu(state, changed, *ui, kExtent);
        ui->end();
        if (answer.order != Order::kNone) all.insert(answer.order);
    };
    for (int i = 0; i < 3; ++i) draw({-1, -1}, false);  // finds its size
    for (const float x : {400.0f, 1100.0f})
        for (float y = 4; y < 720; y += 12)
            for (const bool is_down : {false, true, false}) draw({x, y}, is_down);
    return all;
}

TEST(EmberMenu, EachButtonCanBeClicked) {
    const Resident ash{.name = "Ash", .seconds = 90}, sol{.name = "Sol", .seconds = 9000};
    const MenuState start{.screen = Screen::kStart, .residents = {ash, sol}};
    EXPECT_EQ(orders(start, {.last = "Sol"}),
              (std::set{Order::kWake, Order::kName, Order::kSettings, Order::kQuit}));
    EXPECT_EQ(orders({.screen = Screen::kName, .name = "Ash"}, {}),
              (std::set{Order::kHatch, Order::kSurprise, Order::kBack}));
    EXPECT_EQ(orders({.screen = Screen::kName, .name = ""}, {}),
              (std::set{Order::kSurprise, Order::kBack}));
    EXPECT_EQ(orders({.screen = Screen::kSettings}, {}), (std::set{Order::kBack}));
    EXPECT_EQ(
        orders({.screen = Screen::kPause}, {}),
        (std::set{Order::kResume, Order::kCard, Order::kSettings, Order::kStart, Order::kQuit}));
    EXPECT_EQ(orders({.screen = Screen::kCard}, {}), (std::set{Order::kExport, Order::kResume}));
    EXPECT_TRUE(orders({.screen = Screen::kPlay}, {}).empty());
}

TEST(EmberMenu, TypedNamesAreNames) {
    demo::Input input;
    input.text = " A/sh\xc3\xbc-2";
    EXPECT_EQ(typed("", input), "Ash-2");
    input = {};
    input.pressed = {"backspace", "a", "backspace"};
    EXPECT_EQ(typed("Ash", input), "A");
    EXPECT_EQ(typed("", input), "");
    input.text = std::string(100, 'a');
    EXPECT_TRUE(check_name(typed("", input)).ok());
}

// --- Colours -------------------------------------------------------------------------------------

using Lab = std::array<float, 3>;

/// As eyes without one kind of cones see it: Machado, Oliveira and Fernandes, "A Physiologically-based
/// Model for Simulation of Color Vision Deficiency", 2009, severity 1.
constexpr float kEyes[4][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                  {{0.152286f, 1.052583f, -0.204868f},
                                   {0.114503f, 0.786281f, 0.099216f},
                                   {-0.003882f, -0.048116f, 1.051998f}},
                                  {{0.367322f, 0.860646f, -0.227968f},
                                   {0.280085f, 0.672501f, 0.047413f},
                                   {-0.011820f, 0.042940f, 0.968881f}},
                                  {{1.255528f, -0.076749f, -0.178779f},
                                   {-0.078411f, 0.930809f, 0.147602f},
                                   {0.004733f, 0.691367f, 0.303900f}}};

Lab seen(demo::Color color, const float (&eyes)[3][3]) {
    const auto linear = [](float c) {
        return c <= 0.04045f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f);
    };
    const std::array<float, 3> in = {linear(color.r), linear(color.g), linear(color.b)};
    std::array<float, 3> rgb{};
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) rgb[i] += eyes[i][j] * in[j];
        rgb[i] = std::clamp(rgb[i], 0.0f, 1.0f);
    }
    const auto f = [](float t) { return t > 0.008856f ? std::cbrt(t) : 7.787f * t + 16 / 116.0f; };
    const float x = f((0.4124f * rgb[0] + 0.3576f * rgb[1] + 0.1805f * rgb[2]) / 0.9505f);
    const float y = f(0.2126f * rgb[0] + 0.7152f * rgb[1] + 0.0722f * rgb[2]);
    const float z = f((0.0193f * rgb[0] + 0.1192f * rgb[1] + 0.9505f * rgb[2]) / 1.089f);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

/// The least difference (CIE 1976) of two things, and of a thing from a ground, by day.
float least_difference(const Palette& palette) {
    const std::array things = {palette.coat.day, palette.berry.day, palette.leaf.day,
                               palette.cap.day,  palette.shell.day, palette.spike.day};
    float least = 1000;
    for (const auto& eyes : kEyes) {
        const auto compare = [&](demo::Color a, demo::Color b) {
            const Lab one = seen(a, eyes), two = seen(b, eyes);
            least = std::min(least, std::hypot(one[0] - two[0], one[1] - two[1], one[2] - two[2]));
        };
        for (size_t i = 0; i < things.size(); ++i) {
            for (size_t j = 0; j < i; ++j) compare(things[i], things[j]);
            for (const Tint& ground : palette.ground) compare(things[i], ground.day);
        }
    }
    return least;
}

TEST(EmberPalette, DistinctColoursStayApartForAllEyes) {
    EXPECT_GT(least_difference(palette_of(true)), 15);
    EXPECT_LT(least_difference(palette_of(false)), 10);  // what it is for
}

// --- Sounds --------------------------------------------------------------------------------------

/// All notes of the game.
std::vector<Note> all_notes() {
    std::vector<Note> all;
    const auto add = [&](const std::vector<Note>& notes) {
        EXPECT_FALSE(notes.empty());
        all.insert(all.end(), notes.begin(), notes.end());
    };
    for (size_t i = 0; i < kThingCount; ++i) {
        add(thing_note(static_cast<Thing>(i)));
        for (const float mood : {-1.0f, 0.0f, 1.0f}) add(word_of(static_cast<Thing>(i), mood));
    }
    for (const float feeling : {-1.0f, -0.2f, 0.0f, 1.0f}) add(cry_of(feeling));
    for (uint64_t seed = 1; seed < 20; ++seed) add(song_of(seed, 0.5f));
    for (const bool is : {false, true}) add(hour_notes(is)), add(step_note(is));
    add(button_note());
    return all;
}

TEST(EmberSounds, NotesAreFiniteInRangeAndBeginAndEndWithoutAClick) {
    for (const Note& note : all_notes()) {
        const auto count = static_cast<int>(note.seconds * kSampleRate);
        float loudest = 0;
        for (int i = 0; i <= count; ++i) {
            const float sample = sample_of(note, static_cast<double>(i) / kSampleRate);
            ASSERT_TRUE(std::isfinite(sample));
            ASSERT_LE(std::abs(sample), 1);
            loudest = std::max(loudest, std::abs(sample));
        }
        EXPECT_GT(loudest, 0.02f) << "of " << note.hertz << " Hz";
        for (const int i : {0, 1, count - 1, count}) {
            const double seconds = static_cast<double>(i) / kSampleRate;
            EXPECT_LT(std::abs(sample_of(note, seconds)), 0.02f) << "of " << note.hertz << " Hz";
        }
        EXPECT_EQ(sample_of(note, -0.01), 0);
        EXPECT_EQ(sample_of(note, double{note.seconds} + 0.01), 0);
    }
}

TEST(EmberSounds, TheAirIsFiniteSoftAndDiffersByHourAndPlace) {
    const auto loudness = [](const Air& air) {
        double sum = 0;
        for (int i = 0; i < 10 * kSampleRate; ++i) {
            const float sample = sample_of(air, 100 + static_cast<double>(i) / kSampleRate);
            EXPECT_TRUE(std::isfinite(sample) && std::abs(sample) < 0.3f);
            sum += double{sample} * double{sample};
        }
        return std::sqrt(sum / (10 * kSampleRate));
    };
    const double meadow = loudness({1, 0, 0}), shore = loudness({1, 0, 1});
    EXPECT_GT(meadow, 0.001);
    EXPECT_GT(shore, 1.5 * meadow);
    EXPECT_NE(meadow, loudness({0, 0, 0}));
}

TEST(EmberSounds, EqualInputsSoundEqually) {
    AirSound airs[2];
    Mixer a([&](double seconds) { return airs[0].sample(seconds); });
    Mixer b([&](double seconds) { return airs[1].sample(seconds); });
    std::vector<float> one(5000), two(5000);
    for (Mixer* mixer : {&a, &b}) mixer->play(song_of(3, 0));
    for (AirSound& air : airs) air.set({0.5f, 1, 1});
    a.render(one);
    b.render(std::span(two).first(1234));  // in pieces as a device asks for them
    b.render(std::span(two).subspan(1234));
    EXPECT_EQ(one, two);
}

TEST(EmberSounds, AMixOfEverythingStaysInRangeAndEnds) {
    Mixer mixer;
    for (int i = 0; i < 5; ++i) mixer.play(all_notes());
    EXPECT_LE(mixer.playing(), Mixer::kMostNotes);
    std::vector<float> samples(10 * kSampleRate);
    mixer.render(samples);
    float last = 0, steepest = 0;
    for (const float sample : samples) {
        ASSERT_TRUE(std::isfinite(sample));
        ASSERT_LE(std::abs(sample), 1);
        steepest = std::max(steepest, std::abs(sample - std::exchange(last, sample)));
    }
    EXPECT_LT(steepest, 0.9f);
    EXPECT_EQ(mixer.playing(), 0u);
}

TEST(EmberSounds, VolumeNothingIsSilence) {
    Mixer mixer;
    mixer.set_volume(0);
    std::vector<float> samples(kSampleRate);
    mixer.render(samples);  // fades
    mixer.play(hour_notes(true));
    mixer.render(samples);
    EXPECT_TRUE(std::ranges::all_of(samples, [](float sample) { return sample == 0; }));
}

TEST(EmberEars, HearAThingThatIsReachedAndAWordThatIsSaid) {
    World world(3);
    Ears ears;
    const auto hear = [&](std::optional<Thing> word = {}) {
        return ears.hear({.world = world, .word = word}).size();
    };
    EXPECT_EQ(hear(), 0u);
    world.begin(visit(Thing::kThistle));
    hear();
    world.finish_led(visit(Thing::kThistle), world.doing().item);
    EXPECT_EQ(hear(), thing_note(Thing::kThistle).size());
    EXPECT_EQ(hear(), 0u);
    EXPECT_EQ(hear(Thing::kShell), word_of(Thing::kShell, 0).size());
    EXPECT_EQ(hear(Thing::kShell), 0u);
    EXPECT_EQ(ears.hear({.world = world, .voice = -1, .word = Thing::kShell}).size(),
              cry_of(-1).size());
}

TEST(EmberEars, HearFeetThatWalkAndTheEndOfTheDay) {
    WorldState state = World(3).state();
    state.frame = static_cast<uint64_t>(0.5f * kDaySeconds * kFramesPerSecond) - 120;
    World world(state);
    Ears ears;
    size_t steps = 0, others = 0;
    for (int i = 0; i < 240; ++i) {
        world.step({0, 1}, true);
        for (const Note& note : ears.hear({.world = world}))
            ++(note.timbre == Timbre::kThud ? steps : others);
    }
    EXPECT_GT(steps, 5u);
    EXPECT_LT(steps, 20u);
    EXPECT_EQ(others, hour_notes(false).size());
}

}  // namespace
}  // namespace hearth::ember
