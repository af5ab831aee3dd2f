// The official OpenAI library for JavaScript, as its users call it.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { CAPITAL, LONG, MODEL, SYSTEM, TOO_LONG, WEATHER, collect, failure, idle, recordingFetch,
  run, scripted, served } from './support.mjs';

function clientFor(url) {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0, fetch: recordingFetch });
}

const fake = clientFor(scripted);
const real = clientFor(served);
const TOOLS = [{ type: 'function', function: { name: 'get_weather', parameters: WEATHER } }];
const OSLO = ['get_weather', { city: 'Oslo' }];
const ROME = ['get_weather', { city: 'Rome' }];

function question(content = CAPITAL, fields = {}) {
  return { model: MODEL, max_tokens: 32, temperature: 0,
    messages: [{ role: 'system', content: SYSTEM }, { role: 'user', content }], ...fields };
}

function scene(name, fields) {
  return { model: 'fake', messages: [{ role: 'user', content: `case:${name}` }], ...fields };
}

function ask(client, request) {
  return client.chat.completions.create(request);
}

function text(completion) {
  return completion.choices[0].message.content;
}

function calls(completion) {
  return (completion.choices[0].message.tool_calls ?? []).map(
    (call) => [call.function.name, JSON.parse(call.function.arguments)]);
}

await run({
  'plain text': async () => {
    const answer = await ask(real, question());
    assert.match(text(answer), /Paris/);
    assert.equal(answer.choices[0].finish_reason, 'stop');
  },

  'system prompt': async () => {
    for (const role of ['system', 'developer']) {
      const content = 'You are a pirate called Captain Barnacle. Always say your name.';
      const answer = await ask(real, question('', { messages: [{ role, content },
        { role: 'user', content: 'Who are you?' }] }));
      assert.match(text(answer), /Barnacle/);
    }
  },

  conversation: async () => {
    const first = await ask(real, question());
    const answer = await ask(real, question('', { messages: [...question().messages,
      first.choices[0].message, { role: 'user', content: 'And of Japan?' }] }));
    assert.match(text(answer), /Tokyo/);
  },

  streaming: async () => {
    const whole = await ask(real, question());
    const chunks = await collect(await ask(real, question(CAPITAL, { stream: true,
      stream_options: { include_usage: true } })));
    const pieces = chunks.flatMap((chunk) => chunk.choices).map((c) => c.delta.content ?? '');
    assert.equal(pieces.join(''), text(whole));
    assert.deepEqual(chunks.at(-1).usage.completion_tokens, whole.usage.completion_tokens);
    const final = await real.chat.completions.stream(question()).finalChatCompletion();
    assert.equal(text(final), text(whole));
  },

  'one tool': async () => {
    for (const choice of ['auto', 'required',
      { type: 'function', function: { name: 'get_weather' } }]) {
      const answer = await ask(fake, scene('one-tool', { tools: TOOLS, tool_choice: choice }));
      assert.deepEqual(calls(answer), [OSLO]);
      assert.equal(answer.choices[0].finish_reason, 'tool_calls');
    }
  },

  'two parallel tools': async () => {
    const answer = await ask(fake, scene('two-tools', { tools: TOOLS }));
    assert.deepEqual(calls(answer), [OSLO, ROME]);
    const single = await ask(fake, scene('two-tools', { tools: TOOLS,
      parallel_tool_calls: false }));
    assert.deepEqual(calls(single), [OSLO]);
  },

  'tool result': async () => {
    const runner = fake.chat.completions.runTools(scene('two-rounds', { tools: [{
      type: 'function', function: { name: 'get_weather', parameters: WEATHER, parse: JSON.parse,
        function: ({ city }) => (city === 'Oslo' ? 'snow, -3' : 'sun, 20') } }] }));
    assert.equal(await runner.finalContent(), 'Snow and sun.');
  },

  'streamed tool call': async () => {
    const stream = fake.chat.completions.stream(scene('slow-tools', { tools: TOOLS }));
    let deltas = 0;
    stream.on('tool_calls.function.arguments.delta', () => { ++deltas; });
    assert.deepEqual(calls(await stream.finalChatCompletion()), [OSLO, ROME]);
    assert.ok(deltas > 2);
  },

  'thinking and a tool': async () => {
    const request = scene('thinking-tool', { tools: TOOLS, reasoning_effort: 'high' });
    const answer = await ask(fake, request);
    assert.deepEqual(calls(answer), [OSLO]);
    assert.equal(answer.choices[0].message.reasoning_content.trim(), 'The user asks about Oslo.');
    const chunks = await collect(await ask(fake, { ...request, stream: true }));
    const thought = chunks.map((chunk) => chunk.choices[0].delta.reasoning_content ?? '').join('');
    assert.equal(thought.trim(), 'The user asks about Oslo.');
  },

  'structured output': async () => {
    const Forecast = z.object({ city: z.string(), degrees: z.number() });
    const answer = await fake.chat.completions.parse(scene('structured', {
      response_format: zodResponseFormat(Forecast, 'forecast') }));
    assert.deepEqual(answer.choices[0].message.parsed, { city: 'Oslo', degrees: -3 });
  },

  models: async () => {
    const models = await collect(real.models.list());
    assert.deepEqual(models.map((model) => model.id), [MODEL]);
    assert.equal((await real.models.retrieve(MODEL)).object, 'model');
  },

  'stop sequence': async () => {
    for (const stop of ['STOP', ['never', 'STOP']]) {
      const answer = await ask(fake, scene('stop', { stop }));
      assert.equal(text(answer), 'one two ');
      assert.equal(answer.choices[0].finish_reason, 'stop');
    }
  },

  errors: async () => {
    const bad = await failure(() => ask(real, question('', { messages: [] })));
    assert.ok(bad instanceof OpenAI.BadRequestError, bad.constructor.name);
    assert.equal(bad.type, 'invalid_request_error');
    const none = await failure(() => fake.get('/no/such/path'));
    assert.ok(none instanceof OpenAI.NotFoundError, none.constructor.name);
    const broken = await failure(async () => collect(
      await ask(fake, scene('breaks-down', { stream: true }))));
    assert.ok(broken instanceof OpenAI.APIError, broken.constructor.name);
  },

  'prompt too long': async () => {
    const error = await failure(() => ask(real, question(`${LONG} ${LONG}`)));
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.code, 'context_length_exceeded');
    assert.match(error.message, TOO_LONG);
  },

  abort: async () => {
    const stream = await ask(fake, scene('slow', { stream: true }));
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) break;
    }
    await idle();
    const controller = new AbortController();
    const pending = failure(() => fake.chat.completions.create(scene('slow'),
      { signal: controller.signal }));
    setTimeout(() => controller.abort(), 200);
    assert.ok(await pending instanceof OpenAI.APIUserAbortError);
    await idle();
  },

  'cache counters': async () => {
    const request = question(`${process.pid} ${process.hrtime()} ${LONG.slice(0, 1500)}`,
      { max_tokens: 4 });
    const first = await ask(real, request);
    const second = await ask(real, request);
    assert.ok(second.usage.prompt_tokens_details.cached_tokens > 200);
    assert.equal(first.usage.prompt_tokens, second.usage.prompt_tokens);
  },

  'log-probabilities': async () => {
    const answer = await ask(real, question(CAPITAL, { logprobs: true, top_logprobs: 3 }));
    const tokens = answer.choices[0].logprobs.content;
    assert.ok(tokens.length > 1 && tokens.every((token) => token.top_logprobs.length === 3));
    assert.ok(tokens.map((token) => token.token).join('').startsWith(text(answer).slice(0, 10)));
  },

  'several choices': async () => {
    const answer = await ask(real, question('Tell me a story.', { n: 3, temperature: 1.5,
      max_tokens: 12 }));
    assert.deepEqual(answer.choices.map((choice) => choice.index), [0, 1, 2]);
    assert.ok(new Set(answer.choices.map((choice) => choice.message.content)).size > 1);
  },

  seed: async () => {
    const story = async (seed) => text(await ask(real, question('Tell me a story.', { seed,
      temperature: 1.2, max_tokens: 16 })));
    await story(1); // from now on the prompt is in the cache: each answer computes the same rows
    assert.equal(await story(7), await story(7));
    assert.ok(new Set(await Promise.all([0, 1, 2, 3].map(story))).size > 1);
  },

  completions: async () => {
    const request = { model: MODEL, prompt: 'The capital of France is', max_tokens: 5,
      temperature: 0 };
    const answer = await real.completions.create(request);
    assert.match(answer.choices[0].text, /Paris/);
    const chunks = await collect(await real.completions.create({ ...request, stream: true }));
    assert.equal(chunks.map((chunk) => chunk.choices[0]?.text ?? '').join(''),
      answer.choices[0].text);
  },

  embeddings: async () => {
    const { data } = await real.embeddings.create({ model: MODEL,
      input: ['A cat.', 'A dog.', 'A cat.'] }); // asks for base64 and decodes it
    assert.equal(data.length, 3);
    assert.equal(data[0].embedding.length, 576);
    assert.notDeepEqual(data[0].embedding, data[1].embedding);
  },

  responses: async () => {
    const request = { model: MODEL, instructions: SYSTEM, input: CAPITAL, temperature: 0,
      max_output_tokens: 32 };
    const answer = await real.responses.create(request);
    assert.match(answer.output_text, /Paris/);
    const called = await fake.responses.create({ model: 'fake', input: 'case:one-tool',
      tools: [{ type: 'function', name: 'get_weather', parameters: WEATHER, strict: false }] });
    const call = called.output.find((item) => item.type === 'function_call');
    assert.deepEqual([call.name, JSON.parse(call.arguments)], OSLO);
    const final = await real.responses.stream(request).finalResponse();
    assert.equal(final.output_text, answer.output_text);
  },
});
