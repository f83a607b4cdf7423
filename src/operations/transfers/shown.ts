import { z } from 'zod';
import type { ImportJobRow, ImportState } from '../../../mail/store/transfer/import-job.ts';
import { publicId } from '../../core/ids.ts';
import { isoOf, isoOrNull } from '../../core/schemas.ts';
import type { ImportSpec } from '../../transfers/import-spec.ts';

/** Imports as tools show them; their schema is listed with few fields, as each costs every agent. */
export const ImportJob = z.looseObject({ importId: z.string(), state: z.string() });

export interface ShownImport extends Record<string, unknown> {
  importId: string;
  mailboxId: string;
  kind: 'file' | 'imap';
  source: string;
  state: ImportState;
  imported: number;
  /** Messages that an earlier import brought. */
  known: number;
  skipped: number;
  bytes: number;
  /** Null: not counted. */
  total: number | null;
  folder: string | null;
  /** Why it failed, or why it waits. */
  problem: string | null;
  /** It waits until then; null: it does not wait. */
  nextAttemptAt: string | null;
  createdAt: string;
  endedAt: string | null;
}

/** A job as it is listed. */
export function shownImport(row: ImportJobRow): ShownImport {
  const spec = JSON.parse(row.spec) as ImportSpec;
  const progress = JSON.parse(row.progress) as Partial<ShownImport> & { retryAt?: number };
  const { problem = null } = JSON.parse(row.report) as { problem?: string };
  return {
    importId: publicId('import', row.id),
    mailboxId: publicId('mailbox', row.account),
    kind: row.kind,
    source: sourceOf(spec),
    state: row.state,
    imported: progress.imported ?? 0,
    known: progress.known ?? 0,
    skipped: progress.skipped ?? 0,
    bytes: progress.bytes ?? 0,
    total: progress.total ?? null,
    folder: progress.folder ?? null,
    problem,
    nextAttemptAt: row.endedAt === null ? isoOrNull(progress.retryAt ?? null) : null,
    createdAt: isoOf(row.createdAt),
    endedAt: isoOrNull(row.endedAt),
  };
}

function sourceOf(spec: ImportSpec): string {
  if (spec.kind === 'imap') return `${spec.user} at ${spec.host}`;
  return spec.path ?? spec.name ?? spec.fileName ?? 'upload';
}
