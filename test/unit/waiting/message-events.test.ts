import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command } from '../../../mail/store/engine/types.ts';
import { recordJournalEvent } from '../../../mail/store/journal/journal.ts';
import { journalEnds, journalLinesAfter, type JournalTailLine } from '../../../mail/store/journal/journal-tail.ts';
import { purgeHistory } from '../../../mail/store/retention/purge.ts';
import { rowId } from '../../../src/core/ids.ts';
import { SharedJournalFeed } from '../../../src/waiting/journal-feed.ts';
import { quiet } from '../../../mail/log.ts';
import { deliverMail } from '../../support/deliver-mail.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';
import type { JournalView } from '../../../src/core/mail-waits.ts';

/** Many lines of one tenant, without an account. */
const notes = command('test-notes', async (tx, { tenant, count }: { tenant: number; count: number }, stamp) => {
  for (let i = 0; i < count; i++)
    await recordJournalEvent(tx, `noted-${i}`, 'delivered', null, { to: `x${i}@far.example` }, stamp, { tenant });
});

const PATIENT = { timeout: 60_000 };

let tenants: Tenants;
let mine: JournalView;
let theirs: JournalView;
let reads = 0;
let story: SharedJournalFeed;
beforeAll(async () => {
  tenants = await twoTenants({}, [notes]);
  const { a, b, world } = tenants;
  mine = { tenant: a.caller.organization ?? 0, accounts: null };
  theirs = { tenant: b.caller.organization ?? 0, accounts: null };
  const { store } = world;
  const counted = new Proxy(store, {
    get(target, name) {
      if (name === 'read' || name === 'scan') reads++;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  story = new SharedJournalFeed(counted, quiet);
});
afterAll(async () => {
  story[Symbol.dispose]();
  await tenants[Symbol.asyncDispose]();
});

const accountOf = (mailboxId: string): number => rowId('mailbox', mailboxId) ?? 0;
const comes = ({ mailboxId, address }: { mailboxId: string; address: string }): Promise<void> =>
  deliverMail(tenants.world.store, { account: accountOf(mailboxId), to: address }, 'From: x@far.example\n\nx\n');
const newest = async (): Promise<number> => (await tenants.world.store.read(journalEnds, undefined)).newest;

describe('what happens to messages', () => {
  test('is reported to those who may know of it, in order and once', async () => {
    const after = await newest();
    const told: JournalTailLine[] = [];
    const side = { ...mine, accounts: [accountOf(tenants.a.side.mailboxId)] };
    const reportedOfSide: JournalTailLine[] = [];
    const reportedOthers: JournalTailLine[] = [];
    const stops = await Promise.all([
      story.follow(mine, (lines) => told.push(...lines)),
      story.follow(side, (lines) => reportedOfSide.push(...lines)),
      story.follow(theirs, (lines) => reportedOthers.push(...lines)),
    ]);
    await comes(tenants.a.main);
    await comes(tenants.a.side);
    await comes(tenants.b.main);
    await expect.poll(() => [told.length, reportedOfSide.length, reportedOthers.length], PATIENT).toEqual([2, 1, 1]);
    expect(told.map(({ event, account }) => [event, account])).toEqual([
      ['received', accountOf(tenants.a.main.mailboxId)],
      ['received', accountOf(tenants.a.side.mailboxId)],
    ]);
    const { lines, seen, more } = await story.readAfter(mine, after);
    expect(lines).toEqual(told);
    expect({ seen, more }).toEqual({ seen: await newest(), more: false });
    expect((await story.readAfter(side, after)).lines).toEqual(reportedOfSide);
    for (const stop of stops) stop();
  });

  test('of a moment ago is answered without the disk, of long ago with it, and both alike', async () => {
    const after = await newest();
    const told: JournalTailLine[] = [];
    const stop = await story.follow(mine, (lines) => told.push(...lines));
    await tenants.world.store.write(notes, { tenant: mine.tenant, count: 150 });
    await expect.poll(() => told.length, PATIENT).toBe(150);
    const before = reads;
    const first = await story.readAfter(mine, after);
    expect([first.lines.length, first.more, reads - before]).toEqual([100, true, 0]);
    await tenants.world.store.write(notes, { tenant: mine.tenant, count: 400 });
    await expect.poll(() => told.length, PATIENT).toBe(550);
    const all: JournalTailLine[] = [];
    for (let at = after, more = true; more;) {
      const page = await story.readAfter(mine, at);
      all.push(...page.lines);
      ({ seen: at, more } = page);
    }
    expect(reads - before).toBeGreaterThan(0);
    expect(all).toEqual(told);
    stop();
  });

  test('is reported although the store could not be read when it came, and nothing came after it', async () => {
    const { store } = tenants.world;
    let broken = 0;
    const read: typeof store.read = (what, input) =>
      what.name === journalLinesAfter.name && broken-- > 0 ? Promise.reject(new Error('no')) : store.read(what, input);
    const failing = new Proxy(store, {
      get(target, name) {
        const value: unknown = name === 'read' ? read : Reflect.get(target, name, target);
        return typeof value === 'function' && name !== 'read' ? (value.bind(target) as unknown) : value;
      },
    });
    using other = new SharedJournalFeed(failing, quiet);
    let told = 0;
    await other.follow(mine, () => told++);
    broken = 2;
    await comes(tenants.a.main);
    await expect.poll(() => told, PATIENT).toBe(1);
  });

  test('is not read while nobody follows it', async () => {
    using other = new SharedJournalFeed(tenants.world.store, quiet);
    let told = 0;
    await other.follow(mine, () => told++);
    const before = reads;
    await comes(tenants.a.main);
    await expect.poll(() => told, PATIENT).toBe(1);
    expect(reads).toBe(before);
  });

  test('has numbers that never begin anew: the last line stays however old it is', async () => {
    const last = await newest();
    while (await tenants.world.store.write(purgeHistory, { before: tenants.clock.now + 1 }));
    expect(await tenants.world.store.read(journalEnds, undefined)).toEqual({ oldest: last, newest: last });
  });
});
