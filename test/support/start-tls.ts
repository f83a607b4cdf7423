import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const DIALOGS = {
  smtp: [/^220 .*\r\n$/ms, 'EHLO client.example\r\n', /^250 .*\r\n$/m, 'STARTTLS\r\n', /^220 .*\r\n$/m],
  imap: [/^\* OK.*\r\n$/ms, 'a STARTTLS\r\n', /^a OK.*\r\n$/m],
} as const;

/** Connects to a listener and asks for TLS; the handshake is the caller's. */
export async function startTlsAt(port: number, protocol: keyof typeof DIALOGS): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  for (const step of DIALOGS[protocol]) {
    if (typeof step === 'string') socket.write(step);
    else await readUntil(socket, step);
  }
  return socket;
}

async function readUntil(socket: Socket, wanted: RegExp): Promise<void> {
  let text = '';
  while (!wanted.test(text)) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString('latin1');
  }
}
