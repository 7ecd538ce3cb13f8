// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs a plan of cook_wgsl() on WebGPU: one buffer holds arena, weights and the tensors of an entry; a step is a
// dispatch, and a dispatch sees what those before it wrote.

const kUniformStride = 256, kMostGroups = 65535;

const kCopy = `
struct Run { words: u32, from_: u32, to_: u32, fill_: u32, is_fill: u32 }
@group(0) @binding(0) var<storage, read_write> memory: array<u32>;
@group(0) @binding(1) var<uniform> run: Run;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  for (var i = id.x; i < run.words; i += 64u * ${kMostGroups}u) {
    if (run.is_fill != 0u) { memory[run.to_ + i] = run.fill_; } else { memory[run.to_ + i] = memory[run.from_ + i]; }
  }
}`;

const at = ([fixed, perRow], rows) => fixed + perRow * rows;
const aligned = (bytes) => Math.ceil(bytes / 256) * 256;

export class GpuNetwork {
  /// plan: what cook_wgsl() wrote; weights: their bytes, as the same network in C has them; names: of the entries that
  /// will run.  Throws where the browser has no adapter.
  static async open(plan, weights, names = Object.keys(plan.entries)) {
    const adapter = await navigator.gpu?.requestAdapter();
    if (!adapter) throw new Error("this browser offers no WebGPU adapter");
    const device = await adapter.requestDevice();
    const network = new GpuNetwork(plan, device, adapter.info);
    if (weights.length !== plan.weights_bytes)
      throw new Error(`the weights have ${weights.length} bytes, the plan has ${plan.weights_bytes}`);
    device.queue.writeBuffer(network.memory, network.weightsAt, weights);
    device.pushErrorScope("validation");
    network.entries = {};
    for (const name of names) network.entries[name] = await network.prepare(plan.entries[name]);
    const error = await device.popErrorScope();
    if (error !== null) throw new Error(error.message);
    return network;
  }

  constructor(plan, device, info) {
    Object.assign(this, { plan, device, info });
    this.weightsAt = aligned(plan.arena_bytes);
    let end = this.weightsAt + aligned(plan.weights_bytes);
    this.bindingAt = plan.bindings.map((b) => {
      const begin = end;
      end += aligned(at(b.bytes, plan.rows));
      return begin;
    });
    const { STORAGE, COPY_SRC, COPY_DST, UNIFORM, MAP_READ } = GPUBufferUsage;
    this.memory = device.createBuffer({ size: end, usage: STORAGE | COPY_SRC | COPY_DST });
    this.copyModule = device.createShaderModule({ code: kCopy });
    this.modules = new Map();
    this.uniformUsage = UNIFORM | COPY_DST;
    this.readUsage = MAP_READ | COPY_DST;
    this.layout = device.createBindGroupLayout({ entries: [
      { binding: 0, visibility: GPUShaderStage.COMPUTE, buffer: { type: "storage" } },
      { binding: 1, visibility: GPUShaderStage.COMPUTE, buffer: { type: "uniform", hasDynamicOffset: true, minBindingSize: 32 } },
    ] });
  }

  wordOf([region, place]) {
    const begin = region === "arena" ? place : region === "weights" ? this.weightsAt + place : this.bindingAt[place];
    return begin / 4;
  }

  moduleOf(kernel) {
    if (!this.modules.has(kernel))
      this.modules.set(kernel, this.device.createShaderModule({ code: this.plan.kernels[kernel].code }));
    return this.modules.get(kernel);
  }

  async prepare(entry) {
    const { device } = this;
    const layout = device.createPipelineLayout({ bindGroupLayouts: [this.layout] });
    const pipelines = await Promise.all(entry.steps.map(async (step) => {
      const isKernel = step.kernel !== undefined;
      const constants = {};
      if (isKernel) step.operands.forEach((operand, i) => { constants[`at_${i}`] = this.wordOf(operand); });
      const module = isKernel ? this.moduleOf(step.kernel) : this.copyModule;
      const { messages } = await module.getCompilationInfo();
      for (const { type, lineNum, message } of messages)
        if (type === "error") throw new Error(`kernel ${step.kernel}, line ${lineNum}: ${message}`);
      return device.createComputePipelineAsync({ layout, compute: { module, entryPoint: "main", constants } });
    }));
    const uniforms = device.createBuffer({ size: entry.steps.length * kUniformStride, usage: this.uniformUsage });
    const group = device.createBindGroup({ layout: this.layout, entries: [
      { binding: 0, resource: { buffer: this.memory } }, { binding: 1, resource: { buffer: uniforms, size: 32 } }] });
    return { ...entry, pipelines, uniforms, group };
  }

  /// Invocations of each step, and what its uniform holds.
  measure(entry, rows) {
    const words = new Int32Array(entry.steps.length * kUniformStride / 4);
    const counts = entry.steps.map((step, i) => {
      const uniform = words.subarray(i * kUniformStride / 4);
      if (step.kernel !== undefined) {
        const workgroups = step.grid.reduce((product, [work, tile]) => product * Math.ceil(at(work, rows) / tile), 1);
        uniform.set([rows, workgroups]);
        return workgroups * this.plan.kernels[step.kernel].threads;
      }
      const size = at(step.operands[0][2], rows) / 4, to = this.wordOf(step.operands[step.copy ? 1 : 0]);
      uniform.set([size, this.wordOf(step.operands[0]), to, step.fill ?? 0, step.copy ? 0 : 1]);
      return Math.min(size, 64 * kMostGroups);
    });
    return { words, counts };
  }

  /// Runs an entry: inputs and outputs by name, as typed arrays of its rows.
  async run(name, rows, inputs) {
    const { device, plan } = this, entry = this.entries[name];
    const bindings = entry.bindings.map((i) => ({ ...plan.bindings[i], at: this.bindingAt[i] }));
    for (const b of bindings)
      if (b.direction !== "output") device.queue.writeBuffer(this.memory, b.at, inputs[b.name]);
    const { words, counts } = this.measure(entry, rows);
    device.queue.writeBuffer(entry.uniforms, 0, words);
    const commands = device.createCommandEncoder(), pass = commands.beginComputePass();
    counts.forEach((count, i) => {
      if (count === 0) return;
      pass.setPipeline(entry.pipelines[i]);
      pass.setBindGroup(0, entry.group, [i * kUniformStride]);
      const { kernel } = entry.steps[i];
      pass.dispatchWorkgroups(Math.ceil(count / (kernel === undefined ? plan : plan.kernels[kernel]).workgroup));
    });
    pass.end();
    const outputs = bindings.filter((b) => b.direction !== "input");
    const reads = outputs.map((b) => this.copyOut(commands, b.at, Math.ceil(at(b.bytes, rows) / 4) * 4));
    device.queue.submit([commands.finish()]);
    const found = {};
    for (const [i, b] of outputs.entries()) {
      const bytes = await this.arrived(reads[i]);
      found[b.name] = b.dtype === "f32" ? new Float32Array(bytes) : new Int32Array(bytes);
    }
    return found;
  }

  /// The bytes of the weights as they are now.
  async weights() {
    const commands = this.device.createCommandEncoder();
    const read = this.copyOut(commands, this.weightsAt, this.plan.weights_bytes);
    this.device.queue.submit([commands.finish()]);
    return new Uint8Array(await this.arrived(read));
  }

  copyOut(commands, begin, size) {
    const buffer = this.device.createBuffer({ size, usage: this.readUsage });
    commands.copyBufferToBuffer(this.memory, begin, buffer, 0, size);
    return buffer;
  }
  async arrived(buffer) {
    await buffer.mapAsync(GPUMapMode.READ);
    const bytes = buffer.getMappedRange().slice(0);
    buffer.destroy();
    return bytes;
  }
}
