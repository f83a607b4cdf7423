import { type SharedAccount, sharedEmailState } from '../../store/mailbox/shared-account.ts';
import { type EmailChange, MAX_EMAILS } from '../../store/message/email-change-commands.ts';
import { changeSharedEmails, destroySharedEmails } from '../../store/message/shared-email-commands.ts';
import type { MethodError } from '../core/errors.ts';
import { jmapRow } from '../core/ids.ts';
import type { MethodCall } from '../core/method.ts';
import {
  done,
  refused,
  runSet,
  type SetOutcome,
  SetRefusal,
  type SetRequest,
  stateMismatch,
  toRefusedOutcome,
} from '../standard/standard-set.ts';
import { changeOutcome, NOT_FOUND, readEmailPatch } from './email-patch.ts';

type Patches = readonly (readonly [id: string, patch: Record<string, unknown>])[];

/** Email/set in a shared account, by the rights on its mailboxes. New emails come by Email/copy. RFC 8621 4.6. */
export async function runSharedEmailSet(
  call: MethodCall,
  set: SetRequest,
  account: SharedAccount,
): Promise<Record<string, unknown>> {
  const updater = new SharedEmailUpdater(call, account, set.ifInState !== null);
  const answer = await runSet(call, set, {
    state: () => Promise.resolve(updater.state),
    create: () => Promise.resolve(refused('forbidden', COPY_INSTEAD)),
    updateAll: (patches) => updater.update(patches),
    destroyAll: (ids) => updater.destroy(ids),
  });
  return { ...answer, oldState: updater.oldState, newState: updater.state };
}

const COPY_INSTEAD = 'Create the email in your own account and copy it to this one (Email/copy).';

/** A row of the input, or the outcome that is known without a write. */
type Item<R> = { read: R } | SetOutcome<null>;

/** Updates and destroys emails of a shared account, one commit per slice. */
class SharedEmailUpdater {
  readonly #call: MethodCall;
  readonly #account: SharedAccount;
  readonly #strict: boolean;
  oldState: string;
  state: string;

  constructor(call: MethodCall, account: SharedAccount, strict: boolean) {
    this.#call = call;
    this.#account = account;
    this.#strict = strict;
    this.state = sharedEmailState(account);
    this.oldState = this.state;
  }

  update(patches: Patches): Promise<SetOutcome<null>[]> {
    const { owner } = this.#account;
    const target = { call: this.#call, account: owner };
    const items = patches.map(([id, patch]): Item<EmailChange> => {
      const email = jmapRow('email', owner, id);
      if (email === undefined) return NOT_FOUND;
      return this.#orRefuse(() => ({ read: readEmailPatch(target, email, id, patch) }));
    });
    return this.#inSlices(items, async (changes) => {
      const result = await this.#call.context.store.writeSlice(changeSharedEmails, { ...this.#where(), changes });
      this.#advance(result);
      return result.outcomes.map((one) => changeOutcome(this.#call.context.log, one));
    });
  }

  destroy(ids: readonly string[]): Promise<SetOutcome<null>[]> {
    const items = ids.map((id): Item<number> => {
      const email = jmapRow('email', this.#account.owner, id);
      return email === undefined ? NOT_FOUND : { read: email };
    });
    return this.#inSlices(items, async (emails) => {
      const result = await this.#call.context.store.writeSlice(destroySharedEmails, { ...this.#where(), emails });
      this.#advance(result);
      const why = new Map(result.kept.map((one) => [one.email, one.why]));
      return emails.map((email) => {
        if (result.destroyed.includes(email)) return done(null);
        const kept = why.get(email);
        return kept === undefined ? NOT_FOUND : refused('forbidden', `${kept}.`);
      });
    });
  }

  #where() {
    const { login, owner } = this.#account;
    return { login, owner, ifState: this.#strict ? this.state : null };
  }

  /** Throws if nothing was written: the rights were revoked, or another client was faster. */
  #advance<T extends { kind: string }>(
    result: T | { kind: 'revoked' } | { kind: 'state-mismatch' },
  ): asserts result is T & { kind: 'done' } {
    if (result.kind === 'state-mismatch') throw this.state === this.oldState ? stateMismatch() : CHANGED_MEANWHILE();
    if (result.kind === 'revoked')
      throw new SetRefusal('forbidden', 'Nothing of this account is shared with you any more.');
    const { before, after } = result as unknown as { before: string; after: string };
    if (before !== this.state) this.oldState = before;
    this.state = after;
  }

  #orRefuse<R>(read: () => Item<R>): Item<R> {
    try {
      return read();
    } catch (error) {
      return toRefusedOutcome(error, this.#call.context.log);
    }
  }

  async #inSlices<R>(
    items: readonly Item<R>[],
    write: (read: readonly R[]) => Promise<SetOutcome<null>[]>,
  ): Promise<SetOutcome<null>[]> {
    const outcomes: SetOutcome<null>[] = [];
    for (let at = 0; at < items.length; at += MAX_EMAILS) {
      const slice = items.slice(at, at + MAX_EMAILS);
      const taken = slice.flatMap((one) => ('read' in one ? [one.read] : []));
      const written =
        taken.length === 0 ? [] : await write(taken).catch((error: unknown) => this.#refuseAll(taken, error));
      const next = written.values();
      for (const one of slice) outcomes.push('read' in one ? (next.next().value ?? NOT_FOUND) : one);
    }
    return outcomes;
  }

  #refuseAll(items: readonly unknown[], error: unknown): SetOutcome<never>[] {
    const outcome = toRefusedOutcome(error, this.#call.context.log);
    return items.map(() => outcome);
  }
}

const CHANGED_MEANWHILE = (): MethodError | SetRefusal =>
  new SetRefusal('stateMismatch', 'Another client made changes during this call. This object was not changed.');
