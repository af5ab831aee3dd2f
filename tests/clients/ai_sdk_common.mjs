// Features that the Vercel AI SDK has whatever it talks to. `models` is {fake, real}: language models
// of a provider for the scripted server and for that with the default model.
import assert from 'node:assert/strict';
import { CAPITAL, FORECAST, LONG, SYSTEM, TOO_LONG, WEATHER, argument, collect, failure, idle }
  from './support.mjs';

const ai = await import(argument('package') ?? 'ai-7');
const { generateText, streamText, jsonSchema, stepCountIs, tool } = ai;

export { ai };
export const QUESTION = { instructions: SYSTEM, system: SYSTEM, prompt: CAPITAL, temperature: 0,
  maxOutputTokens: 32, maxRetries: 0 };
if (argument('package') === 'ai-6') delete QUESTION.instructions;
else delete QUESTION.system;

export function withSystem(text) {
  return 'system' in QUESTION ? { system: text } : { instructions: text };
}

export function scene(name, fields) {
  return { prompt: `case:${name}`, maxRetries: 0, ...fields };
}

// A tool that the caller runs, or one whose `execute` is run between the steps.
export function weather(execute) {
  return { get_weather: tool({ description: 'The weather.', inputSchema: jsonSchema(WEATHER),
    execute }) };
}

export function anyInput(name, fields = {}) {
  return { [name]: tool({ inputSchema: jsonSchema({ type: 'object', properties: {} }),
    ...fields }) };
}

function inputs(result) {
  return result.toolCalls.map((call) => [call.toolName, call.input]);
}

const OSLO = ['get_weather', { city: 'Oslo' }];
const ROME = ['get_weather', { city: 'Rome' }];

async function streamed(options) {
  let fault;
  const result = streamText({ ...options, onError: ({ error }) => { fault = error; } });
  const parts = await collect(result.fullStream);
  if (fault) throw fault;
  return { result, parts };
}

export { streamed };

export function commonFeatures({ fake, real }) {
  return {
    'plain text': async () => {
      const answer = await generateText({ model: real, ...QUESTION });
      assert.match(answer.text, /Paris/);
      assert.equal(answer.finishReason, 'stop');
      assert.ok(answer.usage.inputTokens > 10 && answer.usage.outputTokens > 1);
    },

    'system prompt': async () => {
      const answer = await generateText({ model: real, ...QUESTION, prompt: 'Who are you?',
        ...withSystem('You are a pirate called Captain Barnacle. Always say your name.') });
      assert.match(answer.text, /Barnacle/);
    },

    conversation: async () => {
      const first = await generateText({ model: real, ...QUESTION });
      const answer = await generateText({ model: real, ...QUESTION, prompt: undefined, messages: [
        { role: 'user', content: CAPITAL }, { role: 'assistant', content: first.text },
        { role: 'user', content: 'And of Japan?' }] });
      assert.match(answer.text, /Tokyo/);
    },

    streaming: async () => {
      const whole = await generateText({ model: real, ...QUESTION });
      const { result, parts } = await streamed({ model: real, ...QUESTION });
      assert.equal(await result.text, whole.text);
      assert.ok(parts.filter((part) => part.type === 'text-delta').length > 1);
      assert.equal((await result.usage).outputTokens, whole.usage.outputTokens);
    },

    'one tool': async () => {
      for (const toolChoice of ['auto', 'required', { type: 'tool', toolName: 'get_weather' }]) {
        const answer = await generateText({ model: fake,
          ...scene('one-tool', { tools: weather(), toolChoice }) });
        assert.deepEqual(inputs(answer), [OSLO]);
        assert.equal(answer.finishReason, 'tool-calls');
      }
    },

    'two parallel tools': async () => {
      const answer = await generateText({ model: fake, ...scene('two-tools', { tools: weather() }) });
      assert.deepEqual(inputs(answer), [OSLO, ROME]);
      assert.equal(answer.text.trim(), 'I will look.');
      assert.equal(new Set(answer.toolCalls.map((call) => call.toolCallId)).size, 2);
    },

    'tool result': async () => {
      const tools = weather(({ city }) => (city === 'Oslo' ? 'snow, -3' : 'sun, 20'));
      const options = { model: fake, ...scene('two-rounds', { tools, stopWhen: stepCountIs(5) }) };
      const answer = await generateText(options);
      assert.equal(answer.text, 'Snow and sun.');
      assert.equal(answer.steps.length, 3);
      assert.equal(await (await streamed(options)).result.text, 'Snow and sun.');
    },

    'streamed tool call': async () => {
      const { result, parts } = await streamed({ model: fake,
        ...scene('slow-tools', { tools: weather() }) });
      assert.deepEqual((await result.toolCalls).map((call) => [call.toolName, call.input]),
        [OSLO, ROME]);
      assert.ok(parts.filter((part) => part.type === 'tool-input-delta').length > 2);
      assert.equal(await result.finishReason, 'tool-calls');
      const hard = await streamed({ model: fake,
        ...scene('hard-arguments', { tools: anyInput('record') }) });
      assert.equal((await hard.result.toolCalls)[0].input.text,
        'Grüße 🙂 "quoted" \\ back\nline </tool_call');
    },

    'stop sequence': async () => {
      const answer = await generateText({ model: fake, ...scene('stop', {
        stopSequences: ['never', 'STOP'] }) });
      assert.equal(answer.text, 'one two ');
      assert.equal(answer.finishReason, 'stop');
    },

    errors: async () => {
      const bad = await failure(() => generateText({ model: fake,
        ...scene('breaks-down') }));
      assert.equal(bad.statusCode, 500);
      assert.ok(ai.APICallError.isInstance(bad), bad.constructor.name);
      const broken = await failure(() => streamed({ model: fake, ...scene('breaks-down') }));
      assert.ok(broken, 'a broken stream is no error');
    },

    'prompt too long': async () => {
      const error = await failure(() => generateText({ model: real, ...QUESTION,
        prompt: `${LONG} ${LONG}` }));
      assert.equal(error.statusCode, 400);
      assert.match(error.message, TOO_LONG);
    },

    abort: async () => {
      const controller = new AbortController();
      const result = streamText({ model: fake, abortSignal: controller.signal, onError() {},
        ...scene('slow') });
      for await (const part of result.fullStream) {
        if (part.type === 'text-delta') controller.abort();
      }
      await idle();
    },

    'cache counters': async () => {
      const prompt = `${process.pid} ${process.hrtime()} ${LONG.slice(0, 1500)}`;
      const options = { model: real, ...QUESTION, prompt, maxOutputTokens: 4 };
      const first = await generateText(options);
      const second = await generateText(options);
      const cached = second.usage.inputTokenDetails?.cacheReadTokens
        ?? second.usage.cachedInputTokens;
      assert.ok(cached > 200, JSON.stringify(second.usage));
      assert.equal(first.usage.inputTokens, second.usage.inputTokens);
    },
  };
}

// Structured output with the options of each way that a provider has for it.
export async function structured(fake, ways) {
  for (const [name, options] of ways) {
    const answer = await generateText({ model: fake, ...scene(name, options),
      output: ai.Output.object({ schema: jsonSchema(FORECAST) }) });
    assert.deepEqual(answer.output, { city: 'Oslo', degrees: -3 });
  }
}
