# Builds the shop.
cmake_minimum_required(VERSION 3.16)
project(shop VERSION 1.0 LANGUAGES C CXX)

set(SOURCES shop.c item.c)
option(SHOP_TESTS "Build the tests" ON)

# Adds a test by its name.
function(shop_test name)
  if(SHOP_TESTS AND NOT WIN32)
    add_executable(${name} ${name}.c)
  elseif(WIN32)
    message(STATUS "none")
  endif()
  foreach(item IN LISTS ARGN)
    target_link_libraries(${name} ${item})
  endforeach()
endfunction()

macro(shop_install target)
  install(TARGETS ${target})
endmacro()

#[[ The library. ]]
add_library(shop STATIC ${SOURCES})
add_executable(till till.c)
add_custom_target(docs COMMAND doxygen)
add_test(NAME sells COMMAND till)

while(FALSE)
endwhile()
shop_test(sell shop)
shop_install(till)
