// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/python_number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace palimpsest {

std::string pythonNumber(double value)
{
    // Shortest digits in the form d.ddde-NN.
    std::array<char, 32> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value), std::chars_format::scientific).ptr;
    const std::string_view scientific(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    const std::size_t e = scientific.find('e');
    std::string digits(1, scientific.front());
    if (e > 2)
        digits += scientific.substr(2, e - 2);
    const int exponent = std::atoi(std::string(scientific.substr(e + 1)).c_str());

    std::string text = std::signbit(value) ? "-" : "";
    if (exponent < -4 || exponent >= 16) {
        text += digits.substr(0, 1);
        if (digits.size() > 1)
            text += '.' + digits.substr(1);
        const std::string size = std::to_string(std::abs(exponent));
        return text + (exponent < 0 ? "e-" : "e+") + (size.size() < 2 ? "0" : "") + size;
    }
    if (exponent < 0)
        return text + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    const auto whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() <= whole)
        return text + digits + std::string(whole - digits.size(), '0') + ".0";
    return text + digits.substr(0, whole) + '.' + digits.substr(whole);
}

} // namespace palimpsest
