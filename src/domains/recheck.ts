import type { Log } from '../../mail/log.ts';
import { domainOf } from '../../mail/store/domain.ts';
import { forgetKeys, GRACE_MS } from './commands.ts';
import { type LookContext, lookAt, manage } from './look.ts';
import { keysInMotion, nextManaged, nextToCheck } from './queries.ts';

/** Each proved domain is looked at so often; those that are not proved wait for somebody to ask. */
const EVERY_MS = 24 * 3_600_000;
/** One domain a round, so that a box with many spreads them by itself. */
const ROUND_MS = 20_000;
/** Keys that wait to be seen and keys that may go. */
const KEYS_MS = 10 * 60_000;
/** Whether the domains that are served here still lead here; one a round. */
const LED_MS = 3_600_000;

export interface RecheckContext extends Omit<LookContext, 'write'> {
  clock: () => number;
  log: Log;
}

/**
 * Looks at proved domains now and then, pauses and resumes their sending, completes rotations of keys, and stops to serve
 * domains whose name servers lead here no more.
 */
export class Recheck implements AsyncDisposable {
  readonly #context: RecheckContext;
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #closing = false;
  #keysAt = 0;
  /** When the walk through the served domains began, and the one that was looked at last. */
  #led = { since: 0, last: 0 };

  constructor(context: RecheckContext) {
    this.#context = context;
    this.#timer = this.#later();
  }

  /** One round now: the domain that waits longest, if its day is over; a served one; keys in motion, if it is time. */
  async run(): Promise<void> {
    const { store, clock } = this.#context;
    const due = await store.read(nextToCheck, { before: clock() - EVERY_MS });
    if (due !== undefined) await this.#look(due);
    await this.#follow();
    if (clock() - this.#keysAt < KEYS_MS) return;
    this.#keysAt = clock();
    for (const { domain, tenant, waits } of await store.read(keysInMotion, { retiredBefore: clock() - GRACE_MS })) {
      if (this.#closing) return;
      await store.write(forgetKeys, { domain });
      if (waits) await this.#look({ id: domain, tenant });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  async #follow(): Promise<void> {
    const { store, clock, settings, log } = this.#context;
    // With the name server off for a while nothing is served anyway, and nothing is to be forgotten.
    if (settings.ports.dns === undefined || this.#closing) return;
    if (this.#led.last === 0) {
      if (clock() - this.#led.since < LED_MS) return;
      this.#led.since = clock();
    }
    const domain = await store.read(nextManaged, { after: this.#led.last });
    this.#led.last = domain?.id ?? 0;
    if (domain === undefined) return;
    const { managed, observed } = await manage(this.#writing(), domain);
    if (!managed)
      log.warn({ domain: domain.name, observed }, 'a domain is served no more: its name servers lead elsewhere');
  }

  #writing(): LookContext {
    const { store } = this.#context;
    return { ...this.#context, write: (what, input) => store.write(what, input) };
  }

  async #look({ id, tenant }: { id: number; tenant: number }): Promise<void> {
    const { store, log } = this.#context;
    const domain = await store.read(domainOf, { tenant, id });
    if (domain === undefined) return;
    const { verdict, changed } = await lookAt(this.#writing(), domain);
    if (verdict === 'fail') log.warn({ domain: domain.name, changed }, 'the DNS records of a domain are wrong');
    else if (changed) log.info({ domain: domain.name, verdict }, 'a domain changed');
  }

  #later(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#round = this.run()
        .catch((error: unknown) => this.#context.log.error({ err: error }, 'looking at domains failed'))
        .finally(() => {
          if (!this.#closing) this.#timer = this.#later();
        });
    }, ROUND_MS).unref();
  }
}
