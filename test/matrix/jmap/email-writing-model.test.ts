import { expect, test, vi } from 'vitest';
import { jmapId } from '../../../mail/jmap/core/ids.ts';
import { createMailbox } from '../../../mail/store/mailbox/mailbox.ts';
import { seenByImap } from '../../support/jmap-emails.ts';
import { readExpectedObjects } from '../../support/jmap-oracle.ts';
import { createJmapFixture } from '../../support/jmap-fixture.ts';

interface Model {
  mailboxes: Set<string>;
  keywords: Set<string>;
}

const NAMES: Readonly<Record<string, string>> = {
  $seen: '\\Seen',
  $answered: '\\Answered',
  $flagged: '\\Flagged',
  $draft: '\\Draft',
};
const KEYWORDS = [...Object.keys(NAMES), 'one', 'two', '$forwarded', '7'];

/** Mulberry32: a deterministic random generator. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

test('10,000 changes give the state of a model, as IMAP shows', { timeout: 240_000 }, async () => {
  await using fixture = await createJmapFixture();
  const mailboxes = [jmapId('mailbox', fixture.inbox)];
  for (const name of ['A', 'B', 'C']) {
    const made = await fixture.box.store.write(createMailbox, { account: fixture.account, name, role: null });
    if (made.kind === 'created') mailboxes.push(jmapId('mailbox', made.id));
  }
  const pick = random(20_261_121);
  const some = (from: readonly string[]): string[] => from.filter(() => pick(2) === 0);
  const emails = new Map<string, Model>();
  const asSet = (names: readonly string[]): Record<string, true> =>
    Object.fromEntries(names.map((name) => [name, true]));

  const patchOf = (email: Model): object => {
    const patch: Record<string, unknown> = {};
    if (pick(4) === 0) patch['keywords'] = asSet([...(email.keywords = new Set(some(KEYWORDS)))]);
    else {
      for (const keyword of some(KEYWORDS)) {
        const on = pick(2) === 0;
        patch[`keywords/${keyword}`] = on || null;
        email.keywords[on ? 'add' : 'delete'](keyword);
      }
    }
    const wanted = some(mailboxes);
    if (wanted.length === 0) return patch;
    if (pick(2) === 0) patch['mailboxIds'] = asSet([...(email.mailboxes = new Set(wanted))]);
    else {
      for (const mailbox of mailboxes) {
        const on = wanted.includes(mailbox);
        patch[`mailboxIds/${mailbox}`] = on || null;
        email.mailboxes[on ? 'add' : 'delete'](mailbox);
      }
    }
    return patch;
  };

  for (let step = 0; step < 10_000;) {
    const before = [...emails.keys()];
    const create: Record<string, object> = {};
    const models = new Map<string, Model>();
    for (let i = pick(emails.size > 300 ? 5 : 15); i > 0; i--) {
      const where = some(mailboxes);
      const model = { mailboxes: new Set(where.length === 0 ? mailboxes : where), keywords: new Set(some(KEYWORDS)) };
      models.set(`k${i}`, model);
      create[`k${i}`] = {
        mailboxIds: asSet([...model.mailboxes]),
        keywords: asSet([...model.keywords]),
        subject: `s${i}`,
      };
    }
    const destroy = before.filter(() => pick(30) === 0);
    for (const id of destroy) emails.delete(id);
    const update: Record<string, object> = {};
    for (const [id, model] of emails) if (pick(4) === 0) update[id] = patchOf(model);
    const answer = await fixture.call('Email/set', { create, update, destroy });
    expect(answer).toMatchObject({ notCreated: null, notUpdated: null, notDestroyed: null });
    for (const [key, model] of models) {
      emails.set((answer['created'] as Record<string, { id: string }>)[key]?.id ?? '', model);
    }
    step += models.size + destroy.length + Object.keys(update).length;
  }

  const expected = [...emails].map(([id, { mailboxes: where, keywords }]) => {
    const flags = [...keywords].map((name) => NAMES[name] ?? name).sort();
    return [id, [...where].sort().map((mailbox) => [mailbox, flags])];
  });
  const seen = await seenByImap(fixture);
  const found = expected.map(([id]) => [
    id,
    [...(seen.get(id as string) ?? [])]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([mailbox, flags]) => [mailbox, flags]),
  ]);
  expect(seen.size).toBe(emails.size);
  const { list } = await fixture.call('Mailbox/get');
  const { Mailbox } = await readExpectedObjects(fixture);
  for (const one of list as { id: string }[]) expect(one).toMatchObject(Mailbox.get(one.id) ?? {});
  expect(found).toEqual(expected);
});

test('500 updates share their commits', async () => {
  await using fixture = await createJmapFixture('writer thread');
  const inbox = { [jmapId('mailbox', fixture.inbox)]: true };
  const create = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, { mailboxIds: inbox }]));
  const { created } = await fixture.call('Email/set', { create });
  const ids = Object.values(created as Record<string, { id: string }>).map(({ id }) => id);
  const write = vi.spyOn(fixture.box.store, 'write');
  const { updated } = await fixture.call('Email/set', {
    update: Object.fromEntries(ids.map((id) => [id, { 'keywords/$seen': true }])),
  });
  expect(Object.keys(updated as object).length).toBe(500);
  expect(write.mock.calls.length).toBeLessThan(50);
  write.mockRestore();
});
