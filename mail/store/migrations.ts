import { readFileSync } from 'node:fs';
import type { Migration } from './engine/migrate.ts';

const files = [
  '0001-mail.sql',
  '0002-domains.sql',
  '0003-dkim.sql',
  '0004-address.sql',
  '0005-allowance.sql',
  '0006-later.sql',
  '0007-forwards.sql',
  '0008-tls-policy.sql',
  '0009-routes.sql',
  '0010-reports.sql',
  '0011-gate.sql',
  '0012-events.sql',
  '0013-trace.sql',
  '0014-wishes.sql',
  '0015-jmap.sql',
  '0017-submission.sql',
  '0018-upload.sql',
  '0019-push.sql',
  '0020-trust.sql',
  '0021-words.sql',
  '0022-senders.sql',
  '0023-bans.sql',
  '0024-aliases.sql',
  '0025-anomaly.sql',
  '0026-labels.sql',
  '0027-claims.sql',
  '0028-agent-policy.sql',
  '0029-approval.sql',
  '0030-exposure.sql',
  '0031-withheld.sql',
  '0032-egress.sql',
  '0033-secret-link.sql',
  '0034-canary.sql',
  '0035-agent-hold.sql',
  '0036-labelled.sql',
  '0037-canary-blob.sql',
  '0038-count.sql',
  '0039-handed-out.sql',
];

/** The engine's own ledger, in order. A file that was released is never edited; a new one follows it. */
export function mailMigrations(): Migration[] {
  return files.map((file, i) => ({
    ledger: 'mail',
    number: i + 1,
    sql: readFileSync(new URL(`./migrations/${file}`, import.meta.url), 'utf8'),
  }));
}
