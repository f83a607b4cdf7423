import type { Capability } from './extensions.ts';
import type { TaggedResponse } from './tagged-response.ts';
import type { Session } from './session.ts';
import type { AllowedUpdates } from './selected-view.ts';
import type { Decoder } from './wire/decoder.ts';
import type { State } from './session.ts';

/** A message literal that APPEND or REPLACE announced. */
export interface AnnouncedLiteral {
  readonly size: number;
  /** The client waits for a continuation. */
  readonly sync: boolean;
  /** A literal8, which may have NUL octets. RFC 3516. */
  readonly binary: boolean;
}

/** The tag and form of one command, beside its arguments. */
export interface CommandCall {
  readonly tag: string;
  /** True for the form `UID ...`. */
  readonly uid: boolean;
  /** The announced message literal of APPEND or REPLACE. */
  readonly literal: AnnouncedLiteral | undefined;
}

/** One IMAP command: its name, allowed states, parser and implementation. */
export interface ImapCommand<Arguments> {
  readonly name: string;
  readonly states: readonly State[];
  /** True when `UID name` exists. */
  readonly uidForm?: boolean;
  /** Untagged updates allowed before the tagged response, `all` by default and always for the UID form. RFC 9051 7.5.1. */
  readonly allowedUpdates?: AllowedUpdates;
  /** The command writes: refused to read-only passwords. */
  readonly changes?: true;
  /** Capabilities that this command implements. */
  readonly capabilities?: readonly Capability[];
  /** Parses the arguments, from the space after the name. The caller rejects trailing text. */
  parse(d: Decoder, uid: boolean): Arguments;
  run(session: Session, args: Arguments, call: CommandCall): TaggedResponse | Promise<TaggedResponse>;
}

export const ANY: readonly State[] = ['not-authenticated', 'authenticated', 'selected'];
export const LOGGED_IN: readonly State[] = ['authenticated', 'selected'];
export const SELECTED: readonly State[] = ['selected'];
export const BEFORE_LOGIN: readonly State[] = ['not-authenticated'];

/** The parser of commands without arguments. */
export function noArguments(): undefined {
  return undefined;
}
