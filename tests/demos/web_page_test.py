#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The page of demos/web in a headless Chromium: drawn on, clicked, asked.  `./dev web test` runs it.

web_page_test.py PAGE BIN [UNITTEST ARGUMENTS]
  PAGE  the folder that `./dev web` made; pictures of the page are left beside it
  BIN   where web_digits is
"""

import base64
import http.server
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
import zlib

PAGE = pathlib.Path(sys.argv[1]).resolve()
BIN = pathlib.Path(sys.argv[2]).resolve()
CASES = pathlib.Path(os.environ.get("HEARTH_CASES", "/nowhere"))


class Browser:
    """A browser behind chromedriver (https://www.w3.org/TR/webdriver2)."""

    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = line.split("port ")[1].strip().rstrip(".")
                break
        self.address = f"http://127.0.0.1:{port}/session"
        threading.Thread(target=self.driver.stdout.read, daemon=True).start()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1240,1000", "--hide-scrollbars",
                     "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]  # there is no GPU
        session = self.ask("POST", "", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.address += "/" + session["sessionId"]
        self.ask("POST", "/timeouts", {"script": 120000})

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=150) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def run(self, script, *arguments):
        """The body of a function of the page; what it returns may be a promise."""
        script = f"return (async (...arguments_) => {{ {script.replace('arguments[', 'arguments_[')} }})(...arguments)"
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def element(self, selector):
        return next(iter(self.ask("POST", "/element", {"using": "css selector", "value": selector}).values()))

    def click(self, selector):
        self.ask("POST", f"/element/{self.element(selector)}/click", {})

    def text(self, selector):
        return self.ask("GET", f"/element/{self.element(selector)}/text")

    def give_file(self, selector, path):
        self.ask("POST", f"/element/{self.element(selector)}/value", {"text": str(path)})

    def draw(self, selector, strokes):
        """Strokes of points in [0, 1], with the mouse."""
        box = self.run("const b = document.querySelector(arguments[0]); b.scrollIntoView({block: 'center'});"
                       "const r = b.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]", selector)
        actions = []
        for stroke in strokes:
            for i, (x, y) in enumerate(stroke):
                actions.append({"type": "pointerMove", "duration": 0, "x": round(box[0] + x * box[2]),
                                "y": round(box[1] + y * box[3])})
                if i == 0:
                    actions.append({"type": "pointerDown", "button": 0})
            actions.append({"type": "pointerUp", "button": 0})
        self.ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions,
                                                   "parameters": {"pointerType": "mouse"}}]})

    def hold_key(self, key, seconds):
        for kind in ("keyDown", "keyUp"):
            self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys",
                                                       "actions": [{"type": kind, "value": key}]}]})
            if kind == "keyDown":
                time.sleep(seconds)

    def picture_of(self, selector, path):
        self.run("document.querySelector(arguments[0]).scrollIntoView()", selector)
        png = self.ask("GET", f"/element/{self.element(selector)}/screenshot")
        pathlib.Path(path).write_bytes(base64.b64decode(png))

    def complaints(self):
        """What the console says, but for files that the page can do without."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})
                if entry["level"] == "SEVERE" and " 404 " not in entry["message"]]

    def close(self):
        self.ask("DELETE", "")
        self.driver.terminate()
        self.driver.wait()


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def onnx_floats(path):
    """The raw data of an ONNX TensorProto, its field 9, as a base64 text."""
    data, at = path.read_bytes(), 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        field, kind = divmod(number(), 8)
        if kind == 2:
            size = number()
            if field == 9:
                return base64.b64encode(data[at:at + size]).decode()
            at += size
        else:
            number()
    raise AssertionError(f"{path} has no raw data")


def circle(x, y, rx, ry, first=-math.pi / 2, turn=2 * math.pi):
    return [(x + rx * math.cos(first + turn * i / 24), y + ry * math.sin(first + turn * i / 24)) for i in range(25)]


def line(*corners):
    return [(a[0] + (b[0] - a[0]) * t / 6, a[1] + (b[1] - a[1]) * t / 6)
            for a, b in zip(corners, corners[1:]) for t in range(7)]


ZERO = [circle(0.5, 0.5, 0.2, 0.32)]
ONE = [line((0.42, 0.25), (0.54, 0.15), (0.54, 0.85))]
FOUR = [line((0.6, 0.85), (0.6, 0.15), (0.25, 0.62), (0.78, 0.62))]
SEVEN = [line((0.25, 0.17), (0.75, 0.17), (0.42, 0.85))]
# Doodles of a hand that the network does not know.
HOUSE = [line((0.25, 0.45), (0.25, 0.85), (0.75, 0.85), (0.75, 0.45), (0.25, 0.45), (0.5, 0.15), (0.75, 0.45)),
         line((0.45, 0.85), (0.45, 0.65), (0.58, 0.65), (0.58, 0.85))]
SUN = [circle(0.5, 0.5, 0.18, 0.18)] + [
    line(*((0.5 + r * math.cos(a), 0.5 + r * math.sin(a)) for r in (0.24, 0.4)))
    for a in (math.pi * i / 4 for i in range(8))]
BOAT = [line((0.15, 0.65), (0.3, 0.85), (0.7, 0.85), (0.85, 0.65), (0.15, 0.65)),
        line((0.5, 0.65), (0.5, 0.12), (0.8, 0.58), (0.5, 0.58))]
FISH = [circle(0.42, 0.5, 0.27, 0.17), line((0.69, 0.5), (0.9, 0.36), (0.9, 0.64), (0.69, 0.5)),
        circle(0.27, 0.46, 0.02, 0.02)]
STAR = [line(*((0.5 + 0.4 * math.sin(4 * math.pi * i / 5), 0.52 - 0.4 * math.cos(4 * math.pi * i / 5)) for i in range(6)))]
CAT = [circle(0.5, 0.57, 0.3, 0.27), line((0.24, 0.43), (0.23, 0.14), (0.42, 0.32)),
       line((0.58, 0.32), (0.77, 0.14), (0.76, 0.43)), circle(0.4, 0.52, 0.025, 0.03), circle(0.6, 0.52, 0.025, 0.03),
       line((0.4, 0.64), (0.12, 0.6)), line((0.6, 0.64), (0.88, 0.6))]
TREE = [circle(0.5, 0.35, 0.27, 0.25), line((0.45, 0.59), (0.45, 0.92), (0.55, 0.92), (0.55, 0.59))]
CUP = [line((0.25, 0.3), (0.3, 0.8), (0.6, 0.8), (0.65, 0.3), (0.25, 0.3)),
       circle(0.65, 0.5, 0.15, 0.12, -math.pi / 2, math.pi)]
# A zero with a bar: which digit it is, only whoever drew it can say.
CROSSED = [circle(0.5, 0.5, 0.22, 0.32), line((0.2, 0.78), (0.8, 0.22))]


class WebPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), lambda *a, **k: Files(*a, directory=str(PAGE), **k))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.server = server
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="hearth_web_"))
        cls.browser = Browser()
        cls.pictures = PAGE.parent / "web_pictures"
        cls.pictures.mkdir(exist_ok=True)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.server.shutdown()
        shutil.rmtree(cls.work)

    def setUp(self):
        self.browser.ask("POST", "/url", {"url": f"http://127.0.0.1:{self.server.server_port}/index.html"})
        for _ in range(200):
            states = self.browser.run("return ['digits', 'doodles', 'ember', 'ghost', 'pictures']"
                                      ".map((id) => document.getElementById(id).dataset.state)")
            if all(states):
                break
            time.sleep(0.05)
        self.assertEqual(states[:4], ["ready"] * 4,
                         self.browser.text("#digits-message") + self.browser.text("#doodles-message"))

    def wait_for(self, selector, pattern, seconds=60):
        end = time.monotonic() + seconds
        while not re.search(pattern, self.browser.text(selector)) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertRegex(self.browser.text(selector), pattern)

    def need_squeezenet(self):
        if not (PAGE / "pictures.wasm").exists():
            self.skipTest("the page was built without SqueezeNet: HEARTH_CASES names no folder with "
                          "nets/squeezenet1_1/model.onnx")

    def test_it_reads_digits_that_are_drawn(self):
        for digit, strokes in {0: ZERO, 1: ONE, 4: FOUR, 7: SEVEN}.items():
            self.browser.click("#digits-clear")
            self.browser.draw("#drawing", strokes)
            self.assertRegex(self.browser.text("#digits-answer"), rf"(a|Perhaps a) {digit} ")
        self.assertGreaterEqual(float(self.browser.text("#digits-accuracy").split()[0]), 97.5)
        self.browser.picture_of("#digits", self.pictures / "digits.png")

    def test_it_learns_from_a_correction_and_forgets_nothing(self):
        self.browser.draw("#drawing", CROSSED)
        before = self.browser.text("#digits-answer")
        self.assertNotRegex(before, r"a 5 ")
        self.browser.click("#digits-labels button:nth-child(6)")
        self.wait_for("#digits-message", r"^Learned in \d+ steps: a 5 with \d+ % before, \d+ % now")
        self.assertRegex(self.browser.text("#digits-answer"), r"It is a 5 ")
        # Drawn again, a little otherwise, it is a 5 still; and what it knew it knows.
        self.browser.click("#digits-clear")
        self.browser.draw("#drawing", [circle(0.49, 0.5, 0.23, 0.32), line((0.2, 0.79), (0.8, 0.23))])
        self.assertRegex(self.browser.text("#digits-answer"), r"a 5 ")
        self.assertGreaterEqual(float(self.browser.text("#digits-accuracy").split()[0]), 96.0)
        self.browser.picture_of("#digits", self.pictures / "corrected.png")

    def test_it_learns_from_nothing_in_the_page(self):
        self.browser.click("#digits-forget")
        self.assertLess(float(self.browser.text("#digits-accuracy").split()[0]), 40)
        self.browser.click("#digits-train")
        self.wait_for("#digits-message", "^Learned from")
        self.assertGreaterEqual(float(self.browser.text("#digits-accuracy").split()[0]), 95)

    def test_it_names_doodles_that_are_drawn(self):
        drawn = {"house": HOUSE, "sun": SUN, "boat": BOAT, "fish": FISH, "star": STAR, "cat": CAT, "tree": TREE, "cup": CUP}
        for name, strokes in drawn.items():
            self.browser.click("#doodles-clear")
            self.browser.draw("#doodle", strokes)
            self.assertRegex(self.browser.text("#doodles-answer"), rf"a {name} ")
        self.browser.picture_of("#doodles", self.pictures / "doodles.png")
        self.assertGreaterEqual(self.browser.run("return page.doodles.accuracy()"), 0.97)
        for _ in range(5):
            self.browser.click("#doodles-example")
            self.assertRegex(self.browser.text("#doodles-answer"), r"^(It is|Perhaps) a ")

    def test_doodles_are_learned_from_a_correction(self):
        # A square is none of the ten; whoever draws it may call it a heart.
        self.browser.draw("#doodle", [line((0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75), (0.25, 0.25))])
        self.assertNotRegex(self.browser.text("#doodles-answer"), r"It is a heart ")
        self.browser.click("#doodles-labels button:nth-child(6)")
        self.wait_for("#doodles-message", r"^Learned in \d+ steps: a heart with \d+ % before, \d+ % now")
        self.assertRegex(self.browser.text("#doodles-answer"), r"It is a heart ")
        self.assertGreaterEqual(self.browser.run("return page.doodles.accuracy()"), 0.95)
        brain = self.browser.run(
            "return btoa(Array.from(page.doodles.module.saveBrain(), (b) => String.fromCharCode(b)).join(''))")
        (self.work / "doodles.brain").write_bytes(base64.b64decode(brain))
        self.browser.run("page.doodles.module.call('forget')")
        self.browser.give_file("#doodles-load", self.work / "doodles.brain")
        self.wait_for("#doodles-message", r"^It goes on from doodles\.brain")
        self.assertRegex(self.browser.text("#doodles-answer"), r"It is a heart ")

    def brain(self):
        return base64.b64decode(self.browser.run(
            "return btoa(Array.from(page.digits.module.saveBrain(), (b) => String.fromCharCode(b)).join(''))"))

    def native_losses(self, device, steps, brain):
        done = subprocess.run([BIN / "web_digits", "learn", device, PAGE / "digits.bin", str(steps), brain],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [float(word) for word in done.stdout.split()]

    def test_a_brain_goes_on_natively_and_on_vulkan_and_comes_back(self):
        self.browser.run("page.digits.learnKnown(3)")
        start = self.brain()
        here = self.browser.run("return page.digits.learnKnown(5)")
        for device in ("c", "gpu"):
            brain = self.work / f"{device}.brain"
            brain.write_bytes(start)
            there = self.native_losses(device, 2, brain)
            for a, b in zip(there, here):
                self.assertAlmostEqual(a, b, delta=1e-4 * max(abs(b), 0.1), msg=device)
            # Back in the page: it takes the next steps as if it had never been away.
            self.browser.give_file("#digits-load", brain)
            self.wait_for("#digits-message", f"^It goes on from {device}.brain.$")
            if device == "c":
                self.assertEqual(self.brain(), brain.read_bytes())
            back = self.browser.run("return page.digits.learnKnown(2)")
            also = self.native_losses("c", 2, brain)
            for a, b in zip(back, also):
                self.assertAlmostEqual(a, b, delta=1e-4 * max(abs(b), 0.1), msg=device)

    def ghosts_brain(self):
        return base64.b64decode(self.browser.run(
            "return btoa(Array.from(page.ghost.module.saveBrain(), (b) => String.fromCharCode(b)).join(''))"))

    def race(self, brain, device, frames, learn):
        """The game goes on with this brain and saves it; what it printed, and whether the ghost drove as taught."""
        done = subprocess.run(
            [BIN / "ghost_lap", "--headless", "--turbo", "--driver", "smooth", "--draw-every", "100000",
             "--screenshots", self.work, "--device", device, "--frames", str(frames), "--learn", learn,
             "--load", brain, "--save", brain], capture_output=True, text=True)
        self.assertIn("weights hash: ", done.stdout, done.stderr)
        return done.stdout, done.returncode == 0

    def changed(self, a, b):
        """The tensors in which brains differ.  The page's have none of agents' notes behind them."""
        done = subprocess.run([BIN / "hearth", "brain", "diff", a, b, "--json"], capture_output=True, text=True)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return [tensor["name"] for tensor in json.loads(done.stdout)["tensors"] if tensor["difference"] != "equal"]

    def test_a_ghost_of_the_page_races_on_in_the_game_and_comes_back(self):
        self.browser.run("page.ghost.isPaused = true; page.ghost.begin(true); page.ghost.run(4800)")
        first, brain, back = (self.work / f"{name}.brain" for name in ("first", "ghost", "back"))
        first.write_bytes(self.ghosts_brain())
        # What it learned here it drives there: three laps as its driver's, without another step of learning.
        shutil.copy(first, brain)
        printed, drives_as_taught = self.race(brain, "cpu", 6000, "off")
        self.assertTrue(drives_as_taught, printed)
        for device in ("cpu", "0"):
            shutil.copy(first, brain)
            printed, _ = self.race(brain, device, 600, "on")
            self.assertIn("actor.0.weight", self.changed(first, brain), printed)
            self.browser.give_file("#ghost-load", brain)
            self.wait_for("#ghost-message", "^It goes on from ghost.brain.$")
            back.write_bytes(self.ghosts_brain())
            self.assertEqual(self.changed(brain, back), [], device)
            self.browser.run("page.ghost.run(60)")

    def test_a_broken_brain_is_a_sentence_and_changes_nothing(self):
        brain = self.brain()
        other = self.browser.run(
            "return btoa(Array.from(page.ghost.module.saveBrain(), (b) => String.fromCharCode(b)).join(''))")
        damaged = bytearray(brain)
        damaged[len(damaged) // 2] ^= 1
        for name, content, sentence in (
                ("damaged", bytes(damaged), "the brain's checksum does not match"),
                ("short", brain[:100], "the brain has 100 bytes, its header says"),
                ("ghost", base64.b64decode(other), "the brain has no 'bn.bias'|the network has no"),
                ("text", b"no brain at all " * 40, "brain"),
                ("empty", b"", "the file has 0 bytes"),
                ("large", bytes(10 ** 6), "the file has 1,000,000 bytes, a brain of this network at most")):
            path = self.work / f"{name}.brain"
            path.write_bytes(content)
            self.browser.give_file("#digits-load", path)
            self.wait_for("#digits-message", f"^{name}.brain was not loaded: .*({sentence})")
            self.assertEqual(self.brain(), brain)

    def card(self):
        """A card as the game writes it: a picture with a creature that has lived for a minute in a chunk of its own."""
        if not (BIN / "ember").exists():
            self.skipTest("the game is not built: ./dev web test builds it")
        nest = self.work / "nest"
        if not (nest / "Ash.ember").exists():
            subprocess.run([BIN / "ember", "--headless", "--turbo", "--frames", "3600", "--draw-every", "100000",
                            "--name", "Ash", "--nest", nest, "--screenshots", self.work / "ember"],
                           stdout=subprocess.DEVNULL, check=True)
        creature = (nest / "Ash.ember").read_bytes()
        picture = (self.work / "ember" / "1_hatched.png").read_bytes()
        chunk = b"emBr" + creature
        end = picture.rindex(b"IEND") - 4
        return (picture[:end] + struct.pack(">I", len(creature)) + chunk + struct.pack(">I", zlib.crc32(chunk)) +
                picture[end:]), picture

    def test_a_creature_of_the_game_is_met_by_its_card(self):
        card, picture = self.card()
        path = self.work / "ash.png"
        path.write_bytes(card)
        self.browser.give_file("#ember-load", path)
        self.wait_for("#ember-message", "^Drop this card onto the game")
        self.assertEqual(self.browser.text("#ember-answer"), "Ash")
        self.assertEqual(self.browser.text("#ember-age"), "1 min")
        self.assertEqual(self.browser.text("#ember-days"), "1")
        goals = self.browser.text("#ember-goals").splitlines()
        self.assertEqual(len(goals), 11)
        self.assertRegex(self.browser.text("#ember-brain"), "^8[0-9] kB$")
        time.sleep(0.3)  # the picture
        self.browser.picture_of("#ember", self.pictures / "ember.png")
        damaged = bytearray(card)
        damaged[card.index(b"emBr") + 20_000] ^= 4
        for name, content, sentence in (("damaged", bytes(damaged), "a checksum does not match"),
                                        ("cut", card[:-20_000], "cut off"),
                                        ("plain", picture, "no creature in this picture"),
                                        ("text", b"no picture", "no PNG")):
            path = self.work / f"{name}.png"
            path.write_bytes(content)
            self.browser.give_file("#ember-load", path)
            self.wait_for("#ember-message", f"^Nobody is met: .*{sentence}")
        self.assertEqual(self.browser.text("#ember-answer"), "Ash")

    def test_the_ghost_learns_to_drive_in_the_page(self):
        self.browser.run("document.getElementById('ghost').scrollIntoView()")
        # 110 seconds of the race, at once.
        laps = self.browser.run("""
            const ghost = page.ghost;
            ghost.isPaused = true;
            ghost.begin(true);
            ghost.run(6600);
            ghost.draw();
            const { player, ghost: car, error } = ghost.view;
            return { laps: car.laps, best: car.best, last: car.last, player: player.best, error, ms: ghost.frameMs };""")
        self.assertGreaterEqual(laps["laps"], 3, laps)
        self.assertLess(abs(laps["last"] - laps["player"]), 0.1 * laps["player"], laps)
        self.assertLess(laps["error"], 0.25, laps)
        print(f"\n  the ghost: {laps['laps']:.0f} laps, the best in {laps['best']:.2f} s, the driver's in "
              f"{laps['player']:.2f} s; a frame with its step of learning takes {laps['ms']:.2f} ms")
        self.browser.picture_of("#ghost", self.pictures / "ghost.png")

    def test_a_person_drives_with_the_keys(self):
        self.browser.run("document.getElementById('track').scrollIntoView({block: 'center'}); page.ghost.begin(true);")
        self.browser.click("#track")
        self.browser.hold_key("\ue013", 0.8)  # up
        speed = self.browser.run("return page.ghost.view.player.speed")
        self.assertEqual(self.browser.text("#ghost-drivers button.on"), "you")
        self.assertGreater(speed, 12)  # it rolls at 10

    def need_webgpu(self):
        if not self.browser.run("return navigator.gpu?.requestAdapter().then((adapter) => adapter !== null)"):
            self.skipTest("this Chromium offers no WebGPU adapter, not even SwiftShader")

    def test_the_digits_net_reads_and_learns_on_webgpu(self):
        self.need_webgpu()
        found = self.browser.run("return page.digits.compareWithGpu(3)")
        self.assertLess(found["apart"], 2e-5)
        for here, there in found["losses"]:
            self.assertAlmostEqual(here, there, delta=1e-4 * max(abs(here), 0.1))
        self.assertNotEqual(found["losses"][0], found["losses"][1])

    def test_the_ghosts_policy_learns_on_webgpu(self):
        if os.environ.get("HEARTH_TEST_EVERY") != "1":
            self.skipTest("SwiftShader compiles its 75 steps for half a minute: ./dev web test has it")
        self.need_webgpu()
        found = self.browser.run("""
            const ghost = page.ghost, { GpuNetwork } = await import("./webgpu.js");
            const plan = await (await fetch("ghost.wgsl.json")).json();
            ghost.isPaused = true;
            ghost.begin(true);
            ghost.run(900);
            const own = () => ghost.module.bytes(ghost.module.exports.weights(), plan.weights_bytes).slice();
            const gpu = await GpuNetwork.open(plan, own(), ["learn"]);
            // A frame in which nobody demonstrates anything, both here and there.
            while (ghost.frames % 3 !== 2) { ghost.run(1); gpu.device.queue.writeBuffer(gpu.memory, gpu.weightsAt, own()); }
            const first = new Float32Array(own().buffer);
            await gpu.run("learn", 1, {});
            ghost.run(1);
            const there = new Float32Array((await gpu.weights()).buffer), here = new Float32Array(own().buffer);
            let apart = 0, moved = 0;
            for (let i = 0; i < 1426; ++i) { // the params lie first
              apart = Math.max(apart, Math.abs(here[i] - there[i]));
              moved = Math.max(moved, Math.abs(here[i] - first[i]));
            }
            return { apart, moved };""")
        self.assertGreater(found["moved"], 1e-4)
        self.assertLess(found["apart"], 0.02 * found["moved"])

    def test_squeezenet_gives_the_stored_scores(self):
        self.need_squeezenet()
        case = CASES / "nets" / "squeezenet1_1" / "test_data_set_0"
        found = self.browser.run("""
            const numbers = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
            const expected = numbers(arguments[1]), scores = page.pictures.classify(numbers(arguments[0]));
            let most = 0;
            expected.forEach((e, i) => { most = Math.max(most, Math.abs(scores[i] - e) / (1e-5 + 1e-3 * Math.abs(e))); });
            return { count: expected.length, most };""", onnx_floats(case / "input_0.pb"), onnx_floats(case / "output_0.pb"))
        self.assertEqual(found["count"], 1000)
        self.assertLess(found["most"], 1)
        picture = self.work / "some.png"
        picture.write_bytes((self.pictures / "ghost.png").read_bytes() if (self.pictures / "ghost.png").exists()
                            else base64.b64decode(self.browser.ask("GET", "/screenshot")))
        self.browser.give_file("#pictures-load", picture)
        self.wait_for("#pictures-answer", r"^Class \d+, in [\d.]+ ms$")
        self.browser.picture_of("#pictures", self.pictures / "pictures.png")
        (self.work / "no.png").write_text("no picture")
        self.browser.give_file("#pictures-load", self.work / "no.png")
        self.wait_for("#pictures-message", "^no.png is no picture that this browser can read.$")

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
