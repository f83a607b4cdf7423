import { connect, type Socket } from 'node:net';

/** A lock-step line client, enough for SMTP, LMTP and IMAP under load. Replies are whole lines. */
export class Wire {
  readonly socket: Socket;
  #rest = '';
  #lines: string[] = [];
  #waiting: ((line: string) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => this.#heard(String(chunk)));
    socket.on('error', (error) => this.#failed?.(error));
    socket.on('close', () => this.#failed?.(new Error('the server closed the connection')));
  }

  static open(port: number, host = '127.0.0.1'): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, host, () => {
        socket.off('error', reject);
        resolve(new Wire(socket));
      });
      socket.once('error', reject);
    });
  }

  /** Over a socket that is connected already. */
  static over(socket: Socket): Wire {
    return new Wire(socket);
  }

  line(): Promise<string> {
    const next = this.#lines.shift();
    if (next !== undefined) return Promise.resolve(next);
    return new Promise((resolve, reject) => {
      this.#waiting = resolve;
      this.#failed = reject;
    });
  }

  send(data: string | Buffer): void {
    this.socket.write(data);
  }

  /** Sends an SMTP or LMTP command and reads its reply, which must begin with the digit `want`. */
  async smtp(command: string | Buffer | undefined, want: string): Promise<void> {
    if (command !== undefined) this.send(command);
    let line = await this.line();
    while (line[3] === '-') line = await this.line();
    if (!line.startsWith(want)) throw new Error(`wanted ${want}: ${line}`);
  }

  /** Runs a tagged IMAP command; answers the untagged lines. */
  async imap(command: string): Promise<string[]> {
    this.send(`a ${command}\r\n`);
    const untagged: string[] = [];
    for (;;) {
      const line = await this.line();
      if (line.startsWith('a OK')) return untagged;
      if (line.startsWith('a ')) throw new Error(`${command}: ${line}`);
      untagged.push(line);
    }
  }

  close(): void {
    this.#failed = undefined;
    this.socket.removeAllListeners('close');
    this.socket.destroy();
  }

  #heard(chunk: string): void {
    const parts = (this.#rest + chunk).split('\r\n');
    this.#rest = parts.pop() ?? '';
    for (const part of parts) {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      this.#failed = undefined;
      if (waiting === undefined) this.#lines.push(part);
      else waiting(part);
    }
  }
}
