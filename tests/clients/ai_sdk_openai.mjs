// The Vercel AI SDK with one of its providers for the OpenAI API, which --provider names.
import assert from 'node:assert/strict';
import { MODEL, argument, recordingFetch, run, scripted, served } from './support.mjs';
import { QUESTION, ai, commonFeatures, scene, streamed, structured, weather }
  from './ai_sdk_common.mjs';

const provider = await import(argument('provider'));
const official = Boolean(provider.createOpenAI);

function providerFor(url) {
  const settings = { baseURL: `${url}/v1`, apiKey: 'none', fetch: recordingFetch };
  return official ? provider.createOpenAI(settings) : provider.createOpenAICompatible(
    { ...settings, name: 'zerohop', includeUsage: true, supportsStructuredOutputs: true });
}

function chat(url, id) {
  const made = providerFor(url);
  return official ? made.chat(id) : made.chatModel(id);
}

const fake = chat(scripted, 'fake');
const real = chat(served, MODEL);

const responses = official && {
  responses: async () => {
    const answer = await ai.generateText({ model: providerFor(served).responses(MODEL),
      ...QUESTION });
    assert.match(answer.text, /Paris/);
    const { result } = await streamed({ model: providerFor(scripted).responses('fake'),
      ...scene('two-rounds', { stopWhen: ai.stepCountIs(5),
        tools: weather(({ city }) => (city === 'Oslo' ? 'snow, -3' : 'sun, 20')) }) });
    assert.equal(await result.text, 'Snow and sun.');
  },
};

await run({
  ...commonFeatures({ fake, real }),
  ...responses,

  'thinking and a tool': async () => {
    const options = { model: fake, ...scene('thinking-tool', {
      tools: weather(() => 'snow, -3'), stopWhen: ai.stepCountIs(3),
      providerOptions: { openai: { reasoningEffort: 'high' },
        zerohop: { reasoningEffort: 'high' } } }) };
    assert.equal((await ai.generateText(options)).text, 'It snows in Oslo.');
    const { result } = await streamed(options);
    assert.equal(await result.text, 'It snows in Oslo.');
    if (official) return; // it knows no member for what a model thinks
    assert.equal((await ai.generateText(options)).steps[0].reasoningText.trim(),
      'The user asks about Oslo.');
  },

  'structured output': () => structured(fake, [['structured', {}]]),

  seed: async () => {
    const story = async (seed) => (await ai.generateText({ model: real, ...QUESTION, seed,
      prompt: 'Tell me a story.', temperature: 1.2, maxOutputTokens: 16 })).text;
    await story(1); // from now on the prompt is in the cache: each answer computes the same rows
    assert.equal(await story(7), await story(7));
    const stories = await Promise.all([0, 1, 2, 3].map(story));
    assert.ok(new Set(stories).size > 1, 'the seed changes nothing');
  },

  embeddings: async () => {
    const made = providerFor(served);
    const model = official ? made.embedding(MODEL) : made.embeddingModel(MODEL);
    const { embeddings } = await ai.embedMany({ model, values: ['A cat.', 'A dog.', 'A cat.'],
      maxRetries: 0 });
    assert.equal(embeddings.length, 3);
    assert.equal(embeddings[0].length, 576);
    assert.notDeepEqual(embeddings[0], embeddings[1]);
  },
});
