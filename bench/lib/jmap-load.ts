import { connect, type Socket } from 'node:net';

export type Call = readonly [name: string, args: object, id: string];

const USING = ['core', 'mail'].map((name) => `urn:ietf:params:jmap:${name}`);

/** One connection to the API that is kept, with as little work of its own as can be: it shares the processors. */
export class JmapWire {
  readonly #socket: Socket;
  readonly #head: string;
  #answer: Buffer = Buffer.alloc(0);
  #done: ((body: Buffer) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  private constructor(socket: Socket, authorization: string, path: string) {
    this.#socket = socket;
    const fields = ['Host: 127.0.0.1', `Authorization: ${authorization}`, 'Content-Type: application/json'];
    this.#head = `POST ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\nContent-Length: `;
    socket.on('data', (chunk: Buffer) => this.#heard(chunk));
    socket.on('error', (error) => this.#failed?.(error));
    socket.on('close', () => this.#failed?.(new Error('the server closed the connection')));
  }

  /** `authorization` is the whole value of that field. */
  static open(port: number, authorization: string, path = '/jmap/api'): Promise<JmapWire> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
        socket.off('error', reject);
        resolve(new JmapWire(socket, authorization, path));
      });
      socket.once('error', reject);
    });
  }

  /** The text of a request, made once where it is sent often. */
  static text(...methodCalls: readonly Call[]): string {
    return JSON.stringify({ using: USING, methodCalls });
  }

  /** Sends a request and answers the octets of its response; fails on anything but 200. */
  ask(text: string): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      this.#socket.write(`${this.#head}${Buffer.byteLength(text)}\r\n\r\n${text}`);
    });
  }

  /** The arguments of the responses, by their call ids; fails when a method does. */
  async call(...calls: readonly Call[]): Promise<Record<string, Record<string, unknown>>> {
    const said = JSON.parse(String(await this.ask(JmapWire.text(...calls)))) as { methodResponses: Call[] };
    for (const [name, args] of said.methodResponses) if (name === 'error') throw new Error(JSON.stringify(args));
    return Object.fromEntries(said.methodResponses.map(([, args, id]) => [id, args as Record<string, unknown>]));
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }

  #heard(chunk: Buffer): void {
    this.#answer = this.#answer.length === 0 ? chunk : Buffer.concat([this.#answer, chunk]);
    const end = this.#answer.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#answer.toString('latin1', 0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    if (this.#answer.length < end + 4 + length) return;
    const body = this.#answer.subarray(end + 4, end + 4 + length);
    this.#answer = this.#answer.subarray(end + 4 + length);
    if (head.startsWith('HTTP/1.1 200')) this.#done?.(body);
    else this.#failed?.(new Error(`${head.slice(0, 30)}: ${String(body)}`));
  }
}

/** Milliseconds that each of so many runs took, in order of length. */
export async function timed(runs: number, one: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < runs; i++) {
    const from = performance.now();
    await one();
    took.push(performance.now() - from);
  }
  return took.toSorted((a, b) => a - b);
}

/** The value at a share of sorted ones. */
export function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}
