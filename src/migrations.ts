import { readFileSync } from 'node:fs';
import type { Migration } from '../mail/store/engine/migrate.ts';

const files = [
  '0001-appliance.sql',
  '0002-sent.sql',
  '0003-confirmation.sql',
  '0004-send.sql',
  '0005-events.sql',
  '0006-agents.sql',
  '0007-proposals.sql',
  '0008-oauth.sql',
  '0009-writing.sql',
  '0010-pins.sql',
  '0011-narrow-tokens.sql',
  '0012-digest.sql',
  '0013-proposal-letters.sql',
];

/** The appliance's own ledger, in order. A file that was released is never edited; a new one follows it. */
export function applianceMigrations(): Migration[] {
  return files.map((file, i) => ({
    ledger: 'appliance',
    number: i + 1,
    sql: readFileSync(new URL(`./migrations/${file}`, import.meta.url), 'utf8'),
  }));
}
