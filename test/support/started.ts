import { connect, type NetConnectOpts } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE_MS = 100_000;
/** Time for one connection: a server that is just ending may accept it and never answer. */
const CONNECTION_MS = 5_000;

/** A server of others that is starting. */
export interface StartingServer {
  readonly name: string;
  /** True once it can be used. */
  answers(): Promise<boolean>;
  /** True when its process has ended. */
  ended?(): boolean;
  log(): Promise<string>;
}

/** Waits until a server can be used; throws with its log when it ended or takes too long. */
export async function waitUntilStarted(server: StartingServer): Promise<void> {
  const late = performance.now() + PATIENCE_MS;
  while (!(await server.answers())) {
    if (server.ended?.() === true || performance.now() > late)
      throw new Error(`${server.name} did not start: ${await server.log().catch(() => 'no log')}`);
    await delay(50);
  }
}

/** True when a server on this port of loopback greets. */
export const greets = (port: number): Promise<boolean> => meets({ port, host: '127.0.0.1' }, 'data');

/** True when a server on this UNIX socket accepts a connection; the file alone exists before that. */
export const accepts = (path: string): Promise<boolean> => meets({ path }, 'connect');

function meets(where: NetConnectOpts, event: 'connect' | 'data'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(where);
    socket.setTimeout(CONNECTION_MS, () => socket.destroy());
    socket.once(event, () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(false));
  });
}
