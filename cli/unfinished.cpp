#include "unfinished.hpp"

#include <algorithm>

#include "bench/resume.hpp"

namespace lugpu::cli {

std::optional<EarlierSamples> Unfinished::take(const Case& what, std::size_t i) {
  const auto found = std::ranges::find_if(
      earlier_, [mine = to_json(what)](const auto& one) { return same_case(one, mine); });
  if (found == earlier_.end()) return std::nullopt;
  EarlierSamples samples = earlier_samples(*found);
  Taken taken{what, Samples(effort_)};
  taken.what.threads = samples.threads;
  taken.what.threads_to_try = samples.threads_to_try;
  taken.samples.resume(samples.times_s, samples.count);
  own_.insert_or_assign(i, std::move(taken));
  earlier_.erase(found);
  return samples;
}

void Unfinished::add(const Case& what, std::size_t i, std::span<const double> seconds) {
  Taken& taken = own_.try_emplace(i, Taken{what, Samples(effort_)}).first->second;
  for (const double one : seconds) taken.samples.add(one);
}

void Unfinished::put_into(nlohmann::json& report) const {
  nlohmann::json all = earlier_;
  for (const auto& [i, taken] : own_) all.push_back(unfinished_record(taken.what, taken.samples));
  report.erase("unfinished");
  if (!all.empty()) report["unfinished"] = std::move(all);
}

}  // namespace lugpu::cli
