import type { CatalogueChange } from '../core/catalogue-pin.ts';
import { publicId } from '../core/ids.ts';
import { plainName, composeForOwners } from '../notices/owners.ts';
import type { SystemNotice } from '../../mail/delivery/notice.ts';
import type { NoticeContext } from '../notices/compose.ts';
import type { AuditHead } from './pin-queries.ts';

/** Composes the notice about changed tools, for each owner. */
export function composeToolsChanged(
  context: NoticeContext,
  organization: number,
  { change, sha256 }: { change: CatalogueChange; sha256: string },
): Promise<SystemNotice<'tools-changed'>[]> {
  const { hostname } = context.settings;
  return composeForOwners(
    context,
    { kind: 'tools-changed', organization },
    {
      subject: "Your agents' tools have changed",
      text: [
        'Hello,',
        '',
        `the mail server ${hostname} now offers different tools to your agents:`,
        '',
        ...named('Added', change.added),
        ...named('Removed', change.removed),
        ...named('Changed', change.changed),
        '',
        'Why: the server was updated. If it was not, somebody may have changed what your agents read:',
        'then ask its operator.',
        '',
        'SHA-256 of the whole tool list, the same as tools/list reports to your agents:',
        `  ${sha256}`,
        '',
        `Mailstead on ${hostname}`,
      ],
    },
  );
}

function named(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what}:`, ...names.map((name) => `  ${name}`)];
}

/** Composes the notice with the newest hash of the audit log, for each owner: storing it proves what the log contained. */
export function composeAuditHead(
  context: NoticeContext,
  { organization, name, audit, hash, acts }: AuditHead,
): Promise<SystemNotice<'audit-head'>[]> {
  const { hostname } = context.settings;
  const pages = `${context.baseUrl()}/o/${publicId('organization', organization)}`;
  return composeForOwners(
    context,
    { kind: 'audit-head', organization },
    {
      subject: "Your agents' activity: audit log checkpoint",
      text: [
        'Hello,',
        '',
        `agents of "${plainName(name)}" on the mail server ${hostname} made ${acts >= 100 ? '100 or more entries' : `${acts} ${acts === 1 ? 'entry' : 'entries'}`} in the`,
        'audit log since the last notice. The log ends with this entry; its hash covers all entries before it:',
        '',
        `  ${publicId('audit', audit)}`,
        `  ${Buffer.from(hash).toString('hex')}`,
        '',
        'Keep this message: if anybody changes the log later, the hash of that entry changes.',
        `Read and verify the log: ${pages}/audit?verify`,
        `Unexpected? Revoke an agent's token: ${pages}/tokens`,
        '',
        `Mailstead on ${hostname}`,
      ],
    },
  );
}
