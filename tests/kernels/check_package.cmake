# SPDX-FileCopyrightText: 2026 The Palimpsest developers
# SPDX-License-Identifier: GPL-3.0-or-later

# Installs the kernels from BUILD_FOLDER into a fresh prefix and builds a program that finds them there.

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(result)
        string(REPLACE ";" " " command "${ARGV}")
        message(FATAL_ERROR "${command}: ${result}\n${output}")
    endif()
endfunction()

file(REMOVE_RECURSE ${WORK_FOLDER})
run(${CMAKE_COMMAND} --install ${BUILD_FOLDER} --component palimpsest-kernels --prefix ${WORK_FOLDER}/prefix)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK_FOLDER}/build -G ${GENERATOR}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_PREFIX_PATH=${WORK_FOLDER}/prefix -D CUDAToolkit_ROOT=${TOOLKIT})
run(${CMAKE_COMMAND} --build ${WORK_FOLDER}/build)

# A wish for another series is not met.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK_FOLDER}/refused -G ${GENERATOR}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_PREFIX_PATH=${WORK_FOLDER}/prefix -D CUDAToolkit_ROOT=${TOOLKIT}
    -D WANTED_VERSION=99.0 RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
if(NOT result)
    message(FATAL_ERROR "version 99.0 of the package was found")
endif()
file(GLOB_RECURSE private ${WORK_FOLDER}/prefix/*.cuh ${WORK_FOLDER}/prefix/*_variants.h)
if(private)
    message(FATAL_ERROR "installed, but nobody's business: ${private}")
endif()
