import type { ModelSession } from './session.ts';

/** Names that the clients create, delete and rename. */
const NAMES = ['a', 'a/b', 'a/b/c', 'd', 'd/b', 'e'] as const;

/** CREATE, DELETE, RENAME, SUBSCRIBE or UNSUBSCRIBE, of mailboxes that others have selected too. */
export async function changeMailboxes(session: ModelSession): Promise<void> {
  const { random } = session.account;
  const name = random.chance(0.05) ? 'INBOX' : random.one(NAMES);
  const change = random.one([create, create, remove, rename, rename, subscribe, subscribe]);
  await change(session, name);
  if (session.selected !== undefined) await session.learn();
}

async function create(session: ModelSession, name: string): Promise<void> {
  const refusal = session.account.mailboxes.create(name);
  await session.client.command(`CREATE ${name}`, { refusal });
  if (refusal === undefined) session.known.created(name, subscriptions(session));
}

async function remove(session: ModelSession, name: string): Promise<void> {
  const refusal = session.account.mailboxes.remove(name);
  await session.client.command(`DELETE ${name}`, { refusal });
  if (refusal === undefined) session.known.removed(name);
  if (session.selected?.gone === true) throw new Error('DELETE of the selected mailbox: no CLOSED');
}

async function rename(session: ModelSession, from: string): Promise<void> {
  const { mailboxes, random } = session.account;
  const to = random.chance(0.05) ? 'Archive' : random.one(NAMES);
  const refusal = mailboxes.rename(from, to);
  await session.client.command(`RENAME ${from} ${to}`, { refusal });
  if (refusal !== undefined) return;
  if (from === 'INBOX') session.known.created(to, subscriptions(session));
  else session.known.renamed(from, to, subscriptions(session));
}

async function subscribe(session: ModelSession, name: string): Promise<void> {
  const on = session.account.random.chance(0.6);
  const refusal = session.account.mailboxes.subscribe(name, on);
  await session.client.command(`${on ? '' : 'UN'}SUBSCRIBE ${name}`, { refusal });
  if (refusal === undefined) session.known.subscribed(name, on);
}

function subscriptions(session: ModelSession): ReadonlySet<string> {
  return new Set(session.account.mailboxes.subscriptions());
}

/** LIST with STATUS, LIST (SUBSCRIBED) and LSUB say what is there. RFC 5258, RFC 5819. */
export async function listMailboxes(session: ModelSession): Promise<void> {
  const { truth, mailboxes } = session.account;
  const all = await session.list('LIST "" "*" RETURN (SUBSCRIBED STATUS (MESSAGES UIDNEXT UNSEEN DELETED))');
  const real = truth.mailboxes.flatMap((box) => {
    const children = mailboxes.hasChildren(box.name) ? '\\HasChildren' : '\\HasNoChildren';
    const deleted = box.entries.filter((each) => each.deleted).length;
    const counts = `MESSAGES ${box.entries.length} UIDNEXT ${box.uidNext} UNSEEN ${truth.unseen(box)} DELETED ${deleted}`;
    const use = /^(?:Archive|Trash|Drafts|Sent|Junk)$/.test(box.name) ? ` \\${box.name}` : '';
    const list = `LIST (${children}${use}${box.subscribed ? ' \\Subscribed' : ''}) "/" ${box.name}`;
    return [`* ${list}`, `* STATUS ${box.name} (${counts})`];
  });
  expectSame(
    'LIST',
    all.filter((line) => /^\* (?:LIST|STATUS \S+ \(MESSAGES \d+ UIDNEXT \d+ UNSEEN \d+ DELETED) /.test(line)),
    real,
  );
  const subscribed = await session.list('LIST (SUBSCRIBED) "" "*"');
  expectSame('LIST (SUBSCRIBED)', namesOf(subscribed, 'LIST'), mailboxes.subscriptions());
  const lsub = await session.list('LSUB "" "*"');
  expectSame('LSUB', namesOf(lsub, 'LSUB'), mailboxes.subscriptions());
  // EXISTS may have come between the lists: what an EXPUNGE removes is counted by the messages that are known.
  if (session.selected !== undefined) await session.learn();
}

function namesOf(lines: readonly string[], command: string): string[] {
  return lines.filter((line) => line.startsWith(`* ${command} `)).map((line) => line.split(' ').at(-1) ?? '');
}

function expectSame(what: string, got: readonly string[], real: readonly string[]): void {
  const [found, expected] = [got.toSorted().join('\n'), real.toSorted().join('\n')];
  if (found !== expected) throw new Error(`${what} is\n${found}\nand not\n${expected}`);
}

/** SELECT of a mailbox, of one that is selected already, or of none. */
export async function select(session: ModelSession): Promise<void> {
  const { random, truth } = session.account;
  const missing = NAMES.find((name) => truth.find(name) === undefined);
  if (missing !== undefined && random.chance(0.1)) return session.selectMissing(missing);
  const again = random.chance(0.5) ? session.selected : undefined;
  return session.select(again ?? random.one(truth.mailboxes));
}
