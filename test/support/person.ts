import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LoadTenant, MailboxLogin } from './hostile-tenant.ts';
import { percentile } from './held-sockets.ts';

/** Start parameters of person-thread.ts. */
export interface PersonAtWork {
  pid: number;
  ports: { imap: number; smtp: number; http: number };
  mailbox: MailboxLogin;
  token: string;
  /** Pause between two rounds, ms. */
  every: number;
}

/** Waits of a person by protocol (p99, ms), without the time that the machine gave to other processes. */
export interface PersonWaits {
  p99: Record<string, number>;
  /** The longest of them. */
  worst: number;
  rounds: number;
  failed: string[];
}

/** A person who works over each protocol in turn, in a thread of their own. */
export class Person implements Disposable {
  readonly #thread: Worker;

  private constructor(thread: Worker) {
    this.#thread = thread;
  }

  static async start({ box, mailbox, token }: LoadTenant, every = 20): Promise<Person> {
    const ports = { imap: box.port('imap'), smtp: box.port('smtp'), http: box.port('http') };
    const workerData: PersonAtWork = { pid: box.pid, ports, mailbox, token, every };
    const thread = new Worker(new URL('./person-thread.ts', import.meta.url), { workerData });
    await once(thread, 'message');
    return new Person(thread);
  }

  async end(): Promise<PersonWaits> {
    this.#thread.postMessage('end');
    const [{ waits, failed }] = (await once(this.#thread, 'message')) as [
      { waits: Record<string, number[]>; failed: string[] },
    ];
    const p99 = Object.fromEntries(Object.entries(waits).map(([name, all]) => [name, percentile(all, 0.99)]));
    return { p99, worst: Math.max(...Object.values(p99)), rounds: waits['imap']?.length ?? 0, failed };
  }

  [Symbol.dispose](): void {
    void this.#thread.terminate();
  }
}

/** The waits as one line. */
export function waitsText({ p99, rounds }: PersonWaits): string {
  const all = Object.entries(p99).map(([name, ms]) => `${name} ${Math.round(ms)}`);
  return `${all.join(', ')} ms (p99 of ${rounds})`;
}
