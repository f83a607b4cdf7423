import { createServer, type Server } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { postReport } from '../../../src/reports/report-post.ts';
import { testCertificate } from '../../support/certificate.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';

let server: Server;
let port: number;
let status: number;
let posts: { method: string; path: string; type: string; host: string; body: string }[];

beforeEach(async () => {
  [status, posts] = [201, []];
  server = createServer(await testCertificate('another.example'), (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const { 'content-type': type = '', host = '' } = headers;
      posts.push({ method, path, type, host, body: Buffer.concat(chunks).toString() });
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const lookNow = fakeResolver({ 'A tls.remote.example': ['127.0.0.1'] });
const post = (all: boolean) => {
  const settings = { allowPrivateNetworks: { all, networks: [], endpoints: [] } };
  const context = { lookNow, settings } as unknown as Parameters<typeof postReport>[0];
  return postReport(context, new URL(`https://tls.remote.example:${port}/v1?domain=a`), Buffer.from('packed'));
};

test('a TLS report is posted, also to a server whose certificate is for another name', async () => {
  expect(await post(true)).toBeUndefined();
  expect(posts).toEqual([
    {
      method: 'POST',
      path: '/v1?domain=a',
      type: 'application/tlsrpt+gzip',
      host: `tls.remote.example:${port}`,
      body: 'packed',
    },
  ]);
});

test('no redirect is followed', async () => {
  status = 302;
  expect(await post(true)).toBe('tls.remote.example answered 302');
  expect(posts).toHaveLength(1);
});

test('a private address gets none where the settings do not allow it', async () => {
  expect(await post(false)).toContain('private address');
  expect(posts).toEqual([]);
});

test('the DNS of another domain reaches no service that the operator allows for webhooks', async () => {
  const allowPrivateNetworks = { all: false, networks: [], endpoints: [{ host: '127.0.0.1', port }] };
  const context = { lookNow, settings: { allowPrivateNetworks } } as unknown as Parameters<typeof postReport>[0];
  const url = new URL(`https://127.0.0.1:${port}/admin`);
  expect(await postReport(context, url, Buffer.from('packed'))).toContain('private address');
  expect(posts).toEqual([]);
});
