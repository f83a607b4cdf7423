/** A message as a client knows it. */
export interface ReplicaMessage {
  uid: number | undefined;
  flags: string | undefined;
  modseq: number;
}

/** Facts about the command that runs, which decide what responses may say. */
export interface ReplicaRules {
  /** RFC 9051 7.5.1: no EXPUNGE and no VANISHED now. */
  noExpunge: boolean;
  condstore: boolean;
  qresync: boolean;
}

/** The copy of a mailbox that a client keeps from what the server sends; throws when a response breaks the protocol. */
export class ImapReplica {
  messages: ReplicaMessage[] = [];
  /** Mod-sequence up to which everything is known, of HIGHESTMODSEQ codes; 0: none. */
  highest = 0;
  uidValidity = 0;
  vanishedEarlier: number[] = [];

  uids(): number[] {
    return this.messages.flatMap(({ uid }) => (uid === undefined ? [] : [uid]));
  }

  /** Completes this copy after QRESYNC by an old one: its messages, without what vanished, with what changed. RFC 7162 3.2.5. */
  completeFrom(old: ImapReplica): void {
    const gone = new Set(this.vanishedEarlier);
    const kept = old.messages.filter(({ uid }) => uid !== undefined && !gone.has(uid));
    const fresh = this.messages.filter(({ uid }) => uid !== undefined);
    const merged = new Map([...kept, ...fresh].map((each) => [each.uid ?? 0, each]));
    const all = [...merged.values()].toSorted((a, b) => (a.uid ?? 0) - (b.uid ?? 0));
    if (all.length > this.messages.length)
      throw new Error(`QRESYNC left ${all.length} messages of ${this.messages.length}`);
    for (const [at, message] of all.entries()) {
      const there = this.messages[at];
      if (there?.uid !== undefined && there.uid !== message.uid)
        throw new Error(`QRESYNC: ${message.uid} is not at ${at + 1}`);
      this.messages[at] = message;
    }
  }

  /** Applies the client's own silent STORE. */
  store(uids: readonly number[], how: '+' | '-' | '', flags: readonly string[]): void {
    for (const message of this.messages) {
      if (message.uid === undefined || !uids.includes(message.uid) || message.flags === undefined) continue;
      const was = message.flags.split(' ').filter((flag) => flag !== '');
      const now = how === '' ? flags : how === '+' ? [...was, ...flags] : was.filter((flag) => !flags.includes(flag));
      message.flags = [...new Set(now)].toSorted().join(' ');
    }
  }

  /** Takes one untagged response. */
  take(line: string, rules: ReplicaRules): void {
    const code = /^\S+ OK \[(\w+) (\d+)\]/.exec(line);
    if (code?.[1] === 'HIGHESTMODSEQ') this.#synced(Number(code[2]));
    if (code?.[1] === 'UIDVALIDITY') this.uidValidity = Number(code[2]);
    const data = /^\* (\d+) (EXISTS|EXPUNGE|FETCH) ?(.*)$/.exec(line);
    if (data?.[2] === 'EXISTS') this.#exists(Number(data[1]));
    else if (data?.[2] === 'EXPUNGE') this.#expunge(Number(data[1]), rules);
    else if (data?.[2] === 'FETCH') this.#fetch(Number(data[1]), data[3] ?? '', rules);
    const vanished = /^\* VANISHED (\(EARLIER\) )?([\d:,]+)$/.exec(line);
    if (vanished !== null) this.#vanished(numbers(vanished[2] ?? ''), vanished[1] !== undefined, rules);
  }

  #synced(modseq: number): void {
    if (modseq < 1) throw new Error('HIGHESTMODSEQ 0');
    this.highest = Math.max(this.highest, modseq);
  }

  #exists(count: number): void {
    if (count < this.messages.length) throw new Error(`EXISTS ${count} of ${this.messages.length}: it went down`);
    while (this.messages.length < count) this.messages.push({ uid: undefined, flags: undefined, modseq: 0 });
  }

  #expunge(sequence: number, rules: ReplicaRules): void {
    if (rules.qresync) throw new Error('EXPUNGE after ENABLE QRESYNC');
    if (rules.noExpunge) throw new Error('EXPUNGE during FETCH, STORE or SEARCH');
    if (sequence < 1 || sequence > this.messages.length)
      throw new Error(`EXPUNGE ${sequence} of ${this.messages.length}`);
    this.messages.splice(sequence - 1, 1);
  }

  #vanished(uids: readonly number[], earlier: boolean, rules: ReplicaRules): void {
    if (!rules.qresync) throw new Error('VANISHED without ENABLE QRESYNC');
    if (earlier) {
      // RFC 7162 3.2.10: it changes no sequence number, so none of them is counted.
      const counted = uids.filter((uid) => this.messages.some((each) => each.uid === uid));
      if (counted.length > 0) throw new Error(`VANISHED (EARLIER) of messages that are counted: ${counted.join()}`);
      this.vanishedEarlier.push(...uids);
      return;
    }
    if (rules.noExpunge) throw new Error('VANISHED during FETCH, STORE or SEARCH');
    for (const uid of uids) {
      const at = this.messages.findIndex((each) => each.uid === uid);
      const unknown = this.#unfetched(uid);
      if (at < 0 && unknown < 0) throw new Error(`VANISHED ${uid}, which is not there`);
      this.messages.splice(at < 0 ? unknown : at, 1);
    }
  }

  /** A message that arrived and is not fetched yet has no UID here: one of those between its neighbors. */
  #unfetched(uid: number): number {
    const next = this.messages.findIndex((each) => each.uid !== undefined && each.uid > uid);
    const before = next < 0 ? this.messages : this.messages.slice(0, next);
    return before.findLastIndex((each) => each.uid === undefined);
  }

  #fetch(sequence: number, items: string, rules: ReplicaRules): void {
    const message = this.messages[sequence - 1];
    if (message === undefined) throw new Error(`FETCH ${sequence} of ${this.messages.length}`);
    const uid = /\bUID (\d+)/.exec(items);
    const flags = /\bFLAGS \(([^)]*)\)/.exec(items);
    const modseq = /\bMODSEQ \((\d+)\)/.exec(items);
    if (uid !== null) {
      if (message.uid !== undefined && message.uid !== Number(uid[1]))
        throw new Error(`FETCH ${sequence} has UID ${uid[1]}, known as ${message.uid}`);
      message.uid = Number(uid[1]);
    }
    if (flags !== null) message.flags = sortedFlags(flags[1] ?? '');
    if (modseq !== null) {
      if (Number(modseq[1]) < message.modseq) throw new Error(`MODSEQ of ${sequence} went down`);
      message.modseq = Number(modseq[1]);
    }
    if (modseq !== null && !rules.condstore) throw new Error('MODSEQ without CONDSTORE');
    if (modseq === null && rules.condstore) throw new Error(`FETCH without MODSEQ: ${items}`);
  }
}

/** Flags in order, without \Recent: it belongs to the session. */
function sortedFlags(text: string): string {
  const flags = text.split(' ').filter((flag) => flag !== '' && flag !== '\\Recent');
  return flags.toSorted().join(' ');
}

/** `1:3,7` */
export function numbers(set: string): number[] {
  return set.split(',').flatMap((part) => {
    const [from = 0, to = from] = part.split(':').map(Number);
    return Array.from({ length: to - from + 1 }, (_, n) => from + n);
  });
}
