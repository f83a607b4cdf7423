import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { answerClientError } from '../../../src/http/client-error.ts';
import { hasRequests, queuePipelined } from '../../../src/http/request-queue.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

let close: (() => void) | undefined;
afterEach(() => close?.());

/** A server that answers when the test says so, and a connection to it. */
async function serve(): Promise<{
  running: ServerResponse[];
  client: Socket;
  server: Server;
  started: () => Promise<void>;
}> {
  const running: ServerResponse[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    expect(hasRequests(request.socket)).toBe(true);
    running.push(response);
    server.emit('started');
  });
  queuePipelined(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  await once(client, 'connect');
  close = () => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  };
  const started = async () => void (await once(server, 'started'));
  return { running, client, server, started };
}

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (octets: Buffer) => (text += octets.toString()));
  await once(socket, 'close');
  return text;
}

test('pipelined requests run one after the other, in order', async () => {
  const { running, client, started } = await serve();
  const text = textOf(client);
  client.write(REQUEST.repeat(3));
  for (const n of [1, 2, 3]) {
    if (running.length < n) await started();
    expect(running).toHaveLength(n);
    if (n === 3) running.at(-1)?.setHeader('connection', 'close');
    running.at(-1)?.end(`answer ${n}`);
  }
  expect((await text).match(/answer \d/g)).toEqual(['answer 1', 'answer 2', 'answer 3']);
});

test('of 60 pipelined requests 17 run, and one is informed why it did not', async () => {
  const { running, client, started } = await serve();
  const text = textOf(client);
  client.write(REQUEST.repeat(60));
  for (let n = 1; n <= 17; n++) {
    if (running.length < n) await started();
    running.at(-1)?.end(`answer ${n}.`);
  }
  const statuses = (await text).match(/HTTP\/1.1 \d+/g) ?? [];
  expect(statuses).toEqual([...Array<string>(17).fill('HTTP/1.1 200'), 'HTTP/1.1 503']);
  expect(running).toHaveLength(17);
});

test('an upgrade offer behind another request is answered, and ends the connection', async () => {
  const { running, client, started } = await serve();
  const text = textOf(client);
  client.write(`${REQUEST}GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  for (const n of [1, 2]) {
    if (running.length < n) await started();
    running.at(-1)?.end(`answer ${n}`);
  }
  expect((await text).match(/connection: \S+|answer \d/gi)).toEqual([
    'Connection: keep-alive',
    'answer 1',
    'Connection: close',
    'answer 2',
  ]);
});

test('an unknown expectation behind another request is answered with 417, and ends the connection', async () => {
  const { running, client, server, started } = await serve();
  server.keepAliveTimeout = 600_000;
  const text = textOf(client);
  const expecting = 'POST / HTTP/1.1\r\nHost: x\r\nExpect: x\r\nContent-Length: 9000\r\n\r\n';
  client.write(`${REQUEST}${expecting}${REQUEST}`);
  await started();
  running[0]?.end('answer 1');
  expect((await text).match(/answer \d|HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'answer 1', 'HTTP/1.1 417']);
  expect(running).toHaveLength(1);
});

test('a client that pipelines without end is cut off', async () => {
  const { running, client } = await serve();
  const closed = once(client, 'close');
  client.write(REQUEST.repeat(400));
  await closed;
  expect(running).toHaveLength(1);
});

test('octets that are no request do not mix with the answer that is under way', async () => {
  const { running, client, started, server } = await serve();
  server.on('clientError', answerClientError);
  const text = textOf(client);
  client.write(REQUEST);
  if (running.length === 0) await started();
  running[0]?.write('begin');
  client.write('no request\r\n\r\n');
  expect(await text).toMatch(/begin\r\n$/);
  const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const answer = textOf(other);
  other.write('no request\r\n\r\n');
  expect(await answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*"error":"invalid_arguments"/);
});

test('requests that wait do not run once their client has gone', async () => {
  const { running, client, started } = await serve();
  client.write(REQUEST.repeat(5));
  if (running.length === 0) await started();
  const [first] = running;
  client.destroy();
  await once(first as ServerResponse, 'close');
  expect(running).toHaveLength(1);
});

test('a TLS handshake that is late ends the connection at once', async () => {
  const { server } = await serve();
  const accepted = once(server, 'connection');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await accepted) as [Socket];
  answerClientError(Object.assign(new Error('late'), { code: 'ERR_TLS_HANDSHAKE_TIMEOUT' }), socket);
  expect(socket.destroyed).toBe(true);
  client.destroy();
});
