import { createHash } from 'node:crypto';

/** Who did what, from where: everything that is known before it is tried. */
export interface AuditEntry {
  organization: number;
  /** Public id of a token or user; `operator`, `anonymous`, `mailstead`. */
  actor: string;
  actorName: string;
  way: 'mcp' | 'mcp-session' | 'rest' | 'jmap' | 'imap' | 'portal' | 'command-line' | 'box' | 'mail';
  ip: string;
  operation: string;
  /** Public id or name of what it is done to; '' for the organization itself. */
  target: string;
  /** Facts for people; never a secret. */
  detail: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
}

/** A row as the chain is computed over it. Times are ms UTC. */
export interface AuditRow extends AuditEntry {
  at: number;
  outcome: string;
}

/** What the first row of an organization follows. */
export const CHAIN_START = Buffer.alloc(32);

/** The hash that binds a row to all before it: a row that is changed or missing breaks every later one. */
export function chainHash(previous: Uint8Array, row: AuditRow): Buffer {
  const { organization, at, actor, actorName, way, ip, operation, target, outcome, detail } = row;
  return createHash('sha256')
    .update(previous)
    .update(JSON.stringify([organization, at, actor, actorName, way, ip, operation, target, outcome, detail]))
    .digest();
}
