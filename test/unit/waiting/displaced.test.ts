import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { watchResources } from '../../../src/mcp/watch.ts';
import type { Caller } from '../../../src/core/caller.ts';
import type { CallerWait } from '../../../src/waiting/caller-wait.ts';
import type { Tenants } from '../../support/tenants.ts';
import { type Awaited, awaitedMailbox, takePositions, waiting } from '../../support/waiting.ts';

const ALL = 2_000;
const FULL = { kind: 'refused', refusal: { error: 'rate_limited', retryAfterSeconds: 5 } };

let box: Awaited;
let tenants: Tenants;
beforeAll(async () => {
  box = await awaitedMailbox();
  ({ tenants } = box);
});
afterAll(() => box[Symbol.asyncDispose]());

let open: DisposableStack;
beforeEach(() => {
  open = new DisposableStack();
});
afterEach(async () => {
  open.dispose();
  await expect.poll(() => tenants.world.waits.size).toBe(0);
});

async function take(caller: Caller, count: number): Promise<CallerWait[]> {
  const all = await takePositions(tenants.world, caller, count);
  for (const one of all) open.use(one);
  return all;
}
async function beginOf(caller: Caller): Promise<CallerWait> {
  const wait = await tenants.world.waits.begin({ account: undefined, caller, seconds: 300, audience: undefined });
  if (wait === undefined) throw new Error('no place');
  return wait;
}
const overOf = (all: readonly CallerWait[]): number => all.filter((one) => one.isOver).length;
const organization = (id: number): Caller => ({ ...tenants.a.caller, organization: id });
const mail = (subject: string): string => `From: anna@shop.example\nSubject: ${subject}\n\nx\n`;
const displaced = async (): Promise<number> => {
  const { text } = await tenants.world.metrics.render();
  return Number(/^mailstead_waits_displaced_total (\d+)$/m.exec(text)?.[1] ?? 0);
};

describe('an organization that holds all the places', () => {
  test('gives one to another that asks: its oldest wait answers early, with a cursor behind which nothing is missed', async () => {
    const { mailbox } = box;
    const queried = { mailbox, timeoutSeconds: 50 };
    const { cursor: since } = await tenants.do('wait_for_email', { mailbox, timeoutSeconds: 0 });
    const oldest = tenants.try('wait_for_email', { ...queried, since });
    await waiting(tenants.world, 1);
    await take(tenants.a.caller, ALL - 1);
    const before = await displaced();

    const { mailboxId, address } = tenants.b.main;
    const theirs = tenants.do('wait_for_email', { mailbox: mailboxId, timeoutSeconds: 50 }, tenants.b.caller);
    const ended = await oldest;
    expect(ended).toMatchObject({
      kind: 'done',
      result: { matched: false, timedOut: false, messages: [], cursor: expect.any(String) as string },
    });
    expect(tenants.world.waits.size).toBe(ALL);
    expect(await displaced()).toBe(before + 1);

    // The organization with the most waits is refused with a retry time when it reconnects: the slot stays with the other.
    const cursor = ended.kind === 'done' ? ended.result['cursor'] : '';
    expect(await tenants.try('wait_for_email', { ...queried, since: cursor })).toMatchObject(FULL);
    await box.comes(mail('meanwhile'));
    const back = await tenants.do('wait_for_email', { mailbox, since: cursor, timeoutSeconds: 0 });
    expect(back).toMatchObject({ matched: true, messages: [{ untrusted: { subject: 'meanwhile' } }] });

    const account = Number(mailboxId.slice(4));
    await box.comes(mail('of bravo'), { account, to: address });
    expect(await theirs).toMatchObject({ matched: true, messages: [{ untrusted: { subject: 'of bravo' } }] });
  });

  test('keeps half of them, and the two do not push one another out', async () => {
    const mine = await take(tenants.a.caller, ALL);
    const theirs = await take(tenants.b.caller, ALL / 2);
    expect([overOf(mine), overOf(mine.slice(0, ALL / 2)), overOf(theirs)]).toEqual([ALL / 2, ALL / 2, 0]);
    for (const caller of [tenants.a.caller, tenants.b.caller]) {
      await expect(takePositions(tenants.world, caller, 1)).rejects.toThrow('no place');
    }
    expect(tenants.world.waits.size).toBe(ALL);
  });

  test('gives way to every other one, and they share', async () => {
    await take(tenants.a.caller, ALL);
    const others = [901, 902, 903].map(organization);
    for (const one of others) expect(overOf(await take(one, ALL / 4))).toBe(0);
    for (const one of [tenants.a.caller, ...others]) {
      await expect(takePositions(tenants.world, one, 1)).rejects.toThrow('no place');
    }
  });

  test('loses a subscription whole, which is informed that it is over', async () => {
    const uri = `mail://mailbox/${box.mailbox}`;
    const { signal } = new AbortController();
    const watched = await watchResources(tenants.world, tenants.a.caller, [uri, 'mail://outbox'], signal);
    const over = watched?.run(() => undefined);
    await take(tenants.a.caller, ALL - 2);
    await take(tenants.b.caller, 1);
    await over;
    expect(tenants.world.waits.size).toBe(ALL - 1);
  });

  test.each([
    ['its token has others', () => tenants.b.caller, 99],
    ['it would get more than its share', () => ({ ...tenants.b.caller, actor: 'tok_800000' }), ALL / 2 - 1],
  ])('gives none up for a subscription that is refused as %s', async (_why, of, others) => {
    const caller = of();
    for (let i = 0; i < 99; i++) open.use(await beginOf(tenants.b.caller));
    await take(tenants.b.caller, others - 99);
    const mine = await take(tenants.a.caller, ALL - others);
    const before = await displaced();
    const uri = `mail://mailbox/${tenants.b.main.mailboxId}`;
    const { signal } = new AbortController();
    expect(await watchResources(tenants.world, caller, [uri, 'mail://outbox'], signal)).toBeUndefined();
    expect([overOf(mine), await displaced(), tenants.world.waits.size]).toEqual([0, before, ALL]);
  });
});
