// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The endpoint as the official npm package uses it: whatever the package checks at run time has to hold.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { endAll, startScripted, startServer, until } from "./palimpsest.mjs";

let scripted, demo, client, demoClient;

before(async () => {
  [scripted, demo] = await Promise.all([startScripted(), startServer()]);
  client = new OpenAI({ baseURL: `${scripted.address}/v1`, apiKey: "unused", maxRetries: 0 });
  demoClient = new OpenAI({ baseURL: `${demo.address}/v1`, apiKey: "unused", maxRetries: 0 });
});
after(async () => {
  await scripted?.stop();
  await demo?.stop();
  endAll();
});

const model = "scripted/model";
const say = (text) => [{ role: "user", content: `SAY[[${text}]]` }];
const tools = [
  {
    type: "function",
    function: {
      name: "lookup",
      description: "The weather of a city",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
];
const twoCalls =
  '<|tool_call>call:lookup{city:<|"|>Oslo<|"|>}<tool_call|><|tool_call>call:lookup{city:<|"|>Bergen<|"|>}<tool_call|>';

test("models are listed and found, also with a slash in the name (F054)", async () => {
  const models = [];
  for await (const item of client.models.list()) models.push(item);
  assert.deepEqual(models.map((item) => item.id), [model]);
  assert.ok(models[0].created > 0);
  assert.equal((await client.models.retrieve(model)).id, model);
  await assert.rejects(client.models.retrieve("none"), (error) => error.status === 404 && error.code === "model_not_found");
});

test("a plain answer", async () => {
  const { data, response, request_id } = await client.chat.completions
    .create({ model, messages: say("Good morning, 世界 👩‍👩‍👧.") })
    .withResponse();
  assert.equal(data.object, "chat.completion");
  assert.equal(data.choices[0].message.content, "Good morning, 世界 👩‍👩‍👧.");
  assert.equal(data.choices[0].finish_reason, "stop");
  assert.equal(data.usage.total_tokens, data.usage.prompt_tokens + data.usage.completion_tokens);
  assert.match(response.headers.get("content-type"), /^application\/json/);
  assert.ok(request_id);
});

test("a stream gives the same text, in order, with usage only when asked (F029, F050, F059, F062)", async () => {
  const text = "é 漢字 🇳🇴 देवनागरी and so on until more than one canvas is full of it";
  for (const include_usage of [undefined, false, true]) {
    const stream = await client.chat.completions.create({
      model,
      messages: say(text),
      stream: true,
      ...(include_usage === undefined ? {} : { stream_options: { include_usage } }),
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    const usage = chunks.filter((chunk) => chunk.choices.length === 0);
    assert.equal(usage.length, include_usage ? 1 : 0);
    if (include_usage) assert.equal(chunks.at(-1), usage[0]);
    assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
    const choices = chunks.flatMap((chunk) => chunk.choices);
    assert.equal(choices[0].delta.role, "assistant");
    assert.equal(choices.map((choice) => choice.delta.content ?? "").join(""), text);
    assert.deepEqual(choices.map((choice) => choice.finish_reason).filter(Boolean), ["stop"]);
  }
});

test("the stream helper assembles several choices (F040, F061)", async () => {
  const stream = client.chat.completions.stream({
    model,
    messages: say("three times"),
    n: 3,
    seed: 9,
    stream_options: { include_usage: true },
  });
  const final = await stream.finalChatCompletion();
  assert.deepEqual(final.choices.map((choice) => choice.index), [0, 1, 2]);
  for (const choice of final.choices) {
    assert.equal(choice.message.content, "three times");
    assert.equal(choice.finish_reason, "stop");
  }
  assert.equal(final.usage.total_tokens, final.usage.prompt_tokens + final.usage.completion_tokens);
});

test("tool calls, streamed through the helper and plain (F009, F051)", async () => {
  const request = { model, messages: say(twoCalls), tools };
  const plain = await client.chat.completions.create(request);
  const streamed = await client.chat.completions.stream(request).finalChatCompletion();
  for (const answer of [plain, streamed]) {
    assert.equal(answer.choices[0].finish_reason, "tool_calls");
    const calls = answer.choices[0].message.tool_calls;
    assert.deepEqual(calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]), [
      ["lookup", { city: "Oslo" }],
      ["lookup", { city: "Bergen" }],
    ]);
    assert.equal(new Set(calls.map((call) => call.id)).size, 2);
  }
});

test("the tool runner goes round until there is an answer (F010, F031)", async () => {
  const asked = [];
  const runner = client.chat.completions.runTools({
    model,
    messages: say(twoCalls),
    tools: [
      {
        type: "function",
        function: {
          ...tools[0].function,
          parse: JSON.parse,
          function: ({ city }) => {
            asked.push(city);
            return `SAY[[Rain in ${city}.]]`; // what the model then says
          },
        },
      },
    ],
  });
  assert.equal(await runner.finalContent(), "Rain in Bergen.");
  assert.deepEqual(asked, ["Oslo", "Bergen"]);
});

test("thoughts stay out of the content (F009, F058, F060)", async () => {
  const answer = await client.chat.completions.create({
    model,
    messages: say("<|channel>thought\nHm, hm.<channel|>Yes."),
    reasoning_effort: "low",
  });
  assert.equal(answer.choices[0].message.content, "Yes.");
  assert.equal(answer.choices[0].message.reasoning_content.trim(), "Hm, hm.");
});

test("structured output is parsed (F003, F048)", async () => {
  const answer = await client.chat.completions.parse({
    model,
    messages: say('{"n": 8}'),
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "legs",
        strict: true,
        schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false },
      },
    },
  });
  assert.deepEqual(JSON.parse(answer.choices[0].message.content), { n: 8 });
  await assert.rejects(
    client.chat.completions.create({ model, messages: say("x"), response_format: { type: "xml" } }),
    (error) => error.status === 400 && error.param.startsWith("response_format"),
  );
});

test("errors carry message, code and param (F042, F046, F047, F053)", async () => {
  const cases = [
    [{ model, messages: [] }, 400, "messages"],
    [{ model, messages: say("x"), temperature: -1 }, 400, "temperature"],
    [{ model, messages: say("x"), top_p: 2 }, 400, "top_p"],
    [{ model, messages: say("x"), max_tokens: 0 }, 400, "max_tokens"],
    [{ model, messages: [{ role: "banana", content: "x" }] }, 400, "messages"],
    [{ model: "gpt-nonsense", messages: say("x") }, 404, "model"],
  ];
  for (const [body, status, param] of cases) {
    await assert.rejects(client.chat.completions.create(body), (error) => {
      assert.equal(error.status, status, error.message);
      assert.ok(error.param.startsWith(param), `${error.param} for ${param}`);
      assert.doesNotMatch(error.message, /no body/);
      return true;
    });
  }
});

test("an over-long prompt says by how much (F052)", async () => {
  await assert.rejects(
    client.chat.completions.create({ model, messages: [{ role: "user", content: "word ".repeat(6000) }] }),
    (error) => error.status === 400 && error.code === "context_length_exceeded" && /4096/.test(error.message),
  );
});

test("completions, with a suffix as well", async () => {
  const plain = await client.completions.create({ model, prompt: "SAY[[more]]" });
  assert.equal(plain.object, "text_completion");
  assert.equal(plain.choices[0].text, "more");
  const filled = await demoClient.completions.create({
    model: "palimpsest-demo",
    prompt: "I have paid the fee each ",
    suffix: ", and the receipts are enclosed.",
    max_tokens: 8,
    seed: 3,
  });
  assert.equal(filled.choices.length, 1);
  assert.ok(filled.usage.completion_tokens <= 8);
});

test("responses, plain and as a stream of events (F055)", async () => {
  const plain = await client.responses.create({ model, input: "SAY[[Good evening.]]" });
  assert.equal(plain.output_text, "Good evening.");
  assert.equal(plain.status, "completed");
  const items = await client.responses.create({
    model,
    instructions: "Be brief.",
    input: [
      { role: "developer", content: "The password is heron." },
      { role: "assistant", content: [{ type: "output_text", text: "What is it?", annotations: [] }] },
      { role: "user", content: [{ type: "input_text", text: "SAY[[heron]]" }] },
    ],
  });
  assert.equal(items.output_text, "heron");
  const types = [];
  const numbers = [];
  let text = "";
  const stream = await client.responses.create({ model, input: "SAY[[one two three]]", stream: true });
  for await (const event of stream) {
    types.push(event.type);
    numbers.push(event.sequence_number);
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  assert.equal(text, "one two three");
  assert.equal(types[0], "response.created");
  assert.equal(types.at(-1), "response.completed");
  assert.deepEqual(numbers, [...numbers.keys()].map((index) => index + numbers[0]));
  const cut = await client.responses.create({ model, input: "SAY[[a b c d e f g h i j k l m]]", max_output_tokens: 3 });
  assert.equal(cut.status, "incomplete");
  assert.equal(cut.incomplete_details.reason, "max_output_tokens");
});

test("what is not there is said to be not there (F054)", async () => {
  await assert.rejects(client.embeddings.create({ model, input: "x" }), (error) => error.status === 404 || error.status === 400);
});

test("the same seed gives the same bytes, no seed another text each time (F004, F005)", async () => {
  const ask = (seed) =>
    demoClient.chat.completions.create({
      model: "palimpsest-demo",
      messages: [{ role: "user", content: "Write one sentence about the sea." }],
      max_tokens: 24,
      temperature: 1,
      ...(seed === undefined ? {} : { seed }),
    });
  const [first, second] = await Promise.all([ask(5), ask(5)]);
  assert.equal(first.choices[0].message.content, second.choices[0].message.content);
  assert.equal(first.palimpsest.seed, 5);
  const free = await Promise.all([ask(), ask(), ask()]);
  assert.equal(new Set(free.map((answer) => answer.palimpsest.seed)).size, 3);
});

test("the cap is exact (F007, F034)", async () => {
  for (const [field, value] of [["max_tokens", 1], ["max_completion_tokens", 8]]) {
    const answer = await demoClient.chat.completions.create({
      model: "palimpsest-demo",
      messages: [{ role: "user", content: "Count upwards from one." }],
      [field]: value,
      seed: 1,
    });
    assert.ok(answer.usage.completion_tokens <= value);
    if (answer.usage.completion_tokens === value) assert.equal(answer.choices[0].finish_reason, "length");
  }
});

test("a client that leaves ends its run, streamed or not (F064)", async () => {
  const busy = async () => (await (await fetch(`${demo.address}/health`)).json()).running;
  for (const stream of [true, false]) {
    const gone = new AbortController();
    const request = demoClient.chat.completions
      .create(
        {
          model: "palimpsest-demo",
          messages: [{ role: "user", content: "Write a long story about a harbour." }],
          max_tokens: 4000,
          logit_bias: { 1: -100, 106: -100 }, // it may not end by itself
          stream,
          palimpsest: { steps: 48, confidence_threshold: 0 },
        },
        { signal: gone.signal },
      )
      .then(async (answer) => {
        if (stream) for await (const chunk of answer) void chunk;
      });
    request.catch(() => {}); // it is to fail
    await until(async () => (await busy()) === 1, "the run to begin");
    gone.abort();
    const left = Date.now();
    await until(async () => (await busy()) === 0, "the run to end");
    assert.ok(Date.now() - left < 5_000);
    if (!stream) await assert.rejects(request);
  }
});

test("a key is asked for, and never logged (D.4)", async () => {
  const server = await startServer(["--api-key", "heron-secret-key"]);
  try {
    const wrong = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: "wrong-secret-key", maxRetries: 0 });
    const right = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: "heron-secret-key", maxRetries: 0 });
    await assert.rejects(wrong.models.list(), (error) => error.status === 401 && error.code === "invalid_api_key");
    assert.equal((await right.models.list()).data.length, 1);
    assert.doesNotMatch(server.log(), /secret-key/);
  } finally {
    await server.stop();
  }
});
