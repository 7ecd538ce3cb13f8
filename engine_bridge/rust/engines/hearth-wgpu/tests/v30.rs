// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#![cfg(feature = "wgpu30")]
#![forbid(unsafe_code)]

use hearth_wgpu::v30 as bridge;

#[path = "bridge/mod.rs"]
mod tests;

use bridge::{wgpu, Setup};
use hearth::Value;
use tests::{Game, X};

fn bytes(slice: &wgpu::BufferSlice) -> Vec<u8> {
    slice.get_mapped_range().unwrap().to_vec()
}

/// wgpu zeroes buffers on their first use, and does not see the writes of others.
#[test]
fn the_first_frame_of_a_buffer_is_not_lost() {
    for setup in [Setup::new(), Setup::with_descriptors()] {
        let game = Game::new(&setup);
        let mut model = game.model();
        let create = |others| {
            game.gpu.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 16,
                usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST | others,
                mapped_at_creation: false,
            })
        };
        let mut act = |y: &bridge::Tensor| {
            let mut frame = game.hearth.begin().unwrap();
            let values = [("x", Value::F32(&X)), ("y", y.value())];
            model.record(&mut frame, "act", &values, 2).unwrap();
            frame.submit().unwrap();
            game.read(y.buffer())
        };
        let error = game
            .hearth
            .adopt_buffer(&create(wgpu::BufferUsages::VERTEX));
        assert!(error.err().unwrap().message.contains("STORAGE"));
        let first = act(&game
            .hearth
            .adopt_buffer(&create(wgpu::BufferUsages::STORAGE))
            .unwrap());
        assert!(first.iter().any(|y| *y > 0.0), "{first:?}");
        // The handling is needed: without it the frame is lost, and the second one arrives.
        let unseen = game
            .hearth
            .adopt_buffer_unseen(&create(wgpu::BufferUsages::STORAGE))
            .unwrap();
        assert_eq!(act(&unseen), [0.0; 4]);
        assert_eq!(act(&unseen), first);
    }
}
