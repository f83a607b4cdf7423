import type { Host } from './destination.ts';

interface Rest {
  until: number;
  /** How long the rest was. */
  length: number;
  /** Why nothing is tried there, or undefined for a host that answers and then breaks off. */
  why: string | undefined;
}

const MOST = 10_000;
/** So many hosts that were not to be reached, and none that was for so long, ms: it is the way out that is closed. */
const CUT_OFF = { hosts: 4, since: 10 * 60_000 } as const;

/**
 * Remembers for a while which hosts did not answer, so that mail for many domains on one dead host does not wait for it
 * again and again, and so that a host that breaks off in the middle is tried last.
 */
export class HostMemory {
  readonly #rests = new Map<string, Rest>();
  readonly #monotonic: () => number;
  readonly #length: { first: number; most: number };
  /** Hosts that were not to be reached since one was. */
  readonly #unreached = new Set<string>();
  #reachedAt = -Infinity;

  constructor(monotonic: () => number, length: { first: number; most: number }) {
    this.#monotonic = monotonic;
    this.#length = length;
  }

  /** Hosts worth trying now, the doubtful ones last; `why` is what kept the others out, when there were any. */
  choose(hosts: readonly Host[]): { hosts: Host[]; resting: Host | undefined; why: string } {
    const dead = hosts.filter((host) => this.#rest(host)?.why !== undefined);
    const alive = hosts.filter((host) => !dead.includes(host));
    const doubtful = alive.filter((host) => this.#rest(host) !== undefined);
    const ordered = [...alive.filter((host) => !doubtful.includes(host)), ...doubtful];
    const resting = dead[0];
    return { hosts: ordered, resting, why: resting === undefined ? '' : (this.#rest(resting)?.why ?? '') };
  }

  /** True when it looks as if no mail server could be reached from here, as where a provider blocks port 25. */
  get cutOff(): boolean {
    return this.#unreached.size >= CUT_OFF.hosts && this.#monotonic() - this.#reachedAt > CUT_OFF.since;
  }

  /** Nothing that speaks SMTP was there. Each time in a row doubles the rest. */
  dead(host: Host, why: string): void {
    if (this.#unreached.size < CUT_OFF.hosts) this.#unreached.add(host.ip);
    this.#remember(host, why);
  }

  /** It broke off in the middle of a message. */
  doubtful(host: Host): void {
    if (this.#rest(host) === undefined) this.#remember(host, undefined);
  }

  works(host: Host): void {
    this.#unreached.clear();
    this.#reachedAt = this.#monotonic();
    this.#rests.delete(key(host));
  }

  #rest(host: Host): Rest | undefined {
    const rest = this.#rests.get(key(host));
    return rest !== undefined && rest.until > this.#monotonic() ? rest : undefined;
  }

  #remember(host: Host, why: string | undefined): void {
    const name = key(host);
    const last = this.#rests.get(name);
    const running = last !== undefined && last.until > this.#monotonic();
    // Two connections that fail at the same time are one failure.
    const length =
      last === undefined ? this.#length.first : Math.min(this.#length.most, last.length * (running ? 1 : 2));
    this.#rests.delete(name);
    this.#rests.set(name, { until: this.#monotonic() + length, length, why });
    for (const oldest of this.#rests.keys()) {
      if (this.#rests.size <= MOST) break;
      this.#rests.delete(oldest);
    }
  }
}

function key(host: Host): string {
  return `${host.ip} ${host.port}`;
}
