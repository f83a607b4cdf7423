import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testAuthority } from './authority.ts';
import { freePort } from './free-port.ts';

/** Debian's ACME test authority as a process, with names by a DNS server of a test. */
export interface Pebble extends AsyncDisposable {
  /** URL of its directory. */
  directory: string;
  /** Certificate and key of its own HTTPS server. */
  server: { cert: string; key: string };
  /** Root of its own HTTPS server. */
  serverRoot: string;
  /** Root of the certificates that it issues. */
  root: string;
  /** Everything that it printed. */
  output: () => string;
  /** Stops it, as when an authority is down. */
  stop(): Promise<void>;
}

export interface PebbleOptions {
  /** `127.0.0.1:port` of the resolver that it uses. */
  dns: string;
  httpPort: number;
  tlsPort: number;
  /** Per cent of good nonces that it refuses. */
  nonceReject?: number;
  /** Per cent of valid authorizations that it uses again. */
  reuse?: number;
}

/** Starts pebble; its host name is `acme.test`, which the resolver must know as 127.0.0.1. */
export async function startPebble({ dns, httpPort, tlsPort, nonceReject = 0, reuse = 0 }: PebbleOptions) {
  const directory = await mkdtemp(join(tmpdir(), 'pebble-'));
  const authority = await testAuthority('Pebble Server Root');
  const { cert, key } = await authority.issue(['acme.test']);
  const [port, management] = [await freePort(), await freePort()];
  const [certificate, privateKey, config] = ['cert.pem', 'key.pem', 'config.json'].map((one) => join(directory, one));
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate,
    privateKey,
    httpPort,
    tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  };
  await writeFile(certificate ?? '', cert);
  await writeFile(privateKey ?? '', key);
  await writeFile(config ?? '', JSON.stringify({ pebble }));
  const child: ChildProcess = spawn('/usr/bin/pebble', ['-config', config ?? '', '-dnsserver', dns, '-strict'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: String(nonceReject),
      PEBBLE_AUTHZREUSE: String(reuse),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const started = Promise.withResolvers<void>();
  const read = (chunk: Buffer): void => {
    output += chunk.toString();
    if (output.includes('ACME directory available')) started.resolve();
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  const ended = once(child, 'close').then(() => started.reject(new Error(`pebble ended: ${output}`)));
  await started.promise;
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  };
  return {
    directory: `https://acme.test:${port}/dir`,
    server: { cert, key },
    serverRoot: authority.pem,
    root: await fetchText(management, '/roots/0', authority.pem),
    output: () => output,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  } satisfies Pebble;
}

/** Waits for the management listener, which opens last. */
async function fetchText(port: number, path: string, ca: string): Promise<string> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await fetchOnce(port, path, ca);
    } catch (error) {
      if (tries > 100) throw error;
      await sleep(50);
    }
  }
}

async function fetchOnce(port: number, path: string, ca: string): Promise<string> {
  const outgoing = request({ host: '127.0.0.1', servername: 'acme.test', port, path, ca }).end();
  const [response] = (await once(outgoing, 'response')) as [AsyncIterable<Buffer>];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
