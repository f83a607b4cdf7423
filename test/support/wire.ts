import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';

/** A limit for what hangs: on a busy machine a reply may take seconds. */
const PATIENCE_MS = 30_000;

/** A client that speaks raw octets to a line protocol. `line()` answers the next line, or undefined after the end. */
export class Wire implements Disposable {
  #socket: Socket;
  #text = '';
  #ended = false;
  #wake: () => void = () => {};
  readonly #patienceMs: number;

  private constructor(socket: Socket, patienceMs: number) {
    this.#socket = socket;
    this.#patienceMs = patienceMs;
    this.#listen(socket);
  }

  /** Connects to a port of 127.0.0.1, or from another loopback address with `from`. */
  static async open(port: number, options: { tls?: boolean; from?: string; patienceMs?: number } = {}): Promise<Wire> {
    const at = { host: '127.0.0.1', port, allowHalfOpen: true, ...(options.from && { localAddress: options.from }) };
    const socket = options.tls === true ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at);
    await new Promise<void>((resolve, reject) => {
      socket.once(options.tls === true ? 'secureConnect' : 'connect', () => resolve());
      socket.once('error', reject);
    });
    socket.setNoDelay(true);
    return new Wire(socket, options.patienceMs ?? PATIENCE_MS);
  }

  /** Sends octets as they are; a string is sent as UTF-8. */
  send(octets: string | Buffer): void {
    this.#socket.write(octets);
  }

  /** Sends octets in pieces that the server sees one by one, as far as a network lets anyone say so. */
  async sendInPieces(pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) {
      if (this.#ended) return;
      await new Promise<void>((resolve) => this.#socket.write(piece, () => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async line(): Promise<string | undefined> {
    const end = await this.#until(() => this.#text.indexOf('\n') + 1);
    if (end === undefined) return undefined;
    const line = this.#text.slice(0, end).replace(/\r?\n$/, '');
    this.#text = this.#text.slice(end);
    return line;
  }

  /** Reads a whole SMTP reply, its lines joined by LF. */
  async reply(): Promise<string> {
    const lines: string[] = [];
    for (;;) {
      const line = await this.line();
      if (line !== undefined) lines.push(line);
      if (line === undefined || line[3] !== '-') return lines.join('\n');
    }
  }

  /** Sends one command and reads its reply. */
  command(text: string): Promise<string> {
    this.send(`${text}\r\n`);
    return this.reply();
  }

  /** Everything that comes until the server ends the connection. */
  async all(): Promise<string> {
    await this.#until(() => (this.#ended ? 1 : 0));
    const all = this.#text;
    this.#text = '';
    return all;
  }

  /** Begins TLS on this connection. */
  async encrypt(): Promise<void> {
    const plain = this.#socket;
    plain.removeAllListeners('data').removeAllListeners('end').removeAllListeners('close');
    const socket = connectTls({ socket: plain, rejectUnauthorized: false });
    this.#socket = socket;
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', () => resolve());
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('closed during the handshake')));
    });
    this.#listen(socket);
  }

  /** Ends our side only. */
  end(): void {
    this.#socket.end();
  }

  /** Stops reading, as a peer that does not care for answers. */
  deaf(): void {
    this.#socket.pause();
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #listen(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('utf8');
      this.#wake();
    });
    const ended = () => {
      this.#ended = true;
      this.#wake();
    };
    socket.on('end', ended).on('close', ended).on('error', ended);
  }

  /** Waits until `found` answers a number over 0; undefined when the connection ends first. */
  async #until(found: () => number): Promise<number | undefined> {
    const patience = new AbortController();
    const tooLong = delay(this.#patienceMs, 'late' as const, { signal: patience.signal }).catch(() => 'done' as const);
    try {
      for (;;) {
        const at = found();
        if (at > 0) return at;
        if (this.#ended) return undefined;
        const woken = new Promise<'woken'>((resolve) => (this.#wake = () => resolve('woken')));
        if ((await Promise.race([woken, tooLong])) === 'late') throw new Error(`no answer; so far: ${this.#text}`);
      }
    } finally {
      patience.abort();
    }
  }
}
