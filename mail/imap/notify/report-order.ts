import type { ImapMailboxInfo } from '../imap-store.ts';
import type { WatchedMailbox } from './mailbox-events.ts';

/** A mailbox that is to be reported, beside what the client knows of it. */
export interface MailboxUpdate {
  /** Undefined: the client does not know it. */
  readonly before: WatchedMailbox | undefined;
  /** Undefined: it is gone, or the client has to forget it first. */
  readonly now: ImapMailboxInfo | undefined;
}

/**
 * Yields the mailboxes in an order that a client can follow which knows them by name: each name is free before another
 * mailbox gets it. Of names that were exchanged one is reported as deleted and created, as no order of renames fits.
 */
export function* inReportOrder(
  known: ReadonlyMap<number, WatchedMailbox>,
  all: readonly ImapMailboxInfo[],
): Generator<MailboxUpdate> {
  const there = new Set(all.map(({ id }) => id));
  for (const before of known.values()) if (!there.has(before.id)) yield { before, now: undefined };
  yield* renames(known, all);
  for (const now of all) {
    const before = known.get(now.id);
    if (before === undefined || before.name === now.name) yield { before, now };
  }
}

function* renames(
  known: ReadonlyMap<number, WatchedMailbox>,
  all: readonly ImapMailboxInfo[],
): Generator<MailboxUpdate> {
  const pending = new Map<string, ImapMailboxInfo>();
  for (const now of all) {
    const before = known.get(now.id);
    if (before !== undefined && before.name !== now.name) pending.set(before.name, now);
  }
  for (let [old] of pending) {
    const chain = new Set<string>();
    // From a rename to the one that frees its new name, and so on.
    for (let now = pending.get(old); now !== undefined && !chain.has(old); now = pending.get(old)) {
      chain.add(old);
      old = now.name;
    }
    yield* chainOfRenames(chain, old, { known, pending });
  }
}

/** Reports a chain from its end, where the new name is free. `end` is in the chain: its renames go round. */
function* chainOfRenames(
  chain: ReadonlySet<string>,
  end: string,
  { known, pending }: { known: ReadonlyMap<number, WatchedMailbox>; pending: Map<string, ImapMailboxInfo> },
): Generator<MailboxUpdate> {
  const first = chain.has(end) ? pending.get(end) : undefined;
  if (first !== undefined) yield { before: known.get(first.id), now: undefined };
  for (const old of [...chain].toReversed()) {
    const now = pending.get(old);
    pending.delete(old);
    if (now !== undefined && now !== first) yield { before: known.get(now.id), now };
  }
  if (first !== undefined) yield { before: undefined, now: first };
}
