// The tables of a ledger as the first version made them, which knew tenants by their names. Test
// code only: what was written then does not change, whatever becomes of ledger.cc.
#pragma once

namespace zerohop {

inline constexpr const char* kOldLedgerTables = R"sql(
CREATE TABLE label_sets (
  number INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE usage (
  at_ms INTEGER NOT NULL,
  key TEXT NOT NULL,
  tenant TEXT NOT NULL,
  model TEXT NOT NULL,
  labels INTEGER NOT NULL REFERENCES label_sets (number),
  requests INTEGER NOT NULL,
  uncached_input INTEGER NOT NULL,
  cached_input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  money_micros INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_at ON usage (at_ms);
CREATE INDEX usage_tenant ON usage (tenant, at_ms);
INSERT INTO label_sets VALUES (1, '');
)sql";

}  // namespace zerohop
