import type { Log } from '../../mail/log.ts';
import { domainOf } from '../../mail/store/domain.ts';
import { forgetKeys, GRACE_MS } from './commands.ts';
import { type LookContext, lookAt } from './look.ts';
import { keysInMotion, nextToCheck } from './queries.ts';

/** Each proved domain is looked at so often; those that are not proved wait for somebody to ask. */
const EVERY_MS = 24 * 3_600_000;
/** One domain a round, so that a box with many spreads them by itself. */
const ROUND_MS = 20_000;
/** Keys that wait to be seen and keys that may go. */
const KEYS_MS = 10 * 60_000;

export interface RecheckContext extends Omit<LookContext, 'write'> {
  clock: () => number;
  log: Log;
}

/** Looks at proved domains now and then, pauses and resumes their sending, and completes rotations of keys. */
export class Recheck implements AsyncDisposable {
  readonly #context: RecheckContext;
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #closing = false;
  #keysAt = 0;

  constructor(context: RecheckContext) {
    this.#context = context;
    this.#timer = this.#later();
  }

  /** One round now: the domain that waits longest, if its day is over; keys in motion, if it is time for them. */
  async run(): Promise<void> {
    const { store, clock } = this.#context;
    const due = await store.read(nextToCheck, { before: clock() - EVERY_MS });
    if (due !== undefined) await this.#look(due);
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

  async #look({ id, tenant }: { id: number; tenant: number }): Promise<void> {
    const { store, log } = this.#context;
    const domain = await store.read(domainOf, { tenant, id });
    if (domain === undefined) return;
    const { verdict, changed } = await lookAt(
      { ...this.#context, write: (what, input) => store.write(what, input) },
      domain,
    );
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
