import type { AgentMode, NarrowLimits } from '../../mail/agents/gate/types.ts';
import type { AuditEntry } from './audit-row.ts';
import { OPERATOR } from '../../mail/store/account/account.ts';
import { type Action, ALL_ACTIONS, expandActions } from './token.ts';
import { publicId } from './ids.ts';

/** A stored token. */
export interface TokenRow {
  id: number;
  organization: number;
  name: string;
  shown: string;
  actions: string[];
  project: number | null;
  service: number | null;
  mailboxes: number[] | null;
  owner: boolean;
  /** Mode of the token; also frozen while all agents of its organization are stopped. */
  mode: AgentMode;
  createdBy: string;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
  /** The token that this limited token was created from. */
  parent: number | null;
  narrow: NarrowLimits | null;
  /** A program authorized by a person through OAuth: the client's name, and the user. */
  oauth: { client: string; user: number } | null;
}

/** Identity, network address and rights of a caller. */
export interface Caller {
  readonly kind: 'anonymous' | 'token' | 'user' | 'operator';
  /** The organization of the caller; undefined for anonymous callers. */
  readonly organization: number | undefined;
  readonly actions: ReadonlySet<Action>;
  /** Limits; null: none. */
  readonly project: number | null;
  readonly service: number | null;
  readonly mailboxes: readonly number[] | null;
  /** Id in the audit log. */
  readonly actor: string;
  readonly actorName: string;
  readonly way: AuditEntry['way'];
  readonly ip: string;
  /** Set for a token. */
  readonly token?: TokenRow;
  /** Set for a person. */
  readonly user?: { readonly id: number; readonly role: 'owner' | 'admin' | 'member' };
  /** Set if an Mcp-Session-Id authenticated or accompanied the call. */
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
    actions: expandActions(token.actions),
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

/** Returns the agent that the store records with a change; null: a person. */
export function agentOf({ kind, actor }: Caller): string | null {
  return kind === 'token' ? actor : null;
}

/** True if the token is limited to one conversation. */
export function isLimitedToThread({ token }: Caller): boolean {
  return typeof token?.narrow?.thread === 'number';
}

/**
 * Creates the caller of the socket in the data directory, which only the server's own user can open; for any
 * organization.
 */
export function operatorCaller(organization = OPERATOR): Caller {
  return {
    kind: 'operator',
    organization,
    actions: expandActions(ALL_ACTIONS),
    project: null,
    service: null,
    mailboxes: null,
    actor: 'operator',
    actorName: 'the command line',
    way: 'command-line',
    ip: '',
  };
}
