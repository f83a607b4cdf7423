import { isDeepStrictEqual } from 'node:util';
import { seeded } from './imap-fuzz.ts';
import { Ledger, load, numbered, sha256 } from './load.ts';
import { MailboxReader } from './mailbox-reader.ts';

/** A message as IMAP shows it. */
export interface SeenMessage {
  /** Left of the @ in its Message-ID. */
  id: string;
  flags: string;
  date: string;
  modseq: number;
  sha256: string;
}

/** A folder as IMAP shows it; messages by UID. */
export interface SeenFolder {
  uidValidity: number;
  uidNext: number;
  highest: number;
  messages: Record<number, SeenMessage>;
}

const MESSAGE = /\* \d+ FETCH \((?=[^\r\n]*BODY\[\] \{(\d+)\}\r\n)([^\r\n]*)\r\n/g;

/** Reads folders with the UID, mod-sequence, flags, date and content of each message. */
export async function readFolders(reader: MailboxReader): Promise<Record<string, SeenFolder>> {
  const listed = await answerOf(reader, 'LIST "" *');
  const names = [...listed.matchAll(/^\* LIST \([^)]*\) \S+ (.*)\r$/gm)].map(([, name = '']) => name);
  const seen: Record<string, SeenFolder> = {};
  for (const name of names.toSorted()) {
    const status = await answerOf(reader, `EXAMINE ${name} (CONDSTORE)`);
    const code = (word: string): number => Number(new RegExp(`\\[${word} (\\d+)\\]`).exec(status)?.[1] ?? 0);
    const isEmpty = status.includes('* 0 EXISTS');
    const text = isEmpty ? '' : await answerOf(reader, 'FETCH 1:* (UID MODSEQ FLAGS INTERNALDATE BODY.PEEK[])');
    const [uidValidity, uidNext, highest] = [code('UIDVALIDITY'), code('UIDNEXT'), code('HIGHESTMODSEQ')];
    seen[name] = { uidValidity, uidNext, highest, messages: messagesIn(text) };
  }
  return seen;
}

/** Answer to a command; throws if it is not OK. */
export async function answerOf(reader: MailboxReader, command: string): Promise<string> {
  const answer = (await reader.command(command)).toString('latin1');
  if (!/^\d+ OK /m.test(answer)) throw new Error(`${command}: ${answer}`);
  return answer;
}

function messagesIn(fetched: string): SeenFolder['messages'] {
  const messages: SeenFolder['messages'] = {};
  for (const { 0: head, 1: octets, 2: items = '', index } of fetched.matchAll(MESSAGE)) {
    const body = fetched.slice(index + head.length, index + head.length + Number(octets));
    const item = (pattern: RegExp): string => pattern.exec(items)?.[1] ?? '';
    const flags = item(/FLAGS \(([^)]*)\)/)
      .split(' ')
      .filter((flag) => flag !== '\\Recent');
    messages[Number(item(/UID (\d+)/))] = {
      id: /^Message-ID: <(.*)@load\.test>\r$/m.exec(body)?.[1] ?? '',
      flags: flags.toSorted().join(' '),
      date: item(/INTERNALDATE "([^"]*)"/),
      modseq: Number(item(/MODSEQ \((\d+)\)/)),
      sha256: sha256(Buffer.from(body, 'latin1')),
    };
  }
  return messages;
}

/** Effect of one action: flags of changed messages by UID, and what left or came. Nothing else may change. */
interface Effect {
  folder: string;
  changed?: { uid: number; flags: string };
  removed?: number;
  added?: { folder: string; id: string; flags: string };
}

/**
 * A mailbox that is used over SMTP and IMAP, with a model of it: each message keeps UID, flags, mod-sequence and content
 * but for what its own actions change, and new ones get the next UID.
 */
export class MailboxActivity implements Disposable {
  readonly address: string;
  readonly #smtp: number;
  readonly #reader: MailboxReader;
  readonly #random: (below: number) => number;
  #known: Record<string, SeenFolder> = {};
  #count = 0;

  private constructor(address: string, smtp: number, reader: MailboxReader, seed: number) {
    this.address = address;
    this.#smtp = smtp;
    this.#reader = reader;
    this.#random = seeded(seed);
  }

  static async open(
    ports: { imap: number; smtp: number },
    address: string,
    password: string,
    seed: number,
  ): Promise<MailboxActivity> {
    const reader = await MailboxReader.open(ports.imap, address, password);
    await answerOf(reader, 'ENABLE CONDSTORE');
    const activity = new MailboxActivity(address, ports.smtp, reader, seed);
    activity.#known = await readFolders(reader);
    return activity;
  }

  /** The model. */
  get known(): Readonly<Record<string, SeenFolder>> {
    return this.#known;
  }

  /** Acts once, and returns the differences between the model and the server; the server is the model then. */
  async act(): Promise<string[]> {
    const uids = Object.keys(this.#known['INBOX']!.messages).map(Number);
    const kind = uids.length < 4 ? 0 : this.#random(6);
    const uid = uids[this.#random(Math.max(1, uids.length))] ?? 0;
    const effect = await (kind < 2
      ? this.#receive()
      : kind === 2
        ? this.#append()
        : kind === 3
          ? this.#flag(uid)
          : kind === 4
            ? this.#move(uid)
            : this.#expunge(uid));
    return this.#compare(effect);
  }

  /** Differences between the model and the server, without an action. */
  rest(): Promise<string[]> {
    return this.#compare({ folder: 'INBOX' });
  }

  async #receive(): Promise<Effect> {
    const message = numbered(this.#nextId(), 500 + this.#random(2000), this.#count);
    const ledger = new Ledger();
    await load({ port: this.#smtp, queue: [message], ledger, clients: 1, to: this.address });
    if (!ledger.acknowledged.has(message.id)) throw new Error(`not accepted: ${ledger.refusals.join(' ')}`);
    return { folder: 'INBOX', added: { folder: 'INBOX', id: message.id, flags: '' } };
  }

  async #append(): Promise<Effect> {
    const id = this.#nextId();
    const { wire } = numbered(id, 500, this.#count);
    const answer = await this.#reader.append('Archive (\\Seen later)', wire.subarray(0, -3));
    if (!/ OK /.test(answer)) throw new Error(answer);
    return { folder: 'Archive', added: { folder: 'Archive', id, flags: '\\Seen later' } };
  }

  async #flag(uid: number): Promise<Effect> {
    const flags = ['\\Answered \\Seen', '\\Flagged', 'work', '$Forwarded work'][this.#random(4)]!;
    await this.#say('SELECT INBOX');
    await this.#say(`UID STORE ${uid} FLAGS (${flags})`);
    return { folder: 'INBOX', changed: { uid, flags } };
  }

  async #move(uid: number): Promise<Effect> {
    const { id, flags } = this.#known['INBOX']!.messages[uid]!;
    await this.#say('SELECT INBOX');
    await this.#say(`UID MOVE ${uid} Archive`);
    return { folder: 'INBOX', removed: uid, added: { folder: 'Archive', id, flags } };
  }

  async #expunge(uid: number): Promise<Effect> {
    await this.#say('SELECT INBOX');
    await this.#say(`UID STORE ${uid} +FLAGS (\\Deleted)`);
    await this.#say(`UID EXPUNGE ${uid}`);
    return { folder: 'INBOX', removed: uid };
  }

  #nextId(): string {
    return `${this.address.split('@')[0]}-${++this.#count}`;
  }

  #say(command: string): Promise<string> {
    return answerOf(this.#reader, command);
  }

  async #compare(effect: Effect): Promise<string[]> {
    const before = this.#known;
    const now = await readFolders(this.#reader);
    this.#known = now;
    const names = new Set([...Object.keys(before), ...Object.keys(now)]);
    return [...names].flatMap((name) =>
      differences(before[name], now[name], effect, name).map((text) => `${this.address} ${name}: ${text}`),
    );
  }

  [Symbol.dispose](): void {
    this.#reader[Symbol.dispose]();
  }
}

function differences(
  before: SeenFolder | undefined,
  now: SeenFolder | undefined,
  { folder, changed, removed, added }: Effect,
  name: string,
): string[] {
  if (before === undefined || now === undefined) return [now === undefined ? 'is gone' : 'is new'];
  const expected = { ...before.messages };
  const touches: number[] = [];
  if (folder === name && removed !== undefined) delete expected[removed];
  if (folder === name && changed !== undefined) {
    expected[changed.uid] = { ...before.messages[changed.uid]!, flags: changed.flags };
    touches.push(changed.uid);
  }
  if (added?.folder === name) {
    // Date and content of a new message are not known before it is there.
    const { date = '', sha256: hash = '' } = now.messages[before.uidNext] ?? {};
    expected[before.uidNext] = { id: added.id, flags: added.flags, date, sha256: hash, modseq: 0 };
    touches.push(before.uidNext);
  }
  const found: string[] = [];
  for (const uid of touches) {
    const modseq = now.messages[uid]?.modseq ?? 0;
    if (modseq <= before.highest) found.push(`UID ${uid} has the mod-sequence ${modseq}, not above ${before.highest}`);
    expected[uid] = { ...expected[uid]!, modseq };
  }
  if (now.uidValidity !== before.uidValidity) found.push('another UIDVALIDITY');
  const uidNext = before.uidNext + (added?.folder === name ? 1 : 0);
  if (now.uidNext !== uidNext) found.push(`UIDNEXT ${now.uidNext}, expected ${uidNext}`);
  for (const uid of new Set([...Object.keys(expected), ...Object.keys(now.messages)])) {
    const [was, is] = [expected[Number(uid)], now.messages[Number(uid)]];
    if (!isDeepStrictEqual(was, is)) found.push(`UID ${uid}: ${JSON.stringify(is)}, expected ${JSON.stringify(was)}`);
  }
  return found;
}
