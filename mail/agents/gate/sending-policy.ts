import type { AgentSending } from './types.ts';

/** A message that passed all other checks, as a policy sees it. */
export interface PolicyInput {
  tenant: number;
  /** Account that sends; null: a program, or the box. */
  account: number | null;
  /** Public id of the token or key; null: a password login, or the box sends. */
  credential: string | null;
  /** Row of the login password; null or left out: none was used. */
  login?: number | null;
  sender: string;
  recipients: readonly string[];
  size: number;
}

export type SendVerdict =
  | { kind: 'allow' }
  /** Held for approval; the reason, as a sentence without its full stop. */
  | { kind: 'hold'; because: string }
  | { kind: 'refuse'; because: string }
  /** An agent sends: the gate decides inside the commit. */
  | { kind: 'agent'; agent: AgentSending };

/** Decides about outgoing mail. It may look things up; the verdict holds for the commit that follows. */
export type SendingPolicy = (input: PolicyInput) => SendVerdict | Promise<SendVerdict>;

export const ALLOW: SendVerdict = { kind: 'allow' };

/** Allows everything. */
export const allowAll: SendingPolicy = () => ALLOW;
