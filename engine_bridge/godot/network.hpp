// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A network whose entries are run with arrays.  Independent of Godot.

#pragma once

#include "host.hpp"

#include <map>

namespace hearth_godot {

class Network : public Model {
  public:
    ~Network() { close(); }

    /// bytes  of the file at `path`; empty: there is none
    bool open(const std::string& path, const Bytes& bytes, const std::string& device);
    void close();

    /// Runs an entry and waits.  `inputs` and the result concatenate all inputs and outputs in the
    /// order of `hearth info`.  Returns an empty vector on failure.  If an output is not finite, the
    /// outputs are returned and error() names it.
    Floats run(const std::string& entry, const Floats& inputs, int64_t batch_size);
    /// As run(), with tensors by name.  The batch size follows from the inputs.
    Fields run_fields(const std::string& entry, const Fields& inputs);
    /// Runs an entry on a thread, in pieces of at most budget_us on the device (0: in one piece),
    /// between which others use it, and calls done(outputs, error) there.  run() of other entries
    /// is possible meanwhile; the calls below wait.
    bool start(const std::string& entry, const Fields& inputs, double budget_us,
               std::function<void(const Fields&, const std::string&)> done);
    bool is_running() { return worker_.is_busy(); }
    void wait() { worker_.wait(); }

    /// Returns an empty vector on failure.
    Bytes save();
    bool load(const Bytes& brain);
    bool reset();

  private:
    struct Tensor {
        std::string name;
        hearth_tensor_binding binding;
        hearth_dtype dtype;
        bool is_output;
        void* data;
        uint64_t count;
    };
    using Buffers = std::map<uint32_t, hearth_headless_buffer>;
    struct Call {
        std::string name;
        hearth_record_info record = hearth_record_info_default();
        std::vector<Tensor> tensors;
        std::vector<hearth_tensor_binding> bindings;
    };

    bool find_entry(const std::string& name, uint32_t& index, hearth_entry_info& entry);
    bool bind(const std::string& name, int64_t batch_size, Buffers& buffers, Call& call);
    bool write(const Tensor& tensor, const float* values);
    bool write_concatenated(const Call& call, const Floats& inputs);
    bool write_fields(const Call& call, const Fields& inputs);
    int64_t find_batch_size(const std::string& name, const Fields& inputs);
    bool record(Call& call);
    bool record_piece(Call& call, hearth_run_cursor& cursor, bool& is_done, std::string& error);
    static void check_outputs(const Call& call, std::string& error);
    static Floats read(const Tensor& tensor);
    static Fields read_fields(const Call& call);
    void destroy(Buffers& buffers);

    Buffers buffers_, started_buffers_;
    Worker worker_;
};

}  // namespace hearth_godot
