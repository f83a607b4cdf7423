import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { flipped } from '../support/flipped.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';
import { leads, Visitor } from '../support/visitor.ts';

/** For a task, which is a process of its own, on a busy machine. */
const BUSY_MS = 200_000;
const PASSPHRASE = 'only-for-this-test-4711';
const SECRET_KEY = 'never-shown-s3-key';
const target = mkdtempSync(join(tmpdir(), 'server-backups-'));
let box: Box;
let operator: Visitor;

interface Backups {
  target: string | null;
  running: string | null;
  lastGoodAt: string | null;
  problem: string | null;
  verified: { ok: boolean; messages: number; problem: string | null } | null;
  snapshots: { id: string; messages: number; keys: boolean }[];
}

beforeAll(async () => {
  box = await startBox({
    settings: {
      ...UNDER_LOAD,
      BACKUP_TARGET: target,
      BACKUP_EVERY: 'off',
      BACKUP_PASSPHRASE: PASSPHRASE,
      BACKUP_S3_SECRET_KEY: SECRET_KEY,
    },
  });
  operator = new Visitor(`http://127.0.0.1:${box.port('http')}`);
  await load({ port: box.port('smtp'), queue: numberedMany('kept', 3, 1), ledger: new Ledger(), clients: 1 });
  const printed = box.printed.map((line) => /\/auth\/sign-in\?token=([0-9a-f]{48})/.exec(line)?.[1]);
  await operator.post('/auth/sign-in', { token: printed.findLast((one) => one !== undefined) ?? '' });
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  rmSync(target, { recursive: true, force: true });
});

const getBackups = async (): Promise<Backups> => (await box.ask('get_backups')) as Backups;

/** Waits for the end of the task that runs. */
async function finished(): Promise<Backups> {
  return vi.waitFor(
    async () => {
      const found = await getBackups();
      expect(found.running).toBeNull();
      return found;
    },
    { timeout: BUSY_MS, interval: 200 },
  );
}

/** The page without markup and repeated spaces. */
async function page(): Promise<string> {
  const { text } = await operator.get('/o/org_1/backups');
  return text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

test('without a backup the page says so, and what to do', async () => {
  expect(await page()).toMatch(/State Missing Last good backup None .*Next: Back up now\./);
});

test('an agent of the operator backs up and verifies; one task runs at a time', { timeout: 2 * BUSY_MS }, async () => {
  expect(await box.ask('run_backup')).toEqual({ started: 'backup' });
  await expect(box.ask('run_backup', { verify: true })).rejects.toThrow(/A backup runs/);
  const made = await finished();
  expect(made).toMatchObject({ target, problem: null, verified: null, snapshots: [{ messages: 3, keys: true }] });
  expect(await box.ask('run_backup', { verify: true })).toEqual({ started: 'verification' });
  expect((await finished()).verified).toMatchObject({ ok: true, messages: 3, problem: null });
  expect(await page()).toMatch(/State Good .*Last verification .*: whole, 3 messages compared/);
});

test('a person backs up with a button', { timeout: BUSY_MS }, async () => {
  const answer = await operator.act('/o/org_1/backups', 'backup', {});
  expect(leads(answer)).toBe('303 /o/org_1/backups?done=backup');
  expect((await finished()).snapshots).toHaveLength(2);
});

test('neither the tool nor the page shows a passphrase or key', { timeout: BUSY_MS }, async () => {
  const shown = JSON.stringify(await getBackups()) + (await page());
  expect(shown).not.toContain(PASSPHRASE);
  expect(shown).not.toContain(SECRET_KEY);
});

test(
  'damage that a verification finds is an alarm until another one finds none',
  { timeout: 2 * BUSY_MS },
  async () => {
    const packs = join(target, 'packs');
    const [name = ''] = readdirSync(packs);
    const whole = readFileSync(join(packs, name));
    writeFileSync(join(packs, name), flipped(whole, 8 * 100));
    await started('verification');
    expect((await finished()).verified).toMatchObject({ ok: false, problem: expect.stringMatching(/Snapshot/) });
    expect(await page()).toMatch(/State Damaged .*Next: Set a new MAILSTEAD_BACKUP_TARGET/);
    expect(await backupCheck()).toMatchObject({ status: 'failed', why: expect.stringContaining('verification found') });
    writeFileSync(join(packs, name), whole);
    await started('verification');
    expect((await finished()).verified).toMatchObject({ ok: true });
    expect(await backupCheck()).toMatchObject({ status: 'ok' });
  },
);

async function started(task: string): Promise<void> {
  expect(await box.ask('run_backup', { verify: task === 'verification' })).toEqual({ started: task });
}

async function backupCheck(): Promise<{ status: string; why: string } | undefined> {
  const { checks } = (await box.ask('run_doctor')) as { checks: { name: string; status: string; why: string }[] };
  return checks.find(({ name }) => name === 'backup');
}

test('a target that fails is reported with its reason', { timeout: BUSY_MS }, async () => {
  writeFileSync(join(target, 'mailstead-backup'), 'damaged');
  await started('backup');
  const { problem } = await finished();
  expect(problem).toMatch(/^The first object of .* is damaged/);
  expect(await page()).toMatch(/Problem .*Next: Correct the problem, then back up now\./);
});
