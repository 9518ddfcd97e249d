# SPDX-FileCopyrightText: 2026 The Palimpsest developers
# SPDX-License-Identifier: GPL-3.0-or-later

# Registers the fuzzers as tests: one that builds them with clang (CMakeLists.txt beside this file), and one run of 20
# seconds for each. Without clang++ and its libFuzzer there is nothing to register, which is said and is no error.
set(fuzz_seconds 20)
set(fuzz_build ${PROJECT_BINARY_DIR}/fuzz)

find_program(PALIMPSEST_CLANG NAMES clang++ clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14)
mark_as_advanced(PALIMPSEST_CLANG)
if(PALIMPSEST_CLANG AND NOT DEFINED PALIMPSEST_HAS_LIBFUZZER)
    set(probe ${CMAKE_CURRENT_BINARY_DIR}/libfuzzer_probe)
    file(WRITE ${probe}.cpp "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }\n")
    execute_process(
        COMMAND ${PALIMPSEST_CLANG} -std=c++20 -fsanitize=fuzzer,address,undefined ${probe}.cpp -o ${probe}
        RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
        set(PALIMPSEST_HAS_LIBFUZZER TRUE CACHE INTERNAL "clang++ links with libFuzzer")
    endif()
endif()
if(NOT PALIMPSEST_HAS_LIBFUZZER)
    message(STATUS "No fuzz tests: clang++ with libFuzzer (Debian: clang, libclang-rt-dev) was not found")
    return()
endif()

add_test(NAME fuzz_build
    COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${CMAKE_CURRENT_LIST_DIR} ${fuzz_build}
        --build-generator ${CMAKE_GENERATOR} --build-makeprogram ${CMAKE_MAKE_PROGRAM}
        --build-options -DCMAKE_CXX_COMPILER=${PALIMPSEST_CLANG}
            -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER})
set_tests_properties(fuzz_build PROPERTIES FIXTURES_SETUP fuzzers TIMEOUT 1200)

foreach(subject checkpoint http live_messages tokenizer)
    set(found ${fuzz_build}/found-${subject})
    file(MAKE_DIRECTORY ${found})
    add_test(NAME fuzz_${subject}
        COMMAND ${fuzz_build}/fuzz_${subject} -seed=1 -max_total_time=${fuzz_seconds} -timeout=20 -rss_limit_mb=2048
            -max_len=16384 -dict=${CMAKE_CURRENT_LIST_DIR}/${subject}.dict -artifact_prefix=${found}-failure-
            ${found} ${CMAKE_CURRENT_LIST_DIR}/seeds/${subject}
        WORKING_DIRECTORY ${fuzz_build})
    set_tests_properties(fuzz_${subject} PROPERTIES FIXTURES_REQUIRED fuzzers TIMEOUT 300)
endforeach()
