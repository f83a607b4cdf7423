import { type AutomaticDesk, automaticMail } from '../delivery/automatic-mail.ts';
import { sendVacationAnswer } from '../delivery/vacation-answer.ts';
import type { Log } from '../log.ts';
import { type Address, addressKey, parseAddress } from '../message/address.ts';
import { unanswerable } from '../message/answerable.ts';
import { type Field, firstField, readFields } from '../message/header.ts';
import { StoreBusy } from '../store/engine/types.ts';
import { identitiesOf } from '../store/identity.ts';
import type { MailStore } from '../store/store.ts';
import {
  addressKeysOf,
  dropVacationJobs,
  type Vacation,
  type VacationJob,
  vacationJobs,
  vacationOf,
} from '../store/vacation.ts';
import { composeVacation } from './compose-vacation.ts';

const EVERY_MS = 3000;
const TOGETHER = 50;
/** More of a header is not looked at. */
const MOST_HEADER = 256 * 1024;

export interface VacationOptions extends AutomaticDesk {
  readonly store: MailStore;
  log: Log;
  traceId: () => string;
  /** Something was queued. */
  queued: () => void;
}

/** In 24 hours, of one account: strangers who make up senders must not use up what the person may send. */
const MOST_ANSWERS = 100;
const TOLD = 'This is how often an account answers while its person is away';

/** Who is answered, and the message that is. */
interface Answerable {
  job: VacationJob;
  own: Address;
  sender: Address;
  fields: readonly Field[];
  vacation: Vacation;
}

/** Answers what comes for people who are away. A job is a row, so that nothing is lost or done twice. RFC 3834. */
export class VacationResponder implements AsyncDisposable {
  readonly #options: VacationOptions;
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #closing = false;

  constructor(options: VacationOptions) {
    this.#options = options;
    this.#timer = this.#later();
  }

  /** Everything that waits now. */
  async run(): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const { jobs, void: gone } = await store.read(vacationJobs, { limit: TOGETHER });
      if (jobs.length + gone.length === 0 || this.#closing) return;
      if (gone.length > 0) await store.write(dropVacationJobs, { ids: gone });
      for (const job of jobs) await this.#take(job);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  /** One that cannot be answered must not keep back those behind it: an answer is a courtesy, and never mail that is lost. */
  async #take(job: VacationJob): Promise<void> {
    const { store, log } = this.#options;
    try {
      const found = await this.#answerable(job);
      if (found === undefined || !(await this.#answer(found))) await store.write(dropVacationJobs, { ids: [job.id] });
    } catch (error) {
      // The store takes nothing now, of any message.
      if (error instanceof StoreBusy) throw error;
      log.error({ err: error, account: job.account }, 'an answer for somebody who is away could not be made');
      await store.write(dropVacationJobs, { ids: [job.id] });
    }
  }

  async #answerable(job: VacationJob): Promise<Answerable | undefined> {
    const { store } = this.#options;
    const { account } = job;
    const { vacation } = await store.read(vacationOf, { account });
    const own = parseAddress(job.address);
    if (!vacation.enabled || own === undefined) return undefined;
    const header = await store.blob(job.blob, 0, Math.min(job.headerLength, MOST_HEADER));
    const fields = readFields(header.toString('latin1'));
    const path = firstField(readFields(job.trace), 'return-path') ?? '';
    const sender = parseAddress(Buffer.from(path.trim().replace(/^<|>$/g, ''), 'latin1').toString());
    const keys = new Set(await store.read(addressKeysOf, { account }));
    if (sender === undefined || unanswerable(sender, fields, keys) !== undefined) return undefined;
    return { job, own, sender, fields, vacation };
  }

  /** False: there is no way to who wrote, or the gate stopped it; the job is still there. */
  async #answer({ job, own, sender, fields, vacation }: Answerable): Promise<boolean> {
    const { store, clock, queued, traceId } = this.#options;
    const { account } = job;
    const { identities } = await store.read(identitiesOf, { account });
    const name = identities.find((one) => one.email === job.address)?.name ?? '';
    const trace = traceId();
    const bytes = composeVacation({
      from: { name, address: own },
      to: sender,
      fields,
      subject: job.subject,
      vacation,
      now: clock(),
      id: trace,
    });
    const what = { account, author: own, to: [sender], trace, bytes, spares: true };
    const { mail: asked, unreachable } = await automaticMail(this.#options, what);
    if (unreachable.length > 0) return false;
    const budgets = [...asked.budgets, { subject: `vacation/${account}`, told: TOLD, daily: MOST_ANSWERS }];
    const mail = { ...asked, budgets };
    const done = await store.write(sendVacationAnswer, { id: job.id, account, key: addressKey(sender), mail });
    if (done.kind === 'sent' && done.queued) queued();
    return done.kind === 'sent' || done.kind === 'answered';
  }

  #later(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#round = this.run()
        .catch((error: unknown) => this.#options.log.error({ err: error }, 'answers of people who are away wait'))
        .finally(() => {
          if (!this.#closing) this.#timer = this.#later();
        });
    }, EVERY_MS).unref();
  }
}
