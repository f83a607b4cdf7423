import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { defaultOf, loadSettings } from '../../../config/load.ts';
import { SETTINGS } from '../../../config/settings.ts';
import type { SettingName } from '../../../config/settings.ts';

const file = new URL('../../../config/example.env', import.meta.url);
const text = readFileSync(file, 'utf8');

/** Paragraphs that end with a setting: its name, default, and the explanation above it. */
const listed = text.split('\n\n').flatMap((paragraph) => {
  const lines = paragraph.trimEnd().split('\n');
  const [, name, value = ''] = /^#MAILSTEAD_([A-Z0-9_]+)=(.*)$/.exec(lines.at(-1) ?? '') ?? [];
  return name === undefined ? [] : [{ name: name as SettingName, value, explanation: lines.slice(0, -1) }];
});

test('each setting is listed once, and nothing else', () => {
  expect(listed.map((one) => one.name).sort()).toEqual(Object.keys(SETTINGS).sort());
  expect(text.match(/^#?MAILSTEAD_.*/gm)).toHaveLength(listed.length);
});

test.each(listed)('$name is explained', ({ explanation }) => {
  expect(explanation.length).toBeGreaterThan(0);
  for (const line of explanation) expect(line).toMatch(/^# .{10}|^# Live mode: /);
});

test.each(listed)('the default of $name is the real one, in both modes', ({ name, value, explanation }) => {
  expect(value).toBe(defaultOf(name, false) ?? '');
  const live = explanation.flatMap((line) => /^# Live mode: (\S+)$/.exec(line)?.[1] ?? []);
  expect(live).toEqual(defaultOf(name, true) === defaultOf(name, false) ? [] : [defaultOf(name, true)]);
});

test('the file as it is, and with every line uncommented, changes nothing', () => {
  expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  const defaults = Object.fromEntries(listed.map(({ name, value }) => [`MAILSTEAD_${name}`, value]));
  expect(loadSettings(defaults, [])).toEqual(loadSettings({}, []));
  expect(loadSettings({}, ['serve', '--env-file', file.pathname])).toEqual(loadSettings({}, []));
});
