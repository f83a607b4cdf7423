import { readFileSync, writeFileSync } from 'node:fs';
import { withExtensionTable } from '../mail/imap/extensions-page.ts';

/** Writes the table of extensions into docs/imap.md. */
const page = new URL('../docs/imap.md', import.meta.url);
writeFileSync(page, withExtensionTable(readFileSync(page, 'utf8')));
