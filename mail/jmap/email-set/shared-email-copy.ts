import type { SharingLogin } from '../../store/mailbox/acl.ts';
import { emailStateFor } from '../../store/mailbox/shared-account.ts';
import { copySharedEmail } from '../../store/message/shared-email-commands.ts';
import { blobId, jmapId } from '../core/ids.ts';
import type { MethodCall } from '../core/method.ts';
import { done, type SetOutcome, SetRefusal, stateMismatch } from '../standard/standard-set.ts';
import { type EmailCopying, readEmailCopy } from './copy-arguments.ts';
import { type CreatedEmail, refuseStored } from './email-storage.ts';

/** Copies emails from or to a shared account; the commit checks the rights on both sides. RFC 8621 4.7. */
export class SharedEmailCopier {
  readonly #call: MethodCall;
  readonly #login: SharingLogin;
  readonly #copying: EmailCopying;
  readonly #originals = new Set<string>();
  readonly states: { oldState: string; newState: string };

  private constructor(call: MethodCall, login: SharingLogin, copying: EmailCopying, state: string) {
    this.#call = call;
    this.#login = login;
    this.#copying = copying;
    this.states = { oldState: state, newState: state };
  }

  /** Throws `stateMismatch` if either account is not in the required state. */
  static async begin(call: MethodCall, login: SharingLogin, copying: EmailCopying): Promise<SharedEmailCopier> {
    const { store } = call.context;
    const state = await store.read(emailStateFor, { login, account: copying.to });
    const from = await store.read(emailStateFor, { login, account: copying.from });
    const { ifInState, ifFromInState } = copying;
    if ((ifInState ?? state) !== state || (ifFromInState ?? from) !== from) throw stateMismatch();
    return new SharedEmailCopier(call, login, copying, state);
  }

  /** Ids of the copied emails. */
  get originals(): string[] {
    return [...this.#originals];
  }

  async copy(given: Readonly<Record<string, unknown>>): Promise<SetOutcome<CreatedEmail>> {
    const { from, to: account, ifInState, ifFromInState } = this.#copying;
    const place = readEmailCopy(this.#call, this.#copying, given);
    const { store } = this.#call.context;
    const ifState = ifInState === null ? null : this.states.newState;
    const copied = await store.write(copySharedEmail, {
      login: this.#login,
      ...place,
      from,
      account,
      ifState,
      ifFromState: ifFromInState,
    });
    if (copied.kind === 'state-mismatch') throw this.#mismatch();
    if (copied.kind !== 'placed') return refuseStored(copied, account);
    const { email, thread, size, before, after } = copied;
    if (before !== this.states.newState) this.states.oldState = before;
    this.states.newState = after;
    this.#originals.add(jmapId('email', place.email));
    const id = jmapId('email', email);
    return done({ id, blobId: blobId({ kind: 'message', email }), threadId: jmapId('thread', thread), size });
  }

  #mismatch(): Error {
    if (this.#originals.size === 0) return stateMismatch();
    return new SetRefusal('stateMismatch', 'Another client made changes during this call. This email was not copied.');
  }
}
