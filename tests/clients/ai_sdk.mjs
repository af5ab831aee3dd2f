// The Vercel AI SDK with its Anthropic provider: --package is the SDK, --provider the provider.
import assert from 'node:assert/strict';
import { PIXEL, argument, recordingFetch, run, scripted, served } from './support.mjs';
import { ai, anyInput, commonFeatures, scene, streamed, structured, weather }
  from './ai_sdk_common.mjs';

const { createAnthropic } = await import(argument('provider'));

function providerFor(baseURL) {
  return createAnthropic({ baseURL, apiKey: 'none', fetch: recordingFetch });
}

const fake = providerFor(`${scripted}/v1`)('fake');
const real = providerFor(served)('smollm2-135m'); // the path /messages, as users write it too

await run({
  ...commonFeatures({ fake, real }),

  'image in tool result': async () => {
    const image = argument('package') === 'ai-6'
      ? { type: 'media', mediaType: 'image/png', data: PIXEL }
      : { type: 'file', mediaType: 'image/png', data: { type: 'data', data: PIXEL } };
    const tools = anyInput('screenshot', {
      execute: () => 'taken',
      toModelOutput: () => ({ type: 'content', value: [{ type: 'text', text: 'Here.' }, image] }),
    });
    const answer = await ai.generateText({ model: fake,
      ...scene('picture', { tools, stopWhen: ai.stepCountIs(3) }) });
    assert.equal(answer.text, 'I see a note about an image.');
  },

  'thinking and a tool': async () => {
    const options = { model: fake, ...scene('thinking-tool', {
      tools: weather(() => 'snow, -3'), stopWhen: ai.stepCountIs(3),
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } } }) };
    const answer = await ai.generateText(options);
    assert.equal(answer.text, 'It snows in Oslo.');
    assert.equal(answer.steps[0].reasoningText.trim(), 'The user asks about Oslo.');
    const { result, parts } = await streamed(options);
    assert.equal(await result.text, 'It snows in Oslo.');
    const thought = parts.filter((part) => part.type === 'reasoning-delta')
      .map((part) => part.text).join('');
    assert.equal(thought.trim(), 'The user asks about Oslo.');
  },

  'structured output': async () => {
    await structured(fake, [
      ['structured', { providerOptions: { anthropic: { structuredOutputMode: 'outputFormat' } } }],
      ['json-tool', { providerOptions: { anthropic: { structuredOutputMode: 'jsonTool' } } }],
    ]);
  },
});
