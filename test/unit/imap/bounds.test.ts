import { describe, expect, test, vi } from 'vitest';
import { MemoryBudget } from '../../../mail/limits/memory-budget.ts';
import type { NotifyEvent } from '../../../mail/imap/notify/event-groups.ts';
import { MailboxWatch } from '../../../mail/imap/notify/mailbox-watch.ts';
import { type FollowingSession, SearchContexts } from '../../../mail/imap/search/contexts.ts';
import type { SelectedView } from '../../../mail/imap/selected-view.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';
import { PATIENT } from '../../support/imap-fuzz.ts';
import { imapWorld, type ImapWorld } from '../../support/imap-world.ts';
import { sharingWorld } from '../../support/sharing-world.ts';

describe('a command of which a part is missing', () => {
  const PIECE = ` SUBJECT {90000+}\r\n${'a'.repeat(90_000)}`;
  const PART = `t SEARCH${PIECE.repeat(8)}`;

  test('counts as memory of its account, and ends the session when that is used up', async () => {
    const memory = new MemoryBudget(1024 * 1024);
    await using world = await imapWorld({ limits: PATIENT, memory });
    const client = await world.client('INBOX');
    client.send(PART);
    expect(await client.line()).toBe(
      '* BYE [UNAVAILABLE] The server has no memory left for a command of this size. Try again later',
    );
    expect(await client.line()).toBeUndefined();
    await expect.poll(() => memory.held).toBe(0);
  });

  test('is run at its end where there is memory for it, and then holds none', async () => {
    const memory = new MemoryBudget(64 * 1024 * 1024);
    await using world = await imapWorld({ limits: PATIENT, memory });
    const client = await world.client('INBOX');
    client.send(PART);
    await expect.poll(() => memory.heldBy('account 1')).toBeGreaterThan(1_000_000);
    client.send('\r\n');
    expect((await client.until((line) => line.startsWith('t '))).at(-1)).toMatch(/^t OK/);
    await expect.poll(() => memory.held).toBe(0);
  });
});

describe('one APPEND', () => {
  const LIMITED = { limits: { ...PATIENT, messageBytes: 10_000 } };

  test('writes no more than four of the largest messages, also made of URLs', async () => {
    await using world = await imapWorld(LIMITED);
    world.store.deliver('INBOX', `Subject: a\n\n${'b'.repeat(9_000)}\n`);
    const client = await world.client('INBOX');
    const url = ' CATENATE (URL "/INBOX/;UID=1")';
    expect((await client.command(`APPEND Drafts${url.repeat(4)}`)).at(-1)).toMatch(/^t OK \[APPENDUID/);
    const begun = vi.spyOn(world.store, 'append');
    expect((await client.command(`APPEND Drafts${url.repeat(1000)}`)).at(-1)).toMatch(
      /^t NO \[LIMIT\] Too much in one/,
    );
    expect(begun).toHaveBeenCalledTimes(5);
    const message = ` {9000+}\r\n${'Subject: a\r\n\r\n'.padEnd(9000, 'b')}`;
    expect((await client.command(`APPEND Drafts${message.repeat(5)}`)).at(-1)).toMatch(
      /^t NO \[LIMIT\] Too much in one/,
    );
    expect(world.store.find('Drafts')?.length).toBe(4);
    expect(world.store.openSinks).toBe(0);
  });

  test('holds no more keywords than text', async () => {
    await using world = await imapWorld({ limits: PATIENT });
    const client = await world.client('INBOX');
    const keywords = Array.from({ length: 9000 }, (_, n) => `k${n}`).join(' ');
    const message = ` (${keywords}) {9+}\r\nA: b\r\n\r\nc`;
    expect((await client.command(`APPEND INBOX${message.repeat(20)}`)).at(-1)).toMatch(
      /^t NO \[LIMIT\] Too much in one/,
    );
    expect(world.store.openSinks).toBe(0);
  });
});

test('CATENATE reads no mailbox of others without the right r', async () => {
  await using world = await sharingWorld();
  const [ann, bob, eve] = [await world.client('ann'), await world.client('bob'), await world.client('eve')];
  await ann.command('CREATE Team');
  await ann.command('APPEND Team {14+}\r\nSubject: a\r\n\r\n');
  const copy = 'APPEND INBOX CATENATE (URL "/Other%20Users/ann@box.test/Team/;UID=1")';
  await ann.command('SETACL Team bob@box.test li');
  for (const client of [bob, eve]) expect((await client.command(copy)).at(-1)).toMatch(/^t NO \[BADURL /);
  await ann.command('SETACL Team bob@box.test lr');
  expect((await bob.command(copy)).at(-1)).toMatch(/^t OK \[APPENDUID/);
  await ann.command('DELETEACL Team bob@box.test');
  expect((await bob.command(copy)).at(-1)).toMatch(/^t NO \[BADURL /);
});

/** Gives the account 2,000 mailboxes, each as deep as names can be. */
async function manyMailboxes({ store }: ImapWorld): Promise<void> {
  const [first] = await store.mailboxes();
  const levels = Array.from({ length: 49 }, (_, n) => `level ${n}`).join('/');
  const all = Array.from({ length: 2000 }, (_, id) => ({ ...first!, id: id + 1, name: `${id}/${levels}` }));
  vi.spyOn(store, 'mailboxes').mockResolvedValue(all);
}

/** Counts the turns of the event loop while something runs. */
async function turnsOf(run: () => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const look = (): void => {
    turns += 1;
    if (!isOver) setImmediate(look);
  };
  look();
  await run();
  isOver = true;
  return turns;
}

const GROUP = `(subtree (${Array.from({ length: 20 }, (_, n) => `absent${n}`).join(' ')}) (MessageNew MessageExpunge))`;
const NOTIFY = `NOTIFY SET STATUS ${Array(50).fill(GROUP).join(' ')}`;

describe('NOTIFY of thousands of mailboxes', () => {
  test('gives way while it looks for what is requested of them', async () => {
    await using world = await imapWorld({ limits: PATIENT });
    await manyMailboxes(world);
    const client = await world.client();
    // Sending and receiving take some turns too.
    const least = await turnsOf(() => client.command(`NOOP ${'x'.repeat(NOTIFY.length)}`));
    const turns = await turnsOf(async () => expect((await client.command(NOTIFY)).at(-1)).toMatch(/^t OK/));
    expect(turns).toBeGreaterThan(least + 3);
  });

  test('reads them as seldom as there are many', async () => {
    await using world = await imapWorld({ limits: PATIENT });
    await manyMailboxes(world);
    const client = await world.client();
    await client.command(NOTIFY);
    world.store.changed();
    await expect.poll(() => world.clock.slept).toEqual([2000]);
  });

  test('looks up nothing for those that did not change', async () => {
    await using world = await imapWorld();
    const all = await world.store.mailboxes();
    const watch = new MailboxWatch();
    watch.reset(all);
    const events = vi.fn(() => new Set<NotifyEvent>(['MailboxName']));
    const context = {
      events,
      selected: undefined,
      utf8: false,
      condstore: false,
      isOwn: () => false,
      status: () => '',
    };
    expect([...watch.changes(all, context)].join('')).toBe('');
    expect(events).not.toHaveBeenCalled();
  });
});

test('a session that requests nothing of mailboxes keeps nothing of what it creates', async () => {
  await using world = await imapWorld();
  const own = vi.spyOn(MailboxWatch.prototype, 'addOwn');
  const metadata = vi.spyOn(MailboxWatch.prototype, 'addMetadata');
  const [client, other] = [await world.client(), await world.client()];
  const change = async (name: string): Promise<void> => {
    await client.command(`CREATE ${name}`);
    await other.command(`SETMETADATA "" (/private/vendor/x/${name} "a")`);
  };
  for (const request of ['NONE', 'SET (selected (MessageNew MessageExpunge))']) {
    await client.command(`NOTIFY ${request}`);
    await change(`a${request.length}`);
  }
  expect([own.mock.calls, metadata.mock.calls]).toEqual([[], []]);
  await client.command('NOTIFY SET (personal (MailboxName ServerMetadataChange))');
  await change('b');
  expect([own.mock.calls.length, metadata.mock.calls.length]).toEqual([1, 1]);
  vi.restoreAllMocks();
});

test('deleted mailboxes that are subscribed are not compared with each of many others', async () => {
  await using world = await imapWorld({ limits: PATIENT });
  const client = await world.client();
  const [first] = await world.store.mailboxes();
  const list = async (count: number): Promise<void> => {
    const named = (end: string): string[] => Array.from({ length: count }, (_, n) => `${'a'.repeat(900)}${n}${end}`);
    const all = named('b/c').map((name, id) => ({ ...first!, name, id }));
    vi.spyOn(world.store, 'mailboxes').mockResolvedValue(all);
    vi.spyOn(world.store, 'formerSubscriptions').mockResolvedValue(named('d'));
    expect(await client.command('LIST (SUBSCRIBED) "" absent')).toEqual(['t OK Listed']);
  };
  expect(await growth(list, 4000)).toBeLessThan(PROPORTIONAL);
});

test('ESEARCH gives way between mailboxes', async () => {
  await using world = await imapWorld({ limits: PATIENT });
  world.store.deliver('INBOX', 'Subject: a\n\nb\n');
  const [inbox] = await world.store.mailboxes();
  const open = world.store.open.bind(world.store);
  vi.spyOn(world.store, 'mailboxes').mockResolvedValue(Array(300).fill(inbox!));
  vi.spyOn(world.store, 'open').mockImplementation(() => open(inbox!.id));
  const client = await world.client();
  const keys = 'UID 2:9 '.repeat(1900);
  const least = await turnsOf(() => client.command(`NOOP ${keys}`));
  const turns = await turnsOf(() => client.command(`ESEARCH IN (personal) ${keys}ALL`));
  expect(turns).toBeGreaterThan(least + 3);
});

test('ESEARCH compares mailboxes with a bounded number of sources', async () => {
  await using world = await imapWorld({ limits: PATIENT });
  const client = await world.client();
  const from = (sources: number): string => `ESEARCH IN (${Array(sources).fill('subtree absent').join(' ')}) ALL`;
  expect((await client.command(from(50))).at(-1)).toMatch(/^t OK/);
  expect((await client.command(from(51))).at(-1)).toMatch(/^t BAD Expected 1 to 50 mailbox sources/);
});

describe('followed searches', () => {
  /** A session that has `count` messages open, of which `isThere` exist. */
  function following(count: number, written: string[], isThere = true): FollowingSession {
    const uids = Uint32Array.from({ length: count }, (_, at) => at + 1);
    const shared = { highestModseq: 1, changesSince: () => [] };
    const view = {
      shared,
      uids,
      length: count,
      isStale: true,
      noteLabels: () => undefined,
      takeUpdates: () => '',
      sequenceOf: (uid: number) => (isThere ? uid : 0),
    };
    const store = { onLabels: () => Promise.resolve() };
    return {
      selected: view as unknown as SelectedView,
      connected: true,
      store,
      writeUnsolicited: (text) => void written.push(text),
    };
  }
  const program = { key: 'all' } as const;
  const search = (): Promise<{ kind: 'messages'; uids: Uint32Array; scores: Map<number, number> }> =>
    Promise.resolve({ kind: 'messages', uids: new Uint32Array(), scores: new Map() });
  const found = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, at) => count - at);

  test('leave a sorted result in time by its length', async () => {
    const leave = async (count: number): Promise<void> => {
      const written: string[] = [];
      const session = following(count, written, false);
      const contexts = new SearchContexts();
      const sort = [{ by: 'ARRIVAL', reverse: true } as const];
      contexts.add(session, { tag: 'a', uid: true }, { program, sort, found: found(count), search });
      await contexts.report(session, 'all');
      expect(written.join('').slice(0, 60)).toMatch(
        new RegExp(`^\\* ESEARCH \\(TAG "a"\\) UID REMOVEFROM \\(${count} 1 `),
      );
    };
    expect(await growth(leave, 100_000)).toBeLessThan(PROPORTIONAL);
  });

  test('of large results and long programs are refused beyond a megabyte of a session', () => {
    const written: string[] = [];
    const session = following(10, written);
    const contexts = new SearchContexts();
    const follow = (tag: string, text: string, count: number): boolean => {
      const key = { key: 'header', field: 'subject', text } as const;
      contexts.add(session, { tag, uid: true }, { program: key, found: found(count), search });
      return contexts.has(tag);
    };
    expect(follow('a', 'word', 150_000)).toBe(true);
    expect(follow('b', 'word', 150_000)).toBe(false);
    expect(follow('c', 'x'.repeat(400_000), 1)).toBe(false);
    expect(follow('d', 'word', 1000)).toBe(true);
    expect(written).toEqual(['b', 'c'].map((tag) => `* NO [NOUPDATE "${tag}"] Search results are not updated\r\n`));
  });

  test('that grow beyond it are followed no more', async () => {
    const written: string[] = [];
    const session = following(200_000, written);
    const joining = Uint32Array.from({ length: 100_000 }, (_, at) => at + 200_001);
    const contexts = new SearchContexts();
    const joined = (): ReturnType<typeof search> =>
      Promise.resolve({ kind: 'messages', uids: joining, scores: new Map() });
    contexts.add(session, { tag: 'a', uid: true }, { program, found: session.selected!.uids, search: joined });
    Object.assign(session.selected!, {
      uids: Uint32Array.from({ length: 300_000 }, (_, at) => at + 1),
      length: 300_000,
    });
    await contexts.report(session, 'all');
    expect(written).toEqual(['* NO [NOUPDATE "a"] Search results are not updated\r\n']);
    expect(contexts.isEmpty).toBe(true);
  });
});

test('a search names few sets that only the session knows', async () => {
  await using world = await imapWorld({ limits: PATIENT });
  world.store.deliver('INBOX', 'Subject: a\n\nb\n');
  const client = await world.client('INBOX');
  await client.command('SEARCH RETURN (SAVE) ALL');
  expect(await client.command('SEARCH $ UID $ OR $ SEEN $ $')).toEqual(['* SEARCH 1', 't OK Searched']);
  expect(await client.command(`SEARCH ${'$ '.repeat(5)}$`)).toEqual(['t BAD Too many $ and MODSEQ keys']);
  expect(await client.command(`SEARCH OR MODSEQ 1 ${'(MODSEQ 2) '.repeat(4)}UID $`)).toEqual([
    't BAD Too many $ and MODSEQ keys',
  ]);
});
