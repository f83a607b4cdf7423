import type { AccountContext } from '../accounts/accounts.ts';
import type { DomainContext } from '../domains/domains.ts';
import type { Fields } from './fields.ts';

/** What the appliance says of itself. */
export interface ApplianceFacts {
  version: string;
  mode: 'local' | 'live';
  hostname: string;
  /** Milliseconds UTC. */
  startedAt: number;
  /** Door -> port that was really opened. */
  listeners: Readonly<Record<string, number>>;
  /** Names of readiness checks that fail now. */
  failing: readonly string[];
}

/** What operations need of the appliance. */
export interface ControlContext extends AccountContext, DomainContext {
  /** The operator's own organization. */
  tenant: number;
  /** Milliseconds UTC. */
  clock: () => number;
  facts: () => Promise<ApplianceFacts>;
  /** Credentials that hold no more: cached logins and their sessions end. */
  revoked: (account: number, credentials: readonly number[]) => void;
  /** Queue rows may have become due. */
  queueChanged: () => void;
}

/** A thing that can be done, by its name; doors know nothing else of it. */
export interface Operation<I, O> {
  name: string;
  /** Takes the input out of what a door was given. Throws {@link BadInput}. */
  input(fields: Fields): I;
  run(context: ControlContext, input: I): Promise<O | Refusal>;
}

/** Why something was not done, in a sentence for people. */
export interface Refusal {
  readonly kind: 'refused';
  readonly code: 'invalid' | 'not_found' | 'conflict';
  readonly message: string;
}

export function refuse(code: Refusal['code'], message: string): Refusal {
  return { kind: 'refused', code, message };
}

export function isRefusal(outcome: unknown): outcome is Refusal {
  return typeof outcome === 'object' && outcome !== null && (outcome as Refusal).kind === 'refused';
}

export function operation<I, O>(what: Operation<I, O>): Operation<I, O> {
  return what;
}
