import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { applyCommand, type Control, controlOf, logCommand } from './control.ts';
import { rewriteEnvFiles } from './env-file.ts';
import { environmentOf, type EnvWorld } from './environment.ts';
import { type LogLine, logFilePath, readLogFile } from './log-file.ts';
import { Program } from './program.ts';
import { allServices, type Service } from './queries.ts';

/** How it went, in a sentence for people. */
export interface Ran {
  ok: boolean;
  detail: string;
}

const LONGEST_MS = 60_000;
const LARGEST_OUTPUT = 1024 * 1024;

/** Runs services as their controls say: programs of its own, units of systemd, services of docker compose. */
export class Runner implements AsyncDisposable {
  readonly #world: EnvWorld;
  readonly #programs = new Map<number, Program>();
  #turn: Promise<unknown> = Promise.resolve();
  #closing = false;

  constructor(world: EnvWorld) {
    this.#world = world;
  }

  /** At a start: every environment file as it should be, and every supervised program that was deployed. */
  async begin(): Promise<void> {
    const services = await this.#world.store.read(allServices, undefined);
    await rewriteEnvFiles(
      this.#world,
      services.map((one) => one.id),
    );
    for (const service of services) {
      if (service.revision === 0 || controlOf(service.control).kind !== 'command') continue;
      const { ok, detail } = await this.apply(service);
      if (!ok) this.#world.log.warn({ service: service.name, detail }, 'a service does not start');
    }
  }

  /** Makes what is current run, restarting what ran before. Never rejects. */
  apply(service: Service): Promise<Ran> {
    const mine = this.#turn.then(() => this.#apply(service, controlOf(service.control)));
    this.#turn = mine.catch(() => undefined);
    return mine.catch((error: unknown) => ({ ok: false, detail: (error as Error).message.slice(0, 500) }));
  }

  /** Ends what runs for a service, and forgets its log. */
  async remove(service: number): Promise<void> {
    await this.#stop(service);
    const path = logFilePath(this.#world.settings.dataDir, service);
    await Promise.all([rm(path, { force: true }), rm(`${path}.1`, { force: true })]);
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
    await this.#turn;
    await Promise.all([...this.#programs.keys()].map((id) => this.#stop(id)));
  }

  async #apply(service: Service, control: Control): Promise<Ran> {
    if (this.#closing) return { ok: false, detail: 'the server is stopping' };
    if (control.kind !== 'command') await this.#stop(service.id);
    if (control.kind === 'none') {
      return { ok: true, detail: 'no control is set: the service reads its environment when it starts by itself' };
    }
    if (control.kind === 'command') return this.#supervise(service, control.command);
    const { ok, output } = await run(applyCommand(control));
    return { ok, detail: ok ? `${control.kind} restarted it` : output.slice(-500) };
  }

  async #supervise(service: Service, command: readonly string[]): Promise<Ran> {
    await this.#stop(service.id);
    const environment = await environmentOf(this.#world, service);
    const logPath = logFilePath(this.#world.settings.dataDir, service.id);
    const program = new Program({ command, environment, logPath, name: service.name, log: this.#world.log });
    await program.start();
    this.#programs.set(service.id, program);
    return { ok: true, detail: `started, pid ${program.pid}` };
  }

  async #stop(service: number): Promise<void> {
    const program = this.#programs.get(service);
    this.#programs.delete(service);
    await program?.stop();
  }
}

/** No shell: the words are the operator's, and they stay words. */
function run([program = '', ...args]: readonly string[]): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: LONGEST_MS, maxBuffer: LARGEST_OUTPUT }, (error, stdout, stderr) => {
      resolve({ ok: error === null, output: error === null ? stdout : `${stdout}${stderr}` || error.message });
    });
  });
}
