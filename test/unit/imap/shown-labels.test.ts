import { describe, expect, test } from 'vitest';
import { DELETED } from '../../../mail/store/mailbox/flags.ts';
import type { ImapClient, ImapWorld } from '../../support/imap-world.ts';
import { imapWorld } from '../../support/imap-world.ts';

interface LabelWorld extends AsyncDisposable {
  world: ImapWorld;
  client: ImapClient;
  /** Mod-sequence up to which the store knows that keywords are shown. */
  told: () => number;
  /** Sets a new keyword on the message, as another agent does. Answers the mod-sequence. */
  label: (keyword: string) => Promise<number>;
  /** Runs once, while the store records that. */
  meanwhile: (act: () => Promise<unknown>) => void;
  failNext: (error: Error | undefined) => void;
}

/** A session that has INBOX with one message open, beside another one that sets keywords. */
async function labelWorld(): Promise<LabelWorld> {
  const world = await imapWorld();
  const { store } = world;
  store.deliver('INBOX', 'Subject: a\n\nb\n');
  const box = store.find('INBOX')!;
  let told = 0;
  let act: (() => Promise<unknown>) | undefined;
  let failure: Error | undefined;
  const onLabels = async (): Promise<void> => {
    if (failure !== undefined) throw failure;
    const at = box.highestModseq;
    const now = act;
    act = undefined;
    await now?.();
    told = at;
  };
  Object.assign(store, { onLabels });
  const label = async (keyword: string): Promise<number> => {
    await store.store(box.mailbox, [1], 'add', { bits: 0, keywords: [keyword] });
    return box.highestModseq;
  };
  return {
    world,
    client: await world.client('INBOX'),
    told: () => told,
    label,
    meanwhile: (next) => void (act = next),
    failNext: (error) => void (failure = error),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

describe('keywords that arrive in an open session', () => {
  test.each([
    ['FETCH of flags', 'FETCH 1 FLAGS', / FETCH .*word/],
    ['FETCH of a text', 'FETCH 1 (FLAGS BODY.PEEK[])', / FETCH .*word/],
    ['FETCH of a size', 'FETCH 1 (FLAGS RFC822.SIZE)', / FETCH .*word/],
    ['SEARCH', 'SEARCH KEYWORD word', /^\* SEARCH 1$/],
    ['SORT', 'SORT (ARRIVAL) US-ASCII KEYWORD word', /^\* SORT 1$/],
    ['THREAD', 'THREAD REFERENCES US-ASCII KEYWORD word', /^\* THREAD \(1\)$/],
    ['a search of mailboxes', 'ESEARCH IN (mailboxes INBOX) KEYWORD word', /^\* ESEARCH .* UID ALL 1$/],
    ['STORE', 'STORE 1 +FLAGS (\\Seen)', / FETCH .*word/],
    ['the updates of NOOP', 'NOOP', / FETCH .*word/],
    ['SELECT', 'SELECT INBOX', /^\* FLAGS .*word/],
  ])('are known to the store before %s shows them', async (_name, command, shows) => {
    await using one = await labelWorld();
    const modseq = await one.label('word');
    expect(one.told()).toBeLessThan(modseq);
    const lines = await one.client.command(command);
    expect(lines).toContainEqual(expect.stringMatching(shows));
    expect(one.told()).toBeGreaterThanOrEqual(modseq);
  });

  test.each([
    ['IDLE', ['IDLE']],
    ['IDLE beside a followed search', ['SEARCH RETURN (UPDATE) KEYWORD word', 'IDLE']],
    ['NOTIFY', ['NOTIFY SET (selected (MessageNew MessageExpunge FlagChange))']],
  ])('are known to the store before %s shows them', async (_name, commands) => {
    await using one = await labelWorld();
    for (const command of commands) {
      if (command !== 'IDLE') await one.client.command(command);
      else one.client.send('i IDLE\r\n');
    }
    if (commands.includes('IDLE')) await one.client.until((line) => line.startsWith('+'));
    const modseq = await one.label('word');
    await one.client.until((line) => / FETCH .*word/.test(line));
    expect(one.told()).toBeGreaterThanOrEqual(modseq);
  });

  test('that come while the store is updated are reported too', async () => {
    await using one = await labelWorld();
    await one.label('word');
    let last = 0;
    one.meanwhile(async () => void (last = await one.label('second')));
    const lines = await one.client.command('FETCH 1 FLAGS');
    expect(lines).toContainEqual(expect.stringMatching(/ FETCH .*second/));
    expect(last).toBeGreaterThan(0);
    expect(one.told()).toBeGreaterThanOrEqual(last);
  });

  test('that did not change are not reported again', async () => {
    await using one = await labelWorld();
    let queried = 0;
    Object.assign(one.world.store, { onLabels: async () => void (await Promise.resolve((queried += 1))) });
    for (let i = 0; i < 5; i += 1) await one.client.command('FETCH 1 FLAGS');
    expect(queried).toBe(0);
  });

  test('end followed searches, not the session of NOTIFY, when the store cannot be read, and no EXPUNGE is lost', async () => {
    await using one = await labelWorld();
    const { client, world } = one;
    const { store } = world;
    store.deliver('INBOX', 'Subject: second\n\nb\n');
    await client.command('NOTIFY SET (selected (MessageNew MessageExpunge FlagChange))');
    await client.command('SEARCH RETURN (UPDATE) KEYWORD word');
    await client.command('NOOP');
    const search = store.search.bind(store);
    const failing: typeof search = async (...of) => {
      Object.assign(store, { search });
      one.failNext(new Error('disk'));
      await one.label('later');
      return search(...of);
    };
    Object.assign(store, { search: failing });
    const { mailbox } = store.find('INBOX')!;
    await store.store(mailbox, [2], 'add', { bits: DELETED, keywords: [] });
    await one.label('word');
    await store.expunge(mailbox, [2]);
    const lines = await client.until((line) => line.includes('NOTIFICATIONOVERFLOW'));
    expect(lines).toContainEqual('* 2 EXPUNGE');
    expect(lines).toContainEqual(expect.stringMatching(/^\* NO \[NOUPDATE "t"\]/));
    expect(lines.filter((line) => line.includes('ESEARCH') || line.includes('later'))).toEqual([]);
    one.failNext(undefined);
    expect(await client.command('FETCH * UID')).toContainEqual('* 1 FETCH (UID 1)');
    expect(await client.command('SEARCH RETURN (UPDATE) ALL')).toContainEqual('t OK Searched');
  });

  test('end the session in IDLE when the store cannot be read, and show nothing', async () => {
    await using one = await labelWorld();
    one.client.send('i IDLE\r\n');
    await one.client.until((line) => line.startsWith('+'));
    one.failNext(new Error('disk'));
    await one.label('word');
    const lines = await one.client.until(() => false);
    expect(lines).toEqual([expect.stringMatching(/^\* BYE \[UNAVAILABLE\]/), '(closed)']);
    expect(one.world.faults).toHaveLength(1);
  });
});
