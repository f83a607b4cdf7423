import { createHash } from 'node:crypto';

/** Actor, source and target of an operation: everything known before it is attempted. */
export interface AuditEntry {
  organization: number;
  /** Public id of a token or user; `operator`, `anonymous`, `mailstead`. */
  actor: string;
  actorName: string;
  way: 'mcp' | 'mcp-session' | 'rest' | 'jmap' | 'imap' | 'portal' | 'command-line' | 'box' | 'mail';
  ip: string;
  operation: string;
  /** Public id or name of the target; '' for the organization itself. */
  target: string;
  /** Facts for people; no secrets. */
  detail: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
}

/** A row as hashed into the chain. Times are ms UTC. */
export interface AuditRow extends AuditEntry {
  at: number;
  outcome: string;
}

/** The hash before the first row of an organization. */
export const CHAIN_START = Buffer.alloc(32);

/** Computes the hash that chains a row to all rows before it: a changed or missing row breaks every later hash. */
export function chainHash(previous: Uint8Array, row: AuditRow): Buffer {
  const { organization, at, actor, actorName, way, ip, operation, target, outcome, detail } = row;
  return createHash('sha256')
    .update(previous)
    .update(JSON.stringify([organization, at, actor, actorName, way, ip, operation, target, outcome, detail]))
    .digest();
}
