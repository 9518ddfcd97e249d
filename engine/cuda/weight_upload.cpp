// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/weight_upload.h"

#include "engine/cuda/staging.h"
#include "engine/error.h"
#include "engine/half_precision.h"
#include "kernels/w4_repack.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace palimpsest::cuda {

namespace {

std::string mebibytes(std::int64_t bytes)
{
    return std::to_string((bytes + (std::int64_t{1} << 20) - 1) >> 20) + " MiB";
}

void requireRoom(Device &device, const MemoryNeed &need)
{
    const std::int64_t available = device.freeBytes();
    if (need.totalBytes() > available)
        throw Error(ErrorKind::OutOfMemory,
                    device.name() + ": too little free memory for the model: " + mebibytes(need.totalBytes()) +
                        " needed (" + mebibytes(need.weightBytes) + " of them weights), " +
                        std::to_string(available >> 20) + " MiB free");
}

class Upload
{
public:
    Upload(const Checkpoint &checkpoint, std::shared_ptr<Device> device, const WeightLayout &layout,
           const LoadProgress &progress)
        : m_checkpoint(checkpoint),
          m_device(std::move(device)),
          m_staging(m_device),
          m_fractionalZeros(m_device, std::max(std::int64_t{1}, std::ssize(layout.experts)) * kFlagBytes, "loading"),
          m_layout(layout),
          m_progress(progress)
    {
    }

    void run()
    {
        for (const VectorPiece &piece : m_layout.vectors)
            vector(piece);
        for (const MatrixPiece &piece : m_layout.matrices)
            matrix(piece);
        for (const ExpertPiece &piece : m_layout.experts)
            experts(piece);
        m_staging.flush();
        requireWholeZeros();
        m_checkpoint.checkUnchanged();
        report(0);
    }

private:
    static constexpr auto kFlagBytes = static_cast<std::int64_t>(sizeof(std::int32_t));

    /// The products multiply by q - zero, which is exact in bf16 for whole numbers alone. Quantisers of this format
    /// give nothing else; the CPU computes with what they are.
    void requireWholeZeros()
    {
        std::vector<std::int32_t> flags(m_layout.experts.size());
        m_device->check(cudaMemcpy(flags.data(), m_fractionalZeros.as<std::int32_t>(),
                                   flags.size() * sizeof(std::int32_t), cudaMemcpyDeviceToHost),
                        "read back the check of the weights");
        const auto found = std::ranges::find_if(flags, [](std::int32_t flag) { return flag != 0; });
        if (found == flags.end())
            return;
        const TensorView &zero = *m_layout.experts[static_cast<std::size_t>(found - flags.begin())].zero;
        throw Error(ErrorKind::Unsupported,
                    zero.file.string() + ": tensor " + zero.name +
                        ": a zero point is not a whole number; the CUDA backend computes with whole ones only, the CPU "
                        "with any",
                    zero.name);
    }

    void vector(const VectorPiece &piece)
    {
        const auto bytes = std::as_bytes(std::span(piece.values));
        m_staging.copy(bytes, Source::Memory, piece.target);
        report(std::ssize(bytes));
    }

    void matrix(const MatrixPiece &piece)
    {
        const TensorView &tensor = *piece.tensor;
        if (tensor.dtype == Dtype::F32) {
            roundedMatrix(piece);
        } else {
            for (std::int64_t done = 0; done < std::ssize(tensor.bytes);) {
                const std::int64_t count = std::min(kStagingBytes, std::ssize(tensor.bytes) - done);
                m_staging.copy(tensor.bytes.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(count)),
                               Source::MappedFile, piece.target + done);
                done += count;
                report(count);
            }
        }
        m_checkpoint.releasePages(tensor);
    }

    void roundedMatrix(const MatrixPiece &piece)
    {
        constexpr std::int64_t kElements = 1 << 20;
        const std::int64_t total = piece.tensor->elementCount();
        for (std::int64_t first = 0; first < total; first += kElements) {
            std::vector<Bf16> rounded(static_cast<std::size_t>(std::min(kElements, total - first)));
            for (std::size_t i = 0; i < rounded.size(); ++i) {
                float value = 0.0F;
                std::memcpy(&value, piece.tensor->bytes.data() + (static_cast<std::size_t>(first) + i) * sizeof value,
                            sizeof value);
                rounded[i] = floatToBf16(value);
            }
            const auto bytes = std::as_bytes(std::span(rounded));
            m_staging.copy(bytes, Source::Memory, piece.target + first * static_cast<std::int64_t>(sizeof(Bf16)));
            report(std::ssize(bytes));
        }
    }

    void experts(const ExpertPiece &piece)
    {
        const std::int64_t packed = std::ssize(piece.packed->bytes) / piece.experts;
        const std::int64_t parameters = std::ssize(piece.scale->bytes) / piece.experts;
        const std::int64_t matrixBytes = kernels::w4MatrixBytes(piece.rows, piece.columns, piece.groupSize);
        const std::int64_t most = (kStagingBytes - alignedBytes(1) * 3) / (packed + 2 * parameters);
        if (most < 1)
            throw Error(ErrorKind::Unsupported, piece.packed->name + ": an expert of more than " +
                                                    mebibytes(kStagingBytes) + " cannot be loaded");
        const std::int64_t blocks = (piece.experts + most - 1) / most;
        const std::int64_t ofBlock = (piece.experts + blocks - 1) / blocks; // all blocks about as long
        for (std::int64_t first = 0; first < piece.experts;) {
            const std::int64_t count = std::min(ofBlock, piece.experts - first);
            const auto part = [&](const TensorView &tensor, std::int64_t each) {
                return tensor.bytes.subspan(static_cast<std::size_t>(first * each),
                                            static_cast<std::size_t>(count * each));
            };
            const auto staged = m_staging.stage(
                {part(*piece.packed, packed), part(*piece.scale, parameters), part(*piece.zero, parameters)});
            const kernels::W4RepackArgs args{
                .packed = reinterpret_cast<const std::uint8_t *>(staged.at(0)),
                .scale = reinterpret_cast<const std::uint16_t *>(staged.at(1)),
                .zero = reinterpret_cast<const std::uint16_t *>(staged.at(2)),
                .blocks = reinterpret_cast<std::uint8_t *>(piece.target + first * matrixBytes),
                .invalidZeros = m_fractionalZeros.as<std::int32_t>() + (&piece - m_layout.experts.data()),
                .matrices = count,
                .rows = piece.rows,
                .columns = piece.columns,
                .groupSize = piece.groupSize,
                .order = piece.order};
            m_device->check(kernels::w4Repack(args, m_device->stream()), "repack the experts");
            m_staging.finishBlock();
            first += count;
            report(count * matrixBytes);
        }
        for (const TensorView *tensor : {piece.packed, piece.scale, piece.zero})
            m_checkpoint.releasePages(*tensor);
    }

    void report(std::int64_t bytes)
    {
        m_done += bytes;
        const double part =
            std::min(1.0, static_cast<double>(m_done) / static_cast<double>(std::max<std::int64_t>(1, m_layout.bytes)));
        if (m_progress && !m_progress(bytes == 0 ? 1.0 : part))
            throw Error(ErrorKind::Backend, "loading the model was cancelled");
    }

    const Checkpoint &m_checkpoint;
    std::shared_ptr<Device> m_device;
    Staging m_staging;
    DeviceBuffer m_fractionalZeros; ///< [expert piece]: not 0 where a zero point is not whole
    const WeightLayout &m_layout;
    const LoadProgress &m_progress;
    std::int64_t m_done = 0;
};

} // namespace

DeviceWeights uploadWeights(const Checkpoint &checkpoint, const std::shared_ptr<Device> &device, const MemoryNeed &need,
                            const LoadProgress &progress)
{
    requireRoom(*device, need);
    checkpoint.checkUnchanged();
    DeviceWeights made;
    made.memory = DeviceBuffer(device, need.weightBytes, "the weights");
    const WeightLayout layout = layOutWeights(checkpoint, made.memory.as<std::byte>());
    Upload(checkpoint, device, layout, progress).run();
    made.pointers = layout.pointers;
    return made;
}

} // namespace palimpsest::cuda
