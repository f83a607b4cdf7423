import type { Log } from '../../log.ts';
import type { Actor } from '../../store/actor.ts';
import type { Command } from '../../store/engine/types.ts';
import {
  changeEmails,
  destroyEmails,
  type EmailChange,
  MAX_EMAILS,
} from '../../store/message/email-change-commands.ts';
import { MAX_OPENED_BYTES } from '../blob/blobs.ts';
import { MAIL } from '../core/capabilities.ts';
import { jmapRow } from '../core/ids.ts';
import { actorOf, type JmapContext, type JmapMethod } from '../core/method.ts';
import { sharedPart } from '../core/shared-accounts.ts';
import { ReadBudget } from '../email/header-values.ts';
import {
  catchRefusal,
  done,
  readSet,
  refused,
  runSet,
  type SetOutcome,
  toRefusedOutcome,
} from '../standard/standard-set.ts';
import { StateTrack } from '../standard/state-track.ts';
import { runSharedEmailSet } from './shared-email-set.ts';
import { createEmail } from './email-creation.ts';
import { changeOutcome, NOT_FOUND, readEmailPatch } from './email-patch.ts';
import type { EmailTarget } from './mailbox-ids.ts';

/** Email/set. RFC 8621 4.6. */
export const emailSet: JmapMethod = {
  name: 'Email/set',
  capability: MAIL,
  canShare: true,
  async run(call, args) {
    const { context } = call;
    const set = readSet(call, args, {});
    const shared = sharedPart(call, set.access.account);
    if (shared !== undefined) return runSharedEmailSet(call, set, shared);
    const opening = new ReadBudget(MAX_OPENED_BYTES);
    const target = { call, account: set.access.account, actor: actorOf(set.access), opening };
    const track = await StateTrack.begin(context.store, target.account, set.ifInState);
    const changes = new EmailUpdater(context, target, track);
    const answer = await runSet(call, set, {
      state: () => Promise.resolve(track.states.newState),
      create: (_, object) => catchRefusal(call.context.log, () => createEmail(context, target, track, object)),
      updateAll: (patches) => changes.update(patches),
      destroyAll: (ids) => changes.destroy(ids),
    });
    return { ...answer, ...track.states };
  },
};

/** Updates and destroys emails of one account, one commit per slice; outcomes are in the order of the input. */
class EmailUpdater {
  readonly #context: JmapContext;
  readonly #target: EmailTarget;
  readonly #track: StateTrack;

  constructor(context: JmapContext, target: EmailTarget, track: StateTrack) {
    this.#context = context;
    this.#target = target;
    this.#track = track;
  }

  update(patches: readonly (readonly [id: string, patch: Record<string, unknown>])[]): Promise<SetOutcome<null>[]> {
    return this.#inSlices(
      patches,
      ([id, patch]) => {
        const email = jmapRow('email', this.#target.account, id);
        return email === undefined ? undefined : readEmailPatch(this.#target, email, id, patch);
      },
      async (changes: readonly EmailChange[], few) => {
        const result = await this.#write(few, changeEmails, { changes });
        return result.outcomes.map((one) => changeOutcome(this.#context.log, one));
      },
    );
  }

  destroy(ids: readonly string[]): Promise<SetOutcome<null>[]> {
    return this.#inSlices(
      ids,
      (id) => jmapRow('email', this.#target.account, id),
      async (emails: readonly number[], few) => {
        const { destroyed, kept } = await this.#write(few, destroyEmails, { emails });
        const why = new Map(kept.map((one) => [one.email, one.why]));
        return emails.map((email) => (destroyed.includes(email) ? done(null) : notDestroyed(why.get(email))));
      },
    );
  }

  /** `read` converts an item into the command's input; undefined if the email does not exist. */
  async #inSlices<I, R>(
    items: readonly I[],
    read: (item: I) => R | undefined,
    write: (read: readonly R[], few: boolean) => Promise<SetOutcome<null>[]>,
  ): Promise<SetOutcome<null>[]> {
    const outcomes: SetOutcome<null>[] = [];
    const few = items.length <= MAX_EMAILS;
    for (let at = 0; at < items.length; at += MAX_EMAILS) {
      const slice = items.slice(at, at + MAX_EMAILS).map((item) => readOrRefuse(this.#context.log, () => read(item)));
      const taken = slice.flatMap((one) => ('read' in one ? [one.read] : []));
      const written =
        taken.length === 0
          ? []
          : await write(taken, few).catch((error: unknown) => refuseAll(this.#context.log, taken, error));
      const next = written.values();
      for (const one of slice) outcomes.push('read' in one ? (next.next().value ?? NOT_FOUND) : one);
    }
    return outcomes;
  }

  /** Writes a single slice in the normal queue; further slices have low priority. */
  async #write<I, O extends { kind: 'done'; before: number; after: number }>(
    few: boolean,
    what: Command<
      I & { account: number; by: string | null; ifState: number | null; actor?: Actor | undefined },
      O | { kind: 'state-mismatch' }
    >,
    input: I,
  ): Promise<O> {
    const { account, call, actor } = this.#target;
    const whole = { ...input, account, actor, by: call.session.agent ?? null, ifState: this.#track.expected };
    const result = await (few ? this.#context.store.write(what, whole) : this.#context.store.writeSlice(what, whole));
    if (result.kind === 'state-mismatch') throw this.#track.mismatch();
    this.#track.advance(result);
    return result;
  }
}

function notDestroyed(why: string | undefined): SetOutcome<never> {
  return why === undefined ? NOT_FOUND : refused('forbidden', `${why}.`);
}

function readOrRefuse<R>(log: Log, read: () => R | undefined): { read: R } | SetOutcome<never> {
  try {
    const one = read();
    return one === undefined ? NOT_FOUND : { read: one };
  } catch (error) {
    return toRefusedOutcome(error, log);
  }
}

function refuseAll(log: Log, items: readonly unknown[], error: unknown): SetOutcome<never>[] {
  const outcome = toRefusedOutcome(error, log);
  return items.map(() => outcome);
}
