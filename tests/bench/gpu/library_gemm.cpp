// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "library_gemm.h"

#if __has_include(<cublasLt.h>)

#include "../../gpu/gpu_check.h"

#include <array>
#include <cublasLt.h>
#include <dlfcn.h>

namespace palimpsest::gpu_bench {

namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20U;
constexpr int kMostAlgorithms = 8;

/// One function of the library, under its own name.
template <typename Function>
class Symbol
{
public:
    Symbol(void *library, const char *name) : m_function(reinterpret_cast<Function *>(dlsym(library, name))) {}

    template <typename... Arguments>
    auto operator()(Arguments... arguments) const
    {
        return m_function(arguments...);
    }
    [[nodiscard]] bool found() const { return m_function != nullptr; }

private:
    Function *m_function;
};

struct Functions
{
    explicit Functions(void *library)
        : create(library, "cublasLtCreate"),
          createDescription(library, "cublasLtMatmulDescCreate"),
          setDescription(library, "cublasLtMatmulDescSetAttribute"),
          createLayout(library, "cublasLtMatrixLayoutCreate"),
          createPreference(library, "cublasLtMatmulPreferenceCreate"),
          setPreference(library, "cublasLtMatmulPreferenceSetAttribute"),
          findAlgorithms(library, "cublasLtMatmulAlgoGetHeuristic"),
          multiply(library, "cublasLtMatmul")
    {
    }
    [[nodiscard]] bool complete() const
    {
        return create.found() && createDescription.found() && setDescription.found() && createLayout.found() &&
               createPreference.found() && setPreference.found() && findAlgorithms.found() && multiply.found();
    }

    Symbol<decltype(cublasLtCreate)> create;
    Symbol<decltype(cublasLtMatmulDescCreate)> createDescription;
    Symbol<decltype(cublasLtMatmulDescSetAttribute)> setDescription;
    Symbol<decltype(cublasLtMatrixLayoutCreate)> createLayout;
    Symbol<decltype(cublasLtMatmulPreferenceCreate)> createPreference;
    Symbol<decltype(cublasLtMatmulPreferenceSetAttribute)> setPreference;
    Symbol<decltype(cublasLtMatmulAlgoGetHeuristic)> findAlgorithms;
    Symbol<decltype(cublasLtMatmul)> multiply;
};

void must(cublasStatus_t status, const char *what)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return;
    std::printf("FAIL cuBLASLt: %s: %d\n", what, static_cast<int>(status));
    std::exit(1);
}

/// Lives as long as the program, as do the descriptions: a benchmark makes a dozen of them.
class OpenedLibrary : public LibraryGemm
{
public:
    explicit OpenedLibrary(const Functions &functions) : m_functions(functions)
    {
        must(m_functions.create(&m_handle), "open");
    }

    int prepare(const kernels::DenseGemmArgs &args) override
    {
        // In the library's column-major terms y^T [outputs, rows] = weight * x^T.
        const auto outputs = static_cast<std::uint64_t>(args.outputs);
        const auto inputs = static_cast<std::uint64_t>(args.inputs);
        const auto rows = static_cast<std::uint64_t>(args.rows);
        const bool outputMajor = args.layout == kernels::WeightLayout::OutputMajor;
        const cublasOperation_t operation = outputMajor ? CUBLAS_OP_T : CUBLAS_OP_N;
        must(m_functions.createDescription(&m_description, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describe");
        must(m_functions.setDescription(m_description, CUBLASLT_MATMUL_DESC_TRANSA, &operation, sizeof operation),
             "describe");
        must(m_functions.createLayout(&m_weight, CUDA_R_16BF, outputMajor ? inputs : outputs,
                                      outputMajor ? outputs : inputs, outputMajor ? args.inputs : args.outputs),
             "lay out");
        must(m_functions.createLayout(&m_x, CUDA_R_16BF, inputs, rows, args.inputs), "lay out");
        const cudaDataType type = args.epilogue == kernels::GemmEpilogue::Float ? CUDA_R_32F : CUDA_R_16BF;
        must(m_functions.createLayout(&m_y, type, outputs, rows, args.outputs), "lay out");
        cublasLtMatmulPreference_t preference = nullptr;
        must(m_functions.createPreference(&preference), "prefer");
        must(m_functions.setPreference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspaceBytes,
                                       sizeof kWorkspaceBytes),
             "prefer");
        int found = 0;
        must(m_functions.findAlgorithms(m_handle, m_description, m_weight, m_x, m_y, m_y, preference, kMostAlgorithms,
                                        m_algorithms.data(), &found),
             "choose");
        return found;
    }

    cudaError_t run(const kernels::DenseGemmArgs &args, int algorithm, cudaStream_t stream) override
    {
        const float one = 1.0F;
        const float zero = 0.0F;
        const cublasStatus_t status = m_functions.multiply(
            m_handle, m_description, &one, args.weight, m_weight, args.x, m_x, &zero, args.out, m_y, args.out, m_y,
            &m_algorithms.at(static_cast<std::size_t>(algorithm)).algo, m_workspace.data(), kWorkspaceBytes, stream);
        return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
    }

private:
    Functions m_functions;
    cublasLtHandle_t m_handle = nullptr;
    cublasLtMatmulDesc_t m_description = nullptr;
    cublasLtMatrixLayout_t m_weight = nullptr;
    cublasLtMatrixLayout_t m_x = nullptr;
    cublasLtMatrixLayout_t m_y = nullptr;
    std::array<cublasLtMatmulHeuristicResult_t, kMostAlgorithms> m_algorithms{};
    gpu_check::DeviceArray<std::uint8_t> m_workspace{kWorkspaceBytes};
};

} // namespace

std::unique_ptr<LibraryGemm> LibraryGemm::open()
{
    void *const library = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        return nullptr;
    const Functions functions(library);
    return functions.complete() ? std::make_unique<OpenedLibrary>(functions) : nullptr;
}

} // namespace palimpsest::gpu_bench

#else

std::unique_ptr<palimpsest::gpu_bench::LibraryGemm> palimpsest::gpu_bench::LibraryGemm::open()
{
    return nullptr;
}

#endif
