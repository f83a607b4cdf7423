import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { loadSettings } from '../../config/load.ts';
import type { Log } from '../../mail/log.ts';
import { callServer } from '../../src/operator-socket/client.ts';
import { openMetrics } from '../../src/core/metrics.ts';
import { type Appliance, startAppliance } from '../../src/start/appliance.ts';
import { freePort } from './free-port.ts';
import { Internet } from './internet.ts';
import { startTlsAt } from './start-tls.ts';
import { type Pebble, type PebbleOptions, startPebble } from './pebble.ts';

export const HOST = 'mail.box.test';

/** A box in live mode in this process, an authority, and the DNS that both use. */
export interface AcmeWorld extends AsyncDisposable {
  internet: Internet;
  pebble: Pebble;
  appliance: Appliance;
  dataDir: string;
  /** Lines of the log. */
  log: LogLine[];
  ask(operation: string, input?: object): Promise<Record<string, unknown>>;
  /** Certificates as list_certificates shows them. */
  certificates(): Promise<AcmeCertificate[]>;
  /** Starts the box again on the same data and ports. */
  restart(): Promise<void>;
}

export interface LogLine {
  level: string;
  fields: Record<string, unknown>;
  text: string;
}

export interface AcmeCertificate {
  name: string;
  algorithm: string;
  status: string;
  names: string[];
  notAfter: string | null;
  failures: number;
  error: string | null;
}

export interface AcmeWorldOptions {
  settings?: Record<string, string>;
  pebble?: Partial<PebbleOptions>;
  /** Directory in place of pebble's. */
  directory?: (pebble: Pebble) => string | Promise<string>;
  clock?: () => number;
  /** Pause after a failure, ms. */
  pause?: number;
  /** False: no box yet. */
  start?: boolean;
}

const PORTS = ['SMTP', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'HTTP', 'HTTPS', 'DNS'];

export async function acmeWorld(options: AcmeWorldOptions = {}): Promise<AcmeWorld> {
  await using stack = new AsyncDisposableStack();
  const internet = stack.use(await Internet.start());
  internet.publish(`acme.test. 60 IN A 127.0.0.1\n${HOST}. 60 IN A 127.0.0.1`);
  const ports: Record<string, string> = {};
  for (const name of PORTS) ports[`MAILSTEAD_${name}_PORT`] = String(await freePort());
  const [httpPort, tlsPort] = [Number(ports['MAILSTEAD_HTTP_PORT']), Number(ports['MAILSTEAD_HTTPS_PORT'])];
  const pebble = stack.use(await startPebble({ dns: internet.address, httpPort, tlsPort, ...options.pebble }));
  const dataDir = await mkdtemp(join(tmpdir(), 'acme-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const directory = await (options.directory ?? ((one: Pebble) => one.directory))(pebble);
  const settings = loadSettings(
    {
      ...ports,
      MAILSTEAD_HOSTNAME: HOST,
      MAILSTEAD_LISTEN: '127.0.0.1',
      MAILSTEAD_DATA_DIR: dataDir,
      MAILSTEAD_ALLOW_PRIVATE_NETWORKS: 'true',
      MAILSTEAD_EXEMPT_NETWORKS: '127.0.0.0/8',
      MAILSTEAD_RESOLVERS: internet.address,
      MAILSTEAD_ACME_EMAIL: 'owner@box.test',
      MAILSTEAD_ACME_DIRECTORY: directory,
      ...options.settings,
    },
    [],
  );
  if ('problem' in settings) throw new Error(settings.problem);
  const log: LogLine[] = [];
  const start = (): Promise<Appliance> =>
    startAppliance({
      settings,
      log: recordingLog(log),
      metrics: openMetrics(),
      clock: options.clock ?? Date.now,
      fatal: () => undefined,
      acmeTest: { roots: [pebble.serverRoot], pause: () => options.pause ?? 50, everyMs: 50, pollMs: 20 },
    });
  const ask: AcmeWorld['ask'] = async (operation, input = {}) => {
    const answer = await callServer(dataDir, operation, input);
    if (answer.kind !== 'done') throw new Error(`${operation}: ${answer.message}`);
    return answer.result as Record<string, unknown>;
  };
  let appliance = await start();
  stack.defer(() => appliance[Symbol.asyncDispose]());
  const all = stack.move();
  return {
    internet,
    pebble,
    get appliance() {
      return appliance;
    },
    dataDir,
    log,
    ask,
    certificates: async () => (await ask('list_certificates'))['certificates'] as AcmeCertificate[],
    async restart() {
      await appliance[Symbol.asyncDispose]();
      appliance = await start();
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A log whose lines are kept. */
export function recordingLog(lines: LogLine[]): Log {
  const at =
    (level: string) =>
    (fields: object, text: string): void =>
      void lines.push({ level, fields: fields as Record<string, unknown>, text });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export const TLS_PORTS = ['https', 'imaps', 'submissions', 'imap', 'smtp', 'submission'] as const;
export type TlsPort = (typeof TLS_PORTS)[number];

/** Opens a verified TLS connection to a listener, by STARTTLS where it needs that. */
export async function secured(
  { appliance, pebble }: Pick<AcmeWorld, 'appliance' | 'pebble'>,
  listener: TlsPort,
  servername: string = HOST,
  options: { minVersion?: 'TLSv1.2'; maxVersion?: 'TLSv1.2'; ciphers?: string; rejectUnauthorized?: boolean } = {},
): Promise<TLSSocket> {
  const port = appliance.listeners[listener] ?? 0;
  const plain = { smtp: 'smtp', submission: 'smtp', imap: 'imap', https: '', imaps: '', submissions: '' } as const;
  const protocol = plain[listener];
  const socket = protocol === '' ? undefined : await startTlsAt(port, protocol);
  const secure = connect({
    host: '127.0.0.1',
    port,
    servername,
    ca: pebble.root,
    ...(socket && { socket }),
    ...options,
  });
  await once(secure, 'secureConnect');
  return secure;
}

/** Certificate that a listener presents, verified up to the authority's root. */
export async function presented(
  world: Pick<AcmeWorld, 'appliance' | 'pebble'>,
  listener: TlsPort,
  servername: string = HOST,
): Promise<PeerCertificate> {
  const socket = await secured(world, listener, servername);
  const certificate = socket.getPeerCertificate();
  socket.destroy();
  return certificate;
}
