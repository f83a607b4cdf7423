import { connect, type Socket } from 'node:net';

/** An open event source; records the time of its last state event. */
export class JmapStream {
  readonly #socket: Socket;
  #told: ((at: number) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('event: state')) this.#told?.(performance.now());
    });
  }

  static open(port: number, token: string): Promise<JmapStream> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
        const fields = ['Host: 127.0.0.1', `Authorization: Bearer ${token}`];
        const path = '/jmap/eventsource?types=*&closeafter=no&ping=0';
        socket.write(`GET ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
      });
      socket.once('error', reject);
      socket.once('data', (chunk: Buffer) => {
        if (chunk.toString('latin1').startsWith('HTTP/1.1 200')) resolve(new JmapStream(socket));
        else reject(new Error(chunk.toString('latin1')));
      });
    });
  }

  /** Resolves with the time of the next state event, on the clock of `performance`. */
  told(): Promise<number> {
    return new Promise((resolve) => (this.#told = resolve));
  }

  close(): void {
    this.#socket.destroy();
  }
}
