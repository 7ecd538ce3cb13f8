// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Agents on the device `HEARTH_TEST_DEVICE`.

#![forbid(unsafe_code)]

use hearth::{sys, Action, Agent, Agents, AgentsConfig, Device, Entities, EpisodeEnd};
use hearth::{Observation, Step};

#[derive(Observation)]
struct Sees {
    side: f32,
}

#[derive(Action, Debug, PartialEq, Clone, Copy)]
enum Go {
    Left,
    Right,
}

fn device() -> Device {
    Device::new(&std::env::var("HEARTH_TEST_DEVICE").unwrap_or_default()).unwrap()
}

fn config() -> AgentsConfig {
    AgentsConfig::ppo(16)
        .hidden_sizes(&[16])
        .set("n_steps", 16.0)
        .set("n_minibatches", 2.0)
        .set_tunable("ent_coef", 0.01)
        .seed(1)
}

/// Returns the fraction of right choices.
fn play(agents: &mut Agents<Sees, Go>, present: &[Agent], frames: u32, step: Step) -> f64 {
    let mut random = 1u32;
    let mut right = 0;
    for _ in 0..frames {
        let mut sides = Vec::new();
        for agent in present {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let is_right = random >> 31 == 1;
            sides.push(if is_right { Go::Right } else { Go::Left });
            let side = if is_right { 1.0 } else { -1.0 };
            agents.observe(*agent, &Sees { side }).unwrap();
        }
        agents.step(&step).unwrap();
        for (agent, side) in present.iter().zip(sides) {
            let is_right = agents.action(*agent) == Some(side);
            right += u32::from(is_right);
            agents
                .reward(*agent, if is_right { 1.0 } else { 0.0 })
                .unwrap();
            agents
                .end_episode(*agent, EpisodeEnd::Terminated, None)
                .unwrap();
        }
    }
    f64::from(right) / (f64::from(frames) * present.len() as f64)
}

const LEARN: Step = Step {
    exploration: 1.0,
    learning_budget_us: 1e5,
    decide: true,
};
const EXPLOIT: Step = Step {
    exploration: 0.0,
    learning_budget_us: 0.0,
    decide: true,
};

#[test]
fn agents_learn_and_go_on_from_what_they_saved() {
    let device = device();
    let package = config().cook::<Sees, Go>(&device).unwrap();
    let mut agents = device.load_agents::<Sees, Go>(&package).unwrap();
    let present: Vec<_> = (0..16).map(|_| agents.add().unwrap()).collect();
    assert_eq!(
        agents.add().unwrap_err().code,
        sys::HEARTH_ERROR_OUT_OF_RANGE
    );
    assert_eq!(agents.action(present[0]), None);
    play(&mut agents, &present, 600, LEARN);
    agents.set_hyperparameter("ent_coef", 0.0).unwrap();
    let status = agents.status().unwrap();
    assert!(status.counters["gradient_steps"] > 50, "{status:?}");
    assert_eq!((status.agents, status.rewards_rejected), (16, 0));
    assert!(play(&mut agents, &present, 20, EXPLOIT) > 0.95);

    let brain = agents.save().unwrap();
    agents.reset();
    assert!(play(&mut agents, &present, 20, EXPLOIT) < 0.95);
    let mut others = device.load_agents::<Sees, Go>(&package).unwrap();
    drop(device); // the agents keep it alive
    others.load(&brain).unwrap();
    let one = [others.add().unwrap()];
    assert!(play(&mut others, &one, 20, EXPLOIT) > 0.95);
}

#[test]
fn errors_name_agent_field_and_hyperparameter() {
    #[derive(Observation)]
    struct Other {
        pull: f32,
    }
    #[derive(Action)]
    struct Two {
        first: Go,
        second: Go,
    }
    let _ = |other: Other, two: Two| (other.pull, two.first, two.second);
    let device = device();
    let package = config().cook::<Sees, Go>(&device).unwrap();
    let mut agents = device.load_agents::<Sees, Go>(&package).unwrap();
    let agent = agents.add().unwrap();
    agents.observe(agent, &Sees { side: 1.0 }).unwrap();
    agents.remove(agent).unwrap();
    let error = agents.observe(agent, &Sees { side: 1.0 }).unwrap_err();
    assert!(error.message.contains("does not exist"), "{error}");
    let error = agents.set_hyperparameter("speed", 1.0).unwrap_err();
    assert!(error.message.contains("ent_coef"), "{error}");
    let agent = agents.add().unwrap();
    assert!(agents.reward(agent, f32::NAN).is_err());
    assert_eq!(
        agents.load(&[0; 100]).unwrap_err().code,
        sys::HEARTH_ERROR_CORRUPT_DATA
    );
    let error = device.load_agents::<Other, Go>(&package).err().unwrap();
    assert!(
        error.message.contains("pull") && error.message.contains("side"),
        "{error}"
    );
    let error = device.load_agents::<Sees, Two>(&package).err().unwrap();
    assert!(error.message.contains("2 floats"), "{error}");
    let error = config()
        .set("speed", 1.0)
        .cook::<Sees, Go>(&device)
        .err()
        .unwrap();
    assert!(error.message.contains("speed"), "{error}");
}

#[test]
fn a_frame_that_is_dropped_changes_nothing() {
    let device = device();
    let mut agents = device.agents::<Sees, Go>(&config()).unwrap();
    let agent = agents.add().unwrap();
    let mut frame = device.begin().unwrap();
    assert!(device
        .begin()
        .err()
        .unwrap()
        .message
        .contains("submit or drop"));
    agents.record(&mut frame, &EXPLOIT).unwrap();
    drop(frame);
    assert_eq!(agents.action(agent), None);
    let mut frame = device.begin().unwrap();
    agents.record(&mut frame, &EXPLOIT).unwrap();
    assert!(agents.record(&mut frame, &EXPLOIT).is_err()); // twice in a frame
    frame.submit().unwrap();
    agents.step(&EXPLOIT).unwrap();
    assert!(agents.action(agent).is_some());
}

#[derive(Observation)]
struct Thing {
    #[hearth(kind = "position", scale = 50.0)]
    place: [f32; 2],
    armed: bool,
}

#[derive(Observation)]
struct Everything {
    #[hearth(low = 0.0, high = 30.0)]
    pub speed: f32,
    pub(crate) rays: [f32; 8],
    #[hearth(kind = "angle")]
    heading: f32,
    #[hearth(n = 3)]
    weapon: u32,
    /// A comment is an attribute, too.
    own: Thing,
    enemies: Entities<Thing, 4>,
}

#[derive(Action, Debug, PartialEq)]
struct Does {
    go: Go,
    #[hearth(low = 0.0, high = 1.0)]
    thrust: [f32; 2],
    #[hearth(n = 3)]
    weapon: u32,
    jump: bool,
}

#[test]
fn all_kinds_of_fields_reach_the_network() {
    let device = device();
    let config = AgentsConfig::ppo(2).hidden_sizes(&[8]).set("n_steps", 8.0);
    let mut agents = device.agents::<Everything, Does>(&config).unwrap();
    let agent = agents.add().unwrap();
    let thing = || Thing {
        place: [10.0, -10.0],
        armed: true,
    };
    let sees = Everything {
        speed: 30.0,
        rays: [0.5; 8],
        heading: 1.0,
        weapon: 2,
        own: thing(),
        enemies: Entities((0..9).map(|_| thing()).collect()), // more than 4
    };
    let mut floats = vec![f32::NAN; Everything::SIZE];
    Observation::write(&sees, &mut floats);
    assert_eq!(floats[..1], [30.0]);
    assert_eq!(
        floats[9..17],
        [1.0, 2.0, 10.0, -10.0, 1.0, 4.0, 10.0, -10.0]
    );
    assert_eq!(floats.len(), 27);
    agents.observe(agent, &sees).unwrap();
    agents.step(&Step::default()).unwrap();
    let does = agents.action(agent).unwrap();
    assert!(does.weapon < 3 && does.thrust.iter().all(|t| (0.0..=1.0).contains(t)));
    assert_eq!(
        Does::read(&[1.0, 0.25, 0.5, 2.0, 1.0]),
        Does {
            go: Go::Right,
            thrust: [0.25, 0.5],
            weapon: 2,
            jump: true
        }
    );
}
