import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { message } from './messages.ts';
import { cpuMs } from './process.ts';
import { Wire } from './wire.ts';

/** A server that takes submissions over implicit TLS and relays them. */
export interface RelaySubject {
  name: string;
  /** Processes whose CPU counts. */
  roots: number[];
  port: number;
  sender: string;
  /** For AUTH PLAIN; undefined: it asks for none. */
  login: string | undefined;
  stop(): Promise<void>;
}

/** Where everything is relayed to: Debian's smtp-sink, which takes all and keeps nothing. */
export class Target {
  readonly host = '127.0.0.1';
  readonly port: number;
  /** Messages taken so far. */
  taken = 0;
  readonly #child: ChildProcess;

  private constructor(port: number) {
    this.port = port;
    this.#child = spawn('/usr/sbin/smtp-sink', ['-u', 'nobody', '-c', `${this.host}:${port}`, '1000'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child.stdout?.setEncoding('latin1').on('data', (text: string) => {
      const last = text.lastIndexOf('mesg=');
      if (last >= 0) this.taken = Number(/^\d+/.exec(text.slice(last + 5))?.[0] ?? this.taken);
    });
  }

  /** On a port that nobody has: two sinks on one would share the messages. */
  static async start(): Promise<Target> {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, 'close');
    return new Target(port);
  }

  async until(count: number): Promise<void> {
    const deadline = performance.now() + 180_000;
    while (this.taken < count) {
      if (performance.now() > deadline) throw new Error(`only ${this.taken} of ${count} messages arrived`);
      await sleep(5);
    }
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await ended;
  }
}

export interface RelayFigures {
  /** Messages per second, from the first command to the last arrival at the target. */
  perSecond: number;
  /** Server CPU, all its processes, milliseconds a message. */
  cpu: number;
  /** Median of one message's acceptance, ms. */
  p50: number;
}

export interface RelayLoad {
  connections: number;
  messages: number;
  octets: number;
  domains: readonly string[];
}

let runs = 0;

/** Submits messages and waits until all have reached the target. */
export async function relay(subject: RelaySubject, target: Target, load: RelayLoad): Promise<RelayFigures> {
  const mails = Array.from({ length: 500 }, (_, i) => outgoing(subject, i, load.octets));
  const before = target.taken;
  const cpu = cpuMs(subject.roots);
  const took: number[] = [];
  let next = 0;
  const began = performance.now();
  const worker = async (): Promise<void> => {
    const wire = await open(subject);
    for (let i = next++; i < load.messages; i = next++) {
      const from = performance.now();
      await wire.smtp(`MAIL FROM:<${subject.sender}>\r\n`, '2');
      await wire.smtp(`RCPT TO:<user@${load.domains[i % load.domains.length]}>\r\n`, '2');
      await wire.smtp('DATA\r\n', '3');
      await wire.smtp(mails[i % mails.length], '2');
      took.push(performance.now() - from);
    }
    wire.close();
  };
  await Promise.all(Array.from({ length: load.connections }, worker));
  await target.until(before + load.messages);
  const seconds = (performance.now() - began) / 1000;
  took.sort((a, b) => a - b);
  return {
    perSecond: load.messages / seconds,
    cpu: (cpuMs(subject.roots) - cpu) / load.messages,
    p50: took[took.length >> 1] ?? 0,
  };
}

async function open(subject: RelaySubject): Promise<Wire> {
  const socket = connect({ host: '127.0.0.1', port: subject.port, rejectUnauthorized: false });
  const wire = Wire.over(socket);
  await wire.smtp(undefined, '2');
  await wire.smtp('EHLO bench.test\r\n', '2');
  if (subject.login !== undefined) await wire.smtp(`AUTH PLAIN ${subject.login}\r\n`, '2');
  return wire;
}

/** A message by the sender, as a mail program hands it over. */
function outgoing({ sender }: RelaySubject, n: number, octets: number): Buffer {
  const text = message(n, octets, `x${process.pid}r${runs++}`)
    .toString('latin1')
    .replace(/^Received:.*\r\n/m, '')
    .replace(/^From:.*\r\n/m, `From: Me <${sender}>\r\n`);
  return Buffer.from(`${text.replace(/\r\n\./g, '\r\n..')}.\r\n`, 'latin1');
}
