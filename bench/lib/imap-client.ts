import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An IMAP client that reads answers without parsing them, so that what it measures is the server. */
export class ImapLoadClient {
  readonly #socket: Socket;
  #last = Buffer.alloc(0);
  #octets = 0;
  #kept: Buffer[] | undefined;
  #ended: (() => void) | undefined;
  #awaited: { text: string; resolve: () => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  /** Connects and logs in. */
  static async login(port: number, user: string, password: string): Promise<ImapLoadClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    await once(socket, 'data');
    const client = new ImapLoadClient(socket);
    await client.run(`LOGIN ${user} ${password}`);
    return client;
  }

  /** Runs a command; resolves with the octets of the answer. A literal is sent with the command (LITERAL+). */
  async run(command: string | readonly (string | Buffer)[]): Promise<number> {
    return this.#answered(Buffer.concat([Buffer.from('t '), ...toBuffers(command), Buffer.from('\r\n')]), command);
  }

  async #answered(sent: Buffer, command: string | readonly (string | Buffer)[] = 'IDLE'): Promise<number> {
    this.#octets = 0;
    this.#last = Buffer.alloc(0);
    const end = new Promise<void>((resolve) => (this.#ended = resolve));
    this.#socket.write(sent);
    await end;
    const text = this.#last.toString('latin1');
    const tagged = text.slice(text.lastIndexOf('\r\nt ') + 1).trim();
    if (!tagged.startsWith('t OK')) throw new Error(`${String(command).slice(0, 80)}: ${tagged.slice(0, 200)}`);
    return this.#octets;
  }

  /** Begins IDLE; the result ends it. */
  async idle(): Promise<() => Promise<number>> {
    const started = this.next('+ ');
    this.#socket.write('t IDLE\r\n');
    await started;
    return () => this.#answered(Buffer.from('DONE\r\n'));
  }

  /** Resolves when octets with a text arrive. */
  next(text: string): Promise<void> {
    return new Promise((resolve) => (this.#awaited = { text, resolve }));
  }

  /** Runs a command with a short answer, and returns the answer. */
  async ask(command: string): Promise<string> {
    this.#kept = [];
    await this.run(command);
    const answer = Buffer.concat(this.#kept).toString('latin1');
    this.#kept = undefined;
    return answer;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#octets += chunk.length;
    this.#kept?.push(chunk);
    if (this.#awaited !== undefined && chunk.includes(this.#awaited.text)) {
      this.#awaited.resolve();
      this.#awaited = undefined;
    }
    // The tagged line is the last, and shorter than this, also with all capabilities.
    this.#last = Buffer.concat([this.#last, chunk]).subarray(-4096);
    if (
      !this.#last.subarray(-2).equals(CRLF) ||
      !/(?:^|\r\n)t (?:OK|NO|BAD)[^\r\n]*\r\n$/.test(this.#last.toString('latin1'))
    )
      return;
    this.#ended?.();
  }
}

const CRLF = Buffer.from('\r\n');

function toBuffers(command: string | readonly (string | Buffer)[]): Buffer[] {
  return [command].flat().map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part));
}
