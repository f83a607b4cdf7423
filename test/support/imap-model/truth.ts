/** The flags of one email, which its copies in other mailboxes share. */
interface TruthEmail {
  flags: Set<string>;
}

interface TruthEntry {
  uid: number;
  email: TruthEmail;
  deleted: boolean;
}

/** One mailbox: its name can change, and another one can have its name later. */
export interface TruthMailbox {
  name: string;
  subscribed: boolean;
  uidNext: number;
  entries: TruthEntry[];
  /** It was deleted. */
  gone: boolean;
  /** As the first client saw it. */
  uidValidity?: number;
}

/** The messages that an account must have: RFC 9051 for the mailboxes, and flags that belong to the email, as in JMAP. */
export class ImapTruth {
  /** The mailboxes that are there, by their present names. */
  readonly mailboxes: TruthMailbox[] = [];

  constructor(names: readonly string[]) {
    for (const name of names) this.add(name, true);
  }

  add(name: string, subscribed: boolean): void {
    this.mailboxes.push({ name, subscribed, uidNext: 1, entries: [], gone: false });
  }

  find(name: string): TruthMailbox | undefined {
    return this.mailboxes.find((each) => each.name === name);
  }

  inbox(): TruthMailbox {
    return this.find('INBOX') ?? this.mailboxes[0]!;
  }

  uids(box: TruthMailbox): number[] {
    return box.entries.map(({ uid }) => uid);
  }

  unseen(box: TruthMailbox): number {
    return box.entries.filter(({ email }) => !email.flags.has('\\Seen')).length;
  }

  /** Flags of a message, in order; undefined: it does not exist. */
  flags(box: TruthMailbox, uid: number): string | undefined {
    const entry = box.entries.find((each) => each.uid === uid);
    if (entry === undefined) return undefined;
    return [...entry.email.flags, ...(entry.deleted ? ['\\Deleted'] : [])].toSorted().join(' ');
  }

  append(box: TruthMailbox, flags: readonly string[]): number {
    const plain = flags.filter((flag) => flag !== '\\Deleted');
    return addEntry(box, { flags: new Set(plain) }, flags.includes('\\Deleted'));
  }

  store(box: TruthMailbox, uids: readonly number[], how: '+' | '-' | '', flags: readonly string[]): void {
    for (const entry of entriesOf(box, uids)) {
      const plain = flags.filter((flag) => flag !== '\\Deleted');
      const named = flags.includes('\\Deleted');
      if (how === '') {
        entry.email.flags = new Set(plain);
        entry.deleted = named;
      } else {
        for (const flag of plain) entry.email.flags[how === '+' ? 'add' : 'delete'](flag);
        if (named) entry.deleted = how === '+';
      }
    }
  }

  /** Removes those of `uids` with \Deleted. */
  expunge(box: TruthMailbox, uids: readonly number[]): number[] {
    const gone = entriesOf(box, uids).filter(({ deleted }) => deleted);
    removeEntries(box, gone);
    return gone.map(({ uid }) => uid);
  }

  /** Returns the UIDs in the target. */
  copy(from: TruthMailbox, uids: readonly number[], to: TruthMailbox, move: boolean): number[] {
    const entries = entriesOf(from, uids);
    if (move) removeEntries(from, entries);
    return entries.map(({ email, deleted }) => {
      const isThere = to.entries.some((each) => each.email === email);
      return addEntry(to, isThere ? { flags: new Set(email.flags) } : email, deleted);
    });
  }

  /** RFC 8508: the new message comes, the old one goes. Returns the UID of the new one. */
  replace(from: TruthMailbox, uid: number, into: TruthMailbox, flags: readonly string[]): number {
    const made = this.append(into, flags);
    removeEntries(from, entriesOf(from, [uid]));
    return made;
  }
}

function addEntry(box: TruthMailbox, email: TruthEmail, deleted: boolean): number {
  const uid = box.uidNext;
  box.uidNext += 1;
  box.entries.push({ uid, email, deleted });
  return uid;
}

function removeEntries(box: TruthMailbox, gone: readonly TruthEntry[]): void {
  box.entries = box.entries.filter((each) => !gone.includes(each));
}

function entriesOf(box: TruthMailbox, uids: readonly number[]): TruthEntry[] {
  return box.entries.filter(({ uid }) => uids.includes(uid));
}
