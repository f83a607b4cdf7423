import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as tlsConnect, type TLSSocket } from 'node:tls';
import type { Subject } from './mailstead.ts';
import { message } from './messages.ts';
import { cpuMs } from './process.ts';
import { Wire } from './wire.ts';

export interface Load {
  connections: number;
  messages: number;
  octets: number;
  /** One message a connection, or as many as there are. */
  oneEach: boolean;
  /** Speak LMTP to the subject's LMTP port instead of SMTP. */
  lmtp: boolean;
  /**
   * Makes the nth message of a run, of which 500 are sent again and again; by default one of {@link message}, with
   * Message-IDs of its own for each message that is sent.
   */
  mail?: (n: number, octets: number, run: string) => Promise<Buffer>;
  /** Envelope sender of the nth. */
  sender?: (n: number) => string;
}

export interface Figures {
  /** Messages per second until the last is visible by IMAP STATUS. */
  perSecond: number;
  /** Server CPU, all its processes, milliseconds a message. */
  cpu: number;
  /** Median and 99th percentile of one message's transaction, ms. */
  p50: number;
  p99: number;
}

let runs = 0;

/** Puts the same mail on a server and waits until all of it can be seen over IMAP. */
export async function ingest(subject: Subject, load: Load): Promise<Figures> {
  const run = `r${process.pid}x${runs++}`;
  const { mail = plain, sender = () => 'bench@sender.test' } = load;
  const made = Array.from({ length: Math.min(load.messages, 500) }, (_, i) => mail(i, load.octets, run));
  const mails = (await Promise.all(made)).map(stuffed);
  const nth = load.mail === undefined ? distinct(mails, run) : (n: number): Buffer => mails[n % mails.length] as Buffer;
  const watch = await Watch.open(subject);
  const cpu = cpuMs(subject.roots);
  const took: number[] = [];
  let next = 0;
  const began = performance.now();
  const worker = async (): Promise<void> => {
    let wire: Wire | undefined;
    while (next < load.messages) {
      const i = next++;
      const from = performance.now();
      wire ??= await greet(subject, load);
      await send(
        wire,
        sender(i % mails.length),
        `${subject.users[i % subject.users.length]}@${subject.domain}`,
        nth(i),
      );
      took.push(performance.now() - from);
      if (load.oneEach) {
        wire.send('QUIT\r\n');
        wire.close();
        wire = undefined;
      }
    }
    wire?.close();
  };
  await Promise.all(Array.from({ length: load.connections }, worker));
  await watch.until(load.messages);
  const seconds = (performance.now() - began) / 1000;
  took.sort((a, b) => a - b);
  const at = (share: number): number => took[Math.floor(took.length * share)] ?? 0;
  return {
    perSecond: load.messages / seconds,
    cpu: (cpuMs(subject.roots) - cpu) / load.messages,
    p50: at(0.5),
    p99: at(0.99),
  };
}

/** Digits after the name of a run that {@link distinct} replaces. */
const ROUND = '00000';

const plain = (n: number, octets: number, run: string): Promise<Buffer> =>
  Promise.resolve(message(n, octets, run + ROUND));

/**
 * The nth message of a load: in each round the same messages under other Message-IDs. The same id again and again would
 * make one thread of all copies.
 */
function distinct(mails: readonly Buffer[], run: string): (n: number) => Buffer {
  const positions = mails.map((mail) => positionsOf(mail, `${run}${ROUND}`).map((at) => at + run.length));
  return (n) => {
    const mail = Buffer.from(mails[n % mails.length] as Buffer);
    const round = String(Math.floor(n / mails.length)).padStart(ROUND.length, '0');
    for (const at of positions[n % mails.length] ?? []) mail.write(round, at, 'latin1');
    return mail;
  };
}

function positionsOf(mail: Buffer, text: string): number[] {
  const found: number[] = [];
  for (let at = mail.indexOf(text); at !== -1; at = mail.indexOf(text, at + 1)) found.push(at);
  return found;
}

async function greet(subject: Subject, load: Load): Promise<Wire> {
  const wire = await Wire.open(load.lmtp ? (subject.lmtpPort ?? 0) : subject.smtpPort);
  await wire.smtp(undefined, '2');
  await wire.smtp(`${load.lmtp ? 'LHLO' : 'EHLO'} bench.test\r\n`, '2');
  return wire;
}

async function send(wire: Wire, from: string, to: string, mail: Buffer): Promise<void> {
  await wire.smtp(`MAIL FROM:<${from}>\r\n`, '2');
  await wire.smtp(`RCPT TO:<${to}>\r\n`, '2');
  await wire.smtp('DATA\r\n', '3');
  await wire.smtp(mail, '2');
}

function stuffed(mail: Buffer): Buffer {
  return Buffer.from(`${mail.toString('latin1').replace(/\r\n\./g, '\r\n..')}.\r\n`, 'latin1');
}

/** Counts what every user can see, over IMAP. */
class Watch {
  readonly #wires: { wire: Wire; before: number }[];
  readonly #mailboxes: readonly string[];

  private constructor(wires: { wire: Wire; before: number }[], mailboxes: readonly string[]) {
    this.#wires = wires;
    this.#mailboxes = mailboxes;
  }

  static async open(subject: Subject): Promise<Watch> {
    const { mailboxes = ['INBOX'] } = subject;
    const wires = subject.users.map(async (user) => {
      const wire = await logIn(subject, user);
      return { wire, before: await count(wire, mailboxes) };
    });
    return new Watch(await Promise.all(wires), mailboxes);
  }

  async until(messages: number): Promise<void> {
    const deadline = performance.now() + 120_000;
    for (;;) {
      const seen = await Promise.all(
        this.#wires.map(async ({ wire, before }) => (await count(wire, this.#mailboxes)) - before),
      );
      if (seen.reduce((sum, n) => sum + n, 0) >= messages) break;
      if (performance.now() > deadline) throw new Error('some messages never became visible');
      await sleep(10);
    }
    for (const { wire } of this.#wires) wire.close();
  }
}

async function logIn(subject: Subject, user: string): Promise<Wire> {
  const { imapsPort: port } = subject;
  const wire = port === undefined ? await Wire.open(subject.imapPort) : Wire.over(await secured(port));
  await wire.line();
  const name = subject.domain === 'box.test' ? `${user}@box.test` : user;
  await wire.imap(`LOGIN ${name} ${subject.password}`);
  return wire;
}

async function secured(port: number): Promise<TLSSocket> {
  const socket = tlsConnect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return socket;
}

/** A field of the newest message of the first user. */
export async function lastHeader(subject: Subject, name: string): Promise<string> {
  const wire = await logIn(subject, subject.users[0] ?? '');
  await wire.imap('SELECT INBOX');
  const lines = await wire.imap(`FETCH * (BODY.PEEK[HEADER.FIELDS (${name})])`);
  wire.close();
  return lines.join(' ');
}

async function count(wire: Wire, mailboxes: readonly string[]): Promise<number> {
  let all = 0;
  for (const mailbox of mailboxes) {
    const lines = await wire.imap(`STATUS ${mailbox} (MESSAGES)`);
    all += Number(/MESSAGES (\d+)/.exec(lines.join(' '))?.[1] ?? 0);
  }
  return all;
}
