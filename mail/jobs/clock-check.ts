import type { Log } from '../log.ts';
import { changeSetting, getSetting } from '../store/setting.ts';
import type { MailStore } from '../store/store.ts';
import type { Job } from './scheduler.ts';
import type { ClockRecord, ClockState, SteadyClock } from './steady-clock.ts';

const SETTING = 'clock';
/** Pause between two records while nothing changes, in runs. */
const RECORD_EVERY = 10;

/** Continues the clock from the record in the store, before anything is stamped. */
export async function restoreClock(store: MailStore, clock: SteadyClock): Promise<void> {
  const stored = await store.read(getSetting, { name: SETTING });
  if (stored !== undefined) clock.restore(JSON.parse(Buffer.from(stored).toString()) as ClockRecord);
}

/** Watches for jumps of the system clock: logs them, and records the clock for the next process. */
export class ClockCheck implements Job {
  readonly name = 'clock-check';
  readonly everyMs = 30_000;
  readonly firstMs = 1_000;
  readonly #store: MailStore;
  readonly #clock: SteadyClock;
  readonly #log: Log;
  #known: ClockState['kind'] = 'steady';
  #runs = 0;

  constructor(store: MailStore, clock: SteadyClock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  async run(): Promise<void> {
    const state = this.#clock.state();
    const changed = state.kind !== this.#known;
    if (changed) this.#report(state);
    this.#known = state.kind;
    if (!changed && this.#runs++ % RECORD_EVERY !== 0) return;
    const value = Uint8Array.from(Buffer.from(JSON.stringify(this.#clock.record())));
    await this.#store.writeSlice(changeSetting, { name: SETTING, value });
  }

  #report(state: ClockState): void {
    if (state.kind === 'steady') return this.#log.info({}, 'system clock confirmed, purges continue');
    const { kind, byMs, leftMs } = state;
    const facts = { seconds: Math.round(byMs / 1000), confirmedInSeconds: Math.round(leftMs / 1000) };
    if (kind === 'ahead')
      this.#log.error(facts, 'system clock jumped forward, nothing is purged until it is confirmed');
    else this.#log.error(facts, 'system clock jumped back, the time before is used until it is confirmed');
  }
}
