/** The flags of one email, which its copies in other mailboxes share. */
interface TruthEmail {
  flags: Set<string>;
}

interface TruthEntry {
  uid: number;
  email: TruthEmail;
  deleted: boolean;
}

/** The content that an account must have: RFC 9051 for the mailboxes, and flags that belong to the email, as in JMAP. */
export class ImapTruth {
  readonly #boxes = new Map<string, { uidNext: number; entries: TruthEntry[] }>();

  constructor(names: readonly string[]) {
    for (const name of names) this.#boxes.set(name, { uidNext: 1, entries: [] });
  }

  uids(box: string): number[] {
    return this.#box(box).entries.map(({ uid }) => uid);
  }

  uidNext(box: string): number {
    return this.#box(box).uidNext;
  }

  /** Flags of a message, in order; undefined: it does not exist. */
  flags(box: string, uid: number): string | undefined {
    const entry = this.#box(box).entries.find((each) => each.uid === uid);
    if (entry === undefined) return undefined;
    return [...entry.email.flags, ...(entry.deleted ? ['\\Deleted'] : [])].toSorted().join(' ');
  }

  append(box: string, flags: readonly string[]): number {
    return this.#add(
      box,
      { flags: new Set(flags.filter((flag) => flag !== '\\Deleted')) },
      flags.includes('\\Deleted'),
    );
  }

  store(box: string, uids: readonly number[], how: '+' | '-' | '', flags: readonly string[]): void {
    for (const entry of this.#some(box, uids)) {
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
  expunge(box: string, uids: readonly number[]): number[] {
    const gone = this.#some(box, uids).filter(({ deleted }) => deleted);
    this.#remove(box, gone);
    return gone.map(({ uid }) => uid);
  }

  /** Returns the UIDs in the target. */
  copy(from: string, uids: readonly number[], to: string, move: boolean): number[] {
    const entries = this.#some(from, uids);
    if (move) this.#remove(from, entries);
    return entries.map(({ email, deleted }) => {
      const isThere = this.#box(to).entries.some((each) => each.email === email);
      return this.#add(to, isThere ? { flags: new Set(email.flags) } : email, deleted);
    });
  }

  #add(box: string, email: TruthEmail, deleted: boolean): number {
    const target = this.#box(box);
    const uid = target.uidNext;
    target.uidNext += 1;
    target.entries.push({ uid, email, deleted });
    return uid;
  }

  #remove(box: string, gone: readonly TruthEntry[]): void {
    const target = this.#box(box);
    target.entries = target.entries.filter((each) => !gone.includes(each));
  }

  #some(box: string, uids: readonly number[]): TruthEntry[] {
    return this.#box(box).entries.filter(({ uid }) => uids.includes(uid));
  }

  #box(name: string): { uidNext: number; entries: TruthEntry[] } {
    const box = this.#boxes.get(name);
    if (box === undefined) throw new Error(`no mailbox ${name}`);
    return box;
  }
}
