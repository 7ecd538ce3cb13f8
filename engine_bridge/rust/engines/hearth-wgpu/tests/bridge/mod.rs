// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! On wgpu's first Vulkan device, with the validation layers, whose messages fail a test.  The
//! package `HEARTH_TEST_PACKAGE` has act: y [batch, 2] = relu(w x + b) of x [batch, 3], and learn,
//! which changes w.

use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use super::bridge::{wgpu, Context, Setup, Tensor, TextureConversion};
use hearth::{Action, Agents, AgentsConfig, EpisodeEnd, Observation, Step, Value};

static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Log;

impl log::Log for Log {
    fn enabled(&self, of: &log::Metadata) -> bool {
        of.level() <= log::Level::Warn && of.target().starts_with("wgpu_hal")
    }
    fn log(&self, record: &log::Record) {
        if self.enabled(record.metadata()) {
            MESSAGES.lock().unwrap().push(record.args().to_string());
        }
    }
    fn flush(&self) {}
}

/// A wgpu device with Hearth; when it is dropped, there must be no message of the layers.
pub struct Game {
    pub hearth: Context,
    pub gpu: wgpu::Device,
    queue: wgpu::Queue,
    _turn: MutexGuard<'static, ()>,
}

impl Game {
    pub fn new(setup: &Setup) -> Game {
        static LOGGER: Once = Once::new();
        LOGGER.call_once(|| {
            log::set_logger(&Log).unwrap();
            log::set_max_level(log::LevelFilter::Warn);
        });
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        MESSAGES.lock().unwrap().clear();
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::VULKAN,
            flags: wgpu::InstanceFlags::VALIDATION,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapter = pollster::block_on(instance.request_adapter(&Default::default())).unwrap();
        let (gpu, queue) = setup.open(&adapter, &Default::default()).unwrap();
        let hearth = setup.adopt(&adapter, &gpu, &queue).unwrap();
        Game {
            hearth,
            gpu,
            queue,
            _turn: turn,
        }
    }

    fn both() -> impl Iterator<Item = Game> {
        [Setup::new(), Setup::with_descriptors()]
            .into_iter()
            .map(|setup| Game::new(&setup))
    }

    fn wait(&self) {
        self.gpu.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    }

    pub fn model(&self) -> hearth::Model {
        let package = std::env::var("HEARTH_TEST_PACKAGE").expect("HEARTH_TEST_PACKAGE is not set");
        let device = self.hearth.device();
        let package = device.cook(&std::fs::read(package).unwrap()).unwrap();
        device.load(&package).unwrap()
    }

    /// Reads a buffer with commands of wgpu.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Vec<f32> {
        let size = buffer.size();
        let mapped = self.mapped(size);
        let mut encoder = self.gpu.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &mapped, 0, size);
        self.queue.submit([encoder.finish()]);
        self.floats(&mapped)
    }

    fn mapped(&self, size: u64) -> wgpu::Buffer {
        self.gpu.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    fn floats(&self, mapped: &wgpu::Buffer) -> Vec<f32> {
        mapped
            .slice(..)
            .map_async(wgpu::MapMode::Read, |result| result.unwrap());
        self.wait();
        super::bytes(&mapped.slice(..))
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect()
    }

    fn tensor(&self, values: &[f32]) -> Tensor {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let usage = wgpu::BufferUsages::empty();
        let tensor = self
            .hearth
            .create_buffer("tensor", bytes.len() as u64, usage);
        let tensor = tensor.unwrap();
        self.queue.write_buffer(tensor.buffer(), 0, &bytes);
        tensor
    }

    fn texture(&self) -> wgpu::Texture {
        self.gpu.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d {
                width: 64,
                height: 2,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R32Float,
            usage: wgpu::TextureUsages::STORAGE_BINDING
                | wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::COPY_SRC
                | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        })
    }

    /// Reads the texture with commands of wgpu.
    fn texels(&self, texture: &wgpu::Texture) -> Vec<f32> {
        let mapped = self.mapped(512);
        let mut encoder = self.gpu.create_command_encoder(&Default::default());
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &mapped,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(256),
                    rows_per_image: None,
                },
            },
            texture.size(),
        );
        self.queue.submit([encoder.finish()]);
        self.floats(&mapped)
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        self.wait();
        let messages = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::thread::panicking() {
            assert!(messages.is_empty(), "{}", messages.join("\n"));
        }
    }
}

pub const X: [f32; 6] = [1.0, 2.0, 3.0, 0.5, 0.25, 4.0];
const TEXELS: TextureConversion = TextureConversion {
    width: 64,
    height: 2,
    channels: 1,
    channels_last: false,
    linear: false,
};

fn ramp() -> Vec<f32> {
    (0..128).map(|i| i as f32 + 1.0).collect()
}

#[test]
fn a_model_learns_on_the_buffers_of_wgpu() {
    for game in Game::both() {
        let mut model = game.model();
        let x = game.tensor(&X);
        let y = game.tensor(&[-1.0; 4]);
        let loss = game.tensor(&[-1.0]);
        let mut act = || {
            let mut frame = game.hearth.begin().unwrap();
            let values = [("x", Value::F32(&X)), ("y", y.value())];
            model.record(&mut frame, "act", &values, 2).unwrap();
            frame.submit().unwrap();
            game.read(y.buffer())
        };
        let before = act(); // the first frame arrives
        assert!(before.iter().any(|y| *y > 0.0), "{before:?}");
        assert_eq!(act(), before);
        let mut frame = game.hearth.begin().unwrap();
        let values = [("x", x.value()), ("loss", loss.value())];
        model.record(&mut frame, "learn", &values, 2).unwrap();
        frame.submit().unwrap();
        assert!(game.read(loss.buffer())[0] > 0.0);
        let mut frame = game.hearth.begin().unwrap();
        let values = [("x", x.value()), ("y", y.value())];
        model.record(&mut frame, "act", &values, 2).unwrap();
        let pending = model.record_save(&mut frame).unwrap();
        frame.submit().unwrap();
        let learned = game.read(y.buffer());
        assert_ne!(learned, before);

        game.hearth.begin().unwrap().submit().unwrap(); // takes note of the completed frame
        let brain = model.saved(&pending).unwrap().unwrap();
        let mut other = game.model();
        let mut frame = game.hearth.begin().unwrap();
        other.record_load(&mut frame, &brain).unwrap();
        other.record(&mut frame, "act", &values, 2).unwrap();
        frame.submit().unwrap();
        assert_eq!(game.read(y.buffer()), learned);
    }
}

#[test]
fn a_dropped_frame_is_as_if_it_had_never_been() {
    for game in Game::both() {
        let mut model = game.model();
        let y = game.tensor(&[-1.0; 4]);
        let values = [("x", Value::F32(&X)), ("y", y.value())];
        let mut frame = game.hearth.begin().unwrap();
        model.record(&mut frame, "act", &values, 2).unwrap();
        assert!(game.hearth.begin().is_err());
        drop(frame);
        assert_eq!(game.read(y.buffer()), [-1.0; 4]);
        let mut frame = game.hearth.begin().unwrap();
        model.record(&mut frame, "act", &values, 2).unwrap();
        frame.submit().unwrap();
        assert!(game.read(y.buffer()).iter().all(|y| *y >= 0.0));
        // Values of another size, and a buffer that is too small.
        let mut frame = game.hearth.begin().unwrap();
        let wrong = [("x", Value::F32(&X[..3])), ("y", y.value())];
        assert!(model.record(&mut frame, "act", &wrong, 2).is_err());
        assert!(model.record(&mut frame, "act", &values, 3).is_err());
        let wrong = [("x", Value::F32(&X)), ("y", Value::F32(&X[..4]))];
        assert!(model.record(&mut frame, "act", &wrong, 2).is_err());
    }
}

/// wgpu zeroes textures on their first use, and does not see the writes of others.
#[test]
fn the_first_frame_of_a_texture_is_not_lost() {
    let game = Game::new(&Setup::new());
    let from = game.tensor(&ramp());
    let write = |texture: &mut super::bridge::Texture| {
        let mut frame = game.hearth.begin().unwrap();
        frame.write_texture(texture, &from, &TEXELS).unwrap();
        frame.submit().unwrap();
    };
    let texture = game.texture();
    write(&mut game.hearth.texture_to_write(&texture).unwrap());
    assert_eq!(game.texels(&texture), ramp());
    // The handling is needed: without it the frame is lost.
    let texture = game.texture();
    write(&mut game.hearth.texture_to_write_unseen(&texture).unwrap());
    assert_eq!(game.texels(&texture), [0.0; 128]);
    // Contents that wgpu has written stay.
    let texture = game.texture();
    let bytes: Vec<u8> = ramp()
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    game.queue.write_texture(
        texture.as_image_copy(),
        &bytes,
        wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(256),
            rows_per_image: None,
        },
        texture.size(),
    );
    let mut read = game.hearth.texture_to_read(&texture).unwrap();
    game.hearth.texture_to_write(&texture).unwrap();
    let to = game.tensor(&[0.0; 128]);
    let mut frame = game.hearth.begin().unwrap();
    assert!(frame.write_texture(&mut read, &to, &TEXELS).is_err());
    frame.read_texture(&mut read, &to, &TEXELS).unwrap();
    frame.submit().unwrap();
    assert_eq!(game.read(to.buffer()), ramp());
}

#[derive(Observation)]
struct Sees {
    side: f32,
}

#[derive(Action, PartialEq, Clone, Copy)]
enum Go {
    Left,
    Right,
}

fn play(game: &Game, agents: &mut Agents<Sees, Go>, frames: u32, step: Step) -> f64 {
    let present: Vec<_> = (0..16).map(|_| agents.add().unwrap()).collect();
    let (mut random, mut right, mut decisions) = (1u32, 0, 0);
    for _ in 0..frames {
        // The side stays until the decision has arrived.
        let mut sides = Vec::new();
        for agent in &present {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (side, go) = [(-1.0, Go::Left), (1.0, Go::Right)][(random >> 31) as usize];
            sides.push(go);
            agents.observe(*agent, &Sees { side }).unwrap();
        }
        let mut frame = game.hearth.begin().unwrap();
        agents.record(&mut frame, &step).unwrap();
        frame.submit().unwrap();
        game.wait();
        let mut frame = game.hearth.begin().unwrap();
        let wait = Step {
            decide: false,
            ..step
        };
        agents.record(&mut frame, &wait).unwrap();
        frame.submit().unwrap();
        for (agent, side) in present.iter().zip(sides) {
            let is_right = agents.action(*agent) == Some(side);
            right += u32::from(is_right);
            decisions += 1;
            agents.reward(*agent, f32::from(is_right as u8)).unwrap();
            agents
                .end_episode(*agent, EpisodeEnd::Terminated, None)
                .unwrap();
        }
    }
    for agent in present {
        agents.remove(agent).unwrap();
    }
    f64::from(right) / f64::from(decisions)
}

#[test]
fn agents_learn_on_the_device_of_wgpu() {
    let learn = Step {
        learning_budget_us: 1e5,
        ..Step::default()
    };
    let exploit = Step {
        exploration: 0.0,
        learning_budget_us: 0.0,
        decide: true,
    };
    for game in Game::both() {
        let config = AgentsConfig::ppo(16)
            .hidden_sizes(&[16])
            .set("n_steps", 16.0)
            .set("n_minibatches", 2.0)
            .seed(1);
        let mut agents = game.hearth.device().agents::<Sees, Go>(&config).unwrap();
        play(&game, &mut agents, 400, learn);
        let status = agents.status().unwrap();
        assert!(status.counters["gradient_steps"] > 50, "{status:?}");
        let right = play(&game, &mut agents, 20, exploit);
        assert!(right > 0.95, "{right} are right; {status:?}");
    }
}

/// Frames are submitted in the order of their numbers, so the last number counts for all.
#[test]
fn frames_of_threads_take_turns() {
    let game = Game::new(&Setup::new());
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (mut model, hearth) = (game.model(), game.hearth.clone());
            let y = game.tensor(&[0.0; 4]);
            std::thread::spawn(move || {
                for _ in 0..20 {
                    let mut frame = hearth.begin().unwrap();
                    let values = [("x", Value::F32(&X)), ("y", y.value())];
                    model.record(&mut frame, "act", &values, 2).unwrap();
                    frame.submit().unwrap();
                }
                y
            })
        })
        .collect();
    let results: Vec<_> = threads
        .into_iter()
        .map(|thread| game.read(thread.join().unwrap().buffer()))
        .collect();
    assert!(results[0].iter().any(|y| *y > 0.0), "{results:?}");
    assert!(results.iter().all(|result| *result == results[0]));
    assert_eq!(game.hearth.completed_frame(), 60);
}

#[test]
fn hearth_outlives_the_handles_of_the_game() {
    let game = Game::new(&Setup::new());
    let mut model = game.model();
    let y = game.tensor(&[0.0; 4]);
    let hearth = game.hearth.clone();
    let mut frame = hearth.begin().unwrap();
    let values = [("x", Value::F32(&X)), ("y", y.value())];
    model.record(&mut frame, "act", &values, 2).unwrap();
    frame.submit().unwrap();
    drop(game);
    drop(y);
    drop(hearth); // the model keeps the device
    assert!(model.bindings("act").is_ok());
    drop(model);
}

/// Bounds: what was measured when the test was written.  Descriptors take no more than addresses.
#[test]
fn programs_have_no_more_dispatches_than_they_had() {
    let counts = |setup| {
        let game = Game::new(&setup);
        let device = game.hearth.device();
        let small = game.model();
        let config = AgentsConfig::ppo(64).set("n_steps", 64.0);
        let package = config.cook::<Sees, Go>(device).unwrap();
        let agents = device.load(&package).unwrap();
        let mut counts = Vec::new();
        for (name, model) in [("net", small), ("policy", agents)] {
            for entry in model.entries().unwrap() {
                let count = model.dispatch_count(&entry).unwrap();
                counts.push((format!("{name}/{entry}"), count));
            }
        }
        counts
    };
    let addresses = counts(Setup::new());
    let descriptors = counts(Setup::with_descriptors());
    let bounds = [
        ("net/act", 1),
        ("net/learn", 2),
        ("policy/act", 2),
        ("policy/frame", 34),
        ("policy/learn", 14),
        ("policy/publish", 1),
        ("policy/policy", 1),
    ];
    for (entry, with_addresses) in bounds {
        let of = |counts: &[(String, u32)]| counts.iter().find(|c| c.0 == entry).unwrap().1;
        let found = (of(&addresses), of(&descriptors));
        println!(
            "{entry}: {} dispatches, {} with descriptors",
            found.0, found.1
        );
        assert!(found.0 <= with_addresses && found.1 == found.0, "{entry}");
    }
}
