import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Range below the ports of outgoing connections (from 32768 on), so that a server can bind its port again. */
const LOWEST = 12_000;
const HIGHEST = 32_000;
/** Number of ports for each worker of a run, so that no two workers try one port at the same time. */
const EACH = 2_000;

/** Runs at the same time have ranges of their own too: `.ci/suites` says how many workers come before. */
const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) + Number(process.env['TEST_WORKERS_BEFORE'] ?? 0);
const first = LOWEST + ((worker * EACH) % (HIGHEST - LOWEST));
let next = Math.floor(Math.random() * EACH);

/** A port of loopback that nothing has now over TCP and UDP, and that no outgoing connection will have. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < EACH; tries++) {
    const port = first + (next++ % EACH);
    if ((await isFree(port)) && (await isFreeOverUdp(port))) return port;
  }
  throw new Error(`no port from ${first} to ${first + EACH - 1} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

async function isFreeOverUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4').bind(port, '127.0.0.1');
  try {
    await once(socket, 'listening');
  } catch {
    return false;
  }
  socket.close();
  await once(socket, 'close');
  return true;
}
