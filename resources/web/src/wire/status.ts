// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the server says about itself and its model, and the settings of the sampler.

import { type Action, actions } from "./actions";
import {
  type Json,
  booleanOr,
  listOr,
  number,
  numberOr,
  numberOrNull,
  object,
  oneOf,
  string,
  stringOr,
} from "./fields";

/** Settings of the sampler. What is absent is the model's own. */
export interface Sampler {
  maxSteps?: number;
  tMin?: number;
  tMax?: number;
  entropyBound?: number;
  stability?: number;
  confidence?: number;
}

export const samplerKeys = ["maxSteps", "tMin", "tMax", "entropyBound", "stability", "confidence"] as const;

export interface ModelInfo {
  id: string;
  device: string;
  deviceKind: string;
  contextLength: number | null;
  canvasLength: number | null;
  vocabSize: number | null;
  weightBytes: number | null;
  thinking: boolean;
  defaults: Sampler;
}

export interface ServerStatus {
  state: "loading" | "ready" | "busy" | "error";
  progress: number;
  problem: string;
  model: ModelInfo | null;
  running: number;
  waiting: number;
  windows: number;
  stepMs: number | null;
}

/** A wish that has a button. */
export interface Preset {
  id: string;
  label: string;
  action: Action;
  /** What the model is told; "" where the action says it all, or the writer does. */
  instruction: string;
}

export interface Hello {
  type: "hello";
  protocol: number;
  client: string;
  version: string;
  status: ServerStatus;
  presets: Preset[];
}

export function parseSampler(value: unknown): Sampler {
  const from = value === undefined || value === null ? {} : object(value, "sampler");
  const sampler: Sampler = {};
  for (const key of samplerKeys) {
    const setting = numberOrNull(from, key);
    if (setting !== null) sampler[key] = setting;
  }
  return sampler;
}

function parseModel(value: unknown): ModelInfo {
  const from = object(value, "model");
  return {
    id: string(from, "id"),
    device: stringOr(from, "device", ""),
    deviceKind: stringOr(from, "deviceKind", ""),
    contextLength: numberOrNull(from, "contextLength"),
    canvasLength: numberOrNull(from, "canvasLength"),
    vocabSize: numberOrNull(from, "vocabSize"),
    weightBytes: numberOrNull(from, "weightBytes"),
    thinking: booleanOr(from, "thinking", false),
    defaults: parseSampler(from["defaults"]),
  };
}

export function parseStatus(value: unknown): ServerStatus {
  const from = object(value, "status");
  return {
    state: oneOf(from, "state", ["loading", "ready", "busy", "error"], "error"),
    progress: numberOr(from, "progress", 0),
    problem: stringOr(from, "problem", ""),
    model: from["model"] === undefined || from["model"] === null ? null : parseModel(from["model"]),
    running: numberOr(from, "running", 0),
    waiting: numberOr(from, "waiting", 0),
    windows: numberOr(from, "windows", 0),
    stepMs: numberOrNull(from, "stepMs") || null, // 0 before the first step: nobody knows
  };
}

function parsePreset(value: unknown): Preset {
  const from = object(value, "preset");
  return {
    id: string(from, "id"),
    label: string(from, "label"),
    action: oneOf(from, "action", actions, "rewrite"),
    instruction: stringOr(from, "instruction", ""),
  };
}

export function parseHello(from: Json): Hello {
  return {
    type: "hello",
    protocol: number(from, "protocol"),
    client: string(from, "client"),
    version: stringOr(from, "version", ""),
    status: parseStatus(from["status"]),
    presets: listOr(from, "presets", parsePreset),
  };
}
