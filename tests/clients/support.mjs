// What the JavaScript client programs share: arguments, a fetch that records what it saw, and a
// runner that prints `ok FEATURE` or `FAIL FEATURE: reason`.
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';

export function argument(name) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

// Addresses of the server with a scripted model, and of that with the default model.
export const scripted = argument('scripted');
export const served = argument('served');
export const MODEL = 'smollm2-135m';
export const SYSTEM = 'Answer in English.';
export const CAPITAL = 'What is the capital of France?';
export const LONG = Array.from({ length: 6000 }, (_, i) => `word${i % 10}`).join(' ');
export const TOO_LONG = /prompt is too long: \d+ tokens > 8192 maximum/;
// A red pixel.
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
export const WEATHER = {
  type: 'object', properties: { city: { type: 'string' } }, required: ['city'],
};
export const FORECAST = {
  type: 'object', additionalProperties: false, required: ['city', 'degrees'],
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
};

function record(request, response, parts) {
  const line = {
    method: request.method, path: new URL(request.url).pathname, status: response.status,
    type: response.headers.get('content-type') ?? '', body: Buffer.concat(parts).toString('base64'),
  };
  appendFileSync(argument('record'), `${JSON.stringify(line)}\n`);
}

// fetch, whose answers are written down when they end or are given up.
export async function recordingFetch(input, init) {
  const request = new Request(input, init);
  const response = await fetch(input, init);
  if (!response.body) {
    record(request, response, []);
    return response;
  }
  const reader = response.body.getReader();
  const parts = [];
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          record(request, response, parts);
          controller.close();
        } else {
          parts.push(Buffer.from(value));
          controller.enqueue(value);
        }
      } catch (fault) {
        record(request, response, parts);
        controller.error(fault);
      }
    },
    cancel(reason) {
      record(request, response, parts);
      return reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

// Returns when the scripted server has nothing left to do.
export async function idle() {
  for (let attempt = 0; attempt < 600; ++attempt) {
    const health = await (await fetch(`${scripted}/healthz`)).json();
    if (health.requests_in_flight === 0 && health.decoding === 0) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.fail('the server still works on an answer that nobody reads');
}

export async function collect(stream) {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}

// The error that `call` is rejected with.
export async function failure(call) {
  try {
    await call();
  } catch (fault) {
    return fault;
  }
  return assert.fail('no error');
}

export async function run(features) {
  for (const [name, test] of Object.entries(features)) {
    try {
      await test();
      console.log(`ok ${name}`);
    } catch (fault) {
      console.error(fault);
      const reason = `${fault.constructor.name}: ${fault.message}`.replace(/\s+/g, ' ');
      console.log(`FAIL ${name}: ${reason.slice(0, 300)}`);
    }
  }
  process.exit(0); // idle connections would keep it alive
}
