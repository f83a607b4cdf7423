import { globSync, readFileSync } from 'node:fs';
import { worstInput } from './expression-cost.ts';
import { splitSource } from './source-text.ts';

/** Reports regular expressions of the product whose time grows faster than their input, as a stranger could hang a thread. */

/** Expressions whose input is bounded, each with the bound that keeps its time small. */
const BOUNDED: Readonly<Record<string, string>> = {
  'config/parse.ts /\\/+$/': 'a setting of the operator',
  'mail/agents/secrets/scan.ts /(?=[a-z_-]{0,63}[0-9])[a-z0-9_-]{6,64}/g': '64 characters are tried at each place',
  'mail/imap/wire/mailbox-name.ts /=+$/': 'own base64 ends in two at most',
  'mail/policy/container/program.ts /[\\s.\\0]+$/': '300 characters of a file name',
  'src/notices/owners.ts /\\S*:\\/\\/\\S*|\\S*www\\.\\S*|\\S+\\.\\p{L}{2,}\\S*|\\S*@\\S*|[<>"]/giu':
    '500 characters of a name',
  'src/notices/secret-pages.ts /\\/+$/': 'a setting of the operator',
  'src/organizations/commands.ts /-+$/': 'runs of dashes are one dash already',
  'src/people/password.ts /=+$/': 'own base64 ends in two at most',
  'src/reading/stop-reply.ts /[:\\uff1a]$|\\S{1,64}@\\S{1,255}/u': '64 characters are tried at each place',
  'src/sending/mailbox-text.ts /^(.*?)\\s*<([^<>]*)>$/u': '500 characters of an address',
};

let count = 0;
const found = new Set<string>();
for (const file of globSync(['src/**/*.ts', 'mail/**/*.ts', 'config/**/*.ts']).toSorted()) {
  for (const { text, line } of splitSource(readFileSync(file, 'utf8')).expressions) {
    const end = text.lastIndexOf('/');
    if (`${file} ${text}` in BOUNDED) {
      found.add(`${file} ${text}`);
      continue;
    }
    const unit = worstInput(new RegExp(text.slice(1, end), text.slice(end + 1)));
    if (unit === undefined) continue;
    count += 1;
    console.log(`${file}:${line} ${text} takes more than linear time on ${JSON.stringify(unit)} repeated`);
  }
}
for (const entry of Object.keys(BOUNDED).filter((one) => !found.has(one))) {
  count += 1;
  console.log(`BOUNDED lists ${entry}, which is not in the source`);
}
process.exitCode = count > 0 ? 1 : 0;
