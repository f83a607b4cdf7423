import { typeState } from '../../store/account/type-state.ts';
import { copyEmail } from '../../store/message/email-commands.ts';
import { access, fromAccess } from '../core/access.ts';
import { bool, mapOf, nullable, object, optional, plainObject, text } from '../core/arguments.ts';
import { MAIL } from '../core/capabilities.ts';
import { MethodError } from '../core/errors.ts';
import { jmapId } from '../core/ids.ts';
import type { JmapMethod, MethodCall } from '../core/method.ts';
import { formatState } from '../standard/standard-changes.ts';
import { catchRefusal, checkCount, createEach, type SetOutcome, stateMismatch } from '../standard/standard-set.ts';
import { StateTrack } from '../standard/state-track.ts';
import { type CreatedEmail, createdEmailOutcome } from './email-storage.ts';
import { type CopyGiven, type EmailCopying, readEmailCopy } from './copy-arguments.ts';
import { SharedEmailCopier } from './shared-email-copy.ts';

/** Email/copy. RFC 8621 4.7, 8620 5.4. */
export const emailCopy: JmapMethod = {
  name: 'Email/copy',
  capability: MAIL,
  canShare: true,
  async run(call, args) {
    const read = object({
      fromAccountId: fromAccess(call),
      ifFromInState: nullable(text),
      accountId: access(call, 'write'),
      ifInState: nullable(text),
      create: mapOf(plainObject),
      onSuccessDestroyOriginal: optional(bool, false),
      destroyFromIfInState: nullable(text),
    })(args, '');
    const { fromAccountId: from, accountId: to } = read;
    if (from.account === to.account) {
      throw new MethodError('invalidArguments', '"fromAccountId" must differ from "accountId".', {
        arguments: ['fromAccountId'],
      });
    }
    checkCount(call, read.create.size);
    const copying = { ...read, from: from.account, to: to.account };
    const shared = from.shared ?? to.shared;
    const copies = await (shared === undefined
      ? EmailCopier.begin(call, copying)
      : SharedEmailCopier.begin(call, shared, copying));
    const created = await createEach(call, read.create, (given) =>
      catchRefusal(call.context.log, () => copies.copy(given)),
    );
    if (read.onSuccessDestroyOriginal && copies.originals.length > 0) {
      call.addImplicitCall('Email/set', {
        accountId: args['fromAccountId'],
        ifInState: read.destroyFromIfInState,
        destroy: copies.originals,
      });
    }
    return { fromAccountId: args['fromAccountId'], accountId: args['accountId'], ...copies.states, ...created };
  },
};

/** Copies emails between two accounts, one after the other. RFC 8621 4.7. */
class EmailCopier {
  readonly #call: MethodCall;
  readonly #copying: EmailCopying;
  readonly #track: StateTrack;
  /** Required state of the source account, which copying does not change; null for any. */
  readonly #ifFromState: number | null;
  readonly #originals = new Set<string>();

  private constructor(call: MethodCall, copying: EmailCopying, track: StateTrack, ifFromState: number | null) {
    this.#call = call;
    this.#copying = copying;
    this.#track = track;
    this.#ifFromState = ifFromState;
  }

  /** Throws `stateMismatch` if either account is not in the required state. */
  static async begin(call: MethodCall, copying: EmailCopying): Promise<EmailCopier> {
    const { store } = call.context;
    const track = await StateTrack.begin(store, copying.to, copying.ifInState);
    if (copying.ifFromInState === null) return new EmailCopier(call, copying, track, null);
    const from = await store.read(typeState, { account: copying.from, type: 'Email' });
    if (copying.ifFromInState !== formatState(from)) throw stateMismatch();
    return new EmailCopier(call, copying, track, from);
  }

  /** Ids of the copied emails. */
  get originals(): string[] {
    return [...this.#originals];
  }

  get states(): StateTrack['states'] {
    return this.#track.states;
  }

  async copy(given: CopyGiven): Promise<SetOutcome<CreatedEmail>> {
    const { from, to } = this.#copying;
    const { email, ...place } = readEmailCopy(this.#call, this.#copying, given);
    const states = { ifFromState: this.#ifFromState, ifState: this.#track.expected };
    const busy = this.#call.context.store.unavailable();
    if (busy !== undefined) throw busy;
    const by = this.#call.session.agent ?? null;
    const input = { from, email, account: to, ...place, by, ...states };
    const copied = await this.#call.context.store.write(copyEmail, input);
    const outcome = createdEmailOutcome(copied, to, this.#track);
    this.#originals.add(jmapId('email', email));
    return outcome;
  }
}
