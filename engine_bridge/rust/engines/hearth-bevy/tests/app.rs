// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! A headless Bevy app on the first Vulkan device, with the validation layers, whose messages fail
//! a test.

#![forbid(unsafe_code)]

use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use bevy::app::{PluginGroupBuilder, PluginsState};
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::renderer::{RenderDevice, RenderInstance, RenderQueue};
use bevy::render::settings::{RenderCreation, WgpuSettings};
use bevy::render::{RenderApp, RenderPlugin};
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;
use hearth::{AgentsConfig, EpisodeEnd, Step};
use hearth_bevy::wgpu::wgpu;
use hearth_bevy::{Agent, AgentsPlugin, Brain, Hearth, HearthPlugin};

static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Log;

impl log::Log for Log {
    fn enabled(&self, of: &log::Metadata) -> bool {
        of.level() <= log::Level::Warn
            && (of.target().starts_with("wgpu_hal") || of.target().starts_with("hearth"))
    }
    fn log(&self, record: &log::Record) {
        if self.enabled(record.metadata()) {
            MESSAGES.lock().unwrap().push(record.args().to_string());
        }
    }
    fn flush(&self) {}
}

fn turn() -> MutexGuard<'static, ()> {
    static LOGGER: Once = Once::new();
    LOGGER.call_once(|| {
        log::set_logger(&Log).unwrap();
        log::set_max_level(log::LevelFilter::Warn);
    });
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    MESSAGES.lock().unwrap().clear();
    turn
}

fn expect_silence() {
    let messages = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(messages.is_empty(), "{}", messages.join("\n"));
}

fn bevy_plugins() -> PluginGroupBuilder {
    DefaultPlugins
        .set(WindowPlugin {
            primary_window: None,
            exit_condition: ExitCondition::DontExit,
            ..default()
        })
        .set(RenderPlugin {
            render_creation: RenderCreation::Automatic(Box::new(WgpuSettings {
                backends: Some(wgpu::Backends::VULKAN),
                instance_flags: wgpu::InstanceFlags::VALIDATION,
                ..default()
            })),
            ..default()
        })
        .disable::<WinitPlugin>()
        .disable::<LogPlugin>()
}

fn start(app: &mut App) {
    while app.plugins_state() == PluginsState::Adding {
        bevy::tasks::tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();
}

#[derive(hearth::Observation)]
struct Sees {
    side: f32,
}

#[derive(hearth::Action, PartialEq, Debug)]
enum Go {
    Left,
    Right,
}

#[derive(Component, Default)]
struct IsRight(bool);

#[derive(Resource, Default)]
struct Score {
    right: u32,
    decisions: u32,
    random: u32,
}

fn play(mut agents: Query<(&mut Agent<Sees, Go>, &mut IsRight)>, mut score: ResMut<Score>) {
    for (mut agent, mut is_right) in &mut agents {
        let Some(go) = agent.decision() else { continue };
        let was_right = (go == Go::Right) == is_right.0;
        score.decisions += 1;
        score.right += u32::from(was_right);
        agent.reward(if was_right { 1.0 } else { 0.0 });
        agent.end_episode(EpisodeEnd::Terminated);
        score.random = score
            .random
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        is_right.0 = score.random >> 31 == 1;
        let side = if is_right.0 { 1.0 } else { -1.0 };
        agent.observe(Sees { side });
    }
}

fn game(with_descriptors: bool, plugins: PluginGroupBuilder) -> App {
    let config = AgentsConfig::ppo(16)
        .hidden_sizes(&[16])
        .set("n_steps", 16.0)
        .set("n_minibatches", 2.0)
        .seed(1);
    let mut app = App::new();
    app.add_plugins((HearthPlugin { with_descriptors }, plugins))
        .add_plugins(AgentsPlugin::<Sees, Go>::new(config).with_step(Step {
            learning_budget_us: 1e5,
            ..Step::default()
        }))
        .init_resource::<Score>()
        .add_systems(Startup, |mut commands: Commands| {
            for _ in 0..16 {
                commands.spawn((Agent::<Sees, Go>::new(Sees { side: -1.0 }), IsRight(false)));
            }
        })
        .add_systems(Update, play);
    start(&mut app);
    app
}

#[test]
fn entities_learn_on_the_device_of_bevy() {
    let _turn = turn();
    for with_descriptors in [false, true] {
        let mut app = game(with_descriptors, bevy_plugins());
        let hearth = app.world().resource::<Hearth>();
        assert_eq!(hearth.device().uses_descriptors(), with_descriptors);
        let mut frames = 0;
        while app.world().resource::<Score>().decisions < 16 * 500 {
            frames += 1;
            assert!(frames < 20_000, "decisions do not arrive");
            app.update();
        }
        *app.world_mut().resource_mut::<Score>() = Score::default();
        let mut brain = app.world_mut().resource_mut::<Brain<Sees, Go>>();
        brain.step.exploration = 0.0;
        let status = brain.agents().status().unwrap();
        assert!(status.counters["gradient_steps"] > 50, "{status:?}");
        while app.world().resource::<Score>().decisions < 16 * 21 {
            app.update();
        }
        let score = app.world().resource::<Score>();
        let right = f64::from(score.right) / f64::from(score.decisions);
        assert!(
            right > 0.9,
            "{right} are right, with descriptors: {with_descriptors}"
        );

        // An entity that is despawned leaves room for another one.
        let world = app.world_mut();
        let mut all = world.query_filtered::<Entity, With<Agent<Sees, Go>>>();
        let one = all.iter(world).next().unwrap();
        world.despawn(one);
        world.spawn((Agent::<Sees, Go>::new(Sees { side: 1.0 }), IsRight(true)));
        app.update();
        app.update();
        let status = app.world().resource::<Brain<Sees, Go>>().agents().status();
        assert_eq!(status.unwrap().agents, 16);
        drop(app);
        expect_silence();
    }
}

/// Bevy drops its handles of device, queue and instance in any order, before other resources.
#[test]
fn hearth_outlives_the_handles_of_bevy() {
    let _turn = turn();
    let mut app = game(false, bevy_plugins().disable::<PipelinedRenderingPlugin>());
    for _ in 0..3 {
        app.update();
    }
    let hearth = app.world().resource::<Hearth>().clone();
    app.sub_app_mut(RenderApp).world_mut().clear_all();
    app.remove_sub_app(RenderApp);
    app.world_mut().remove_resource::<RenderQueue>();
    app.world_mut().remove_resource::<RenderDevice>();
    app.world_mut().remove_resource::<RenderInstance>();
    app.world_mut().remove_resource::<Hearth>();
    hearth.begin().unwrap().submit().unwrap();
    drop(app); // and with it the agents
    hearth.begin().unwrap().submit().unwrap();
    drop(hearth);
    expect_silence();
}

#[test]
#[should_panic(expected = "add it before DefaultPlugins")]
fn a_plugin_that_comes_too_late_says_so() {
    let _turn = turn();
    App::new().add_plugins((bevy_plugins(), HearthPlugin::default()));
}
