// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/panel_gemm.h"

#include "engine/cpu/row_kernels.h"
#include "engine/error.h"

#include <dnnl.hpp>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace palimpsest::cpu {

namespace {

dnnl::matmul makeProduct(const dnnl::engine &engine, std::int64_t inStride, std::int64_t rows, std::int64_t depth,
                         std::int64_t columns, dnnl::memory::desc &scratchpad)
{
    using dnnl::memory;
    const memory::desc in({rows, depth}, memory::data_type::f32, memory::dims{inStride, 1});
    const memory::desc panel({depth, columns}, memory::data_type::f32, memory::dims{columns, 1});
    const memory::desc out({rows, columns}, memory::data_type::f32, memory::dims{columns, 1});
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user); // the library's own is not safe between threads
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc description(engine, in, panel, out, attributes);
#else
    const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(in, panel, out), attributes, engine);
#endif
    scratchpad = description.scratchpad_desc();
    return dnnl::matmul(description);
}

std::int64_t paddedRows(std::int64_t rows)
{
    constexpr std::int64_t kCoarseGranule = 32;
    const std::int64_t granule = rows <= PanelGemm::kFixedRows ? PanelGemm::kRowGranule : kCoarseGranule;
    return (rows + granule - 1) / granule * granule;
}

} // namespace

/// What one thread needs to run products: oneDNN's objects are cheap to run but not to make.
struct PanelGemm::Worker
{
    struct Product
    {
        dnnl::matmul primitive;
        dnnl::memory in;
        dnnl::memory panel;
        dnnl::memory out;
        dnnl::memory scratchpad;
        std::array<dnnl_exec_arg_t, 4> arguments{};
    };

    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, Product> products;

    Product &product(std::int64_t inStride, std::int64_t rows, std::int64_t depth, std::int64_t columns,
                     std::mutex &making)
    {
        const auto [found, isNew] = products.try_emplace({rows, depth, columns, inStride});
        Product &made = found->second;
        if (!isNew)
            return made;
        const std::scoped_lock lock(making);
        using dnnl::memory;
        memory::desc scratchpad;
        made.primitive = makeProduct(engine, inStride, rows, depth, columns, scratchpad);
        // Memory handles are set per call; DNNL_MEMORY_NONE keeps oneDNN from allocating.
        made.in = memory({{rows, depth}, memory::data_type::f32, memory::dims{inStride, 1}}, engine, DNNL_MEMORY_NONE);
        made.panel =
            memory({{depth, columns}, memory::data_type::f32, memory::dims{columns, 1}}, engine, DNNL_MEMORY_NONE);
        made.out =
            memory({{rows, columns}, memory::data_type::f32, memory::dims{columns, 1}}, engine, DNNL_MEMORY_NONE);
        made.scratchpad = memory(scratchpad, engine);
        made.arguments = {{{DNNL_ARG_SRC, made.in.get()},
                           {DNNL_ARG_WEIGHTS, made.panel.get()},
                           {DNNL_ARG_DST, made.out.get()},
                           {DNNL_ARG_SCRATCHPAD, made.scratchpad.get()}}};
        return made;
    }
};

PanelGemm::PanelGemm(int workers) : m_workers(std::make_unique<Worker[]>(static_cast<std::size_t>(workers))) {}

PanelGemm::~PanelGemm() = default;

void PanelGemm::multiply(int worker, const float *in, std::int64_t inStride, const float *panel, float *out,
                         std::int64_t rows, std::int64_t depth, std::int64_t columns)
{
    omp_set_num_threads(1); // for the calling thread: oneDNN must not start threads of its own; a thread-local store
    try {
        Worker &mine = m_workers[static_cast<std::size_t>(worker)];
        const std::int64_t step = m_rowsAreIndependent ? paddedRows(rows) : kFixedRows;
        Worker::Product &product = mine.product(inStride, step, depth, columns, m_making);
        for (std::int64_t first = 0; first < rows; first += step) {
            // oneDNN takes handles as void *; it does not write through those of inputs.
            product.in.set_data_handle(const_cast<float *>(in + first * inStride));
            product.panel.set_data_handle(const_cast<float *>(panel));
            product.out.set_data_handle(out + first * columns);
            // The C call, because the C++ one builds a list of arguments on the heap each time: thousands a step.
            dnnl::error::wrap_c_api(dnnl_primitive_execute(product.primitive.get(), mine.stream.get(),
                                                           static_cast<int>(product.arguments.size()),
                                                           product.arguments.data()),
                                    "could not run a matrix product");
        }
    } catch (const dnnl::error &error) {
        throw Error(error.status == dnnl_out_of_memory ? ErrorKind::OutOfMemory : ErrorKind::Backend,
                    std::string("a matrix product failed in oneDNN: ") + error.what());
    }
}

void PanelGemm::checkRowIndependence(std::int64_t depth)
{
    constexpr std::int64_t kRows = 256;
    std::vector<float> in(static_cast<std::size_t>(kRows * depth));
    std::vector<float> panel(static_cast<std::size_t>(depth * kPanelColumns));
    std::uint32_t state = 1;
    const auto next = [&state] { // any spread of values with full mantissas will do
        state = state * 1664525U + 1013904223U;
        return static_cast<float>(state) * 0x1p-31F - 1.0F;
    };
    std::generate(in.begin(), in.end(), next);
    std::generate(panel.begin(), panel.end(), next);
    std::vector<float> reference(static_cast<std::size_t>(kRows * kPanelColumns));
    std::vector<float> out(reference.size());
    multiply(0, in.data(), depth, panel.data(), reference.data(), kRows, depth, kPanelColumns);
    for (const std::int64_t rows : {std::int64_t{8}, std::int64_t{24}, std::int64_t{64}}) {
        const std::int64_t first = 72 - rows; // rows that lie elsewhere within the larger product
        multiply(0, in.data() + first * depth, depth, panel.data(), out.data(), rows, depth, kPanelColumns);
        if (std::memcmp(out.data(), reference.data() + first * kPanelColumns,
                        static_cast<std::size_t>(rows * kPanelColumns) * sizeof(float)) != 0)
            m_rowsAreIndependent = false;
    }
}

} // namespace palimpsest::cpu
