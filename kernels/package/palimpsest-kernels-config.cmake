# SPDX-FileCopyrightText: 2026 The Palimpsest developers
# SPDX-License-Identifier: Apache-2.0

include(CMakeFindDependencyMacro)
find_dependency(CUDAToolkit) # the runtime, linked statically
include(${CMAKE_CURRENT_LIST_DIR}/palimpsest-kernels-targets.cmake)
