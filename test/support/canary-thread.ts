import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const { ports, every } = workerData as { ports: { smtp: number; imap: number; http: number }; every: number };

/** Milliseconds that the next answer takes; a server that is deaf is not asked a second time meanwhile. */
type Ask = () => Promise<number>;

/** Begins anew when the server has had enough of a client that does nothing. */
function lineAsker(port: number, command: string): Ask {
  let socket: Socket | undefined;
  return async () => {
    const began = performance.now();
    if (socket === undefined) {
      const opened = (socket = connect(port, '127.0.0.1').on('error', () => undefined));
      opened.once('close', () => (socket = undefined));
    } else socket.write(command);
    const said = socket;
    await new Promise<void>((resolve) => said.once('data', () => resolve()).once('close', () => resolve()));
    said.removeAllListeners('data').resume();
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

const over = new AbortController();
parentPort?.once('message', () => over.abort());

/** Asks at a fixed pace: who was not asked because an answer was late would have waited too, and is counted so. */
async function watch(ask: Ask): Promise<number[]> {
  const waits: number[] = [];
  while (!over.signal.aborted) {
    const took = await ask();
    for (let wait = took; wait > 0; wait -= every) waits.push(wait);
    await delay(Math.max(0, every - took));
  }
  return waits;
}

const asks = [lineAsker(ports.smtp, 'NOOP\r\n'), lineAsker(ports.imap, 'a NOOP\r\n'), pageAsker(ports.http)];
for (const ask of asks) await ask();
parentPort?.postMessage('ready');
parentPort?.postMessage(await Promise.all(asks.map(watch)));
process.exit();
