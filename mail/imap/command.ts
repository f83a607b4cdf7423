import type { Answer } from './answer.ts';
import type { Session } from './session.ts';
import type { Tellable } from './view.ts';
import type { Decoder } from './wire/decoder.ts';

export type State = 'not-authenticated' | 'authenticated' | 'selected' | 'logout';

/** What surrounds the arguments of one command. */
export interface Call {
  readonly tag: string;
  /** It was given as `UID ...`. */
  readonly uid: boolean;
  /** The message that follows, for APPEND. */
  readonly literal: { readonly size: number; readonly sync: boolean } | undefined;
}

/** One IMAP command: what it is called, when it may come, how it is read and what it does. */
export interface ImapCommand<Arguments> {
  readonly name: string;
  readonly states: readonly State[];
  /** There is a form `UID name`. */
  readonly uidForm?: boolean;
  /** What may be told before the tagged answer; `all` when not said. The UID form may always be told everything. */
  readonly tellable?: Tellable;
  /** It changes something, which a password for reading only may not. */
  readonly changes?: true;
  /** Capabilities that this file makes true. */
  readonly capabilities?: readonly string[];
  /** Reads what follows the name, with the space before it. The caller sees to it that nothing is left over. */
  parse(d: Decoder, uid: boolean): Arguments;
  run(session: Session, given: Arguments, call: Call): Answer | Promise<Answer>;
}

export const ANY: readonly State[] = ['not-authenticated', 'authenticated', 'selected'];
export const LOGGED_IN: readonly State[] = ['authenticated', 'selected'];
export const SELECTED: readonly State[] = ['selected'];
export const BEFORE_LOGIN: readonly State[] = ['not-authenticated'];

/** For commands without arguments. */
export function nothing(): undefined {
  return undefined;
}
