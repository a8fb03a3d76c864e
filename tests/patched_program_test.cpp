// What becomes of the text of a program for NVIDIA's GPUs.
#include "opencl/patched_program.hpp"

#include "base/error.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

constexpr Patch kPatch = {44432, 83968, 2};

// As NVIDIA's compiler writes it.
const char* const kText = R"(
.version 8.7
.target sm_90, texmode_independent
.address_size 64
	.shared .align 1024 .b8 update_$_memory[44432];
	.shared .align 16 .b8 solve_$_l[17408];
.entry update(
	.param .u64 .ptr .global .align 4 update_param_0
)
.reqntid 256, 1, 1
{
	// begin inline asm
	//@ wgmma.fence.sync.aligned;
	// end inline asm
	// begin inline asm
	cp.async.commit_group;
	//@ wgmma.wait_group.sync.aligned 0;
	// end inline asm
	ret;
}
.entry solve()
.reqntid 128, 1, 1
{
	ret;
}
)";

const char* const kPatched = R"(
.version 8.7
.target sm_90a, texmode_independent
.address_size 64
	.shared .align 1024 .b8 update_$_memory[83968];
	.shared .align 16 .b8 solve_$_l[17408];
.entry update(
	.param .u64 .ptr .global .align 4 update_param_0
)
.minnctapersm 2
.reqntid 256, 1, 1
{
	// begin inline asm
	wgmma.fence.sync.aligned;
	// end inline asm
	// begin inline asm
	cp.async.commit_group;
	wgmma.wait_group.sync.aligned 0;
	// end inline asm
	ret;
}
.entry solve()
.minnctapersm 2
.reqntid 128, 1, 1
{
	ret;
}
)";

TEST(PatchedProgram, HasTheInstructionsTheTargetTheArrayAndTheLimit) {
  EXPECT_EQ(patched_ptx(kText, kPatch), kPatched);
}

TEST(PatchedProgram, MayBeginWithItsTarget) {
  const auto from_target = [](const std::string& text) {
    return text.substr(text.find(".target"));
  };
  EXPECT_EQ(patched_ptx(from_target(kText), kPatch), from_target(kPatched));
}

TEST(PatchedProgram, NeedsEveryPlaceToBeAsExpected) {
  const struct {
    std::string right, wrong, reason;
  } cases[] = {
      {"//@ wgmma.", "// wgmma.", "no hidden instructions"},
      {".target sm_90", ".target sm_80", "\".target sm_90\" 0 times"},
      {".target sm_90", ".target sm_90a", "not sm_90."},
      {".target sm_90", ".target sm_900", "not sm_90."},
      {"[44432]", "[44448]", "\"[44432]\" 0 times"},
      {"[17408]", "[44432]", "\"[44432]\" 2 times"},
      {".shared .align 1024", ".local .align 1024", "not in local memory"},
      {".reqntid 128", ".maxntid 128", "work-group size"},
  };
  for (const auto& [right, wrong, reason] : cases) {
    std::string text = kText;
    for (std::size_t at = 0; (at = text.find(right, at)) != std::string::npos; at += wrong.size())
      text.replace(at, right.size(), wrong);
    try {
      patched_ptx(text, kPatch);
      ADD_FAILURE() << wrong << " is taken";
    } catch (const Unsupported& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(patched_ptx("", kPatch), Unsupported);
}

TEST(PatchedProgram, IsNotMadeOfOneWithoutHiddenInstructions) {
  KernelId id = {"common/loops.cl", "count_iterations", Precision::single_precision,
                 Storage::buffer};
  shared_context().programs().find(id);
  id.patch = kPatch;
  EXPECT_THROW(shared_context().programs().find(id), Unsupported);
}

}  // namespace
}  // namespace lugpu
