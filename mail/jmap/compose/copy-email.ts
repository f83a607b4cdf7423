import { copyEmail } from '../../store/email-commands.ts';
import { typeState } from '../../store/type-state.ts';
import { idOrCreation, utcDate, wrong } from '../arguments.ts';
import { realId } from '../created.ts';
import { jmapId, jmapRow } from '../ids.ts';
import type { Call } from '../method.ts';
import { SetRefusal } from '../set-refusal.ts';
import { type Outcome, stateMismatch } from '../standard-set.ts';
import { formatState } from '../state.ts';
import { readKeywords } from './keywords.ts';
import { readMailboxIds } from './mailboxes.ts';
import { made, type MadeEmail } from './save-email.ts';
import { StateTrack } from '../state-track.ts';

interface Copying {
  from: number;
  to: number;
  ifFromInState: string | null;
  ifInState: string | null;
}

type Given = Readonly<Record<string, unknown>>;

const KNOWN = new Set(['id', 'mailboxIds', 'keywords', 'receivedAt']);

/** Copies from one account to another, one after the other. RFC 8621 4.7. */
export class EmailCopies {
  readonly #call: Call;
  readonly #copying: Copying;
  readonly #track: StateTrack;
  /** State of the account copied from, which copying does not change; null: whatever it is. */
  readonly #ifFromState: number | null;
  readonly #originals = new Set<string>();

  private constructor(call: Call, copying: Copying, track: StateTrack, ifFromState: number | null) {
    this.#call = call;
    this.#copying = copying;
    this.#track = track;
    this.#ifFromState = ifFromState;
  }

  /** Throws `stateMismatch` when one of the two accounts has another state than asked for. */
  static async begin(call: Call, copying: Copying): Promise<EmailCopies> {
    const { store } = call.desk;
    const track = await StateTrack.begin(store, copying.to, copying.ifInState);
    if (copying.ifFromInState === null) return new EmailCopies(call, copying, track, null);
    const from = await store.read(typeState, { account: copying.from, type: 'Email' });
    if (copying.ifFromInState !== formatState(from)) throw stateMismatch();
    return new EmailCopies(call, copying, track, from);
  }

  /** Ids of what was copied. */
  get originals(): string[] {
    return [...this.#originals];
  }

  get states(): StateTrack['states'] {
    return this.#track.states;
  }

  async copy(given: Given): Promise<Outcome<MadeEmail>> {
    const { from, to } = this.#copying;
    const odd = Object.keys(given).find((name) => !KNOWN.has(name));
    if (odd !== undefined) throw wrong(odd, 'cannot be changed by copying');
    const original = realId(this.#call, idOrCreation(given['id'], 'id'));
    const email = original === undefined ? undefined : jmapRow('email', from, original);
    const place = this.#place(given);
    if (email === undefined) {
      throw new SetRefusal('notFound', 'There is no such email in the account that is copied from.');
    }
    const states = { ifFromState: this.#ifFromState, ifState: this.#track.expected };
    const busy = this.#call.desk.store.unavailable();
    if (busy !== undefined) throw busy;
    const copied = await this.#call.desk.store.write(copyEmail, { from, email, account: to, ...place, ...states });
    const outcome = made(copied, to, this.#track);
    this.#originals.add(jmapId('email', email));
    return outcome;
  }

  /** Keywords and receivedAt are those of the original unless they are given. */
  #place(given: Given): Pick<Parameters<typeof copyEmail.run>[1], 'mailboxes' | 'flags' | 'receivedAt'> {
    const { keywords = null, receivedAt = null } = given;
    return {
      mailboxes: readMailboxIds({ call: this.#call, account: this.#copying.to }, given['mailboxIds'], 'mailboxIds'),
      flags: keywords === null ? null : readKeywords(keywords, 'keywords'),
      receivedAt: receivedAt === null ? null : utcDate(receivedAt, 'receivedAt'),
    };
  }
}
