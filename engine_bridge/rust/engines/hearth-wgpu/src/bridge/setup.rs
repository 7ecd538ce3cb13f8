// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Device creation: adds what Hearth needs to the extensions and features that wgpu enables.
//
// The callback of wgpu-hal runs before wgpu chains its own feature structs, and a chain may hold
// each struct once.  So wgpu's structs are chained for a moment, hearth_enable_features edits them
// and places the missing ones in memory of the setup, and the chain is taken apart again: wgpu
// chains its own, and the new ones stay in VkDeviceCreateInfo::pNext.

use std::ffi::{c_void, CStr};
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};

use ash::vk::{self, Handle};
use hearth::sys;

use super::{error, no_vulkan, wgpu, Api, Context};

use wgpu::hal::vulkan as hal;

struct Enabled {
    features: sys::hearth_features,
    binding_model: sys::hearth_binding_model,
    /// Structs that the device's create info points to.
    _structs: Vec<u64>,
}

/// The additions to wgpu's device, and later what was enabled.  Clones are the same setup; each is
/// for one device.
#[derive(Clone, Default)]
pub struct Setup {
    needs_descriptors: bool,
    enabled: Arc<OnceLock<Enabled>>,
}

impl Setup {
    /// Kernels take buffer addresses, if the device has them, else push descriptors.
    pub fn new() -> Setup {
        Setup::default()
    }

    /// Kernels take push descriptors, for packages that were cooked for no other device target.
    pub fn with_descriptors() -> Setup {
        Setup {
            needs_descriptors: true,
            ..Setup::default()
        }
    }

    /// Creates wgpu's device and queue, as `Adapter::request_device` does.
    pub fn open(
        &self,
        adapter: &wgpu::Adapter,
        descriptor: &wgpu::DeviceDescriptor,
    ) -> hearth::Result<(wgpu::Device, wgpu::Queue)> {
        let failed = |problem: String| hearth::Error {
            code: sys::HEARTH_ERROR_UNSUPPORTED,
            message: format!("wgpu cannot create the device: {problem}"),
        };
        let mut added = Ok(());
        // SAFETY: `add` enables only what the device supports, and the open device is passed on.
        unsafe {
            let Some(raw) = adapter.as_hal::<Api>() else {
                return no_vulkan();
            };
            let open = raw
                .open_with_callback(
                    descriptor.required_features,
                    &descriptor.required_limits,
                    &descriptor.memory_hints,
                    Some(Box::new(|mut args| added = self.add(&mut args, &raw))),
                )
                .map_err(|problem| failed(problem.to_string()))?;
            added?;
            adapter
                .create_device_from_hal::<Api>(open, descriptor)
                .map_err(|problem| failed(problem.to_string()))
        }
    }

    /// For engines that create the device themselves: call it in the callback of
    /// `hal::vulkan::Adapter::open_with_callback`, and [`Setup::adopt`] afterwards.
    ///
    /// # Safety
    /// `args` are those of the callback and `adapter` is that of the device.  This setup lives
    /// until the device has been created.
    pub unsafe fn add(
        &self,
        args: &mut hal::CreateDeviceCallbackArgs,
        adapter: &hal::Adapter,
    ) -> hearth::Result<()> {
        let (requirements, binding_model) = self.requirements(adapter)?;
        for (names, count) in [
            (
                &requirements.required_extensions,
                requirements.required_extension_count,
            ),
            (
                &requirements.optional_extensions,
                requirements.optional_extension_count,
            ),
        ] {
            for name in &names[..count as usize] {
                let name: &'static CStr = CStr::from_ptr(*name);
                if !args.extensions.contains(&name) {
                    args.extensions.push(name);
                }
            }
        }
        // wgpu passes those of Vulkan 1.0 as pEnabledFeatures, which it does not show.
        let wanted = (requirements.required_features | requirements.optional_features)
            & !sys::HEARTH_FEATURES_OF_VULKAN_1_0;

        let own = args
            .device_features
            .add_to_device_create(vk::DeviceCreateInfo::default());
        let core = own.p_enabled_features.cast::<c_void>();
        let head = own.p_next.cast_mut().cast::<vk::BaseOutStructure>();
        let of_wgpu = structs(head);
        let others = args.create_info.p_next;
        match of_wgpu.last() {
            Some(last) => (**last).p_next = others.cast_mut().cast(),
            None => return error(sys::HEARTH_ERROR_UNSUPPORTED, "wgpu chains no features"),
        }
        let version = api_version(adapter);
        let (head, mut byte_count) = (head.cast(), 0);
        let mut result =
            sys::hearth_enable_features(wanted, version, head, null_mut(), &mut byte_count);
        let mut memory = vec![0u64; byte_count.div_ceil(8)];
        if result == sys::HEARTH_OK && byte_count > 0 {
            let to = memory.as_mut_ptr().cast();
            result = sys::hearth_enable_features(wanted, version, head, to, &mut byte_count);
        }
        let features = sys::hearth_get_enabled_features(head, core);
        // The structs that are not wgpu's, in their order.
        let mut chain = null_mut::<vk::BaseOutStructure>();
        for each in structs(head.cast()).into_iter().rev() {
            (*each).p_next = null_mut();
            if !of_wgpu.contains(&each) {
                (*each).p_next = chain;
                chain = each;
            }
        }
        args.create_info.p_next = chain.cast();
        if result < 0 {
            return error(
                result,
                "wgpu's chain of features is not one that Hearth can extend",
            );
        }
        let enabled = Enabled {
            features,
            binding_model,
            _structs: memory,
        };
        self.enabled.set(enabled).or_else(|_| {
            error(
                sys::HEARTH_ERROR_INVALID_STATE,
                "this setup has made a device; create one for each",
            )
        })
    }

    /// Extensions and features for buffer addresses or, without them, for push descriptors.
    fn requirements(
        &self,
        adapter: &hal::Adapter,
    ) -> hearth::Result<(sys::hearth_requirements, sys::hearth_binding_model)> {
        let instance = adapter.shared_instance();
        let mut messages = sys::hearth_messages::default();
        let mut result = sys::HEARTH_ERROR_UNSUPPORTED;
        for binding_model in [
            sys::HEARTH_BINDING_DEVICE_ADDRESS,
            sys::HEARTH_BINDING_PUSH_DESCRIPTOR,
        ] {
            if self.needs_descriptors && binding_model == sys::HEARTH_BINDING_DEVICE_ADDRESS {
                continue;
            }
            let query = sys::hearth_device_requirements_info {
                instance: instance.raw_instance().handle().as_raw() as *mut c_void,
                physical_device: adapter.raw_physical_device().as_raw() as *mut c_void,
                get_instance_proc_addr: get_proc(instance),
                api_version: api_version(adapter),
                binding_model,
                ..Default::default()
            };
            let mut requirements = sys::hearth_requirements::default();
            // SAFETY: the handles live during the call.
            result = unsafe {
                sys::hearth_get_device_requirements(&query, &mut requirements, &mut messages)
            };
            if result == sys::HEARTH_OK {
                return Ok((requirements, binding_model));
            }
        }
        // SAFETY: the text ends with a zero.
        let text = unsafe { CStr::from_ptr(messages.text.as_ptr()) };
        error(result, text.to_string_lossy())
    }

    /// Adopts the device that [`Setup::open`] or a callback with [`Setup::add`] has created.
    pub fn adopt(
        &self,
        adapter: &wgpu::Adapter,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
    ) -> hearth::Result<Context> {
        let Some(enabled) = self.enabled.get() else {
            return error(
                sys::HEARTH_ERROR_INVALID_STATE,
                "this setup has made no device: call open, or add in the engine's callback",
            );
        };
        // SAFETY: the handles are borrowed; the context keeps clones of device and queue.
        unsafe {
            let (Some(raw_adapter), Some(raw)) = (adapter.as_hal::<Api>(), device.as_hal::<Api>())
            else {
                return no_vulkan();
            };
            let instance = raw_adapter.shared_instance();
            let names = |list: &[&'static CStr]| -> Vec<_> {
                list.iter().map(|name| name.as_ptr()).collect()
            };
            let instance_extensions = names(instance.extensions());
            let device_extensions = names(raw.enabled_device_extensions());
            let info = sys::hearth_context_create_info {
                instance: instance.raw_instance().handle().as_raw() as *mut c_void,
                physical_device: raw.raw_physical_device().as_raw() as *mut c_void,
                device: raw.raw_device().handle().as_raw() as *mut c_void,
                get_instance_proc_addr: get_proc(instance),
                api_version: api_version(&raw_adapter),
                queue_family_index: raw.queue_family_index(),
                instance_extension_count: instance_extensions.len() as u32,
                device_extension_count: device_extensions.len() as u32,
                instance_extensions: instance_extensions.as_ptr(),
                device_extensions: device_extensions.as_ptr(),
                features: enabled.features,
                binding_model: enabled.binding_model,
                ..Default::default()
            };
            let has_addresses = enabled.binding_model == sys::HEARTH_BINDING_DEVICE_ADDRESS;
            Context::new(&info, adapter, device, queue, has_addresses)
        }
    }
}

/// # Safety
/// `head` is null or the first struct of a chain.
unsafe fn structs(head: *mut vk::BaseOutStructure) -> Vec<*mut vk::BaseOutStructure> {
    let mut list = Vec::new();
    let mut each = head;
    while !each.is_null() {
        list.push(each);
        each = (*each).p_next;
    }
    list
}

/// The version in use: wgpu asks for 1.3 at most.
fn api_version(adapter: &hal::Adapter) -> u32 {
    adapter
        .physical_device_capabilities()
        .properties()
        .api_version
        .min(adapter.shared_instance().instance_api_version())
        .min(vk::API_VERSION_1_3)
}

fn get_proc(instance: &hal::InstanceShared) -> sys::hearth_get_instance_proc {
    let function = instance.entry().static_fn().get_instance_proc_addr;
    // SAFETY: both are PFN_vkGetInstanceProcAddr; handles are pointers.
    unsafe { std::mem::transmute(function) }
}
