import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** An IMAP server on loopback that answers as a test says; what it leaves open is answered with OK. */
export async function scriptedImap(
  answer: (command: string, socket: Socket, tag: string) => boolean,
  capabilities = 'IMAP4rev1',
): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).write(`* OK [CAPABILITY ${capabilities}] ready\r\n`);
    let text = '';
    socket.on('data', (chunk) => {
      const lines = `${text}${chunk.toString('latin1')}`.split('\r\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const [tag = '', ...words] = line.split(' ');
        if (answer(words.join(' '), socket, tag)) continue;
        if (words[0] === 'CAPABILITY') socket.write(`* CAPABILITY ${capabilities}\r\n`);
        socket.write(`${tag} OK done\r\n`);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const one of sockets) one.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes a text again and again, as fast as the reader takes it. */
export function flood(socket: Socket, text: string): void {
  const more = (): void => {
    while (socket.writable && socket.write(text));
    socket.once('drain', more);
  };
  more();
}
