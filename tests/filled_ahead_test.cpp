// Pieces that threads make while others are used: each part once, in its room, never too early.
#include "base/filled_ahead.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace lugpu {
namespace {

TEST(FilledAhead, EveryPartOnceAndNoneBeforeItsRoomIsFree) {
  for (const std::size_t pieces : {1, 2, 3, 4, 5, 40}) {
    for (const std::size_t parts : {1, 7}) {
      for (const std::size_t rooms : {1, 2, 4}) {
        for (const std::size_t threads : {0, 1, 5}) {
          SCOPED_TRACE(std::to_string(pieces) + " x " + std::to_string(parts) + ", " +
                       std::to_string(rooms) + " rooms, " + std::to_string(threads) + " threads");
          std::vector<std::atomic<int>> times(pieces * parts);
          std::vector<std::atomic<std::size_t>> room(rooms * parts);
          std::atomic<std::size_t> used = 0;
          std::atomic<bool> early = false;
          FilledAhead filled(pieces, parts, rooms, threads, [&](std::size_t p, std::size_t part) {
            if (p >= used + rooms) early = true;
            ++times[p * parts + part];
            room[p % rooms * parts + part] = p;
          });
          for (std::size_t p = 0; p < pieces; ++p) {
            filled.await(p);
            for (std::size_t part = 0; part < parts; ++part) {
              EXPECT_EQ(room[p % rooms * parts + part], p);
              EXPECT_EQ(times[p * parts + part], 1);
            }
            used = p + 1;
            filled.give_back(p + 1);
          }
          EXPECT_FALSE(early);
        }
      }
    }
  }
}

// As a transfer does it, which gives a room back when two later pieces are on their way.
TEST(FilledAhead, RoomsComeBackLate) {
  std::atomic<int> parts = 0;
  FilledAhead filled(30, 2, 3, 2, [&](std::size_t, std::size_t) { ++parts; });
  for (std::size_t piece = 0; piece < 30; ++piece) {
    filled.await(piece);
    if (piece >= 2) filled.give_back(piece - 1);
  }
  EXPECT_EQ(parts, 60);
}

TEST(FilledAhead, WhatFillingThrowsIsThrownByWaiting) {
  FilledAhead filled(10, 3, 4, 2, [](std::size_t piece, std::size_t part) {
    if (piece == 2 && part == 1) throw std::runtime_error("part 1 of piece 2");
  });
  try {
    for (std::size_t piece = 0; piece < 10; ++piece) filled.await(piece);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "part 1 of piece 2");
  }
}

// Its threads end although pieces are left.
TEST(FilledAhead, EndsEarly) {
  std::atomic<int> filled_pieces = 0;
  {
    FilledAhead filled(100, 1, 2, 3, [&](std::size_t, std::size_t) { ++filled_pieces; });
    filled.await(1);
  }
  EXPECT_EQ(filled_pieces, 2);
}

}  // namespace
}  // namespace lugpu
