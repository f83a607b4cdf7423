import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy before a server whose connections a test cuts in the middle of a response. */
export interface CutProxy extends AsyncDisposable {
  port: number;
  /** Cuts one connection with its next chunk. */
  cut(): Promise<void>;
}

export async function openCutProxy(port: number): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let cutNext: (() => void) | undefined;
  const server = createServer((socket) => {
    const upstream = connect(port, '127.0.0.1');
    sockets.add(socket).add(upstream);
    upstream.on('data', (chunk: Buffer) => {
      if (cutNext === undefined) return void socket.write(chunk);
      cutNext();
      cutNext = undefined;
      socket.write(chunk.subarray(0, Math.floor(chunk.length / 2)), () => socket.destroy());
      upstream.destroy();
    });
    socket.on('data', (chunk) => upstream.write(chunk));
    for (const one of [socket, upstream])
      one.on('error', () => undefined).on('close', () => (socket.destroy(), upstream.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => new Promise((resolve) => (cutNext = resolve)),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
