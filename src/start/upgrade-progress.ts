import { statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { Log } from '../../mail/log.ts';
import type { UpgradeStep } from '../../mail/store/engine/upgrade-step.ts';

/** Interval of log lines during a step. */
const LOG_EVERY_MS = 5_000;

/** State of a start that changes the tables, for the log and for probes. */
export interface UpgradeState {
  step: 'copying the database' | 'changing the tables';
  /** Time since the change began. */
  seconds: number;
  /** Share of the copy that is written; of the migrations that are applied. */
  percent: number;
  migration?: string;
}

interface UpgradeProgressOptions {
  log: Log;
  /** Addresses and port of the HTTP listener, which opens after the change; undefined: there is none. */
  hosts: readonly string[];
  port: number | undefined;
  logEveryMs?: number;
}

/**
 * Shows how far a start is that changes the tables of an earlier version: a log line every five seconds, and answers to
 * probes on the HTTP port until the server itself opens it.
 */
export class UpgradeProgress implements AsyncDisposable {
  readonly #options: UpgradeProgressOptions;
  readonly #servers: Server[] = [];
  #step: UpgradeStep | undefined;
  #began = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UpgradeProgressOptions) {
    this.#options = options;
  }

  /** Takes the next step. The first one opens the ports. */
  report(step: UpgradeStep): void {
    if (this.#step === undefined) this.#begin();
    this.#step = step;
    this.#logState();
  }

  /** The state now; undefined: no table is changed. */
  state(): UpgradeState | undefined {
    const step = this.#step;
    if (step === undefined) return undefined;
    const seconds = Math.round((performance.now() - this.#began) / 1000);
    if (step.kind === 'copy') return { step: 'copying the database', seconds, percent: copiedPercent(step) };
    const percent = Math.floor((100 * (step.number - 1)) / step.total);
    return { step: 'changing the tables', seconds, percent, migration: `${step.number} of ${step.total}` };
  }

  /** Addresses of the open ports. */
  get addresses(): { address: string; port: number }[] {
    return this.#servers.flatMap((server) => {
      const address = server.address();
      return address === null || typeof address === 'string' ? [] : [address];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const { log } = this.#options;
    if (this.#step !== undefined) log.info({ seconds: this.state()?.seconds }, 'the change of the tables has ended');
    await Promise.all(this.#servers.map((server) => closeServer(server)));
  }

  #begin(): void {
    this.#began = performance.now();
    const { hosts, port, logEveryMs = LOG_EVERY_MS } = this.#options;
    this.#timer = setInterval(() => this.#logState(), logEveryMs);
    if (port !== undefined) for (const host of hosts) this.#servers.push(this.#listen(host, port));
  }

  #logState(): void {
    this.#options.log.info({ ...this.state() }, 'a new version changes the tables: do not stop the server');
  }

  /** A port that cannot be opened stops the start later, with its own message. */
  #listen(host: string, port: number): Server {
    const server = createServer((request, response) => {
      const [code, body] = this.#answer(request.url ?? '');
      response.writeHead(code, { 'content-type': 'application/json', 'retry-after': '5', connection: 'close' });
      response.end(JSON.stringify(body));
    });
    server.on('error', (error) =>
      this.#options.log.warn({ err: error }, 'failed to show the progress on the HTTP port'),
    );
    return server.listen({ port, host, ipv6Only: this.#options.hosts.length > 1 });
  }

  /** The process is healthy, so that nothing restarts it, and not ready, so that nothing is sent to it. */
  #answer(path: string): [code: number, body: object] {
    const migrating = this.state();
    if (path === '/healthz') return [200, { ok: true, migrating }];
    if (path === '/readyz') return [503, { ready: false, failing: ['migrating'], degraded: [], migrating }];
    return [503, { error: 'unavailable', message: 'The server starts: a new version changes its tables.', migrating }];
  }
}

function copiedPercent({ draft, octets }: UpgradeStep & { kind: 'copy' }): number {
  const written = statSync(draft, { throwIfNoEntry: false })?.size ?? 0;
  return Math.min(99, Math.floor((100 * written) / Math.max(1, octets)));
}

async function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
