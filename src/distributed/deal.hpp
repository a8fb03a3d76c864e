// How many devices, windows and buffers a system takes.
#pragma once

#include "dense/options.hpp"
#include "distributed/block_columns.hpp"

namespace lugpu {

/// The block columns of A (options.nb wide, or block_size()) dealt to the device and
/// options.others, or as many of them as there are block columns: in as few windows as the memory
/// of each allows, all of about the same size, and in as few buffers as its largest allocation
/// does; with a third panel if there is memory for it in as many windows. Throws Unsupported if
/// that is too little for a window of one block column, the block size is no multiple of 64, or the
/// host's memory cannot hold what the devices cannot.
BlockColumns deal(const Device& device, const Size& size, const DenseOptions& options);

/// The fastest number of columns of a block; fewer if the panels of such blocks would take the
/// memory that a window needs.
std::size_t distributed_block_size(const Device& device, const Size& size,
                                   const DenseOptions& options);

}  // namespace lugpu
