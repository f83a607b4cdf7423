import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { applyCommand, type Control, controlOf, logCommand } from './control.ts';
import { rewriteEnvFiles, servicesDir, sweepFiles } from './env-file.ts';
import { environmentOf, type EnvWorld } from './environment.ts';
import { endLeftOver } from './left-over.ts';
import { type LogLine, logFilePath, readLogFile } from './log-file.ts';
import { Program } from './program.ts';
import { allServices, type Service, serviceById } from './queries.ts';

/** How it went, in a sentence for people. `superseded`: another revision came meanwhile, and that one runs. */
export interface Ran {
  state: 'running' | 'failed' | 'superseded';
  detail: string;
}

const LONGEST_MS = 60_000;
const LARGEST_OUTPUT = 1024 * 1024;

/** Runs services as their controls say: programs of its own, units of systemd, services of docker compose. */
export class Runner implements AsyncDisposable {
  readonly #world: EnvWorld;
  readonly #programs = new Map<number, Program>();
  /** By service: one thing after another. */
  readonly #turns = new Map<number, Promise<unknown>>();
  #closing = false;

  constructor(world: EnvWorld) {
    this.#world = world;
  }

  /** At a start: every environment file as it should be, and every supervised program that was deployed. */
  async begin(): Promise<void> {
    const { store, log, settings } = this.#world;
    const services = await store.read(allServices, undefined);
    for (const { id, name } of services) {
      const pid = await endLeftOver(pidFilePath(settings.dataDir, id));
      if (pid !== undefined) log.warn({ service: name, pid }, 'a program was left over from before and was ended');
    }
    await sweepFiles(
      settings.dataDir,
      services.map((one) => one.id),
    );
    for (const service of services) await this.#beginOne(service);
  }

  /** What is wrong with one service keeps neither the others nor the mail from starting. */
  async #beginOne(service: Service): Promise<void> {
    const { name } = service;
    const { log } = this.#world;
    await rewriteEnvFiles(this.#world, [service.id]).catch((error: unknown) => {
      log.error({ err: error, service: name }, 'an environment file could not be written');
    });
    if (service.revision === 0 || controlOf(service.control).kind !== 'command') return;
    const { state, detail } = await this.apply(service);
    if (state !== 'running') log.warn({ service: name, detail }, 'a service does not start');
  }

  /** Makes a revision run, if it still is the current one, restarting what ran before. Never rejects. */
  apply({ id, revision }: Pick<Service, 'id' | 'revision'>): Promise<Ran> {
    return this.#inTurn(id, async () => {
      // Somebody may have deployed another one meanwhile, or have deleted the service.
      const service = await this.#world.store.read(serviceById, { id });
      if (service?.revision !== revision) return { state: 'superseded' as const, detail: 'another change came first' };
      return this.#apply(service, controlOf(service.control));
    }).catch((error: unknown) => failed((error as Error).message));
  }

  /** Ends what runs for a service, and forgets its log. */
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

  /** The newest lines of a service's log, oldest first. */
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
      this.#stop(id).catch((error: unknown) => log.error({ err: error }, 'a supervised program was left running')),
    );
    await Promise.all(stops);
  }

  async #apply(service: Service, control: Control): Promise<Ran> {
    if (this.#closing) return failed('the server is stopping');
    if (control.kind !== 'command') await this.#stop(service.id);
    if (control.kind === 'none') {
      return running('no control is set: the service reads its environment when it starts by itself');
    }
    if (control.kind === 'command') return this.#supervise(service, control.command);
    const { ok, output } = await run(applyCommand(control));
    return ok ? running(`${control.kind} restarted it`) : failed(output);
  }

  async #supervise(service: Service, command: readonly string[]): Promise<Ran> {
    await this.#stop(service.id);
    const environment = await environmentOf(this.#world, service);
    const { log, settings } = this.#world;
    const logPath = logFilePath(settings.dataDir, service.id);
    const pidPath = pidFilePath(settings.dataDir, service.id);
    await mkdir(servicesDir(settings.dataDir), { recursive: true, mode: 0o700 });
    const program = new Program({ command, environment, logPath, pidPath, name: service.name, log });
    await program.start();
    this.#programs.set(service.id, program);
    return running(`started, pid ${program.pid}`);
  }

  async #stop(service: number): Promise<void> {
    await this.#programs.get(service)?.stop();
    this.#programs.delete(service);
  }
}

const running = (detail: string): Ran => ({ state: 'running', detail });
const failed = (why: string): Ran => ({ state: 'failed', detail: why.slice(-500) });

function pidFilePath(dataDir: string, service: number): string {
  return join(servicesDir(dataDir), `svc_${service}.pid`);
}

/** No shell: the words are the operator's, and they stay words. */
function run([program = '', ...args]: readonly string[]): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: LONGEST_MS, maxBuffer: LARGEST_OUTPUT }, (error, stdout, stderr) => {
      resolve({ ok: error === null, output: error === null ? stdout : `${stdout}${stderr}` || error.message });
    });
  });
}
