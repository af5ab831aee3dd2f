// Every limit in one place, with its unit and its reason, and the relations between them proved.
//
// Those that an operator may change are defaults here and keys in the configuration
// (docs/CONFIG.md); the rest are fixed because something below depends on them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace zerohop::limits {

// ---- HTTP ----

/// The hosted API's limit for a messages body; clients send images and files of that order.
inline constexpr std::size_t kBodyBytesMax = 32u << 20;
/// Request line and headers. Real clients send under 4 KiB; proxies commonly cap at 8 to 64 KiB.
inline constexpr std::size_t kHeadBytesMax = 32u << 10;
/// Open connections; each idle one costs about 5 KiB, of which 2 are its read buffer.
inline constexpr std::size_t kConnectionsMax = 10'000;
/// Open connections of one address (of one IPv6 /64). A tenth, so that ten can be served beside
/// one that takes all it can get.
inline constexpr std::size_t kAddressConnectionsMax = 1'000;
/// Requests of one address a minute, refused ones too. A refusal costs some 50 µs, so an address
/// that asks as often as it may takes a twentieth of a core; whole offices behind one router ask
/// less.
inline constexpr std::size_t kAddressRequestsPerMinute = 60'000;
/// A request that arrives before its predecessor on the same connection was answered waits in the
/// read buffer; beyond this many bytes the socket is simply not read (TCP pushes back).
inline constexpr std::size_t kPipelinedBytesMax = 64u << 10;
/// A head trickling in byte by byte must not hold a connection (slowloris).
inline constexpr std::chrono::seconds kHeadTimeout{10};
/// From accept to the end of a TLS handshake, the line or header of a balancer included.
inline constexpr std::chrono::seconds kHandshakeTimeout{10};
/// Longest silence inside a body.
inline constexpr std::chrono::seconds kBodyTimeout{30};
/// After that time a body must have come at this rate on average, bytes per second: one byte every
/// 29 s would otherwise hold a permit for years. The slowest modems in use send 3 KiB/s.
inline constexpr std::size_t kBodyBytesPerSecondMin = 1u << 10;
/// The body of a refused request is read and dropped up to here, to keep the connection; beyond it
/// the connection closes.
inline constexpr std::size_t kDroppedBodyBytesMax = 64u << 10;
/// Before a connection that still carries unread bytes is closed, they are read and dropped for
/// this long: closing at once would reset it and take our last answer along (RFC 9112,
/// section 9.6).
inline constexpr std::chrono::seconds kLingerTimeout{2};
inline constexpr std::size_t kLingerBytesMax = 2 * kBodyBytesMax;
/// Longest silence between two requests on one connection. Longer than the 60 s of common
/// balancers.
inline constexpr std::chrono::seconds kIdleTimeout{75};
/// Longest time that a client may leave our bytes unread while a write waits.
inline constexpr std::chrono::seconds kWriteTimeout{120};

// ---- Requests ----

/// Requests in the system at once, from head to last byte.
inline constexpr std::size_t kRequestsMax = 1'024;
/// Nesting of a JSON body. Real requests stay under 20; tool schemas reach 40.
inline constexpr std::size_t kJsonDepthMax = 128;
/// Values in a JSON body, counted with those inside others. A body of that many tiny values peaks
/// at 110 MiB of tree and parser (measured).
inline constexpr std::size_t kJsonValuesMax = 1'000'000;
/// The documented limit of the hosted API.
inline constexpr std::size_t kMessagesMax = 100'000;
/// Tools of one request, members of toolsets counted. Real agents with all their servers stay under
/// 300; each definition becomes prompt text.
inline constexpr std::size_t kToolsMax = 1'024;
/// Bytes of a tool's name, which may be of any printable characters unless strict.
inline constexpr std::size_t kToolNameBytesMax = 128;
/// cache_control marks of one request in strict mode, as the hosted API has it.
inline constexpr std::size_t kCacheMarksMax = 4;
/// Bytes of metadata.user_id in strict mode.
inline constexpr std::size_t kUserIdBytesMax = 256;
/// Labels of one request, and bytes of a label's name or value.
inline constexpr std::size_t kRequestLabelsMax = 16;
inline constexpr std::size_t kRequestLabelBytesMax = 64;
/// Bytes of metadata.context: a few lines about the moment, not a document.
inline constexpr std::size_t kVolatileContextBytesMax = 64u << 10;
/// Bytes of a message batch's custom_id.
inline constexpr std::size_t kCustomIdBytesMax = 64;
/// Requests of one message batch; the hosted API's limit.
inline constexpr std::size_t kBatchRequestsMax = 100'000;
/// Bytes of a model's name: it is echoed in replies and looked up in tables.
inline constexpr std::size_t kModelNameBytesMax = 256;
/// Stop sequences of one request, and bytes of one of them: the automaton has one state a byte.
inline constexpr std::size_t kStopSequencesMax = 64;
inline constexpr std::size_t kStopSequenceBytesMax = 1'024;
/// Bytes of a JSON Schema, a grammar or a pattern that an answer must match, and of a list of
/// choices with all their bytes: what constrain/ reads at most (JsonLimits, grammar_syntax.h,
/// pattern_tree.h). Real schemas stay under 100 KiB.
inline constexpr std::size_t kSchemaBytesMax = 4u << 20;
inline constexpr std::size_t kGrammarBytesMax = 1u << 20;
inline constexpr std::size_t kPatternBytesMax = 256u << 10;
inline constexpr std::size_t kChoicesBytesMax = 1u << 20;
/// Choices of such a list: each becomes part of one automaton.
inline constexpr std::size_t kOutputChoicesMax = 10'000;
/// max_tokens when the client sends none (a lenience; the hosted API requires the field).
inline constexpr std::uint32_t kDefaultMaxTokens = 2'048;
/// Above it every token is practically as likely as every other.
inline constexpr double kTemperatureMax = 100;
/// Above it a token that occurred is as good as banned.
inline constexpr double kRepetitionPenaltyMax = 10;
/// Size of one logit bias. Logits stay within a few hundred, so this bans or forces a token.
inline constexpr double kLogitBiasMagnitudeMax = 1'000;
/// Entries of logit_bias; each is one addition per sampled token.
inline constexpr std::size_t kLogitBiasMax = 1'024;
/// A message batch that has not ended by then expires; as the hosted API has it.
inline constexpr std::chrono::hours kBatchLifetime{24};
/// From the creation of a batch until its results are dropped; as the hosted API has it.
inline constexpr std::chrono::hours kBatchResultsKept{29 * 24};
/// Batches on one page of a list.
inline constexpr std::size_t kBatchPageMax = 1'000;
/// Alternatives for each token with log-probabilities: the OpenAI API's limit.
inline constexpr std::uint32_t kTopLogprobsMax = 20;

// ---- Engine ----

/// Requests between the door and the engine's queue. As many as there may be requests in the
/// system, so that an admitted request always finds room.
inline constexpr std::size_t kInboxMax = kRequestsMax;
/// Prompt tokens that wait for their first slot: 16 MiB of them, and hours of computing on two
/// cores, so requests_max or the longest wait refuse long before; windows of 100,000 tokens make it
/// a bound of its own.
inline constexpr std::uint64_t kQueuedTokensMax = 4u << 20;
/// Prefixes that are computed at start and pinned. Each takes cells or host memory for good.
inline constexpr std::size_t kWarmPrefixesMax = 64;
/// Unread bytes of one stream; a sequence whose reader is this far behind pauses. At 4 bytes a
/// token and 100 tokens/s this is more than two minutes of text.
inline constexpr std::size_t kStreamBytesMax = 64u << 10;
/// Sequence ids that libllama offers for one context.
inline constexpr std::uint32_t kSequencesMax = 256;
/// Rows of one llama_decode; the compute buffers grow with it.
inline constexpr std::uint32_t kBatchRowsMax = 512;
/// Flash attention tiles rows by this number; a chunk of 64 costs 18 to 30 % less a token than 48.
inline constexpr std::uint32_t kRowTile = 64;
/// Rows by which the first prompt advances in a step, however full that is of decoders: about 20 ms
/// on two cores.
inline constexpr std::uint32_t kPrefillRowsMin = 8;
/// Where decoders take most of the objective by themselves, prompts get their time divided by this
/// on top of it, that is a third of the step …
inline constexpr int kPromptPart = 2;
/// … up to a step of so many objectives.
inline constexpr int kStepObjectivesMax = 2;
/// Tokens of forced text that one sampled token brings along before they are computed. On two cores
/// the default model computes half of that in an inter-token objective, and the step is cut to it;
/// texts that leave no choice for longer are rare (keys of an object, a constant).
inline constexpr std::uint32_t kForcedTokensMax = 32;
/// Tokens of a draft from an answer's own text, and rows of all drafts in one step. On two cores a
/// step of the default model computes some 30 rows in half of an inter-token objective.
inline constexpr std::uint32_t kDraftTokensMax = 32;
inline constexpr std::uint32_t kDraftRowsMax = 32;
/// With so many answers in a step there are no drafts unless the operator wants them always: they
/// fill the machine by themselves (engine/draft_planner.h).
inline constexpr std::uint32_t kDraftAnswersMax = 8;
/// No running stream waits longer than this because somebody else sent a long prompt.
inline constexpr std::chrono::milliseconds kItlObjective{100};

static_assert(kJsonValuesMax >= 8 * kMessagesMax,
              "the longest conversation must fit the JSON tree");
static_assert(kBatchResultsKept > kBatchLifetime, "a batch must end before its results go");
static_assert(kInboxMax >= kRequestsMax, "an admitted request must fit the engine's inbox");
static_assert(kBatchRowsMax >= kSequencesMax, "one decode row for every sequence must fit a batch");
static_assert(kBatchRowsMax % kRowTile == 0);
static_assert(kDraftTokensMax <= kDraftRowsMax && kDraftRowsMax < kBatchRowsMax);
static_assert(kHeadBytesMax <= kPipelinedBytesMax, "a pipelined head must fit the read buffer");

}  // namespace zerohop::limits
