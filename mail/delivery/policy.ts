import type { AgentSending } from './agent/types.ts';

/** What a policy is asked about: a message that nothing else stands against. */
export interface Asked {
  tenant: number;
  /** The mailbox that sends; null: a program, or the box. */
  account: number | null;
  /** Public id of the token or key; null: somebody logged in with a password, or the box sends. */
  credential: string | null;
  /** Row of the password that somebody logged in with; null and left out: nobody did. */
  login?: number | null;
  sender: string;
  recipients: readonly string[];
  size: number;
}

export type Verdict =
  | { kind: 'allow' }
  /** It waits for a person; the reason, as a sentence without its full stop. */
  | { kind: 'hold'; because: string }
  | { kind: 'refuse'; because: string }
  /** An agent sends: the commit decides, with what it finds then. */
  | { kind: 'agent'; agent: AgentSending };

/** Decides about mail that leaves. It may look things up; what it says holds for the commit that follows. */
export type Policy = (asked: Asked) => Verdict | Promise<Verdict>;

export const ALLOW: Verdict = { kind: 'allow' };

/** Nothing is held and nothing refused. */
export const allowAll: Policy = () => ALLOW;
