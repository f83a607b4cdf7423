import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { UpgradeProgress } from '../../../src/start/upgrade-progress.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mailstead-upgrade-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const HOSTS = ['127.0.0.1'];

async function baseOf(progress: UpgradeProgress): Promise<string> {
  await expect.poll(() => progress.addresses.length).toBe(1);
  return `http://127.0.0.1:${progress.addresses[0]?.port}`;
}

async function probe(url: string): Promise<[status: number, body: unknown]> {
  const answer = await fetch(url);
  return [answer.status, await answer.json()];
}

test('probes see that the tables are changed and how far it is, until the port is closed', async () => {
  let base: string;
  {
    await using progress = new UpgradeProgress({ log: quiet, hosts: HOSTS, port: 0 });
    expect(progress.state()).toBeUndefined();
    const draft = join(directory, 'copy.tmp');
    progress.report({ kind: 'copy', draft, octets: 1000 });
    base = await baseOf(progress);
    expect(progress.state()).toMatchObject({ step: 'copying the database', percent: 0 });
    writeFileSync(draft, 'x'.repeat(420));
    const copying = { step: 'copying the database', percent: 42, seconds: expect.any(Number) as number };
    expect(await probe(`${base}/healthz`)).toEqual([200, { ok: true, migrating: copying }]);

    progress.report({ kind: 'migrate', migration: 'mail 9', number: 2, total: 4 });
    const changing = { step: 'changing the tables', percent: 25, migration: '2 of 4' };
    expect(await probe(`${base}/readyz`)).toMatchObject([
      503,
      { ready: false, failing: ['migrating'], migrating: changing },
    ]);
    expect(await probe(`${base}/login`)).toMatchObject([503, { error: 'unavailable', migrating: changing }]);
  }
  await expect(fetch(`${base}/healthz`)).rejects.toThrow();
});

test('a line of the log says it at each step and at intervals, and none comes without a step or after the end', async () => {
  const lines: [fields: object, text: string][] = [];
  const log = { ...quiet, info: (fields: object, text: string) => void lines.push([fields, text]) };
  {
    await using progress = new UpgradeProgress({ log, hosts: HOSTS, port: undefined, logEveryMs: 5 });
    expect(lines).toEqual([]);
    progress.report({ kind: 'migrate', migration: 'mail 9', number: 1, total: 1 });
    await expect.poll(() => lines.length).toBeGreaterThan(3);
    expect(lines[0]).toMatchObject([
      { migration: '1 of 1', percent: 0 },
      expect.stringContaining('changes the tables'),
    ]);
  }
  expect(lines.at(-1)?.[1]).toBe('the change of the tables has ended');
  const count = lines.length;
  {
    await using none = new UpgradeProgress({ log, hosts: HOSTS, port: 0 });
    expect(none.addresses).toEqual([]);
  }
  expect(lines).toHaveLength(count);
});

test('a port in use is logged and does not stop the change', async () => {
  await using first = new UpgradeProgress({ log: quiet, hosts: HOSTS, port: 0 });
  first.report({ kind: 'migrate', migration: 'mail 9', number: 1, total: 1 });
  await baseOf(first);
  const warned: string[] = [];
  const log = { ...quiet, warn: (_fields: object, text: string) => void warned.push(text) };
  await using second = new UpgradeProgress({ log, hosts: HOSTS, port: first.addresses[0]?.port });
  second.report({ kind: 'migrate', migration: 'mail 9', number: 1, total: 1 });
  await expect.poll(() => warned).toEqual(['failed to show the progress on the HTTP port']);
  expect(second.state()).toMatchObject({ percent: 0 });
});
