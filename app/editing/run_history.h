// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"
#include "app/editing/canvas_view.h"
#include "app/editing/run_info.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace palimpsest::editing {

/// Every step of a run, none left out, as ids: so that any of them can be shown again, and made the draft's text,
/// exactly as it was. About 3 KiB a step of 256 positions until it is on the disk, half of it after that.
class RunHistory
{
public:
    explicit RunHistory(std::vector<std::shared_ptr<const CanvasView>> lanes);

    void add(std::size_t lane, std::int64_t canvas, RecordedStep step);
    void settle(std::size_t lane, std::int64_t canvas, CanvasStop stop);
    /// Steps that were read back from the disk: their canvas is complete.
    void restore(std::size_t lane, std::int64_t canvas, std::vector<RecordedStep> steps);

    [[nodiscard]] std::size_t bytes() const noexcept { return m_bytes; } ///< about
    [[nodiscard]] std::size_t lanes() const noexcept { return m_lanes.size(); }
    [[nodiscard]] std::size_t canvases(std::size_t lane) const noexcept { return m_lanes[lane].canvases.size(); }
    [[nodiscard]] RunCurves curves() const;
    /// Throws Error NotFound for a lane, canvas or step that is not there.
    [[nodiscard]] Frame frame(int lane, std::int64_t canvas, int step) const;
    /// What the span would be with this step: the canvases before, and the text that the step's frame shows. Throws as
    /// frame.
    [[nodiscard]] QString textAt(int lane, std::int64_t canvas, int step) const;
    [[nodiscard]] std::optional<Frame> newestFrame(std::size_t lane) const;
    [[nodiscard]] const RecordedStep *newestStep(std::size_t lane) const noexcept;
    [[nodiscard]] const CanvasView &view(std::size_t lane) const noexcept { return *m_lanes[lane].view; }

    /// Steps of one canvas on their way to the store.
    struct Batch
    {
        std::int64_t canvas = 0; ///< as the store counts: storedCanvas
        std::vector<documents::StepRecord> steps;
    };
    /// Takes what is to be saved: the rest of canvases that have ended, kStepsOfBatch of those that run; with `all`,
    /// everything.
    [[nodiscard]] std::vector<Batch> takeUnsaved(bool all);
    static constexpr std::size_t kStepsOfBatch = 16;

    /// The store counts canvases of a run alone; lanes are told apart by it.
    [[nodiscard]] static std::int64_t storedCanvas(std::size_t lane, std::int64_t canvas) noexcept;

private:
    struct Canvas
    {
        std::vector<RecordedStep> steps;
        std::size_t saved = 0;
        std::optional<CanvasStop> stop;
    };
    struct Lane
    {
        std::shared_ptr<const CanvasView> view;
        std::vector<Canvas> canvases;
        mutable std::optional<Frame> newest; ///< for all who ask for it while it is the newest
    };
    [[nodiscard]] Canvas &canvasOf(std::size_t lane, std::int64_t canvas);
    [[nodiscard]] const Canvas &requireStep(int lane, std::int64_t canvas, int step) const;

    std::vector<Lane> m_lanes;
    std::size_t m_bytes = 0;
};

[[nodiscard]] documents::StepRecord toStored(const RecordedStep &step);
[[nodiscard]] RecordedStep fromStored(const documents::StepRecord &stored, int maxSteps);

} // namespace palimpsest::editing
