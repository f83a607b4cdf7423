import {
  type ChangeOutcome,
  changeEmails,
  destroyEmails,
  EMAIL_SLICE,
  type EmailChange,
} from '../../store/email-change-commands.ts';
import type { Log } from '../../log.ts';
import type { Command } from '../../store/engine/types.ts';
import type { Hand } from '../../store/hand.ts';
import { wrong } from '../arguments.ts';
import { jmapRow } from '../ids.ts';
import type { JmapDesk } from '../method.ts';
import { refusal } from '../set-refusal.ts';
import { done, type Outcome, refused } from '../standard-set.ts';
import { readEmailChange } from './email-change.ts';
import { tooManyKeywords } from './keywords.ts';
import { type Asked, noMailbox, tooManyMailboxes } from './mailboxes.ts';
import type { StateTrack } from '../state-track.ts';

/** Changes and destroys emails of one account, a slice of them a commit; answers for each in its place. */
export class EmailChanges {
  readonly #desk: JmapDesk;
  readonly #asked: Asked;
  readonly #track: StateTrack;

  constructor(desk: JmapDesk, asked: Asked, track: StateTrack) {
    this.#desk = desk;
    this.#asked = asked;
    this.#track = track;
  }

  update(patches: readonly (readonly [id: string, patch: Record<string, unknown>])[]): Promise<Outcome<null>[]> {
    return this.#inSlices(
      patches,
      ([id, patch]) => {
        const email = jmapRow('email', this.#asked.account, id);
        return email === undefined ? undefined : readEmailChange(this.#asked, email, id, patch);
      },
      async (changes: readonly EmailChange[], few) => {
        const told = await this.#write(few, changeEmails, { changes });
        return told.outcomes.map((one) => changed(this.#desk.log, one));
      },
    );
  }

  destroy(ids: readonly string[]): Promise<Outcome<null>[]> {
    return this.#inSlices(
      ids,
      (id) => jmapRow('email', this.#asked.account, id),
      async (emails: readonly number[], few) => {
        const { destroyed, kept } = await this.#write(few, destroyEmails, { emails });
        const why = new Map(kept.map((one) => [one.email, one.why]));
        return emails.map((email) => (destroyed.includes(email) ? done(null) : notGone(why.get(email))));
      },
    );
  }

  /** `read` makes of an item what the command takes; undefined: there is no such email. */
  async #inSlices<I, R>(
    items: readonly I[],
    read: (item: I) => R | undefined,
    write: (read: readonly R[], few: boolean) => Promise<Outcome<null>[]>,
  ): Promise<Outcome<null>[]> {
    const outcomes: Outcome<null>[] = [];
    const few = items.length <= EMAIL_SLICE;
    for (let at = 0; at < items.length; at += EMAIL_SLICE) {
      const slice = items.slice(at, at + EMAIL_SLICE).map((item) => readOrRefuse(this.#desk.log, () => read(item)));
      const taken = slice.flatMap((one) => ('read' in one ? [one.read] : []));
      const written =
        taken.length === 0 ? [] : await write(taken, few).catch((error: unknown) => fill(this.#desk.log, taken, error));
      const next = written.values();
      for (const one of slice) outcomes.push('read' in one ? (next.next().value ?? NOT_FOUND) : one);
    }
    return outcomes;
  }

  /** One short command goes with everybody's; long work waits in the second lane. */
  async #write<I, O extends { kind: 'done'; before: number; after: number }>(
    few: boolean,
    what: Command<
      I & { account: number; by: string | null; ifState: number | null; hand?: Hand | undefined },
      O | { kind: 'state-mismatch' }
    >,
    input: I,
  ): Promise<O> {
    const { account, call, hand } = this.#asked;
    const whole = { ...input, account, hand, by: call.session.agent ?? null, ifState: this.#track.expected };
    const told = await (few ? this.#desk.store.write(what, whole) : this.#desk.store.writeSlice(what, whole));
    if (told.kind === 'state-mismatch') throw this.#track.mismatch();
    this.#track.took(told);
    return told;
  }
}

const NOT_FOUND = refused('notFound', 'There is no such email.');

function notGone(why: string | undefined): Outcome<never> {
  return why === undefined ? NOT_FOUND : refused('forbidden', `${why}.`);
}

function readOrRefuse<R>(log: Log, read: () => R | undefined): { read: R } | Outcome<never> {
  try {
    const one = read();
    return one === undefined ? NOT_FOUND : { read: one };
  } catch (error) {
    return refusal(error, log);
  }
}

function fill(log: Log, items: readonly unknown[], error: unknown): Outcome<never>[] {
  const outcome = refusal(error, log);
  return items.map(() => outcome);
}

function changed(log: Log, outcome: ChangeOutcome): Outcome<null> {
  switch (outcome.kind) {
    case 'changed':
      return done(null);
    case 'not-found':
      return NOT_FOUND;
    case 'missing':
      return refusal(noMailbox(outcome.mailboxes[0] ?? 0), log);
    case 'in-none':
      return refusal(
        wrong('mailboxIds', 'must leave the email in one mailbox at least: to delete it, destroy it'),
        log,
      );
    case 'in-too-many':
      return refusal(tooManyMailboxes(), log);
    case 'too-many-keywords':
      return refusal(tooManyKeywords(), log);
    case 'forbidden':
      return refused('forbidden', `${outcome.why}.`);
  }
}
