import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, type ListenerName, startBox } from '../support/box.ts';

let box: Box;
beforeAll(async () => {
  box = await startBox();
});
afterAll(() => box[Symbol.asyncDispose]());

/** Plaintext lines before the handshake; none with implicit TLS. */
const LISTENERS: readonly (readonly [ListenerName, readonly string[]])[] = [
  ['smtp', ['EHLO client.example', 'STARTTLS']],
  ['submission', ['EHLO client.example', 'STARTTLS']],
  ['submissions', []],
  ['imap', ['a STARTTLS']],
  ['imaps', []],
  ['https', []],
];

/** Opens a TLS 1.2 connection, after STARTTLS where the listener needs it. */
async function openTls(listener: ListenerName, lines: readonly string[], ciphers?: string): Promise<TLSSocket> {
  const socket: Socket = connectPlain(box.port(listener), '127.0.0.1');
  if (lines.length > 0) await once(socket, 'data');
  for (const line of lines) {
    socket.write(`${line}\r\n`);
    await once(socket, 'data');
  }
  const secured = connect({ socket, maxVersion: 'TLSv1.2', rejectUnauthorized: false, ...(ciphers && { ciphers }) });
  await once(secured, 'secureConnect');
  return secured;
}

/** Asks for a renegotiation and returns the error, or 'renegotiated'. */
async function renegotiate(socket: TLSSocket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on('error', (error) => resolve(error.message));
  socket.on('close', () => resolve('closed'));
  socket.renegotiate({ rejectUnauthorized: false }, (error) => resolve(error?.message ?? 'renegotiated'));
  return promise;
}

describe.each(LISTENERS)('%s', (listener, lines) => {
  test('refuses a TLS 1.2 renegotiation started by the client', async () => {
    const socket = await openTls(listener, lines);
    expect(socket.getProtocol()).toBe('TLSv1.2');
    expect(await renegotiate(socket)).toMatch(/no renegotiation/);
    socket.destroy();
  });

  test('offers no suite with CBC', async () => {
    const cbc = 'ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA384';
    await expect(openTls(listener, lines, cbc)).rejects.toThrow();
    const socket = await openTls(listener, lines);
    expect(socket.getCipher().name).toBe('ECDHE-ECDSA-AES128-GCM-SHA256');
    socket.destroy();
  });
});
