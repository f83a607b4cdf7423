import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { readClientHello } from '../../../src/acme/client-hello.ts';

/** The first octets that a real client sends. */
async function helloOf(options: { servername?: string; ALPNProtocols?: string[] }): Promise<Buffer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, ...options });
  client.on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [octets] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  client.destroy();
  server.close();
  return octets;
}

test('the name and the protocols of a client are read', async () => {
  const hello = await helloOf({ servername: 'Mail.Example', ALPNProtocols: ['acme-tls/1', 'h2'] });
  expect(readClientHello(hello)).toEqual({ serverName: 'mail.example', protocols: ['acme-tls/1', 'h2'] });
  expect(readClientHello(await helloOf({}))).toEqual({ serverName: undefined, protocols: [] });
});

test('each beginning of it asks for more, and nothing else is taken for one', async () => {
  const hello = await helloOf({ servername: 'mail.example' });
  for (let end = 0; end < hello.length; end += 1)
    expect(readClientHello(hello.subarray(0, end)), `${end}`).toBe('more');
  expect(readClientHello(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toBeUndefined();
  expect(readClientHello(Buffer.from('1603010005ffffffffff', 'hex'))).toBeUndefined();
});

test('octets that were changed anywhere cause no exception', async () => {
  const hello = await helloOf({ servername: 'mail.example', ALPNProtocols: ['acme-tls/1'] });
  for (let at = 0; at < hello.length; at += 1) {
    for (const octet of [0, 0x7f, 0xff]) {
      const changed = Buffer.from(hello);
      changed[at] = octet;
      const read = readClientHello(changed);
      expect(read === undefined || read === 'more' || Array.isArray(read.protocols)).toBe(true);
    }
  }
});
