import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { applyCommand, type ServiceControl, controlOf, logCommand } from './control.ts';
import { rewriteEnvFiles, servicesDir, sweepFiles } from './env-file.ts';
import { environmentOf, type EnvironmentContext } from './environment.ts';
import { killOrphan, killProcessesOf } from './left-over.ts';
import { logFilePath, readLogFile } from './log-file.ts';
import { SupervisedProgram } from './program.ts';
import { allServices, type Service, serviceById } from './queries.ts';
import { sandboxed } from './sandbox.ts';
import { publicId } from '../core/ids.ts';
import type { LogLine, ServiceRun } from '../core/service-runner.ts';

const MAX_RUN_MS = 60_000;
const MAX_OUTPUT = 1024 * 1024;

/** Nodes have no order in which they would start and stop a program. */
const ON_ONE_MACHINE =
  'programs are not supervised where several nodes share a database (MAILSTEAD_NODE): run it by systemd or docker compose';

/** Runs services by their controls: supervised programs, systemd units, docker compose services. */
export class ServiceSupervisor implements AsyncDisposable {
  readonly #world: EnvironmentContext;
  readonly #programs = new Map<number, SupervisedProgram>();
  /** Serializes changes by service. */
  readonly #turns = new Map<number, Promise<unknown>>();
  #closing = false;

  constructor(world: EnvironmentContext) {
    this.#world = world;
  }

  /** At the start: rewrites every environment file, and starts every supervised program that was deployed. */
  async begin(): Promise<void> {
    const { store, log, settings } = this.#world;
    const services = await store.read(allServices, undefined);
    for (const { id, name } of services) {
      const pid = await killOrphan(pidFilePath(settings.dataDir, id));
      if (pid !== undefined) log.warn({ service: name, pid }, 'orphaned program killed');
    }
    await sweepFiles(
      settings.dataDir,
      services.map((one) => one.id),
    );
    for (const service of services) await this.#beginOne(service);
  }

  /** Starts one service; a failure must not affect other services or mail. */
  async #beginOne(service: Service): Promise<void> {
    const { name } = service;
    const { log } = this.#world;
    await rewriteEnvFiles(this.#world, [service.id]).catch((error: unknown) => {
      log.error({ err: error, service: name }, 'failed to write an environment file');
    });
    if (service.revision === 0 || controlOf(service.control).kind !== 'command') return;
    const { state, detail } = await this.apply(service);
    if (state !== 'running') log.warn({ service: name, detail }, 'failed to start a service');
  }

  /** Runs a revision if it is still current, replacing the one before. Never rejects. */
  apply({ id, revision }: Pick<Service, 'id' | 'revision'>): Promise<ServiceRun> {
    return this.#inTurn(id, async () => {
      // Another revision may have been deployed meanwhile, or the service deleted.
      const service = await this.#world.store.read(serviceById, { id });
      if (service?.revision !== revision)
        return { state: 'superseded' as const, detail: 'superseded by another change' };
      return this.#apply(service, controlOf(service.control));
    }).catch((error: unknown) => failed((error as Error).message));
  }

  /** Stops a service and deletes its log. */
  remove(service: number): Promise<void> {
    return this.#inTurn(service, async () => {
      await this.#stop(service);
      const path = logFilePath(this.#world.settings.dataDir, service);
      await Promise.all([rm(path, { force: true }), rm(`${path}.1`, { force: true })]);
    });
  }

  #inTurn<T>(service: number, work: () => Promise<T>): Promise<T> {
    const mine = (this.#turns.get(service) ?? Promise.resolve()).then(work);
    const done = mine
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        if (this.#turns.get(service) === done) this.#turns.delete(service);
      });
    this.#turns.set(service, done);
    return mine;
  }

  /** Newest lines of a service's log, oldest first. */
  async logs(service: Service, wanted: { since: number; limit: number }): Promise<LogLine[]> {
    const control = controlOf(service.control);
    if (control.kind === 'command' || control.kind === 'none') {
      return readLogFile(logFilePath(this.#world.settings.dataDir, service.id), wanted);
    }
    const { ok, output } = await run(logCommand(control, wanted.limit));
    if (!ok) throw new Error(output.slice(-500));
    return output
      .split('\n')
      .filter((line) => line !== '')
      .slice(-wanted.limit)
      .map((text) => ({ at: '', text: text.slice(0, 4_000) }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#turns.values());
    const { log } = this.#world;
    const stops = [...this.#programs.keys()].map((id) =>
      this.#stop(id).catch((error: unknown) => log.error({ err: error }, 'failed to stop a supervised program')),
    );
    await Promise.all(stops);
  }

  async #apply(service: Service, control: ServiceControl): Promise<ServiceRun> {
    if (this.#closing) return failed('the server is stopping');
    if (control.kind !== 'command') await this.#stop(service.id);
    if (control.kind === 'none') {
      return running('no control is set: restart the service yourself to load its environment');
    }
    if (control.kind === 'command' && this.#world.settings.node !== undefined) return failed(ON_ONE_MACHINE);
    if (control.kind === 'command') return this.#supervise(service, control);
    const { ok, output } = await run(applyCommand(control));
    return ok ? running(`${control.kind} restarted it`) : failed(output);
  }

  async #supervise(service: Service, control: Extract<ServiceControl, { kind: 'command' }>): Promise<ServiceRun> {
    await this.#stop(service.id);
    this.#refuseSharedUser(control.uid);
    const sandbox = await sandboxed(control, this.#world.settings.dataDir);
    // After a crash of the server, its former programs may still run, and hold a port or file.
    if (!(await killProcessesOf(sandbox))) throw new Error(`processes of uid ${sandbox.uid} do not end`);
    const environment = await environmentOf(this.#world, service);
    const { log, settings } = this.#world;
    const logPath = logFilePath(settings.dataDir, service.id);
    const pidPath = pidFilePath(settings.dataDir, service.id);
    await mkdir(servicesDir(settings.dataDir), { recursive: true, mode: 0o700 });
    const program = new SupervisedProgram({ program: sandbox, environment, logPath, pidPath, name: service.name, log });
    await program.start();
    this.#programs.set(service.id, program);
    return running(`started, pid ${program.pid}`);
  }

  /** Throws if another service runs as the same user: it could read its passwords, and would end with it. */
  #refuseSharedUser(uid: number | undefined): void {
    const other = [...this.#programs].find(([, { sandbox }]) => sandbox.uid === uid);
    if (other === undefined) return;
    throw new Error(`uid ${uid} runs ${publicId('service', other[0])}: give each service a user of its own`);
  }

  async #stop(service: number): Promise<void> {
    const program = this.#programs.get(service);
    await program?.stop();
    this.#programs.delete(service);
    if (program === undefined) return;
    // As the program's user: links that it leaves behind must not lead the server anywhere.
    const { cwd } = program.sandbox;
    await run(['rm', '-rf', '--', cwd], program.sandbox);
  }
}

const running = (detail: string): ServiceRun => ({ state: 'running', detail });
const failed = (why: string): ServiceRun => ({ state: 'failed', detail: why.slice(-500) });

function pidFilePath(dataDir: string, service: number): string {
  return join(servicesDir(dataDir), `svc_${service}.pid`);
}

/**
 * Runs a command without a shell. As another user it gets no variables of the server: each process of that user can read
 * them in /proc.
 */
function run(
  [program = '', ...args]: readonly string[],
  as?: { uid: number; gid: number },
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    const user = as === undefined ? {} : { uid: as.uid, gid: as.gid, env: { PATH: process.env['PATH'] } };
    execFile(program, args, { ...user, timeout: MAX_RUN_MS, maxBuffer: MAX_OUTPUT }, (error, stdout, stderr) => {
      resolve({ ok: error === null, output: error === null ? stdout : `${stdout}${stderr}` || error.message });
    });
  });
}
