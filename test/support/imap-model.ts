import { createDeflateRaw, createInflateRaw, constants, type DeflateRaw, type InflateRaw } from 'node:zlib';
import { ImapReplica, type ReplicaRules } from './imap-replica.ts';
import type { ImapTruth } from './imap-truth.ts';
import type { ImapClient, ImapWorld } from './imap-world.ts';
import { PASSWORD, USER } from './imap-world.ts';
import type { Random } from './random.ts';

export const BOXES = ['INBOX', 'Archive', 'Trash'] as const;
const FLAGS = ['\\Seen', '\\Flagged', '\\Deleted', '\\Answered', '$a', '$b'];
const MESSAGE = 'Subject: model\r\n\r\nx\r\n';
/** Expunges wait for a command, so that sequence numbers of the model's next one stay right. */
const NOTIFY = ['selected-delayed', 'personal']
  .map((filter) => `(${filter} (MessageNew MessageExpunge FlagChange))`)
  .reduce((command, group) => `${command} ${group}`, 'NOTIFY SET');
/** Messages of a mailbox beyond which more are removed than added. */
const MANY = 30;

/** One client of the model: it does things at random and checks every response against its replica and the truth. */
export class ModelSession {
  readonly #world: ImapWorld;
  readonly #truth: ImapTruth;
  readonly #random: Random;
  readonly qresync: boolean;
  readonly condstore: boolean;
  readonly compress: boolean;
  /** It is notified without IDLE, of all mailboxes. RFC 5465. */
  readonly notify: boolean;
  #client: ImapClient | undefined;
  #zip: { deflate: DeflateRaw; inflate: InflateRaw } | undefined;
  #box: (typeof BOXES)[number] | undefined;
  #replica = new ImapReplica();
  #tag = 0;
  readonly log: string[] = [];

  /** COPY beside MOVE. */
  copies = true;

  constructor(world: ImapWorld, truth: ImapTruth, random: Random, kind: number) {
    this.#world = world;
    this.#truth = truth;
    this.#random = random;
    this.qresync = kind % 3 === 0;
    this.condstore = this.qresync || kind % 3 === 1;
    this.compress = kind % 4 === 2;
    this.notify = kind % 2 === 1;
  }

  /** One random step. */
  async step(): Promise<void> {
    if (this.#client === undefined) return this.#connect();
    if (this.#box === undefined) return this.#select(this.#random.one(BOXES));
    // The server acts on what it has reported: the client reads it first.
    if (this.notify) await this.check();
    const dice = this.#random.below(100);
    if (dice < 12) return this.#append();
    if (dice < 42) return this.#store();
    if (dice < 54) return this.#copy();
    if (dice < 64) return this.#expunge();
    if (dice < 74) return this.#search();
    if (dice < 80) return this.#fetchChanged();
    if (dice < 92) return this.check();
    if (dice < 95) return this.#leave();
    if (dice < 98) return this.#select(this.#random.chance(0.5) ? this.#box : this.#random.one(BOXES));
    this.#cut();
  }

  /** Compares the replica with the truth, after everything was reported. */
  async check(): Promise<void> {
    if (this.#client === undefined || this.#box === undefined) return;
    if (this.#random.chance(0.3)) await this.#idle();
    else await this.#command('NOOP');
    await this.#learn();
    this.#compare('after NOOP');
  }

  end(): void {
    this.#client?.socket.destroy();
  }

  #compare(when: string): void {
    const box = this.#box ?? 'INBOX';
    const known = this.#replica.messages.map(({ uid, flags }) => `${uid}(${flags})`).join(', ');
    const real = this.#truth.uids(box).map((uid) => `${uid}(${this.#truth.flags(box, uid)})`);
    if (known !== real.join(', '))
      throw new Error(`${when}, ${box}: the client has ${known}; the truth is ${real.join(', ')}`);
  }

  async #connect(): Promise<void> {
    this.#client = await this.#world.connect();
    this.#box = undefined;
    await this.#command(`LOGIN ${USER} ${PASSWORD}`);
    if (this.compress) await this.#startCompression();
    if (this.qresync) await this.#command('ENABLE QRESYNC');
    else if (this.condstore) await this.#command('ENABLE CONDSTORE');
    if (this.notify) await this.#command(NOTIFY);
    await this.#select(this.#random.one(BOXES));
  }

  #cut(): void {
    this.#client?.socket.destroy();
    this.#client = undefined;
    this.#zip = undefined;
  }

  async #leave(): Promise<void> {
    const closes = this.#random.chance(0.5);
    const box = this.#box ?? 'INBOX';
    if (closes) this.#truth.expunge(box, this.#visible());
    await this.#command(closes ? 'CLOSE' : 'UNSELECT');
    this.#kept = { box, replica: this.#replica };
    this.#box = undefined;
  }

  /** The last mailbox with what is known of it, for QRESYNC. */
  #kept: { box: string; replica: ImapReplica } | undefined;

  async #select(box: (typeof BOXES)[number]): Promise<void> {
    const old = this.#box === undefined ? this.#kept : { box: this.#box, replica: this.#replica };
    this.#kept = old;
    const resync = this.qresync && old?.box === box && old.replica.highest > 0 && this.#random.chance(0.8);
    const known = resync && old !== undefined ? old.replica : undefined;
    const uids = known?.uids() ?? [];
    const set = uids.length > 0 && this.#random.chance(0.5) ? ` ${uids.join(',')}` : '';
    this.#replica = new ImapReplica();
    this.#box = box;
    const parameter = known === undefined ? '' : ` (QRESYNC (${known.uidValidity} ${known.highest}${set}))`;
    await this.#command(`SELECT ${box}${parameter}`);
    if (known === undefined) await this.#learn();
    else await this.#resynchronized(known);
    this.#compare(known === undefined ? 'after SELECT' : 'after SELECT with QRESYNC');
  }

  /** RFC 7162 3.2.5: the old copy, without what vanished, with what changed, is the mailbox. */
  async #resynchronized(old: ImapReplica): Promise<void> {
    const gone = new Set(this.#replica.vanishedEarlier);
    const kept = old.messages.filter(({ uid }) => uid !== undefined && !gone.has(uid));
    const fresh = this.#replica.messages.filter(({ uid }) => uid !== undefined);
    const merged = new Map([...kept, ...fresh].map((each) => [each.uid ?? 0, each]));
    const all = [...merged.values()].toSorted((a, b) => (a.uid ?? 0) - (b.uid ?? 0));
    if (all.length > this.#replica.messages.length)
      throw new Error(`QRESYNC left ${all.length} messages of ${this.#replica.messages.length}`);
    for (const [at, message] of all.entries()) {
      const there = this.#replica.messages[at];
      if (there?.uid !== undefined && there.uid !== message.uid)
        throw new Error(`QRESYNC: ${message.uid} is not at ${at + 1}`);
      this.#replica.messages[at] = message;
    }
    await this.#learn();
  }

  /** Fetches what the client does not know yet. */
  async #learn(): Promise<void> {
    const unknown = this.#replica.messages.findIndex(({ uid, flags }) => uid === undefined || flags === undefined);
    if (unknown >= 0) await this.#command(`FETCH ${unknown + 1}:* (UID FLAGS${this.condstore ? ' MODSEQ' : ''})`);
  }

  /** UIDs of messages that the client counts. */
  #visible(): number[] {
    return this.#replica.uids();
  }

  async #append(): Promise<void> {
    const box = this.#random.chance(0.7) ? (this.#box ?? 'INBOX') : this.#random.one(BOXES);
    const flags = this.#random.some(FLAGS, 0.2);
    const uid = this.#truth.append(box, flags);
    const lines = await this.#command(`APPEND ${box} (${flags.join(' ')}) {${MESSAGE.length}+}\r\n${MESSAGE}`);
    expectCode(lines, new RegExp(`APPENDUID \\d+ ${uid}\\]`));
    await this.#learn();
  }

  #pick(): { uids: number[]; set: string; uid: boolean } | undefined {
    const { messages } = this.#replica;
    const known = messages.flatMap(({ uid }, at) => (uid === undefined ? [] : [{ uid, sequence: at + 1 }]));
    const picked = known.length === 0 ? [] : [this.#random.one(known), ...this.#random.some(known, 0.15)];
    if (picked.length === 0) return undefined;
    const unique = [...new Set(picked)].toSorted((a, b) => a.uid - b.uid);
    const uid = this.#random.chance(0.5);
    return {
      uids: unique.map((each) => each.uid),
      set: unique.map((each) => (uid ? each.uid : each.sequence)).join(','),
      uid,
    };
  }

  async #store(): Promise<void> {
    const picked = this.#pick();
    const box = this.#box ?? 'INBOX';
    if (picked === undefined) return this.#append();
    const how = this.#random.one(['+', '-', ''] as const);
    const flags = this.#random.some(FLAGS, 0.3);
    if (flags.length === 0) flags.push('\\Seen');
    const silent = this.#random.chance(0.4) ? '.SILENT' : '';
    const conditional = this.condstore && this.#random.chance(0.4);
    const since = conditional ? this.#sinceOf(picked.uids) : 0;
    const modified = conditional ? await this.#changedSince(picked.uids, since) : [];
    this.#truth.store(
      box,
      picked.uids.filter((uid) => !modified.includes(uid)),
      how,
      flags,
    );
    const modifier = conditional ? ` (UNCHANGEDSINCE ${since})` : '';
    const head = `${picked.uid ? 'UID ' : ''}STORE ${picked.set}${modifier}`;
    const rule = { noExpunge: !picked.uid };
    const numbering = new Map(this.#replica.messages.map(({ uid }, at) => [uid, at + 1]));
    const lines = await this.#command(`${head} ${how}FLAGS${silent} (${flags.join(' ')})`, rule);
    const told = /\[MODIFIED ([\d:,]+)\]/.exec(lines.at(-1) ?? '')?.[1];
    const expected = modified.map((uid) => (picked.uid ? uid : (numbering.get(uid) ?? 0))).toSorted((a, b) => a - b);
    const got = told === undefined ? [] : numbersOf(told);
    if (got.join() !== expected.join()) throw new Error(`MODIFIED ${got.join()} and not ${expected.join()}`);
    if (silent !== '')
      this.#applySilent(
        picked.uids.filter((uid) => !modified.includes(uid)),
        how,
        flags,
      );
    await this.#learn();
  }

  /** A silent STORE changed what the client knows, unless another changed it too, which is reported. */
  #applySilent(uids: readonly number[], how: '+' | '-' | '', flags: readonly string[]): void {
    for (const message of this.#replica.messages) {
      if (message.uid === undefined || !uids.includes(message.uid) || message.flags === undefined) continue;
      const was = message.flags.split(' ').filter((flag) => flag !== '');
      const now = how === '' ? flags : how === '+' ? [...was, ...flags] : was.filter((flag) => !flags.includes(flag));
      message.flags = [...new Set(now)].toSorted().join(' ');
    }
  }

  #sinceOf(uids: readonly number[]): number {
    const known = this.#replica.messages.filter(({ uid }) => uid !== undefined && uids.includes(uid));
    return Math.max(1, this.#random.one(known).modseq);
  }

  /** Asks a client that has only just connected which of these changed: those UNCHANGEDSINCE must leave alone. */
  async #changedSince(uids: readonly number[], since: number): Promise<number[]> {
    const oracle = await this.#world.connect();
    await oracle.command(`LOGIN ${USER} ${PASSWORD}`);
    await oracle.command(`EXAMINE ${this.#box} (CONDSTORE)`);
    const lines = await oracle.command(`UID FETCH ${uids.join(',')} (UID) (CHANGEDSINCE ${since})`);
    oracle.socket.destroy();
    return lines.flatMap((line) =>
      (/^\* \d+ FETCH \(UID (\d+)/.exec(line)?.[1] ?? '').split(' ').filter(Boolean).map(Number),
    );
  }

  async #copy(): Promise<void> {
    const picked = this.#pick();
    if (picked === undefined) return this.#append();
    const from = this.#box ?? 'INBOX';
    const move = !this.copies || this.#random.chance(0.5) || this.#truth.uids(from).length > MANY;
    const to = this.#random.one(BOXES);
    const there = picked.uids.filter((uid) => this.#truth.flags(from, uid) !== undefined);
    const made = this.#truth.copy(from, there, to, move);
    const lines = await this.#command(`${picked.uid ? 'UID ' : ''}${move ? 'MOVE' : 'COPY'} ${picked.set} ${to}`);
    const code = /\[COPYUID \d+ ([\d:,]+) ([\d:,]+)\]/.exec(lines.join('\n'));
    const got = code === null ? '' : `${numbersOf(code[1] ?? '').join()} ${numbersOf(code[2] ?? '').join()}`;
    const expected = there.length === 0 ? '' : `${there.join()} ${made.join()}`;
    if (got !== expected) throw new Error(`COPYUID ${got} and not ${expected}`);
    await this.#learn();
  }

  async #expunge(): Promise<void> {
    const box = this.#box ?? 'INBOX';
    if (this.#truth.uids(box).length > MANY) return this.#expungeMany(box);
    const picked = this.#pick();
    const byUid = picked !== undefined && this.#random.chance(0.5);
    this.#truth.expunge(box, byUid ? picked.uids : this.#visible());
    await this.#command(byUid ? `UID EXPUNGE ${picked.uids.join(',')}` : 'EXPUNGE');
    await this.#learn();
  }

  async #expungeMany(box: string): Promise<void> {
    const uids = this.#visible().filter(() => this.#random.chance(0.7));
    if (uids.length === 0) return;
    this.#truth.store(box, uids, '+', ['\\Deleted']);
    await this.#command(`UID STORE ${uids.join(',')} +FLAGS (\\Deleted)`);
    this.#truth.expunge(box, uids);
    await this.#command(`UID EXPUNGE ${uids.join(',')}`);
    await this.#learn();
  }

  async #search(): Promise<void> {
    const flag = this.#random.one(['SEEN', 'FLAGGED', 'DELETED', 'UNSEEN']);
    const lines = await this.#command(`UID SEARCH ${flag}`);
    const found =
      lines
        .find((line) => line.startsWith('* SEARCH'))
        ?.split(' ')
        .slice(2) ?? [];
    const box = this.#box ?? 'INBOX';
    const has = (uid: number): boolean => {
      const flags = (this.#truth.flags(box, uid) ?? '').toUpperCase().split(' ');
      return flag === 'UNSEEN' ? !flags.includes('\\SEEN') : flags.includes(`\\${flag}`);
    };
    const expected = this.#before.filter((uid) => this.#truth.flags(box, uid) !== undefined && has(uid));
    if (found.join() !== expected.join()) throw new Error(`SEARCH ${flag}: ${found.join()} and not ${expected.join()}`);
    await this.#learn();
  }

  async #fetchChanged(): Promise<void> {
    if (!this.condstore || this.#replica.messages.length === 0) return this.check();
    const since = this.#random.below(2) === 0 ? this.#replica.highest : this.#random.below(this.#replica.highest + 1);
    const modifier = this.qresync ? `(CHANGEDSINCE ${since} VANISHED)` : `(CHANGEDSINCE ${since})`;
    await this.#command(`UID FETCH 1:* (FLAGS) ${modifier}`);
    await this.#learn();
  }

  async #idle(): Promise<void> {
    this.#send('idle IDLE\r\n');
    let line = await this.#line();
    for (; line !== '+ idling'; line = await this.#line()) this.#take(line, false);
    this.#send('DONE\r\n');
    for (line = await this.#line(); !line.startsWith('idle '); line = await this.#line()) this.#take(line, false);
  }

  #before: number[] = [];

  /** Runs a command and takes its responses. */
  async #command(text: string, { noExpunge = /^(?:FETCH|STORE|SEARCH)/.test(text) } = {}): Promise<string[]> {
    this.#tag += 1;
    const tag = `t${this.#tag}`;
    this.#before = this.#replica.uids();
    this.log.push(`C: ${tag} ${text.replaceAll('\r\n', '|')}`);
    this.#send(`${tag} ${text}\r\n`);
    const lines: string[] = [];
    for (;;) {
      const line = await this.#line();
      lines.push(line);
      this.#take(line, noExpunge);
      if (!line.startsWith(`${tag} `)) continue;
      if (!line.startsWith(`${tag} OK`)) throw new Error(`${text}: ${line}`);
      if (this.log.length > 400) this.log.splice(0, 200);
      return lines;
    }
  }

  #take(line: string, noExpunge: boolean): void {
    const rules: ReplicaRules = { noExpunge, condstore: this.condstore, qresync: this.qresync };
    // Explicit FETCH of FLAGS alone needs no MODSEQ.
    this.#replica.take(line, rules);
  }

  #send(text: string): void {
    if (this.#zip === undefined) this.#client?.send(text);
    else {
      this.#zip.deflate.write(text, 'latin1');
      this.#zip.deflate.flush(constants.Z_SYNC_FLUSH);
    }
  }

  async #line(): Promise<string> {
    const line = await this.#client?.line();
    this.log.push(`S: ${line}`);
    if (line === undefined) throw new Error('the server closed the connection');
    return line;
  }

  async #startCompression(): Promise<void> {
    await this.#command('COMPRESS DEFLATE');
    const client = this.#client;
    if (client === undefined) return;
    const [deflate, inflate] = [createDeflateRaw(), createInflateRaw()];
    const { socket } = client;
    const receive = socket.listeners('data') as ((chunk: Buffer) => void)[];
    socket.removeAllListeners('data');
    socket.on('data', (chunk: Buffer) => inflate.write(chunk));
    inflate.on('data', (chunk: Buffer) => receive.forEach((listener) => listener(chunk)));
    deflate.on('data', (chunk: Buffer) => socket.write(chunk));
    this.#zip = { deflate, inflate };
  }
}

function expectCode(lines: readonly string[], code: RegExp): void {
  if (!code.test(lines.at(-1) ?? '')) throw new Error(`${lines.at(-1)} has not ${code.source}`);
}

function numbersOf(set: string): number[] {
  return set.split(',').flatMap((part) => {
    const [from = 0, to = from] = part.split(':').map(Number);
    return Array.from({ length: to - from + 1 }, (_, n) => from + n);
  });
}
