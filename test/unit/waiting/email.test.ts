import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { query } from '../../../mail/store/engine/types.ts';
import { copyEntries } from '../../../mail/store/mailbox/entry-commands.ts';
import { findMailbox } from '../../../mail/store/mailbox/mailbox.ts';
import { setTokenMode, stopAgents } from '../../../src/tokens/mode-commands.ts';
import { rowId } from '../../../src/core/ids.ts';
import { watchResources } from '../../../src/mcp/watch.ts';
import { perform } from '../../../src/operations/perform.ts';
import { deliverMail } from '../../support/deliver-mail.ts';
import { putMail } from '../../support/put-mail.ts';
import { operationOf, type Tenants } from '../../support/tenants.ts';
import { type Awaited, awaitedMailbox, takePositions, waiting as untilWaiting } from '../../support/waiting.ts';
import type { StreamClient } from '../../../src/core/stream-client.ts';

interface Answer {
  matched: boolean;
  timedOut: boolean;
  messages: { id: string; untrusted: { subject: string } }[];
  inJunk: number;
  cursor: string;
}

let box: Awaited;
let tenants: Tenants;
let account: number;
let mailbox: string;
let address: string;
beforeAll(async () => {
  box = await awaitedMailbox();
  ({ tenants, account, mailbox, address } = box);
});
afterAll(() => box[Symbol.asyncDispose]());

const mail = (subject: string, from = 'anna@shop.example'): string =>
  `From: ${from}\nSubject: ${subject}\n\n${subject}\n`;
const comes = (subject: string, more: Parameters<Awaited['comes']>[1] = {}, from?: string): Promise<void> =>
  box.comes(mail(subject, from), more);
const wait = async (args: object = {}, caller = tenants.a.caller): Promise<Answer> =>
  (await tenants.do('wait_for_email', { mailbox, timeoutSeconds: 0, ...args }, caller)) as never;
const subjects = ({ messages }: Answer): string[] => messages.map(({ untrusted }) => untrusted.subject);
const waiting = (count: number): Promise<void> => untilWaiting(tenants.world, count);
const begin = async (): Promise<string> => (await wait()).cursor;

describe('wait_for_email', () => {
  test('says nothing of what was there before, and gives a cursor', async () => {
    await comes('before');
    expect(await wait()).toMatchObject({ matched: false, timedOut: true, messages: [], inJunk: 0 });
  });

  test('answers when mail comes', async () => {
    const answer = wait({ timeoutSeconds: 30 });
    await waiting(1);
    await comes('now');
    expect(subjects(await answer)).toEqual(['now']);
    expect(tenants.world.waits.size).toBe(0);
  });

  test('misses nothing that came between two calls, and reports each once, in order', async () => {
    let cursor = await begin();
    const told: string[] = [];
    for (const one of ['1', '2', '3', '4', '5']) await comes(one);
    for (let left = 5; left > 0; left--) {
      const answer = await wait({ since: cursor });
      told.push(...subjects(answer));
      ({ cursor } = answer);
    }
    expect(told).toEqual(['1', '2', '3', '4', '5']);
    expect(await wait({ since: cursor })).toMatchObject({ matched: false, timedOut: true });
  });

  test('what one filter passed over another one finds behind the same cursor', async () => {
    const since = await begin();
    await comes('for bob', {}, 'bob@one.example');
    await comes('for carl', {}, 'carl@mail.two.example');
    const first = await wait({ since, from: 'two.example' });
    expect(subjects(first)).toEqual(['for carl']);
    const second = await wait({ since: first.cursor, from: 'bob@one.example' });
    expect(subjects(second)).toEqual(['for bob']);
    expect(subjects(await wait({ since: second.cursor, limit: 20 }))).toEqual([]);
  });

  test('what was reported between others is not reported again with them', async () => {
    const since = await begin();
    for (const one of ['first', 'second', 'third']) await comes(one);
    const middle = await wait({ since, subjectContains: 'second' });
    expect(subjects(await wait({ since: middle.cursor, limit: 20 }))).toEqual(['first', 'third']);
  });

  test('by subject and by plus tag', async () => {
    const since = await begin();
    await comes('=?utf-8?q?Best=C3=A4tigung?= 7');
    await comes('tagged', { to: address.replace('@', '+News@') });
    expect(subjects(await wait({ since, subjectContains: 'BESTÄTIGUNG' }))).toEqual(['Bestätigung 7']);
    expect(subjects(await wait({ since, toPlus: 'news', limit: 20 }))).toEqual(['tagged']);
    expect(await wait({ since, toPlus: 'other' })).toMatchObject({ matched: false });
    const said = await tenants.try('wait_for_email', { mailbox, from: 'no one', timeoutSeconds: 0 });
    expect(said).toMatchObject({ refusal: { error: 'invalid_arguments' } });
  });

  test('counts junk and reports it when it has come out of there', async () => {
    const since = await begin();
    await comes('spam?', { folder: 'junk' });
    await comes('refused', { folder: 'rejects' });
    const answer = await wait({ since });
    expect(answer).toMatchObject({ matched: false, inJunk: 1 });
    const moved = wait({ since: answer.cursor, timeoutSeconds: 30 });
    await waiting(1);
    await moveToInbox();
    expect(subjects(await moved)).toEqual(['spam?']);
  });

  test('does not take for mail what somebody stores', async () => {
    const since = await begin();
    await putMail(tenants.world.store, { account, receivedAt: tenants.clock.now }, mail('stored'));
    expect(await wait({ since })).toMatchObject({ matched: false, inJunk: 0 });
  });

  test('ends when nobody waits any more', async () => {
    const gone = new AbortController();
    const answer = attended({ signal: gone.signal }, { timeoutSeconds: 30 });
    await waiting(1);
    gone.abort();
    expect(await answer).toMatchObject({ kind: 'done', result: { matched: false } });
  });

  test('reports how long it has waited to who asked for it', async () => {
    const told: number[][] = [];
    const gone = new AbortController();
    const answer = attended({ signal: gone.signal, progress: (...one) => told.push(one) }, { timeoutSeconds: 300 });
    await waiting(1);
    gone.abort();
    await answer;
    expect(told).toEqual([[0, 300]]);
  });

  test('informs a token that ended nothing', async () => {
    const caller = await tenants.caller({ actions: ['mail_read'], mailboxIds: [mailbox] });
    const answer = tenants.try('wait_for_email', { timeoutSeconds: 30 }, caller);
    await waiting(1);
    await tenants.do('revoke_agent_token', { tokenId: caller.actor });
    await comes('secret');
    expect(await answer).toMatchObject({ kind: 'refused', refusal: { error: 'unauthorized' } });
  });

  test('reports nothing to a token that a person froze meanwhile, nor to any when all are stopped', async () => {
    const caller = await tenants.caller({ actions: ['mail_read'], mailboxIds: [mailbox] });
    const { organization } = caller;
    const stop = (stopped: boolean) =>
      tenants.world.store.write(stopAgents, { organization: organization ?? 0, stopped });
    const stopped = tenants.try('wait_for_email', { timeoutSeconds: 30 }, caller);
    await waiting(1);
    await stop(true);
    await comes('after the stop');
    expect(await stopped).toMatchObject({ kind: 'refused', refusal: { error: 'unauthorized' } });
    await stop(false);
    const frozen = tenants.try('wait_for_email', { timeoutSeconds: 30 }, caller);
    await waiting(1);
    const id = caller.token?.id ?? 0;
    await tenants.world.store.write(setTokenMode, { organization: organization ?? 0, id, mode: 'frozen' });
    await comes('after the frost');
    expect(await frozen).toMatchObject({ kind: 'refused', refusal: { error: 'unauthorized' } });
  });

  test('lets one credential wait so often at once and no more', async () => {
    const caller = await tenants.caller({ actions: ['mail_read'], mailboxIds: [mailbox] });
    const gone = new AbortController();
    const all = Array.from({ length: 100 }, () => attended({ signal: gone.signal }, { timeoutSeconds: 30 }, caller));
    await waiting(100);
    expect(await tenants.try('wait_for_email', { timeoutSeconds: 30 }, caller)).toMatchObject({
      refusal: { error: 'rate_limited', retryAfterSeconds: 5 },
    });
    await comes('for all');
    const ends = await Promise.all(all);
    expect(ends.every((one) => one.kind === 'done' && one.result['matched'] === true)).toBe(true);
  });

  test('lets two thousand wait on the whole box and no more, whichever of its credentials asks', async () => {
    const { caller } = tenants.a;
    using all = new DisposableStack();
    for (const one of await takePositions(tenants.world, caller, 2_000)) all.use(one);
    expect(tenants.world.waits.size).toBe(2_000);
    const full = {
      kind: 'refused',
      refusal: {
        error: 'rate_limited',
        message: 'Limit reached: too many waiting calls and streams. End some of them, or use timeoutSeconds 0.',
        retryAfterSeconds: 5,
      },
    };
    expect(await tenants.try('wait_for_email', { mailbox, timeoutSeconds: 30 })).toMatchObject(full);
    expect(await tenants.try('wait_for_code', { mailbox, expectFrom: 'shop.example' })).toMatchObject(full);
    // A call without wait returns at once.
    expect(await wait()).toMatchObject({ matched: false, timedOut: true });
    expect(
      await watchResources(tenants.world, caller, [`mail://mailbox/${mailbox}`], new AbortController().signal),
    ).toBe(undefined);
    all.dispose();
    const answer = wait({ timeoutSeconds: 30 });
    await waiting(1);
    await comes('room again');
    expect(subjects(await answer)).toEqual(['room again']);
  });

  test('knows only its own mailbox', async () => {
    const theirs = await tenants.do(
      'wait_for_email',
      { mailbox: tenants.b.main.mailboxId, timeoutSeconds: 0 },
      tenants.b.caller,
    );
    const since = String(theirs['cursor']);
    expect(await tenants.try('wait_for_email', { mailbox, since })).toMatchObject({
      refusal: { error: 'invalid_arguments', message: expect.stringContaining('another mailbox') },
    });
    const foreign = await tenants.try('wait_for_email', { mailbox: tenants.b.main.mailboxId });
    const nobodys = await tenants.try('wait_for_email', { mailbox: 'mbx_999999' });
    const words = (one: typeof foreign): unknown => one.kind === 'refused' && { ...one.refusal, requestId: '' };
    expect(words(foreign)).toEqual(words(nobodys));
    const answer = wait({ timeoutSeconds: 30 });
    await waiting(1);
    await deliverMail(
      tenants.world.store,
      { account: rowId('mailbox', tenants.b.main.mailboxId) ?? 0, to: tenants.b.main.address },
      mail('of bravo'),
    );
    await comes('of alpha');
    expect(subjects(await answer)).toEqual(['of alpha']);
  });
});

/** Messages that were written down as shown to an agent. */
const exposures = query('test-exposures', async (rx) =>
  rx.all<{ email_id: number }>('SELECT email_id FROM untrusted_read'),
);

test('what a wait shows is written down before the answer leaves, for what its token sends later', async () => {
  const since = await begin();
  const before = (await tenants.world.store.read(exposures, undefined)).length;
  await comes('shown', { trust: { alignedFrom: false } }, 'stranger@far.example');
  expect((await tenants.world.store.read(exposures, undefined)).length).toBe(before);
  expect(subjects(await wait({ since }))).toEqual(['shown']);
  expect((await tenants.world.store.read(exposures, undefined)).length).toBe(before + 1);
});

function attended(audience: StreamClient, args: object, caller = tenants.a.caller) {
  return perform(tenants.world, operationOf('wait_for_email'), caller, { mailbox, ...args }, { audience });
}

async function moveToInbox(): Promise<void> {
  const { store } = tenants.world;
  const [junk, inbox] = await Promise.all(['Junk', 'INBOX'].map((name) => store.read(findMailbox, { account, name })));
  const [from, to] = [junk?.id ?? 0, inbox?.id ?? 0];
  expect(await store.write(copyEntries, { account, mailbox: from, to, uids: [1], move: true })).toMatchObject({
    kind: 'done',
  });
}
