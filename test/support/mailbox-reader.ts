import { connect, type Socket } from 'node:net';
import { sha256 } from './load.ts';

/** A small IMAP client that shares no code with the server: one command at a time, whole answers. */
export class MailboxReader implements Disposable {
  readonly #socket: Socket;
  #pieces: Buffer[] = [];
  #last = Buffer.alloc(0);
  #wake: () => void = () => {};
  #ended = false;
  #tag = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#pieces.push(chunk);
      this.#last = Buffer.concat([this.#last.subarray(-200), chunk]);
      this.#wake();
    });
    for (const event of ['close', 'error']) {
      socket.on(event, () => {
        this.#ended = true;
        this.#wake();
      });
    }
  }

  static async open(port: number, user = 'me@box.test', password = 'correct-horse-battery'): Promise<MailboxReader> {
    const reader = new MailboxReader(connect({ host: '127.0.0.1', port, noDelay: true }));
    await reader.#until(/^\* OK .*\r\n/);
    reader.#pieces = [];
    const answer = await reader.command(`LOGIN ${user} ${password}`);
    if (!/^\d+ OK /m.test(answer.toString('latin1'))) throw new Error(`no login: ${answer.toString('latin1')}`);
    return reader;
  }

  /** Everything that comes up to and with the tagged answer. */
  async command(text: string): Promise<Buffer> {
    const tag = String(++this.#tag).padStart(6, '0');
    this.#last = Buffer.alloc(0);
    this.#socket.write(`${tag} ${text}\r\n`);
    await this.#until(new RegExp(`(?:^|\r\n)${tag} [^\r\n]*\r\n$`));
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return all;
  }

  /** APPEND with a literal that waits for its continuation; answers the tagged line or what came instead. */
  async append(mailbox: string, message: Buffer): Promise<string> {
    const tag = String(++this.#tag).padStart(6, '0');
    this.#last = Buffer.alloc(0);
    this.#socket.write(`${tag} APPEND ${mailbox} {${message.length}}\r\n`);
    await this.#until(new RegExp(`^\\+.*\r\n$|(?:^|\r\n)${tag} [^\r\n]*\r\n$`));
    if (this.#last.toString('latin1').startsWith('+')) {
      this.#last = Buffer.alloc(0);
      this.#socket.write(Buffer.concat([message, Buffer.from('\r\n')]));
      await this.#until(new RegExp(`(?:^|\r\n)${tag} [^\r\n]*\r\n$`));
    }
    const all = Buffer.concat(this.#pieces).toString('latin1');
    this.#pieces = [];
    return all.slice(all.lastIndexOf(`${tag} `)).trimEnd();
  }

  /** IDLE until `ended` answers true; `onLine` gets each line that comes meanwhile. Rejects when the server closes. */
  async idle(onLine: (line: string) => void, ended: () => boolean): Promise<void> {
    this.#last = Buffer.alloc(0);
    this.#socket.write('IDLE1 IDLE\r\n');
    let text = '';
    while (!ended()) {
      text += Buffer.concat(this.#pieces).toString('latin1');
      this.#pieces = [];
      const lines = text.split('\r\n');
      text = lines.pop() ?? '';
      lines.forEach(onLine);
      if (this.#ended) throw new Error('the server closed');
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const look = setTimeout(resolve, 500);
      await promise;
      clearTimeout(look);
    }
    this.#socket.write('DONE\r\n');
    await this.#until(/(?:^|\r\n)IDLE1 [^\r\n]*\r\n$/);
    this.#pieces = [];
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  async #until(pattern: RegExp): Promise<void> {
    const late = AbortSignal.timeout(60_000);
    while (!pattern.test(this.#last.toString('latin1'))) {
      if (this.#ended) throw new Error(`the server closed: ${this.#last.toString('latin1').slice(-200)}`);
      if (late.aborted) throw new Error(`no answer: ${this.#last.toString('latin1').slice(-200)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        late.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }
}

/** Numbered messages in a mailbox. */
export interface Found {
  /** Number of copies of each id. */
  copies: Map<string, number>;
  /** Ids whose body is not the one that was sent. */
  damaged: string[];
}

/** Fetches all messages of a mailbox and checks the body of each against the hash in its header. */
export async function readAll(port: number, mailbox = 'INBOX'): Promise<Found> {
  using reader = await MailboxReader.open(port);
  const selected = (await reader.command(`EXAMINE ${mailbox}`)).toString('latin1');
  const found: Found = { copies: new Map(), damaged: [] };
  const total = Number(/^\* (\d+) EXISTS/m.exec(selected)?.[1] ?? 0);
  for (let from = 1; from <= total; from += 500) {
    const answer = await reader.command(`FETCH ${from}:${Math.min(total, from + 499)} (BODY.PEEK[])`);
    const before = sum(found);
    for (const message of literals(answer)) note(found, message);
    const expected = Math.min(500, total - from + 1);
    if (sum(found) - before !== expected) throw new Error(`FETCH answered ${sum(found) - before} of ${expected}`);
  }
  return found;
}

function note(found: Found, message: Buffer): void {
  const end = message.indexOf('\r\n\r\n');
  const header = message.subarray(0, end + 2).toString('latin1');
  const id = /^Message-ID: <(.*)@load\.test>\r$/m.exec(header)?.[1] ?? 'unknown';
  const hash = /^X-Body: (\w+)\r$/m.exec(header)?.[1];
  found.copies.set(id, (found.copies.get(id) ?? 0) + 1);
  if (hash !== sha256(message.subarray(end + 4))) found.damaged.push(id);
}

function sum(found: Found): number {
  let all = 0;
  for (const copies of found.copies.values()) all += copies;
  return all;
}

function* literals(answer: Buffer): Iterable<Buffer> {
  for (let at = 0; ;) {
    const open = answer.indexOf('BODY[] {', at);
    if (open < 0) return;
    const close = answer.indexOf('}\r\n', open);
    const length = Number(answer.subarray(open + 8, close).toString('latin1'));
    yield answer.subarray(close + 3, close + 3 + length);
    at = close + 3 + length;
  }
}
