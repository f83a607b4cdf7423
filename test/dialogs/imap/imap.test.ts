import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'vitest';
import { runDialog } from '../../support/imap-dialog.ts';

const HERE = new URL('.', import.meta.url);

for (const file of readdirSync(HERE).filter((name) => name.endsWith('.dialog'))) {
  // A blank line and a `# ` line begin the next dialog of the file.
  const dialogs = readFileSync(new URL(file, HERE), 'utf8').split(/\n\n(?=# )/);
  for (const dialog of dialogs) test(`${file}: ${dialog.split('\n', 1)[0]?.slice(2)}`, () => runDialog(dialog));
}
