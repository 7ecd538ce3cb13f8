// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Agents that learn in a Bevy app without a window: to name the side that they see.

#![forbid(unsafe_code)]

use bevy::prelude::*;
use bevy::{app::ScheduleRunnerPlugin, window::ExitCondition, winit::WinitPlugin};
use hearth::{Action, AgentsConfig, EpisodeEnd, Observation, Step};
use hearth_bevy::{Agent, AgentsPlugin, HearthPlugin};

#[derive(Observation)]
struct Sees {
    side: f32,
}

#[derive(Action, PartialEq)]
enum Go {
    Left,
    Right,
}

fn main() {
    let no_window = WindowPlugin {
        primary_window: None,
        exit_condition: ExitCondition::DontExit,
        ..default()
    };
    let config = AgentsConfig::ppo(16)
        .set("n_steps", 16.0)
        .set("n_minibatches", 2.0);
    App::new()
        .add_plugins(HearthPlugin::default())
        .add_plugins(DefaultPlugins.set(no_window).disable::<WinitPlugin>())
        .add_plugins(ScheduleRunnerPlugin::default())
        .add_plugins(AgentsPlugin::<Sees, Go>::new(config).with_step(Step {
            learning_budget_us: 20_000.0,
            ..default()
        }))
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn_batch((0..16).map(|_| Agent::<Sees, Go>::new(Sees { side: -1.0 })));
        })
        .add_systems(Update, play)
        .run();
}

/// The side alternates with each decision.
fn play(
    mut agents: Query<&mut Agent<Sees, Go>>,
    (mut turn, mut right): (Local<u32>, Local<u32>),
    mut exit: MessageWriter<AppExit>,
) {
    let mut has_decided = false;
    for mut agent in &mut agents {
        let Some(go) = agent.decision() else { continue };
        let is_right = (go == Go::Right) == (*turn % 2 == 1);
        agent.reward(if is_right { 1.0 } else { 0.0 });
        agent.end_episode(EpisodeEnd::Terminated);
        let side = if *turn % 2 == 1 { -1.0 } else { 1.0 };
        agent.observe(Sees { side });
        *right += u32::from(is_right);
        has_decided = true;
    }
    *turn += u32::from(has_decided);
    if has_decided && turn.is_multiple_of(100) {
        println!(
            "{} decisions: {} of the last 1600 are right",
            *turn * 16,
            *right
        );
        *right = 0;
        if *turn == 1000 {
            exit.write(AppExit::Success);
        }
    }
}
