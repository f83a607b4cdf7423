import type { Log, Meter } from '../../mail/log.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import { letterOwners } from '../letters/owners.ts';
import { Rounds } from '../letters/rounds.ts';
import { tellDigest } from './commands.ts';
import { beginOf, dayOf } from './day.ts';
import { digestDue, type Undoable, undoableChanges } from './due-queries.ts';
import { digestLetters, type DigestPost } from './letter.ts';
import type { AgentDay } from './agent-queries.ts';
import { agentsDay, MOST_DAYS } from './queries.ts';

const EVERY_MS = 5 * 60_000;
/** The first round waits until the start is over. */
const FIRST_MS = 5_000;
const TOGETHER = 20;

export type DigestHeraldOptions = DigestPost & {
  /** A letter was queued. */
  queued: () => void;
  log: Log;
  metrics: Meter;
};

/** Tells owners each day what their agents did, if they did anything: one letter a day, whatever happens in between. */
export class DigestHerald implements AsyncDisposable {
  readonly #options: DigestHeraldOptions;
  readonly #rounds: Rounds;
  /** Of this day everybody was told: what belongs to it is over, so nothing is to be looked for. */
  #told: number | undefined;

  constructor(options: DigestHeraldOptions) {
    const failed = 'owners could not be told what their agents did, it is tried again';
    this.#options = options;
    this.#rounds = new Rounds({
      round: () => this.run(),
      everyMs: EVERY_MS,
      firstMs: FIRST_MS,
      failed,
      log: options.log,
    });
  }

  /** Tells everybody who was not told of the day before this one. */
  async run(): Promise<void> {
    const { store, clock } = this.#options;
    const day = dayOf(clock());
    if (day === this.#told) return;
    const undoable = Map.groupBy(await this.#undoable(day), (one) => one.organization);
    let failures = 0;
    for (let after = 0, more = true; more && !this.#rounds.closing;) {
      const due = await store.scan(digestDue, { day, now: clock(), after, limit: TOGETHER });
      for (const organization of due) {
        const changed = undoable.get(organization) ?? [];
        failures += Number(!(await this.#tried(organization, day, changed)));
      }
      after = due.at(-1) ?? after;
      more = due.length === TOGETHER;
    }
    if (failures > 0) throw new Error(`${failures} organizations were not told`);
    if (!this.#rounds.closing) this.#told = day;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#rounds[Symbol.asyncDispose]();
  }

  /** What can be undone of the days before a day of which a letter may tell, day by day, so that others can read between. */
  async #undoable(day: number): Promise<Undoable[]> {
    const { store } = this.#options;
    const all: Undoable[] = [];
    for (let one = day - MOST_DAYS; one < day; one++) {
      all.push(...(await store.scan(undoableChanges, { since: beginOf(one), until: beginOf(one + 1) })));
    }
    return all;
  }

  /** One that cannot be told must not keep back those behind it. */
  async #tried(organization: number, day: number, changed: readonly Undoable[]): Promise<boolean> {
    const { log } = this.#options;
    if (this.#rounds.closing) return true;
    try {
      await this.#tell(organization, day, changed);
      return true;
    } catch (error) {
      // The store takes nothing now, of anybody.
      if (error instanceof StoreBusy) throw error;
      log.error({ err: error, organization }, 'owners could not be told what their agents did');
      return false;
    }
  }

  async #tell(organization: number, day: number, changed: readonly Undoable[]): Promise<void> {
    const { store, clock, queued, log, metrics } = this.#options;
    const others = [...new Set(changed.map(({ who }) => who))];
    const found = await store.scan(agentsDay, { organization, day, now: clock(), others });
    if (found === undefined) return;
    const undoable = undoableSince(found.since, changed);
    const agents = found.agents.filter((one) => isActive(one) || undoable.has(one.credential));
    if (agents.length === 0) return;
    const owners = await store.read(letterOwners, { organization, daily: true });
    const letters = await digestLetters(this.#options, { organization, day }, { ...found, agents, undoable }, owners);
    const audit = found.head?.audit ?? null;
    const { told } = await store.write(tellDigest, { organization, day, audit, letters });
    if (!told) return;
    metrics.count('daily_letters_total', {}, letters.length);
    log.info({ organization, agents: agents.length, letters: letters.length }, 'owners are told what agents did');
    if (letters.length > 0) queued();
  }
}

/** How much each changed since the last letter, by its id. */
function undoableSince(last: number, changed: readonly Undoable[]): Map<string, number> {
  const untold = changed.filter(({ since }) => since >= last);
  const byWho = [...Map.groupBy(untold, ({ who }) => who)];
  return new Map(byWho.map(([who, days]) => [who, days.reduce((sum, { changes }) => sum + changes, 0)]));
}

/** What waits since before is no news. */
function isActive({ sent, read, acts, rules }: AgentDay): boolean {
  return sent + read + acts.length + rules > 0;
}
