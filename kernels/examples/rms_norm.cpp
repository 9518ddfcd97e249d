// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/rms_norm.h"

#include "device_vector.h"

#include <cmath>

// A row of 4 and 3 in turn has the root mean square sqrt(12.5).
int main()
{
    constexpr std::int64_t kRows = 17;
    constexpr std::int64_t kColumns = 2816;
    std::vector<float> rows(kRows * kColumns);
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = i % 2 == 0 ? 4.0F : 3.0F;
    const DeviceVector<float> in(rows);
    const DeviceVector<float> weight(std::vector<float>(kColumns, 2.0F));
    const DeviceVector<float> out(rows.size());

    palimpsest::kernels::RmsNormArgs args;
    args.rows = kRows;
    args.columns = kColumns;
    args.in = in.data();
    args.weight = weight.data();
    args.outFloat = out.data();
    check(palimpsest::kernels::rmsNorm(args, nullptr));

    const std::vector<float> normed = out.host();
    const float wanted = 2.0F * 4.0F / std::sqrt(12.5F);
    std::printf("rms_norm: %.6f, expected %.6f\n", normed.front(), wanted);
    return std::abs(normed[normed.size() - 2] - wanted) < 1e-5F ? 0 : 1;
}
