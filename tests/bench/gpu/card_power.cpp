// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "card_power.h"

#include <chrono>
#include <dlfcn.h>

namespace palimpsest::gpu_bench {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The first card by the management library, whose few functions are declared here: its header comes with a toolkit
/// that a machine with the driver alone does not have.
class ManagedCard
{
public:
    ManagedCard()
    {
        void *const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
        if (library == nullptr)
            return;
        const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
        const auto handle =
            reinterpret_cast<int (*)(unsigned, void **)>(dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
        m_energy = reinterpret_cast<Energy>(dlsym(library, "nvmlDeviceGetTotalEnergyConsumption"));
        m_clock = reinterpret_cast<ClockInfo>(dlsym(library, "nvmlDeviceGetClockInfo"));
        if (init == nullptr || handle == nullptr || init() != 0 || handle(0, &m_device) != 0)
            m_device = nullptr;
    }

    /// Since the driver was loaded.
    [[nodiscard]] std::optional<double> millijoules() const
    {
        unsigned long long value = 0;
        if (m_device == nullptr || m_energy == nullptr || m_energy(m_device, &value) != 0)
            return std::nullopt;
        return static_cast<double>(value);
    }

    [[nodiscard]] unsigned megahertz() const
    {
        constexpr int kMultiprocessors = 1;
        unsigned value = 0;
        if (m_device == nullptr || m_clock == nullptr || m_clock(m_device, kMultiprocessors, &value) != 0)
            return 0;
        return value;
    }

private:
    using Energy = int (*)(void *, unsigned long long *);
    using ClockInfo = int (*)(void *, int, unsigned *);

    void *m_device = nullptr;
    Energy m_energy = nullptr;
    ClockInfo m_clock = nullptr;
};

} // namespace

std::optional<Sustained> sustained(double seconds, const std::function<void()> &call)
{
    static const ManagedCard card;
    if (!card.millijoules())
        return std::nullopt;
    const Clock::time_point warming = Clock::now();
    while (secondsSince(warming) < seconds / 4) // the clock follows the load with a delay
        call();
    const std::optional<double> before = card.millijoules();
    const Clock::time_point start = Clock::now();
    int calls = 0;
    Sustained result;
    for (double passed = 0.0; passed < seconds; passed = secondsSince(start)) {
        call();
        ++calls;
        if (passed > seconds * 0.8 && result.megahertz == 0)
            result.megahertz = card.megahertz();
    }
    const double passed = secondsSince(start);
    const std::optional<double> after = card.millijoules();
    if (!before || !after)
        return std::nullopt;
    result.milliseconds = passed * 1e3 / calls;
    result.millijoules = (*after - *before) / calls;
    result.watts = (*after - *before) * 1e-3 / passed;
    return result;
}

} // namespace palimpsest::gpu_bench
