// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs the package `HEARTH_TEST_PACKAGE` on the device `HEARTH_TEST_DEVICE`: act: y [batch, 2] =
//! relu(w x + b) of x [batch, 3]; learn: changes w.

#![forbid(unsafe_code)]

use hearth::{sys, Device, Model};

const X: [f32; 6] = [1.0, 2.0, 3.0, 0.5, 0.25, 4.0];

fn device() -> Device {
    Device::new(&std::env::var("HEARTH_TEST_DEVICE").unwrap_or_default()).unwrap()
}

fn package() -> Vec<u8> {
    std::fs::read(std::env::var("HEARTH_TEST_PACKAGE").expect("HEARTH_TEST_PACKAGE is not set"))
        .unwrap()
}

fn act(model: &mut Model) -> Vec<f32> {
    model
        .run("act", &[("x", &X)], 2)
        .unwrap()
        .remove("y")
        .unwrap()
}

#[test]
fn a_model_learns_and_goes_on_from_what_it_saved() {
    let device = device();
    let mut model = device.load(&package()).unwrap();
    let before = act(&mut model);
    assert_eq!(before.len(), 4);
    let loss = model
        .run("learn", &[("x", &X)], 2)
        .unwrap()
        .remove("loss")
        .unwrap();
    assert_eq!(loss.len(), 1);
    let learned = act(&mut model);
    assert_ne!(learned, before);

    let brain = model.save().unwrap();
    model.reset().unwrap();
    assert_eq!(act(&mut model), before);
    let mut other = device.load(&package()).unwrap();
    drop(device); // the models keep it alive
    other.load(&brain).unwrap();
    assert_eq!(act(&mut other), learned);
    assert_eq!(act(&mut model), before);
}

#[test]
fn models_move_between_threads() {
    let device = device();
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let mut model = device.load(&package()).unwrap();
            std::thread::spawn(move || (0..20).map(|_| act(&mut model)).last().unwrap())
        })
        .collect();
    let results: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    assert!(results.iter().all(|result| *result == results[0]));
}

#[test]
fn entries_have_named_bindings() {
    let model = device().load(&package()).unwrap();
    assert_eq!(model.entries().unwrap(), ["act", "learn"]);
    assert!(model.dispatch_count("act").unwrap() > 0);
    let bindings = model.bindings("act").unwrap();
    let names: Vec<_> = bindings
        .iter()
        .map(|b| (b.name.as_str(), b.is_output))
        .collect();
    assert_eq!(names, [("x", false), ("y", true)]);
    assert_eq!(bindings[0].shape, [-1, 3]);
}

#[test]
fn errors_say_what_was_expected() {
    let device = device();
    let mut model = device.load(&package()).unwrap();
    let error = model.run("paint", &[], 1).unwrap_err();
    assert_eq!(error.code, sys::HEARTH_ERROR_NOT_FOUND);
    assert_eq!(
        error.to_string(),
        "no entry is named 'paint'; there are: act, learn (HEARTH_ERROR_NOT_FOUND)"
    );
    assert_eq!(
        model.run("act", &[("x", &[1.0])], 2).unwrap_err().message,
        "x: expected 6 values, found 1"
    );
    assert_eq!(
        model.run("act", &[("z", &X)], 2).unwrap_err().message,
        "act has no input z; there are: x"
    );
    assert_eq!(
        model.load(&[1, 2, 3]).unwrap_err().code,
        sys::HEARTH_ERROR_CORRUPT_DATA
    );
    assert!(device.load(&[0; 64]).is_err());
    assert!(Device::new("no such device").is_err());
    act(&mut model); // goes on after all of them
}
