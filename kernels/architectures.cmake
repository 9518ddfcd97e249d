# SPDX-FileCopyrightText: 2026 The Palimpsest developers
# SPDX-License-Identifier: Apache-2.0

# Sets `out` to the architectures that `wanted` stands for: a list as CMAKE_CUDA_ARCHITECTURES takes it, or a word for one.
function(palimpsest_cuda_architectures out wanted)
    if(wanted STREQUAL "released")
        # From compute capability 8.0 up. Machine code runs on later chips of the same major version as well; the last
        # entry lets the driver compile for chips that come after 12.0.
        set(wanted 80-real 86-real 89-real 90a-real 100-real 120-real 120-virtual)
    elseif(wanted STREQUAL "own")
        palimpsest_own_architecture(wanted)
    endif()
    set(${out} ${wanted} PARENT_SCOPE)
endfunction()

# That of the first NVIDIA device; without one a single architecture, so that something is built and the program can say
# what it lacks. CMake's "native" is not used: it does not know the architectures with a letter, and 9.0 without its "a"
# lacks what the fast variants are made of.
function(palimpsest_own_architecture out)
    set(found 90a-real)
    find_program(NVIDIA_SMI nvidia-smi)
    mark_as_advanced(NVIDIA_SMI)
    if(NVIDIA_SMI)
        execute_process(COMMAND ${NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader --id=0
            OUTPUT_VARIABLE capability ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(capability MATCHES "^([0-9]+)\\.([0-9])$" AND NOT capability STREQUAL "9.0" AND CMAKE_MATCH_1 GREATER_EQUAL 8)
            set(found ${CMAKE_MATCH_1}${CMAKE_MATCH_2}-real)
        endif()
    endif()
    set(${out} ${found} PARENT_SCOPE)
endfunction()
