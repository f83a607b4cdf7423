import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { seeded } from './imap-fuzz.ts';

/** A numbered message that can be identified and checked wherever it turns up. */
export interface Numbered {
  /** Left of the @ in its Message-ID. */
  id: string;
  /** With the end of data, dots doubled where they have to be. */
  wire: Buffer;
}

/** A message whose header says the SHA-256 of its body. `octets` is about the size of the body. */
export function numbered(id: string, octets: number, seed: number): Numbered {
  const random = seeded(seed);
  const lines: string[] = [];
  for (let left = octets; left > 0; left -= 78) {
    lines.push(
      Array.from({ length: 4 }, () =>
        random(2 ** 32)
          .toString(36)
          .padStart(19, '-'),
      ).join(''),
    );
  }
  const body = `${lines.join('\r\n')}\r\n`;
  const header = [
    'From: load@remote.example',
    'To: me@box.test',
    `Subject: number ${id}`,
    `Message-ID: <${id}@load.test>`,
    `X-Body: ${sha256(body)}`,
  ];
  return { id, wire: Buffer.from(`${header.join('\r\n')}\r\n\r\n${body}.\r\n`) };
}

/** `count` messages under ids that begin with `prefix`; every 40th is so large that it lives in a file of its own. */
export function numberedMany(prefix: string, count: number, seed: number): Numbered[] {
  const random = seeded(seed);
  return Array.from({ length: count }, (_, i) => {
    const octets = i % 40 === 39 ? 70_000 + random(30_000) : 500 + random(3000);
    return numbered(`${prefix}-${i}`, octets, seed + i);
  });
}

export function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Record of the replies to a run of clients. */
export class Ledger {
  /** Ids that got their 250, with the time of it (ms UTC). */
  readonly acknowledged = new Map<string, number>();
  /** Times that an end of data was sent and nothing came back. */
  unanswered = 0;
  /** Answers to messages that were not 250. */
  readonly refusals: string[] = [];
  /** The ends of data that have been sent so far; called each time. */
  dots = 0;
  onDot: () => void = () => {};
  onAcknowledged: () => void = () => {};
}

export interface LoadOptions {
  port: number;
  /** Taken from the front; what got no 250 comes back to the front. */
  queue: Numbered[];
  ledger: Ledger;
  clients: number;
  to?: string;
}

/** Clients that send what is queued, each one message after the other, until it is empty or they are refused. */
export async function load(options: LoadOptions): Promise<void> {
  await Promise.all(Array.from({ length: options.clients }, () => new Sender(options).run()));
}

class Sender {
  readonly #options: LoadOptions;
  #socket: Socket | undefined;
  #text = '';
  #wake: () => void = () => {};
  #ended = false;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { port } = this.#options;
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1');
      this.#wake();
    });
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.#ended = true;
        this.#wake();
      });
    }
    try {
      if (!(await this.#say('', '220')) || !(await this.#say('EHLO load.test\r\n', '250'))) return;
      await this.#work();
    } finally {
      socket.destroy();
    }
  }

  async #work(): Promise<void> {
    const { queue } = this.#options;
    for (;;) {
      const message = queue.shift();
      if (message === undefined || (await this.#send(message))) {
        if (message === undefined) return;
        continue;
      }
      queue.unshift(message);
      return;
    }
  }

  async #send(message: Numbered): Promise<boolean> {
    const { ledger, to } = this.#options;
    const envelope = `MAIL FROM:<load@remote.example>\r\nRCPT TO:<${to ?? 'me@box.test'}>\r\nDATA\r\n`;
    this.#socket?.write(envelope);
    for (const expected of ['250', '250', '354']) {
      const reply = await this.#reply();
      if (reply?.startsWith(expected)) continue;
      if (reply !== undefined) ledger.refusals.push(reply);
      return false;
    }
    this.#socket?.write(message.wire);
    ledger.dots++;
    ledger.onDot();
    const reply = await this.#reply();
    if (reply?.startsWith('250 ')) {
      ledger.acknowledged.set(message.id, Date.now());
      ledger.onAcknowledged();
      return true;
    }
    if (reply === undefined) ledger.unanswered++;
    else ledger.refusals.push(reply);
    return false;
  }

  async #say(text: string, expected: string): Promise<boolean> {
    if (text !== '') this.#socket?.write(text);
    return (await this.#reply())?.startsWith(expected) ?? false;
  }

  /** The last line of the next reply, or undefined when the connection ended before it. */
  async #reply(): Promise<string | undefined> {
    for (;;) {
      const reply = /^(?:\d{3}-.*\r\n)*(\d{3} .*)\r\n/.exec(this.#text);
      if (reply !== null) {
        this.#text = this.#text.slice(reply[0].length);
        return reply[1];
      }
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
