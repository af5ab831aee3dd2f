// The official JavaScript SDK, in the version that --package names, as its users call it.
import assert from 'node:assert/strict';
import { CAPITAL, FORECAST, LONG, MODEL, PIXEL, SYSTEM, TOO_LONG, WEATHER, argument, collect,
  failure, idle, recordingFetch, run, scripted, served } from './support.mjs';

const { default: Anthropic } = await import(argument('package'));

function clientFor(baseURL) {
  return new Anthropic({ baseURL, apiKey: 'none', maxRetries: 0, fetch: recordingFetch });
}

const fake = clientFor(scripted);
const real = clientFor(served);
const TOOLS = [{ name: 'get_weather', description: 'The weather.', input_schema: WEATHER }];

function user(content) {
  return { role: 'user', content };
}

// A question to the default model, at temperature 0.
function question(fields) {
  return { model: MODEL, max_tokens: 32, system: SYSTEM, temperature: 0,
    messages: [user(CAPITAL)], ...fields };
}

function scene(name, fields) {
  return { model: 'fake', max_tokens: 4000, messages: [user(`case:${name}`)], ...fields };
}

function text(message) {
  return message.content.filter((block) => block.type === 'text').map((b) => b.text).join('');
}

function calls(message) {
  return message.content.filter((block) => block.type === 'tool_use');
}

function promptTokens(usage) {
  return usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
}

// The next request: the answer verbatim, then a result for each of its calls.
function withResults(request, message, ...results) {
  const content = calls(message).map((call, i) => (
    { type: 'tool_result', tool_use_id: call.id, content: results[i] }));
  return { ...request, messages: [...request.messages,
    { role: 'assistant', content: message.content }, user(content)] };
}

function assertOslo(message) {
  assert.equal(message.stop_reason, 'tool_use');
  assert.deepEqual(calls(message).map((call) => [call.name, call.input]),
    [['get_weather', { city: 'Oslo' }]]);
}

await run({
  'plain text': async () => {
    const message = await real.messages.create(question());
    assert.match(text(message), /Paris/);
    assert.equal(message.stop_reason, 'end_turn');
    assert.equal(message.model, MODEL);
    assert.ok(message._request_id.startsWith('req_'));
  },

  'system prompt': async () => {
    const system = 'You are a pirate called Captain Barnacle. Always say your name.';
    const asText = await real.messages.create(question({ system, messages: [user('Who are you?')] }));
    const asBlocks = await real.messages.create(question({
      system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
      messages: [user('Who are you?')] }));
    assert.match(text(asText), /Barnacle/);
    assert.match(text(asBlocks), /Barnacle/);
    assert.equal(promptTokens(asBlocks.usage), promptTokens(asText.usage));
  },

  conversation: async () => {
    const first = await real.messages.create(question());
    const second = await real.messages.create(question({ messages: [
      user(CAPITAL), { role: 'assistant', content: first.content }, user('And of Japan?')] }));
    assert.match(text(second), /Tokyo/);
  },

  streaming: async () => {
    const whole = await real.messages.create(question());
    const pieces = [];
    const stream = real.messages.stream(question()).on('text', (piece) => pieces.push(piece));
    const message = await stream.finalMessage();
    assert.equal(pieces.join(''), text(message));
    assert.equal(text(message), text(whole));
    assert.ok(pieces.length > 1);
    assert.equal(message.usage.output_tokens, whole.usage.output_tokens);
    const events = await collect(await real.messages.create(question({ stream: true })));
    assert.equal(events[0].type, 'message_start');
    assert.equal(events.at(-1).type, 'message_stop');
  },

  'one tool': async () => {
    assertOslo(await fake.messages.create(scene('one-tool', { tools: TOOLS })));
    const forced = { tools: TOOLS, tool_choice: { type: 'tool', name: 'get_weather' } };
    assertOslo(await fake.messages.create(scene('one-tool', forced)));
    assertOslo(await fake.messages.create(scene('one-tool', { tools: TOOLS,
      tool_choice: { type: 'any' } })));
  },

  'two parallel tools': async () => {
    const message = await fake.messages.create(scene('two-tools', { tools: TOOLS }));
    assert.equal(text(message).trim(), 'I will look.');
    assert.deepEqual(calls(message).map((call) => call.input), [{ city: 'Oslo' }, { city: 'Rome' }]);
    assert.equal(new Set(calls(message).map((call) => call.id)).size, 2);
    const single = await fake.messages.create(scene('two-tools', { tools: TOOLS,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true } }));
    assertOslo(single);
  },

  'tool result': async () => {
    const request = scene('two-rounds', { tools: TOOLS });
    const first = await fake.messages.create(request);
    const next = withResults(request, first, 'snow, -3');
    const second = await fake.messages.create(next);
    assert.deepEqual(calls(second)[0].input, { city: 'Rome' });
    assert.notEqual(calls(second)[0].id, calls(first)[0].id);
    const third = await fake.messages.create(withResults(next, second,
      [{ type: 'text', text: 'sun, 20' }]));
    assert.equal(text(third), 'Snow and sun.');
    assert.equal(third.stop_reason, 'end_turn');
  },

  'streamed tool call': async () => {
    const fragments = [];
    const stream = fake.messages.stream(scene('slow-tools', { tools: TOOLS }))
      .on('inputJson', (fragment) => fragments.push(fragment));
    const message = await stream.finalMessage();
    assert.deepEqual(calls(message).map((call) => call.input), [{ city: 'Oslo' }, { city: 'Rome' }]);
    assert.equal(message.stop_reason, 'tool_use');
    assert.match(fragments.join(''), /Oslo.*Rome/);
    assert.ok(fragments.length > 2, 'the arguments came in one piece');
    const hard = await fake.messages.stream(scene('hard-arguments', { tools: [
      { name: 'record', input_schema: { type: 'object' } }] })).finalMessage();
    assert.equal(calls(hard)[0].input.text,
      'Grüße 🙂 "quoted" \\ back\nline </tool_call');
    assert.deepEqual(calls(hard)[0].input.nested, { empty: {}, none: [] });
    const none = await fake.messages.stream(scene('no-arguments', { tools: [
      { name: 'get_time', input_schema: { type: 'object' } }] })).finalMessage();
    assert.deepEqual(calls(none)[0].input, {});
  },

  'image in tool result': async () => {
    const request = scene('picture', { tools: [
      { name: 'screenshot', input_schema: { type: 'object' } }] });
    const first = await fake.messages.create(request);
    const answer = await fake.messages.create(withResults(request, first, [
      { type: 'text', text: 'Here it is.' },
      { type: 'image', source: { type: 'base64', data: PIXEL, media_type: 'image/png' } }]));
    assert.equal(text(answer), 'I see a note about an image.');
  },

  'thinking and a tool': async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const request = scene('thinking-tool', { tools: TOOLS, thinking });
    for (const first of [await fake.messages.create(request),
      await fake.messages.stream(request).finalMessage()]) {
      assertOslo(first);
      assert.equal(first.content[0].type, 'thinking');
      assert.equal(first.content[0].thinking.trim(), 'The user asks about Oslo.');
      assert.ok(first.content[0].signature.length > 0);
      const second = await fake.messages.create(withResults(request, first, 'snow, -3'));
      assert.equal(text(second), 'It snows in Oslo.');
    }
  },

  'structured output': async () => {
    const format = { type: 'json_schema', schema: FORECAST };
    const request = scene('structured', { output_config: { format } });
    const message = await fake.messages.create(request);
    assert.deepEqual(JSON.parse(message.content[0].text), { city: 'Oslo', degrees: -3 });
    if (argument('package') === 'anthropic-0-71') return; // it has no parser for the result
    const parsed = await fake.messages.parse(request);
    assert.deepEqual(parsed.parsed_output, { city: 'Oslo', degrees: -3 });
  },

  'token count': async () => {
    for (const extra of [{}, { tools: TOOLS }, { system: 'Be brief.' }]) {
      const request = question(extra);
      const counted = await real.messages.countTokens({ model: MODEL, system: request.system,
        messages: request.messages, tools: request.tools });
      const message = await real.messages.create({ ...request, max_tokens: 1 });
      assert.equal(counted.input_tokens, promptTokens(message.usage));
    }
    const beta = await real.beta.messages.countTokens({ model: MODEL, messages: [user('Hi')],
      betas: ['token-counting-2024-11-01'] });
    assert.ok(beta.input_tokens > 0);
  },

  models: async () => {
    const models = await collect(real.models.list({ limit: 1000 }));
    assert.deepEqual(models.map((model) => model.id), [MODEL]);
    assert.equal((await real.models.retrieve(MODEL)).max_input_tokens, 8192);
  },

  'stop sequence': async () => {
    const request = scene('stop', { stop_sequences: ['never', 'STOP'] });
    for (const message of [await fake.messages.create(request),
      await fake.messages.stream(request).finalMessage()]) {
      assert.equal(text(message), 'one two ');
      assert.equal(message.stop_reason, 'stop_sequence');
      assert.equal(message.stop_sequence, 'STOP');
    }
  },

  errors: async () => {
    const bad = await failure(() => real.messages.create(question({ messages: [] })));
    assert.ok(bad instanceof Anthropic.BadRequestError, bad.constructor.name);
    assert.equal(bad.status, 400);
    assert.equal(bad.error.error.type, 'invalid_request_error');
    const none = await failure(() => real.models.retrieve('vendor/no:such'));
    assert.ok(none instanceof Anthropic.NotFoundError, none.constructor.name);
    assert.equal(none.error.error.type, 'not_found_error');
    const broken = await failure(() => fake.messages.stream(scene('breaks-down')).finalMessage());
    assert.ok(broken instanceof Anthropic.APIError, broken.constructor.name);
    assert.match(broken.message, /api_error/);
  },

  'prompt too long': async () => {
    const request = question({ messages: [user(`${LONG} ${LONG}`)] });
    assert.match((await failure(() => real.messages.create(request))).message, TOO_LONG);
    const streamed = await failure(() => real.messages.stream(request).finalMessage());
    assert.match(streamed.message, TOO_LONG);
  },

  abort: async () => {
    const stream = await fake.messages.create(scene('slow', { stream: true }));
    for await (const event of stream) {
      if (event.type === 'content_block_delta') break;
    }
    stream.controller.abort();
    await idle();
    const controller = new AbortController();
    const pending = failure(() => fake.messages.create(scene('slow'),
      { signal: controller.signal }));
    setTimeout(() => controller.abort(), 200);
    assert.ok(await pending instanceof Anthropic.APIUserAbortError);
    await idle();
  },

  'cache counters': async () => {
    const system = [{ type: 'text', text: `${process.pid} ${process.hrtime()} ${LONG.slice(0, 1500)}`,
      cache_control: { type: 'ephemeral', ttl: '1h' } }];
    const request = question({ system, max_tokens: 4 });
    const first = await real.messages.create(request);
    const second = await real.messages.stream(request).finalMessage();
    assert.ok(first.usage.cache_creation_input_tokens > 200, JSON.stringify(first.usage));
    assert.ok(second.usage.cache_read_input_tokens > 200, JSON.stringify(second.usage));
    assert.equal(promptTokens(first.usage), promptTokens(second.usage));
  },

  batches: async () => {
    const params = { model: 'fake', max_tokens: 100, messages: [user('case:plain')] };
    const created = await fake.messages.batches.create({ requests: [
      { custom_id: 'one', params },
      { custom_id: 'two', params: { ...params, messages: [] } }] });
    assert.equal(created.type, 'message_batch');
    let batch = created;
    for (let i = 0; i < 600 && batch.processing_status !== 'ended'; ++i) {
      await new Promise((done) => setTimeout(done, 100));
      batch = await fake.messages.batches.retrieve(created.id);
    }
    assert.equal(batch.processing_status, 'ended');
    assert.equal(batch.request_counts.succeeded, 1);
    assert.equal(batch.request_counts.errored, 1);
    const results = await collect(await fake.messages.batches.results(created.id));
    const byId = Object.fromEntries(results.map((line) => [line.custom_id, line.result]));
    assert.equal(text(byId.one.message), 'Hello from the script.');
    assert.equal(byId.two.error.error.type, 'invalid_request_error');
    const listed = await collect(fake.messages.batches.list());
    assert.ok(listed.some((entry) => entry.id === created.id));
    assert.equal((await fake.messages.batches.delete(created.id)).type, 'message_batch_deleted');
    assert.equal((await failure(() => fake.messages.batches.retrieve(created.id))).status, 404);
  },
});
