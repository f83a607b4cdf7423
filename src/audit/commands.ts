import { type Command, command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { storedText } from '../../mail/store/engine/stored-text.ts';
import { type AuditEntry, CHAIN_START, chainHash } from '../core/audit-row.ts';

/**
 * An entry as it is read again on every database: the hash of its row is over that. PostgreSQL stores no NUL, and none
 * stores a surrogate without a pair.
 */
function storable(entry: AuditEntry): AuditEntry {
  const detail = JSON.parse(storedText(JSON.stringify(entry.detail))) as AuditEntry['detail'];
  const text = (one: string): string => storedText(one.toWellFormed());
  return { ...entry, actorName: text(entry.actorName), target: text(entry.target), detail };
}

/** Appends a row to an organization's audit log. */
export async function appendAudit(tx: Write, given: AuditEntry, outcome: string, stamp: Stamp): Promise<number> {
  const entry = storable(given);
  const last = await tx.get<{ hash: Uint8Array }>(
    'SELECT hash FROM audit WHERE organization_id = ? ORDER BY id DESC LIMIT 1',
    entry.organization,
  );
  const previous = last?.hash ?? CHAIN_START;
  const { id } = await tx.run(
    `INSERT INTO audit (organization_id, at, actor, actor_name, endpoint, ip, operation, target, outcome, detail, previous, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    entry.organization,
    stamp.now,
    entry.actor,
    entry.actorName,
    entry.way,
    entry.ip,
    entry.operation,
    entry.target,
    outcome,
    JSON.stringify(entry.detail),
    previous,
    chainHash(previous, { ...entry, at: stamp.now, outcome }),
  );
  return id;
}

/** Records an event without a change: a refusal, or a secret about to be revealed. Returns the row id. */
export const recordAuditEvent = command(
  'record-audit',
  (tx, { entry, outcome }: { entry: AuditEntry; outcome: string }, stamp): Promise<number> =>
    appendAudit(tx, entry, outcome, stamp),
);

export interface AuditedInput {
  command: string;
  input: unknown;
  entry: AuditEntry;
}

/**
 * Runs another command and writes its audit row in the same transaction: no change without an audit row. The outcome is
 * the `kind` of the command's result, if it has one.
 */
export function auditedCommand(commands: readonly Command<never, unknown>[]): Command<AuditedInput, unknown> {
  const byName = new Map(commands.map((one) => [one.name, one]));
  return command(AUDITED, async (tx, { command: name, input, entry }: AuditedInput, stamp) => {
    const inner = byName.get(name);
    if (inner === undefined) throw new Error(`no command is called ${name}`);
    const value = await inner.run(tx, input as never, stamp);
    await appendAudit(tx, entry, outcomeOf(value), stamp);
    return value;
  });
}

/** Command name of {@link auditedCommand} in the store. */
export const AUDITED = 'audited';

function outcomeOf(value: unknown): string {
  const kind = (value as { kind?: unknown } | null | undefined)?.kind;
  return typeof kind === 'string' ? kind : 'done';
}
