import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const { ports, every } = workerData as { ports: { smtp: number; imap: number; http: number }; every: number };

/** Milliseconds that the next answer takes; a server that is deaf is not asked a second time meanwhile. */
type Ask = () => Promise<number>;

async function lineAsker(port: number, command: string): Promise<Ask> {
  const socket: Socket = connect(port, '127.0.0.1');
  let heard: () => void = () => undefined;
  const answer = (): Promise<void> => new Promise((resolve) => (heard = resolve));
  const greeting = answer();
  socket.on('data', () => heard());
  await greeting;
  return async () => {
    const began = performance.now();
    const said = answer();
    socket.write(command);
    await said;
    return performance.now() - began;
  };
}

function pageAsker(port: number): Ask {
  return () =>
    new Promise((resolve, reject) => {
      const began = performance.now();
      request({ port, host: '127.0.0.1', path: '/healthz' }, (answer) => {
        answer.resume().on('end', () => resolve(performance.now() - began));
      })
        .on('error', reject)
        .end();
    });
}

let over = false;
parentPort?.once('message', () => (over = true));

/** Asks at a fixed pace: who was not asked because an answer was late would have waited too, and is counted so. */
async function watch(ask: Ask): Promise<number[]> {
  const waits: number[] = [];
  while (!over) {
    const took = await ask();
    for (let wait = took; wait > 0; wait -= every) waits.push(wait);
    await delay(Math.max(0, every - took));
  }
  return waits;
}

const [smtp, imap] = await Promise.all([lineAsker(ports.smtp, 'NOOP\r\n'), lineAsker(ports.imap, 'a NOOP\r\n')]);
parentPort?.postMessage('ready');
const waits = await Promise.all([smtp, imap, pageAsker(ports.http)].map(watch));
parentPort?.postMessage(waits);
process.exit();
