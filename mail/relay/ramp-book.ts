import type { AttemptResult } from '../store/queue/queue.ts';
import type { Host } from './destination.ts';
import { newRamp, rampAfter, rampDecision, type RampDecision, type RampState, reserveRamp } from './ramp.ts';
import { classifyReply } from './reply-class.ts';

/** Receiving organizations that are remembered. */
const MAX_ORGANIZATIONS = 10_000;
/** Domains whose receiving organization is remembered. */
const MAX_DOMAINS = 10_000;

export interface RampOptions {
  /** Registrable domain of a mail server. */
  organizationOf(host: string): string;
  /** False for hosts without a memory of reputations, such as those on private addresses. */
  applies(ip: string): boolean;
  /** States of an earlier start. */
  stored: readonly RampState[];
}

/** The sending ramp of this server. In memory; {@link changed} returns what is to be stored. */
export class RampBook {
  readonly #options: RampOptions;
  readonly #states = new Map<string, RampState>();
  readonly #organizations = new Map<string, string>();
  readonly #changed = new Set<string>();

  constructor(options: RampOptions) {
    this.#options = options;
    for (const state of options.stored) this.#states.set(state.organization, state);
  }

  /** Organization that receives the mail of a domain, once a session was open; undefined: not known, or without a ramp. */
  known(domain: string): string | undefined {
    return this.#organizations.get(domain);
  }

  /** Organization of a host; undefined: no ramp applies. */
  organization(domain: string, host: Host): string | undefined {
    if (!this.#options.applies(host.ip)) return undefined;
    const name = this.#options.organizationOf(host.name);
    remember(this.#organizations, domain, name, MAX_DOMAINS);
    return name;
  }

  /** Looks without counting. */
  peek(organization: string, now: number): RampDecision {
    return rampDecision(this.#state(organization, now), 1, now);
  }

  /** Decides for some recipients, and counts those that may be sent. */
  take(organization: string, wanted: number, now: number): RampDecision {
    const state = this.#state(organization, now);
    const decision = rampDecision(state, wanted, now);
    this.#set(reserveRamp(state, decision.count, now));
    return decision;
  }

  /** Learns from the results of an attempt. */
  learn(organization: string, results: readonly AttemptResult[], now: number): void {
    const accepted = results.filter(({ outcome }) => outcome === 'delivered').length;
    const objections = results.filter((result) => result.outcome !== 'delivered' && isObjection(result)).length;
    this.#set(rampAfter(this.#state(organization, now), { accepted, objections }, now));
  }

  /** States that changed since the last call. */
  changed(): RampState[] {
    const all = [...this.#changed].flatMap((name) => this.#states.get(name) ?? []);
    this.#changed.clear();
    return all;
  }

  #state(organization: string, now: number): RampState {
    return this.#states.get(organization) ?? newRamp(organization, now);
  }

  #set(state: RampState): void {
    remember(this.#states, state.organization, state, MAX_ORGANIZATIONS);
    this.#changed.add(state.organization);
  }
}

function isObjection(result: AttemptResult): boolean {
  const kind = classifyReply(result);
  return kind === 'blocked' || kind === 'rate-limited';
}

/** Sets an entry and removes the oldest over the limit. */
function remember<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
