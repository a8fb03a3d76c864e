# Usage: cmake -DPROGRAM=lugpu -DOUTPUT=DIR -P write_manual.cmake
# Has the program write its man pages and the completions of the shells, as they are installed.
file(REMOVE_RECURSE "${OUTPUT}")
find_program(GZIP gzip REQUIRED)

# ARGN: arguments of `lugpu help`.
function(write file)
  execute_process(COMMAND "${PROGRAM}" help ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE "${OUTPUT}/${file}" "${text}")
endfunction()

execute_process(COMMAND "${PROGRAM}" help --format names OUTPUT_VARIABLE names
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" names "${names}")
write(man1/lugpu.1 --format man)
foreach(name IN LISTS names)
  write(man1/lugpu-${name}.1 --format man ${name})
endforeach()
file(GLOB pages "${OUTPUT}/man1/*.1")
execute_process(COMMAND ${GZIP} -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
write(bash-completion/completions/lugpu --format bash)
write(zsh/vendor-completions/_lugpu --format zsh)
write(fish/vendor_completions.d/lugpu.fish --format fish)
