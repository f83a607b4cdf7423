import { changeWebhook } from '../../../src/webhooks/webhook-commands.ts';
import { findWebhook } from '../../../src/webhooks/webhook-queries.ts';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dueWebhookEvents } from '../../../mail/store/notification/webhook-event.ts';
import { type Command, query, StoreBusy } from '../../../mail/store/engine/types.ts';
import type { MailStore } from '../../../mail/store/store.ts';
import { endWebhookAttempts, purgeWebhookAttempts } from '../../../src/webhooks/commands.ts';
import { WebhookDispatcher } from '../../../src/webhooks/dispatcher.ts';
import { type DeliveryLine, listWebhookAttempts } from '../../../src/webhooks/queries.ts';
import { type HookWorld, hookWorld } from '../../support/hook-world.ts';

let hooks: HookWorld;
beforeEach(async () => {
  hooks = await hookWorld();
});
afterEach(() => hooks[Symbol.asyncDispose]());

const patience = { timeout: 60_000, interval: 20 };
const hookOf = async (account: number) => {
  const hook = await hooks.store.read(findWebhook, { account });
  if (hook === undefined) throw new Error('no webhook');
  return hook;
};
async function attempts(account: number): Promise<DeliveryLine[]> {
  const { id } = await hookOf(account);
  return hooks.store.read(listWebhookAttempts, { listener: id, before: 1e9, limit: 100 });
}

/** A store that is asked for more than its answer: counts reads of a name, and may refuse writes. */
function watched(store: MailStore, refuses: () => boolean): { store: MailStore; reads: () => number } {
  let reads = 0;
  const proxy = new Proxy(store, {
    get(target, name) {
      if (name === 'read') {
        return (what: { name: string }, input: unknown) => {
          if (what.name === dueWebhookEvents.name) reads++;
          return target.read(what as typeof dueWebhookEvents, input as never);
        };
      }
      if (name === 'write') {
        return (what: Command<unknown, unknown>, input: unknown) =>
          refuses() && what.name === endWebhookAttempts.name
            ? Promise.reject(new StoreBusy('disk-full', 'the disk is full'))
            : target.write(what, input);
      }
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { store: proxy, reads: () => reads };
}

/** Seconds, of the schedule. */
const STEPS = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 57_600];
const isDead = (one: DeliveryLine): boolean => one.outcome === 'dead';
const countEmails = query('count-emails', async (rx, input: { account: number }): Promise<number> => {
  const row = await rx.get<{ n: number }>('SELECT count(*) AS n FROM email WHERE account_id = ?', input.account);
  return row?.n ?? 0;
});

test('a message whose file cannot be read is a failed attempt on the schedule, and no hot loop', async () => {
  const account = await hooks.mailbox('one');
  await hooks.arrive(account, 'large', 'x'.repeat(100_000));
  const blobs = join(hooks.made.store.dataDir, 'blobs');
  for (const dir of readdirSync(blobs)) rmSync(join(blobs, dir), { recursive: true });
  const { store, reads } = watched(hooks.store, () => false);
  await using _dispatcher = new WebhookDispatcher(hooks.options({ store }));
  await expect.poll(() => attempts(account), patience).toHaveLength(1);
  expect((await attempts(account))[0]).toMatchObject({ outcome: 'later', status: null, problem: /cannot be read/ });
  await sleep(500);
  expect(await attempts(account)).toHaveLength(1);
  expect(reads()).toBeLessThan(5);
  expect(hooks.receiver.told).toEqual([]);
});

test('while ends cannot be written nothing is reported twice, and they are written when the store is back', async () => {
  const account = await hooks.mailbox('one');
  await hooks.arrive(account, 'once');
  let busy = true;
  const { store, reads } = watched(hooks.store, () => busy);
  await using _dispatcher = new WebhookDispatcher(hooks.options({ store }));
  await expect.poll(() => hooks.receiver.told.length, patience).toBe(1);
  await sleep(500);
  expect(reads()).toBeLessThan(3);
  busy = false;
  await expect.poll(() => attempts(account), patience).toHaveLength(1);
  expect(hooks.receiver.told).toHaveLength(1);
});

/** Delays the responses of the receiver, ms, and returns the maximum of concurrent requests. */
function combined(ms: number): () => number {
  let inside = 0;
  let most = 0;
  hooks.receiver.answer = (_request, response) => {
    most = Math.max(most, ++inside);
    setTimeout(() => {
      inside--;
      response.end();
    }, ms);
  };
  return () => most;
}

test('a webhook is called in order, one at a time, also when more comes meanwhile', async () => {
  const account = await hooks.mailbox('one');
  const most = combined(2);
  const subjects = Array.from({ length: 60 }, (_, i) => `s${i}`);
  for (const subject of subjects.slice(0, 30)) await hooks.arrive(account, subject);
  await using _dispatcher = new WebhookDispatcher(hooks.options());
  for (const subject of subjects.slice(30)) await hooks.arrive(account, subject);
  await expect.poll(() => hooks.receiver.told.length, patience).toBe(60);
  expect(hooks.receiver.told.map((one) => one.subject)).toEqual(subjects);
  expect(most()).toBe(1);
});

test('attempts are forgotten after 30 days', async () => {
  const account = await hooks.mailbox('one');
  await hooks.arrive(account, 'old');
  await using _dispatcher = new WebhookDispatcher(hooks.options());
  await expect.poll(() => attempts(account), patience).toHaveLength(1);
  hooks.clock.now += 29 * 24 * 3_600_000;
  await hooks.store.write(purgeWebhookAttempts, undefined);
  expect(await attempts(account)).toHaveLength(1);
  hooks.clock.now += 2 * 24 * 3_600_000;
  await hooks.store.write(purgeWebhookAttempts, undefined);
  expect(await attempts(account)).toEqual([]);
});

test('ten of a host at the same time, and no more', async () => {
  const most = combined(500);
  for (let i = 0; i < 25; i++) await hooks.arrive(await hooks.mailbox(`m${i}`), `s${i}`);
  await using _dispatcher = new WebhookDispatcher(hooks.options());
  await expect.poll(() => hooks.receiver.told.length, patience).toBe(25);
  expect(most()).toBe(10);
});

describe('a receiver that is down', () => {
  const refuse = (): void => {
    hooks.receiver.answer = (_request, response) => void response.writeHead(500).end('no <b>way</b>\u0007');
  };

  /** Lets the clock run to the next try, by these steps and then the last one again. */
  async function tryOn(
    dispatcher: WebhookDispatcher,
    account: number,
    steps: readonly number[],
    until: () => Promise<boolean>,
  ) {
    for (let i = 0; i < 60 && !(await until()); i++) {
      const before = (await attempts(account)).length;
      hooks.clock.now += (steps[Math.min(i, steps.length) - 1] ?? 0) * 1_200;
      dispatcher.look();
      await expect.poll(async () => (await attempts(account)).length > before || (await until()), patience).toBe(true);
    }
  }

  const letters = async (owner: number) => hooks.store.read(countEmails, { account: owner });

  test('eleven attempts under one id, then it is given up, and the owner is informed of the first', async () => {
    refuse();
    const owner = await hooks.owner();
    const account = await hooks.mailbox('one');
    await hooks.arrive(account, 'unwanted');
    await using dispatcher = new WebhookDispatcher(hooks.options());
    await tryOn(dispatcher, account, STEPS, async () => (await attempts(account))[0]?.outcome === 'dead');
    await hooks.notifier.run();
    expect(await letters(owner)).toBe(1);
    // One letter, and not one for each that is given up.
    await hooks.arrive(account, 'as well');
    await tryOn(dispatcher, account, STEPS, async () => (await attempts(account)).filter(isDead).length === 2);
    await hooks.notifier.run();
    expect(await letters(owner)).toBe(1);
    const first = hooks.receiver.told.filter((one) => one.subject === 'unwanted');
    expect(first).toHaveLength(11);
    expect(new Set(first.map((one) => one.id)).size).toBe(1);
    expect((await attempts(account))[0]).toMatchObject({ status: 500, response: 'no <b>way</b> ' });
    expect((await attempts(account))[0]?.request).not.toContain('unwanted');
  });

  test('after five days it is switched off; what happens meanwhile waits, and is reported when it is on again', async () => {
    refuse();
    const owner = await hooks.owner();
    const account = await hooks.mailbox('one');
    await hooks.arrive(account, 'first');
    await hooks.arrive(account, 'second');
    await using dispatcher = new WebhookDispatcher(hooks.options());
    await tryOn(dispatcher, account, [57_600], async () => {
      await hooks.notifier.run();
      return (await hookOf(account)).disabledAt !== null;
    });
    expect(await letters(owner)).toBeGreaterThan(0);
    await hooks.arrive(account, 'third');
    const before = hooks.receiver.told.length;
    hooks.clock.now += 3_600_000;
    dispatcher.look();
    await sleep(300);
    expect(hooks.receiver.told).toHaveLength(before);
    hooks.receiver.answer = (_request, response) => void response.end();
    const { id: listener } = await hookOf(account);

    await hooks.store.write(changeWebhook, { organization: 1, listener });
    await expect.poll(() => hooks.receiver.told.at(-1)?.subject, patience).toBe('third');
    expect((await hookOf(account)).failures).toBe(0);
  });
});
