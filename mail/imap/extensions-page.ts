import { EXTENSIONS } from './extensions.ts';

const START = '<!-- extensions -->\n';
const END = '<!-- end of extensions -->';

/** The text of docs/imap.md with the table of extensions as it is in the code. */
export function withExtensionTable(page: string): string {
  const [before, rest = ''] = page.split(START, 2);
  const after = rest.slice(Math.max(0, rest.indexOf(END)));
  const rows = Object.entries(EXTENSIONS)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { rfc, use }]) => `| \`${name}\` | ${rfc} | ${use} |`);
  return [before, START, '| capability | RFC | what it is for |\n|---|---|---|\n', rows.join('\n'), '\n\n', after].join(
    '',
  );
}
