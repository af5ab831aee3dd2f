// The scenarios of door_bench.cc. Each begins its section of the page and adds its rows.
#pragma once

#include "comparison.h"
#include "door_keys.h"
#include "program_words.h"

namespace zerohop::bench {

struct DoorBench {
  Programs programs;
  DoorKeys& keys;
  Comparison& report;
};

/// One column of figures.
inline const ComparisonColumns kFigures{"figure", ""};

void bench_refusals(const DoorBench& bench);
void bench_policy(const DoorBench& bench);
void bench_memory(const DoorBench& bench);
void bench_growth(const DoorBench& bench);
void bench_overload(const DoorBench& bench);
void bench_probes(const DoorBench& bench);
void bench_observability(const DoorBench& bench);

/// What `--bare-memory 1` does: libllama alone with the settings of the environment, as
/// bench_memory() starts it in a process of its own. Prints its resident memory in MiB.
int report_bare_memory();

}  // namespace zerohop::bench
