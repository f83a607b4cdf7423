import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { trySubmit } from '../../mail/delivery/submission-commit.ts';
import { taintedSince, purgeTaints, readBy } from '../../mail/agents/taint/taint.ts';
import { agentSendOf } from '../../mail/agents/gate/send-log.ts';
import { query } from '../../mail/store/engine/types.ts';
import { pausedSenders } from '../../mail/store/limit/paused-sender.ts';
import { copyEmail } from '../../mail/store/message/email-commands.ts';
import { expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { DELETED } from '../../mail/store/mailbox/flags.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { purgeExpunged } from '../../mail/store/retention/purge.ts';
import { GateWorld, outcomeOf } from '../support/gate-world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let world: GateWorld;
beforeEach(async () => {
  world = await GateWorld.open();
});
afterEach(() => world[Symbol.asyncDispose]());

const NONE = { dmarc: 'none', dkim: 'none', spf: 'none' } as const;
const since = query('test-exposed', (rx, { now, reader = 'tok_1' }: { now: number; reader?: string }) =>
  taintedSince(rx, { tenant: 1, reader, byPassword: false }, now),
);
const readings = query('test-read', (rx, { now }: { now: number }) =>
  readBy(rx, { tenant: 1, reader: 'tok_1', byPassword: false }, 100, now),
);
const exposed = async (reader = 'tok_1'): Promise<boolean> =>
  (await world.box.store.read(since, { now: world.box.clock.now, reader })) !== undefined;

describe('what an agent has read', () => {
  test('holds mail to a stranger, and says to whom and after what', async () => {
    expect(outcomeOf(await world.send(['stranger@x.test']))).toBe('taken');
    await world.read([await world.put({ from: 'evil@y.test' })]);
    const done = await world.send(['new@x.test']);
    expect(outcomeOf(done)).toBe('first_seen_recipient');
    expect(done).toMatchObject({
      heldBecause: 'The mailbox has never written to new@x.test, and the agent has read mail from evil@y.test',
      reasons: [{ recipients: ['new@x.test'] }],
    });
  });

  test('puts no word of a stranger into the reason, be it one in an address', async () => {
    await world.read([await world.put({ from: '"do as I say"@y.test' })]);
    const done = await world.send(['"so shall you"@x.test', 'new@x.test']);
    expect(done).toMatchObject({
      heldBecause:
        'The mailbox has never written to "..."@x.test, new@x.test, and the agent has read mail from "..."@y.test',
    });
  });

  test('holds what it holds, and pauses nobody for it', async () => {
    await world.read([await world.put({ from: 'evil@y.test' })]);
    const budgets = [{ subject: 'account/1', explanation: '', watched: true }];
    const many = (n: number): string[] => Array.from({ length: 50 }, (_, i) => `s${n}-${i}@x.test`);
    for (const n of [1, 2, 3, 4, 5]) {
      expect(outcomeOf(await world.send(many(n), {}, { budgets }))).toBe('first_seen_recipient');
    }
    expect(await world.box.store.read(pausedSenders, { tenant: 1, after: '', limit: 10 })).toEqual([]);
    for (const n of [6, 7, 8]) await world.sendManually(many(n), { budgets });
    expect(await world.box.store.read(pausedSenders, { tenant: 1, after: '', limit: 10 })).toHaveLength(1);
  });

  test('is nothing when the organization wrote it, provably', async () => {
    const own = await world.put({ from: 'me@box.test', trust: null });
    const owner = await world.put({ from: 'owner@home.test' });
    expect(await world.read([own, owner])).toBe(0);
    expect(await exposed()).toBe(false);
    // An owner whose domain is hosted here: this server signs such mail, so anybody who got it can send it again.
    const hosted = await world.put({ from: 'boss@far.test' });
    expect(await world.read([hosted], { internal: ['boss@far.test'] })).toBe(1);
  });

  test('counts when it is a copy of one of this box that was sent here again from outside', async () => {
    const { account, box } = world;
    const email = await world.receive({ from: 'me@box.test' });
    const inbox = await box.store.read(findMailbox, { account, name: 'INBOX' });
    const where = { from: account, email, account, mailboxes: [inbox?.id ?? 0], flags: null, receivedAt: null };
    const done = await box.store.write(copyEmail, { ...where, by: null, ifFromState: null, ifState: null });
    const copied = done.kind === 'placed' ? done.email : expect.fail(done.kind);
    expect(copied).not.toBe(email);
    expect(await world.read([copied])).toBe(1);
  });

  test.each([
    ['an outsider', { from: 'a@x.test' }],
    [
      'somebody who only says that it is the owner',
      { from: 'owner@home.test', trust: { alignedFrom: false, auth: NONE } },
    ],
    ['the owner, and the text is suspicious', { from: 'owner@home.test', trust: { verdict: 'suspicious' as const } }],
    ['nobody', { from: 'undisclosed' }],
    ['two authors', { from: 'me@box.test, evil@y.test' }],
    ['one of this box, signed by it, and sent here again from outside', { from: 'me@box.test' }],
    ['an import of an outsider', { from: 'a@x.test', trust: null }],
  ])('counts when it is of %s', async (_who, letter) => {
    await world.read([await world.put(letter)]);
    expect(await exposed()).toBe(true);
  });

  test('is the same in the copies that a mailbox holds of what it sent, which is of the organization', async () => {
    expect(await world.read([await world.put({ from: 'me@box.test', trust: null })])).toBe(0);
  });

  test('is forgotten after a day, and not before, however little was read', async () => {
    await world.read([await world.put({ from: 'a@x.test' })]);
    world.box.clock.now += DAY - 1;
    expect(outcomeOf(await world.send(['new@x.test']))).toBe('first_seen_recipient');
    world.box.clock.now += HOUR + 2;
    expect(outcomeOf(await world.send(['newer@x.test']))).toBe('taken');
    await world.box.store.write(purgeTaints, undefined);
    expect(await world.box.store.read(readings, { now: 0 })).toEqual([]);
  });

  test('stays when the message is purged, without the address of its author', async () => {
    const { account, box } = world;
    await world.read([await world.put({ from: 'a@x.test' }), await world.put({ from: 'b@x.test' })]);
    const inbox = await box.store.read(findMailbox, { account, name: 'INBOX' });
    const first = { account, mailbox: inbox?.id ?? 0, uids: [1] };
    await box.store.write(storeFlags, {
      ...first,
      how: 'add',
      flags: { bits: DELETED, keywords: [] },
      unchangedSince: null,
    });
    await box.store.write(expunge, first);
    const authors = async (): Promise<string[]> =>
      (await box.store.read(readings, { now: 0 })).map((one) => one.author);
    expect(await authors()).toEqual(['b@x.test', 'a@x.test']);
    await box.store.write(purgeExpunged, { before: Number.MAX_SAFE_INTEGER });
    expect(await authors()).toEqual(['b@x.test', '']);
    expect(outcomeOf(await world.send(['new@x.test']))).toBe('first_seen_recipient');
  });

  test('survives a restart', async () => {
    await world.read([await world.put({ from: 'a@x.test' })]);
    await world.box.reopen();
    expect(outcomeOf(await world.send(['new@x.test']))).toBe('first_seen_recipient');
  });

  test('is of one reader, and of all tokens that come from one', async () => {
    await world.read([await world.put({ from: 'a@x.test' })], { reader: 'tok_1', credential: 'tok_9' });
    expect(outcomeOf(await world.send(['b@x.test'], { credential: 'tok_2', reader: 'tok_2' }))).toBe('taken');
    expect(outcomeOf(await world.send(['c@x.test'], { credential: 'tok_3', reader: 'tok_1' }))).not.toBe('taken');
  });

  test('is of all in the organization where a password is in the game', async () => {
    const email = await world.put({ from: 'a@x.test' });
    await world.read([email], { reader: 'tok_7', credential: 'tok_7' });
    const password = { credential: 'mbx_1', reader: 'mbx_1', byPassword: true };
    expect(outcomeOf(await world.send(['b@x.test'], password))).toBe('first_seen_recipient');
    expect(outcomeOf(await world.send(['c@x.test'], { credential: 'tok_2', reader: 'tok_2' }))).toBe('taken');
    await world.read([email], password);
    expect(outcomeOf(await world.send(['d@x.test'], { credential: 'tok_2', reader: 'tok_2' }))).toBe(
      'first_seen_recipient',
    );
  });

  test('of another tenant is nothing', async () => {
    await world.read([await world.put({ from: 'a@x.test' })], { tenant: 2, reader: 'mbx_2', byPassword: true });
    expect(outcomeOf(await world.send(['b@x.test']))).toBe('taken');
  });

  test('is kept as far as 500 messages, and that it was read stays', async () => {
    const emails: number[] = [];
    for (let i = 0; i < 505; i++) emails.push(await world.put({ from: `a${i}@x.test` }));
    for (const email of emails) {
      world.box.clock.now++;
      await world.read([email]);
    }
    const kept = await world.box.store.read(readings, { now: world.box.clock.now });
    expect(kept).toHaveLength(100);
    expect(kept[0]?.author).toBe('a504@x.test');
    expect(await exposed()).toBe(true);
  });
});

describe('who may be written to after reading', () => {
  let letter: number;
  beforeEach(async () => {
    letter = await world.put({ from: 'Ann <ann@x.test>', cc: 'carol@z.test', id: 'first@x.test' });
    await world.read([letter]);
  });

  test('the author of the thread that is answered', async () => {
    expect(outcomeOf(await world.send(['ann@x.test'], { answers: letter }))).toBe('taken');
    expect(outcomeOf(await world.send(['ANN@x.test'], { answers: letter }))).toBe('taken');
  });

  test('not who merely stands in its Cc', async () => {
    const done = await world.send(['ann@x.test', 'carol@z.test'], { answers: letter });
    expect(outcomeOf(done)).toBe('recipient_only_in_untrusted_text');
    expect(done).toMatchObject({ reasons: [{ recipients: ['carol@z.test'] }] });
  });

  test('not the author of another thread', async () => {
    const other = await world.put({ from: 'bob@y.test' });
    expect(outcomeOf(await world.send(['ann@x.test'], { answers: other }))).toBe('first_seen_recipient');
    expect(outcomeOf(await world.send(['ann@x.test']))).toBe('first_seen_recipient');
  });

  test('not an author whom nothing proves', async () => {
    const forged = await world.put({ from: 'bank@z.test', trust: { alignedFrom: false, auth: NONE } });
    expect(outcomeOf(await world.send(['bank@z.test'], { answers: forged }))).toBe('unauthenticated_author');
  });

  test('not an author whom the agent made up by putting a message there', async () => {
    const made = await world.put({ from: 'evil@y.test', trust: null });
    expect(outcomeOf(await world.send(['evil@y.test'], { answers: made }))).toBe('first_seen_recipient');
  });

  test('another author of the same thread', async () => {
    const reply = await world.put({ from: 'bob@y.test', answers: 'first@x.test' });
    expect(outcomeOf(await world.send(['bob@y.test', 'ann@x.test'], { answers: reply }))).toBe('taken');
    expect(outcomeOf(await world.send(['bob@y.test'], { answers: letter }))).toBe('taken');
  });

  test('owners, members and mailboxes of the organization, and nobody of another one on the same box', async () => {
    expect(outcomeOf(await world.send(['owner@home.test', 'me@box.test', 'me+tag@box.test']))).toBe('taken');
    const here = [{ account: world.foreign, to: 'other@far.test', trace: '' }];
    const done = await world.send([], {}, { here });
    expect(outcomeOf(done)).toBe('first_seen_recipient');
  });

  test('whoever was written to before anything was read, and not who was written to since', async () => {
    await world.send(['ann@x.test'], { answers: letter });
    expect(outcomeOf(await world.send(['ann@x.test']))).toBe('first_seen_recipient');
    expect(outcomeOf(await world.send(['late@x.test']))).toBe('first_seen_recipient');
    expect(outcomeOf(await world.send(['late@x.test']))).toBe('first_seen_recipient');
  });

  test('whom owners allow, by address or domain', async () => {
    const allowing = world.policy({ allow: ['Good@x.test', 'partner.test'] });
    expect(outcomeOf(await world.send(['good@x.test', 'a@partner.test'], allowing))).toBe('taken');
    expect(outcomeOf(await world.send(['a@sub.partner.test'], allowing))).toBe('first_seen_recipient');
    expect(outcomeOf(await world.send(['a@evilpartner.test'], allowing))).toBe('first_seen_recipient');
  });

  test('anybody where the policy does not hold for it', async () => {
    expect(outcomeOf(await world.send(['new@x.test'], world.policy({ holdAfterReading: false })))).toBe('taken');
  });

  test('anybody where nobody could let it go; then it counts double', async () => {
    const allowance = { messages: 5, burst: 100, newRecipients: 100, only: null, until: '' };
    expect(outcomeOf(await world.send(['n1@x.test'], { attended: false }, { allowance }))).toBe('taken');
    expect(outcomeOf(await world.send(['n2@x.test'], { attended: false }, { allowance }))).toBe('taken');
    world.box.clock.now += 2 * DAY;
    expect(outcomeOf(await world.send(['n3@x.test'], { attended: false }, { allowance }))).toBe('taken');
    world.box.clock.now -= DAY;
    await world.read([letter]);
    for (const to of ['n4@x.test', 'n5@x.test']) await world.send([to], { attended: false }, { allowance });
    expect(outcomeOf(await world.send(['n6@x.test'], { attended: false }, { allowance }))).toBe('over');
  });
});

describe('written to before', () => {
  const exposeLater = async (): Promise<void> => {
    world.box.clock.now += HOUR;
    await world.read([await world.put({ from: 'a@x.test' })]);
  };

  test('by a person in the same mailbox', async () => {
    await world.sendManually(['known@x.test']);
    await exposeLater();
    expect(outcomeOf(await world.send(['known@x.test']))).toBe('taken');
  });

  test('not by mail that is held', async () => {
    await world.sendManually(['held@x.test'], { verdict: { kind: 'hold', because: 'a test' } });
    await exposeLater();
    expect(outcomeOf(await world.send(['held@x.test']))).toBe('first_seen_recipient');
  });

  test('not by mail that was held for what was read, also when that is long ago', async () => {
    await exposeLater();
    expect(outcomeOf(await world.send(['evil@y.test']))).toBe('first_seen_recipient');
    world.box.clock.now += 3 * DAY;
    await exposeLater();
    expect(outcomeOf(await world.send(['evil@y.test']))).toBe('first_seen_recipient');
  });

  test('not by an answer that nobody wrote, nor by a program', async () => {
    await world.sendManually(['away@x.test'], { sender: '' });
    await world.sendManually(['form@x.test'], { account: null, as: { kind: 'tenant', tenant: 1, domains: null } });
    await exposeLater();
    expect(outcomeOf(await world.send(['away@x.test']))).toBe('first_seen_recipient');
    expect(
      outcomeOf(
        await world.send(['form@x.test'], {}, { account: null, as: { kind: 'tenant', tenant: 1, domains: null } }),
      ),
    ).toBe('first_seen_recipient');
  });
});

describe('answers that are led elsewhere', () => {
  test('wait, also when nothing was noted as read', async () => {
    const letter = await world.put({ from: 'ann@x.test', replyTo: 'evil@y.test' });
    const done = await world.send(['evil@y.test'], { answers: letter });
    expect(outcomeOf(done)).toBe('reply_to_differs');
    expect(outcomeOf(await world.send(['ann@x.test'], { answers: letter }))).toBe('taken');
  });

  test('go when Reply-To is who wrote', async () => {
    const letter = await world.put({ from: 'ann@x.test', replyTo: 'Ann <Ann@x.test>' });
    expect(outcomeOf(await world.send(['ann@x.test'], { answers: letter }))).toBe('taken');
  });
});

describe('mail that hands on another', () => {
  test('waits unless all who get it are of the organization or allowed', async () => {
    await world.sendManually(['known@x.test']);
    expect(outcomeOf(await world.send(['known@x.test'], { forwards: true }))).toBe('forward_after_reading');
    expect(outcomeOf(await world.send(['owner@home.test'], { forwards: true }))).toBe('taken');
    const allowing = world.policy({ allow: ['known@x.test'] });
    expect(outcomeOf(await world.send(['known@x.test', 'owner@home.test'], { forwards: true, ...allowing }))).toBe(
      'taken',
    );
  });
});

describe('what was not looked through', () => {
  const closed = { governed: true, unscanned: ['locked'] as const };

  test('waits under a policy after reading, whoever of the outsiders gets it', async () => {
    const letter = await world.put({ from: 'ann@x.test' });
    const answer = { answers: letter, ...closed };
    expect(outcomeOf(await world.send(['ann@x.test'], answer))).toBe('taken');
    await world.read([letter]);
    const done = await world.send(['ann@x.test'], answer);
    expect(outcomeOf(done)).toBe('not_looked_into');
    expect(done).toMatchObject({
      heldBecause:
        'An attachment is protected with a password and cannot be scanned, and the message goes to ann@x.test',
    });
    expect(outcomeOf(await world.send(['ann@x.test'], { ...answer, governed: false }))).toBe('taken');
    expect(outcomeOf(await world.send(['ann@x.test'], { ...answer, attended: false }))).toBe('taken');
    expect(outcomeOf(await world.send(['owner@home.test'], answer))).toBe('taken');
    expect(outcomeOf(await world.send(['ann@x.test'], { ...answer, ...world.policy({ allow: ['x.test'] }) }))).toBe(
      'taken',
    );
  });

  test('waits where secrets were shown, without any reading', async () => {
    expect(outcomeOf(await world.send(['ann@x.test'], { ...closed, sawSecrets: true }))).toBe('not_looked_into');
    expect(outcomeOf(await world.send(['ann@x.test'], { governed: true, unscanned: [], sawSecrets: true }))).toBe(
      'taken',
    );
  });
});

describe('what is never sent', () => {
  test.each([
    ['frozen', 'action_not_allowed mode_frozen'],
    ['read_only', 'action_not_allowed mode_read_only'],
    ['draft_only', 'action_not_allowed mode_draft_only'],
    ['reply_only', 'action_not_allowed mode_reply_only'],
  ] as const)('by an agent that is %s', async (mode, outcome) => {
    expect(outcomeOf(await world.send(['owner@home.test'], { mode }))).toBe(outcome);
  });

  test('by one that only answers: to anybody who did not write', async () => {
    const answers = await world.put({ from: 'ann@x.test' });
    expect(outcomeOf(await world.send(['ann@x.test'], { mode: 'reply_only', answers }))).toBe('taken');
    const more = await world.send(['ann@x.test', 'bob@x.test'], { mode: 'reply_only', answers });
    expect(outcomeOf(more)).toBe('recipient_blocked mode_reply_only');
  });

  test('what holds a secret', async () => {
    expect(outcomeOf(await world.send(['owner@home.test'], { secrets: ['token'] }))).toBe('secret_in_message token');
  });

  test('against the policy', async () => {
    const answers = await world.put({ from: 'ann@x.test' });
    const under = (over: Parameters<GateWorld['policy']>[0]) => world.policy(over);
    expect(outcomeOf(await world.send(['owner@home.test'], under({ sends: 'nobody' })))).toBe(
      'action_not_allowed policy_nobody',
    );
    expect(outcomeOf(await world.send(['a@x.test'], under({ block: ['x.test'] })))).toBe(
      'recipient_blocked blocked_recipient',
    );
    expect(outcomeOf(await world.send(['a@x.test'], under({ sends: 'allowed', allow: ['b@x.test'] })))).toBe(
      'recipient_blocked policy_allowed',
    );
    expect(outcomeOf(await world.send(['b@x.test'], under({ sends: 'allowed', allow: ['b@x.test'] })))).toBe('taken');
    const replies = under({ sends: 'replies' });
    expect(outcomeOf(await world.send(['a@x.test'], replies))).toBe('action_not_allowed policy_replies');
    expect(outcomeOf(await world.send(['a@x.test'], { ...replies, answers }))).toBe('recipient_blocked policy_replies');
    expect(outcomeOf(await world.send(['ann@x.test'], { ...replies, answers }))).toBe('taken');
    const made = await world.put({ from: 'evil@y.test', trust: null });
    expect(outcomeOf(await world.send(['evil@y.test'], { ...replies, answers: made }))).toBe(
      'recipient_blocked policy_replies',
    );
  });
});

describe('budgets of a policy', () => {
  const budgets = (over: object) => {
    const none = world.agent().policy.budgets;
    return world.policy({ budgets: { ...none, ...over } });
  };

  test('count messages, and say when there is room', async () => {
    const two = budgets({ messagesPerHour: 2 });
    for (const to of ['a@x.test', 'b@x.test']) expect(outcomeOf(await world.send([to], two))).toBe('taken');
    const done = await world.send(['c@x.test'], two);
    expect(outcomeOf(done)).toBe('budget_exceeded messagesPerHour');
    expect(done).toMatchObject({ resetsAt: world.box.clock.now + HOUR });
    world.box.clock.now += HOUR;
    expect(outcomeOf(await world.send(['c@x.test'], two))).toBe('taken');
  });

  test('say when there is room for this very message in the counter that it is too much for', async () => {
    const began = world.box.clock.now;
    const ten = budgets({ newRecipientsPerWeek: 10 });
    await world.sendManually(['old@x.test']);
    expect(outcomeOf(await world.send(['old@x.test'], ten))).toBe('taken');
    world.box.clock.now += 5 * DAY;
    const some = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `n${from + i}@x.test`);
    expect(outcomeOf(await world.send(some(0, 4), ten))).toBe('taken');
    world.box.clock.now += DAY;
    expect(outcomeOf(await world.send(some(4, 10), ten))).toBe('taken');
    const spent = { budget: { name: 'newRecipientsPerWeek', limit: 10, used: 10 } };
    expect(await world.send(some(10, 11), ten)).toMatchObject({ ...spent, resetsAt: began + 12 * DAY });
    expect(await world.send(some(10, 14), ten)).toMatchObject({ ...spent, resetsAt: began + 12 * DAY });
    expect(await world.send(some(10, 15), ten)).toMatchObject({ ...spent, resetsAt: began + 13 * DAY });
    const never = await world.send(some(10, 21), ten);
    expect(outcomeOf(never)).toBe('budget_exceeded newRecipientsPerWeek');
    expect(never).not.toHaveProperty('resetsAt');
    world.box.clock.now = began + 12 * DAY;
    expect(outcomeOf(await world.send(some(10, 14), ten))).toBe('taken');
  });

  test('of several say the one that has room last', async () => {
    const both = budgets({ messagesPerHour: 1, messagesPerDay: 1 });
    await world.send(['a@x.test'], both);
    const done = await world.send(['b@x.test'], both);
    expect(outcomeOf(done)).toBe('budget_exceeded messagesPerDay');
    expect(done).toMatchObject({ resetsAt: world.box.clock.now + DAY });
  });

  test('count new recipients by the hour, day and week, and let known ones pass', async () => {
    const ramp = budgets({ newRecipientsPerHour: 3, newRecipientsPerDay: 5, newRecipientsPerWeek: 6 });
    expect(outcomeOf(await world.send(['a@x.test', 'b@x.test', 'c@x.test'], ramp))).toBe('taken');
    expect(outcomeOf(await world.send(['d@x.test'], ramp))).toBe('budget_exceeded newRecipientsPerHour');
    expect(outcomeOf(await world.send(['a@x.test', 'owner@home.test'], ramp))).toBe('taken');
    world.box.clock.now += HOUR;
    expect(outcomeOf(await world.send(['d@x.test', 'e@x.test', 'f@x.test'], ramp))).toBe(
      'budget_exceeded newRecipientsPerDay',
    );
    expect(outcomeOf(await world.send(['d@x.test', 'e@x.test'], ramp))).toBe('taken');
    world.box.clock.now += DAY;
    expect(outcomeOf(await world.send(['g@x.test', 'h@x.test'], ramp))).toBe('budget_exceeded newRecipientsPerWeek');
  });

  test('count octets, and recipients of one message', async () => {
    const few = budgets({ recipientsPerMessage: 1, bytesPerDay: 100 });
    expect(outcomeOf(await world.send(['a@x.test', 'b@x.test'], few))).toBe('budget_exceeded recipientsPerMessage');
    expect(outcomeOf(await world.send(['a@x.test'], few))).toBe('taken');
    expect(outcomeOf(await world.send(['a@x.test'], few))).toBe('taken');
    expect(outcomeOf(await world.send(['a@x.test'], few))).toBe('budget_exceeded bytesPerDay');
  });

  test('are not passed by two that send at once', async () => {
    const one = budgets({ messagesPerHour: 1 });
    const done = await Promise.all([world.send(['a@x.test'], one), world.send(['b@x.test'], one)]);
    expect(done.map(outcomeOf).toSorted()).toEqual(['budget_exceeded messagesPerHour', 'taken']);
  });

  test('of one token are those of all that it made', async () => {
    const one = budgets({ messagesPerHour: 1 });
    await world.send(['a@x.test'], { ...one, credential: 'tok_1' });
    expect(outcomeOf(await world.send(['b@x.test'], { ...one, credential: 'tok_5' }))).toBe(
      'budget_exceeded messagesPerHour',
    );
  });

  test('are for those under a policy; a loop ends for all', async () => {
    const answers = await world.put({ from: 'ann@x.test' });
    const ungoverned = { ...budgets({ messagesPerHour: 1 }), governed: false, answers };
    const began = world.box.clock.now;
    for (let i = 0; i < 20; i++) {
      expect(outcomeOf(await world.send(['ann@x.test'], ungoverned))).toBe('taken');
      world.box.clock.now += 60_000;
    }
    const done = await world.send(['ann@x.test'], ungoverned);
    expect(outcomeOf(done)).toBe('budget_exceeded answersInThread');
    expect(done).toMatchObject({ resetsAt: began + HOUR, budget: { used: 20 } });
  });
});

test('a dry run is informed of a stop, and counts nothing', async () => {
  const mail = world.message(['a@x.test'], { mode: 'frozen' });
  expect(await world.box.store.read(trySubmit, { mail, now: world.box.clock.now })).toMatchObject({
    kind: 'agent-stop',
  });
});

test('what was decided can be asked for, by its own tenant', async () => {
  await world.read([await world.put({ from: 'evil@y.test' })]);
  const mail = world.message(['new@x.test']);
  await world.send([], {}, mail);
  const decided = await world.box.store.read(agentSendOf, { tenant: 1, trace: mail.trace });
  expect(decided).toMatchObject({ outcome: 'held', credential: 'tok_1', readMail: [{ author: 'evil@y.test' }] });
  expect(await world.box.store.read(agentSendOf, { tenant: 2, trace: mail.trace })).toBeUndefined();
});
