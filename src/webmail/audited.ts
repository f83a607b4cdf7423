import type { Command } from '../../mail/store/engine/types.ts';
import { AUDITED, type AuditedInput } from '../audit/commands.ts';
import type { AppContext } from '../core/app-context.ts';
import type { AuditEntry } from '../core/audit-row.ts';
import { publicId } from '../core/ids.ts';
import type { MailReader } from './mail-reader.ts';

/** Something that a reader does to their mailbox. */
interface ReaderAct<I, O> {
  command: Command<I, O>;
  input: I;
  /** Operation of the same meaning, for the audit log. */
  operation: string;
  detail?: AuditEntry['detail'];
}

/** Runs a command for a reader, with its audit row in the same commit. */
export function auditedByReader<I, O>(
  { store }: Pick<AppContext, 'store'>,
  { account, decider }: Pick<MailReader, 'account' | 'decider'>,
  { command, input, operation, detail = {} }: ReaderAct<I, O>,
): Promise<O> {
  const { tenant, actor, actorName, ip } = decider;
  const target = publicId('mailbox', account);
  const entry: AuditEntry = { organization: tenant, actor, actorName, way: 'portal', ip, operation, target, detail };
  const audit: AuditedInput = { command: command.name, input, entry };
  return store.write<unknown, O>({ ...command, name: AUDITED }, audit);
}
