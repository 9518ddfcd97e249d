# SPDX-FileCopyrightText: 2026 The Palimpsest developers
# SPDX-License-Identifier: GPL-3.0-or-later

# The README quotes the examples whole, and they are what is compiled: both have to be the same.
file(READ ${KERNELS_FOLDER}/README.md readme)
file(GLOB examples ${KERNELS_FOLDER}/examples/*.cpp ${KERNELS_FOLDER}/examples/*.h)
if(NOT examples)
    message(FATAL_ERROR "no examples in ${KERNELS_FOLDER}/examples")
endif()
foreach(example IN LISTS examples)
    file(READ ${example} text)
    string(REGEX REPLACE "^(//[^\n]*\n)*\n" "" text "${text}") # the licence
    string(FIND "${readme}" "```cpp\n${text}```" place)
    if(place EQUAL -1)
        message(SEND_ERROR "${KERNELS_FOLDER}/README.md does not quote ${example} as it is")
    endif()
endforeach()
