import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const BIN = join(import.meta.dirname, '../../../bin/mailstead');

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'mailstead-bin-'));
  mkdirSync(join(dir, 'checkout/bin'), { recursive: true });
  cpSync(BIN, join(dir, 'checkout/bin/mailstead'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A Node that says its version, and what it was asked to run. */
function fakeNode(path: string, version: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  const lines = [
    '#!/bin/sh',
    `[ "$1" = --version ] && { echo ${version}; exit; }`,
    `echo "${version} pid $$ cache [\${NODE_COMPILE_CACHE:-}]" "$@"`,
  ];
  writeFileSync(path, lines.join('\n'));
  chmodSync(path, 0o755);
}

function run(file: string, args: string[], env: Record<string, string> = {}) {
  const path = `${join(dir, 'path')}:/usr/bin:/bin`;
  const { NODE_COMPILE_CACHE: _, ...inherited } = process.env;
  const done = spawnSync(file, args, { encoding: 'utf8', env: { ...inherited, PATH: path, ...env } });
  return { code: done.status, pid: done.pid, out: done.stdout, err: done.stderr };
}

const bundled = () => join(dir, `checkout/node_modules/node-linux-${process.arch}/bin/node`);
const command = () => join(dir, 'checkout/bin/mailstead');

test('the Node that came with the checkout is taken before the one on the PATH, with all arguments', () => {
  fakeNode(bundled(), 'v24.21.0');
  fakeNode(join(dir, 'path/node'), 'v26.1.0');
  const { out } = run(command(), ['mailbox', 'add', 'a b@box.test']);
  expect(out).toContain('v24.21.0');
  expect(out.trimEnd()).toMatch(/src\/start\/mailstead\.ts mailbox add a b@box\.test$/);
});

test.each([
  ['v24.12.0', true],
  ['v26.0.0', true],
  ['v24.11.9', false],
  ['v20.20.2', false],
  ['nonsense', false],
])('a Node %s on the PATH is taken: %s', (version, taken) => {
  fakeNode(join(dir, 'path/node'), version);
  const { code, out, err } = run(command(), []);
  expect(code).toBe(taken ? 0 : 1);
  if (taken) expect(out).toContain(version);
  else expect(err).toMatch(/^mailstead: Node 24\.12 or later not found/);
});

test('a link to the command finds the checkout', () => {
  fakeNode(bundled(), 'v24.21.0');
  mkdirSync(join(dir, 'path'), { recursive: true });
  symlinkSync(command(), join(dir, 'path/first'));
  symlinkSync('first', join(dir, 'path/mailstead'));
  expect(run(join(dir, 'path/mailstead'), ['status']).out).toContain(
    join(dir, 'checkout/src/start/mailstead.ts status'),
  );
});

test('it becomes the server, so that a signal reaches it', () => {
  fakeNode(bundled(), 'v24.21.0');
  const { pid, out } = run(command(), []);
  expect(out).toContain(`pid ${pid} `);
});

test('compiled code is kept beside the packages unless another place is set', () => {
  fakeNode(bundled(), 'v24.21.0');
  expect(run(command(), []).out).toContain(`cache [${join(dir, 'checkout/node_modules/.cache/mailstead')}]`);
  expect(run(command(), [], { NODE_COMPILE_CACHE: '/elsewhere' }).out).toContain('cache [/elsewhere]');
});

test('it starts without a compile cache when the installation cannot be written', () => {
  fakeNode(bundled(), 'v24.21.0');
  writeFileSync(join(dir, 'checkout/node_modules/.cache'), 'in the way');
  expect(run(command(), []).out).toContain('cache []');
});
