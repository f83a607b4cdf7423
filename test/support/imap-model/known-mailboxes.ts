import type { ImapTruth, TruthMailbox } from './truth.ts';

/** A mailbox as a client knows it that reads notifications alone. */
interface KnownMailbox {
  subscribed: boolean;
  messages: number;
  /** Undefined: the client left the mailbox before it fetched the flags of a new message. */
  unseen: number | undefined;
}

/** The mailboxes as a client knows them from LIST and STATUS responses that NOTIFY brings. RFC 5465 5. */
export class KnownMailboxes {
  readonly #known = new Map<string, KnownMailbox>();
  /** STATUS responses that came before the end of the own command that gives the mailbox this name. */
  readonly #early = new Map<string, Pick<KnownMailbox, 'messages' | 'unseen'>>();

  clear(): void {
    this.#known.clear();
    this.#early.clear();
  }

  take(line: string): void {
    const list = /^\* LIST \(([^)]*)\) "\/" (\S+)(?: \("OLDNAME" \("([^"]+)"\)\))?$/.exec(line);
    if (list !== null) this.#list(list[2] ?? '', (list[1] ?? '').split(' '), list[3]);
    const status = /^\* STATUS (\S+) \((.*)\)$/.exec(line);
    if (status !== null) this.#status(status[1] ?? '', status[2] ?? '');
  }

  /** The client created it itself, with the levels above it, and is not notified. */
  created(name: string, subscribed: ReadonlySet<string>): void {
    const levels = name.split('/');
    for (let end = 1; end <= levels.length; end += 1) {
      const path = levels.slice(0, end).join('/');
      if (!this.#known.has(path)) this.#known.set(path, { ...EMPTY, subscribed: subscribed.has(path) });
    }
    this.#takeEarly();
  }

  removed(name: string): void {
    this.#known.delete(name);
  }

  renamed(from: string, to: string, subscribed: ReadonlySet<string>): void {
    for (const [name, known] of Array.from(this.#known)) {
      if (name !== from && !name.startsWith(`${from}/`)) continue;
      const next = to + name.slice(from.length);
      this.#known.delete(name);
      this.#known.set(next, { ...known, subscribed: known.subscribed || subscribed.has(next) });
    }
    this.created(to, subscribed);
  }

  subscribed(name: string, on: boolean): void {
    const known = this.#known.get(name);
    if (known !== undefined) known.subscribed = on;
  }

  /** The client counted the messages while it had the mailbox selected. */
  counted(name: string, messages: number, unseen: number | undefined): void {
    const known = this.#known.get(name);
    if (known !== undefined) Object.assign(known, { messages, unseen });
  }

  /** Throws unless the client knows what is true. `selected`: its messages are not reported by STATUS. */
  compare(truth: ImapTruth, selected: TruthMailbox | undefined): void {
    const difference = this.#difference(truth, selected);
    if (difference !== undefined) throw new Error(difference);
  }

  /** True: the client does not know what is true. */
  differs(truth: ImapTruth, selected: TruthMailbox | undefined): boolean {
    return this.#difference(truth, selected) !== undefined;
  }

  #difference(truth: ImapTruth, selected: TruthMailbox | undefined): string | undefined {
    const [unknown] = this.#early.keys();
    if (unknown !== undefined) return `STATUS of ${unknown}, which the client does not know`;
    const real = truth.mailboxes.map((box) => {
      const known = this.#known.get(box.name);
      const unseen = known !== undefined && known.unseen === undefined ? undefined : truth.unseen(box);
      const counts = { messages: box.entries.length, unseen };
      return text(box.name, { ...counts, subscribed: box.subscribed }, box === selected);
    });
    const known = [...this.#known].map(([name, each]) => text(name, each, name === selected?.name));
    if (known.toSorted().join() === real.toSorted().join()) return undefined;
    return `notified of ${known.toSorted().join()}; the truth is ${real.toSorted().join()}`;
  }

  #list(name: string, attributes: readonly string[], old: string | undefined): void {
    const subscribed = attributes.includes('\\Subscribed');
    const before = this.#known.get(old ?? name) ?? this.#known.get(name);
    if (old !== undefined) this.#known.delete(old);
    if (attributes.includes('\\NonExistent')) this.#known.delete(name);
    else this.#known.set(name, { ...(before ?? EMPTY), subscribed });
  }

  #status(name: string, items: string): void {
    const value = (item: string): number | undefined => {
      const found = new RegExp(`\\b${item} (\\d+)`).exec(items)?.[1];
      return found === undefined ? undefined : Number(found);
    };
    const known = this.#known.get(name) ?? this.#early.get(name);
    const counts = {
      messages: value('MESSAGES') ?? known?.messages ?? 0,
      unseen: value('UNSEEN') ?? known?.unseen ?? 0,
    };
    if (this.#known.has(name)) this.counted(name, counts.messages, counts.unseen);
    else this.#early.set(name, counts);
  }

  #takeEarly(): void {
    for (const [name, counts] of this.#early) {
      const known = this.#known.get(name);
      if (known === undefined) continue;
      Object.assign(known, counts);
      this.#early.delete(name);
    }
  }
}

const EMPTY: KnownMailbox = { subscribed: false, messages: 0, unseen: 0 };

function text(name: string, { subscribed, messages, unseen }: KnownMailbox, isSelected: boolean): string {
  return `${name}${subscribed ? '+' : ''}${isSelected ? '' : ` ${messages}/${unseen}`}`;
}
