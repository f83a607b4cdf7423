import type { AuditEntry } from '../audit/row.ts';
import { OPERATOR } from '../../mail/store/account.ts';
import { type Action, ALL_ACTIONS, granted } from '../tokens/token.ts';
import type { TokenRow } from '../tokens/commands.ts';
import { publicId } from '../ids.ts';

/** Who asks, from where, and what the credential allows. */
export interface Caller {
  readonly kind: 'anonymous' | 'token' | 'user' | 'operator';
  /** The organization that it acts in; undefined for anonymous callers. */
  readonly organization: number | undefined;
  readonly actions: ReadonlySet<Action>;
  /** Limits; null: none. */
  readonly project: number | null;
  readonly service: number | null;
  readonly mailboxes: readonly number[] | null;
  /** As the audit log names it. */
  readonly actor: string;
  readonly actorName: string;
  readonly way: AuditEntry['way'];
  readonly ip: string;
  /** Of a token. */
  readonly token?: TokenRow;
  /** Of a person. */
  readonly user?: { readonly id: number; readonly role: 'owner' | 'admin' | 'member' };
  /** When an Mcp-Session-Id authenticated or accompanied the call. */
  readonly session?: { readonly shown: string; readonly expiresAt: number };
}

export function anonymousCaller(way: Caller['way'], ip: string): Caller {
  return {
    kind: 'anonymous',
    organization: undefined,
    actions: new Set(),
    project: null,
    service: null,
    mailboxes: null,
    actor: 'anonymous',
    actorName: '',
    way,
    ip,
  };
}

export function tokenCaller(token: TokenRow, way: Caller['way'], ip: string): Caller {
  return {
    kind: 'token',
    organization: token.organization,
    actions: granted(token.actions),
    project: token.project,
    service: token.service,
    mailboxes: token.mailboxes,
    actor: publicId('token', token.id),
    actorName: token.name,
    way,
    ip,
    token,
  };
}

/** The agent that asks, as the engine writes it down beside what it changes; null: a person. */
export function agentOf({ kind, actor }: Caller): string | null {
  return kind === 'token' ? actor : null;
}

/** It is for one conversation. */
export function isLimitedToThread({ token }: Caller): boolean {
  return typeof token?.narrow?.thread === 'number';
}

/** Who may open the socket in the data directory, which is for the user that runs the server; in any organization. */
export function operatorCaller(organization = OPERATOR): Caller {
  return {
    kind: 'operator',
    organization,
    actions: granted(ALL_ACTIONS),
    project: null,
    service: null,
    mailboxes: null,
    actor: 'operator',
    actorName: 'the command line',
    way: 'command-line',
    ip: '',
  };
}
