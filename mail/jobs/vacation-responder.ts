import { automaticDraft } from '../delivery/automatic-mail.ts';
import type { SubmissionContext } from '../delivery/submission-draft.ts';
import { submitMessage } from '../delivery/submit-message.ts';
import { sendVacationAnswer } from '../delivery/vacation-answer.ts';
import type { Log } from '../log.ts';
import { type Address, addressKey, parseAddress } from '../message/address.ts';
import { noReplyReason } from '../message/no-reply-reason.ts';
import { type Field, firstField, readFields } from '../message/header.ts';
import { StoreBusy } from '../store/engine/types.ts';
import { identitiesOf } from '../store/submission/identity.ts';
import {
  addressKeysOf,
  dropVacationJobs,
  type Vacation,
  type VacationJob,
  vacationJobs,
  vacationOf,
} from '../store/submission/vacation.ts';
import { composeVacation } from './vacation-reply.ts';
import type { Job } from './scheduler.ts';

const BATCH_SIZE = 50;
/** Octets read of a header. */
const MAX_HEADER_OCTETS = 256 * 1024;

export interface VacationOptions extends SubmissionContext {
  log: Log;
}

/** Replies of one account in 24 hours: forged senders must not use up the account's sending budget. */
const MAX_REPLIES_PER_DAY = 100;
const BUDGET_TEXT = 'Vacation reply limit of the account';

/** A message that gets a vacation reply. */
interface PendingReply {
  job: VacationJob;
  own: Address;
  sender: Address;
  fields: readonly Field[];
  vacation: Vacation;
}

/** Sends vacation replies. A job is a row, so that no reply is lost or sent twice. RFC 3834. */
export class VacationResponder implements Job {
  readonly name = 'vacation';
  readonly everyMs = 3_000;
  readonly backoffMs = 60_000;
  readonly #options: VacationOptions;

  constructor(options: VacationOptions) {
    this.#options = options;
  }

  /** Replies to all pending messages. */
  async run(stop?: AbortSignal): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const { jobs, void: gone } = await store.read(vacationJobs, { limit: BATCH_SIZE });
      if (jobs.length + gone.length === 0 || stop?.aborted === true) return;
      if (gone.length > 0) await store.write(dropVacationJobs, { ids: gone });
      for (const job of jobs) await this.#runJob(job);
    }
  }

  /** Runs one job. A failed one is dropped, so that it does not block those after it: a reply is not essential. */
  async #runJob(job: VacationJob): Promise<void> {
    const { store, log } = this.#options;
    try {
      const found = await this.#pendingReply(job);
      if (found === undefined || !(await this.#reply(found))) await store.write(dropVacationJobs, { ids: [job.id] });
    } catch (error) {
      // The store refuses all writes now.
      if (error instanceof StoreBusy) throw error;
      log.error({ err: error, account: job.account }, 'failed to send a vacation reply');
      await store.write(dropVacationJobs, { ids: [job.id] });
    }
  }

  async #pendingReply(job: VacationJob): Promise<PendingReply | undefined> {
    const { store } = this.#options;
    const { account } = job;
    const { vacation } = await store.read(vacationOf, { account });
    const own = parseAddress(job.address);
    if (!vacation.enabled || own === undefined) return undefined;
    const header = await store.blob(job.blob, 0, Math.min(job.headerLength, MAX_HEADER_OCTETS));
    const fields = readFields(header.toString('latin1'));
    const path = firstField(readFields(job.trace), 'return-path') ?? '';
    const sender = parseAddress(Buffer.from(path.trim().replace(/^<|>$/g, ''), 'latin1').toString());
    const keys = new Set(await store.read(addressKeysOf, { account }));
    if (sender === undefined || noReplyReason(sender, fields, keys) !== undefined) return undefined;
    return { job, own, sender, fields, vacation };
  }

  /** Sends the reply. False when the sender cannot be reached or the send gate refused it; the job remains. */
  async #reply({ job, own, sender, fields, vacation }: PendingReply): Promise<boolean> {
    const { store, clock, traceId } = this.#options;
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
    const answer = { submitter: { account, credential: null }, author: own, to: [sender], trace, bytes };
    const draft = { ...automaticDraft(answer, store.secretLinks), skipsSuppressed: true };
    const done = await submitMessage(this.#options, draft, ({ budgets, ...mail }) =>
      store.write(sendVacationAnswer, {
        id: job.id,
        account,
        key: addressKey(sender),
        mail: {
          ...mail,
          budgets: [
            ...budgets,
            { subject: `vacation/${account}`, explanation: BUDGET_TEXT, daily: MAX_REPLIES_PER_DAY },
          ],
        },
      }),
    );
    return done.kind === 'sent' || done.kind === 'answered';
  }
}
