/** Keywords without $ that programs set: they are no labels. */
const PROGRAMS = /^(?:junk|nonjunk|notjunk|redirected)$/;
/** Keywords with $ that people use as labels: Thunderbird's five, and important. */
const PERSONAL = /^\$(?:important|label[1-5])$/;

/** Labels among the keywords of emails, in the order of the alphabet. */
export function labelsOf(emails: readonly { keywords: Readonly<Record<string, boolean>> }[]): string[] {
  const names = emails.flatMap(({ keywords }) => Object.keys(keywords).filter((name) => keywords[name] === true));
  return [...new Set(names.filter(isLabel))].toSorted();
}

function isLabel(name: string): boolean {
  return name.startsWith('$') ? PERSONAL.test(name) : !PROGRAMS.test(name);
}

/** The name of a label as it is shown. */
export function labelName(label: string): string {
  return label.replace(/^\$/, '');
}

/** The keyword of a label that was typed; undefined if no mail program could store it. RFC 9051 2.3.2. */
export function labelOf(typed: string): string | undefined {
  const name = typed.trim().toLowerCase().replaceAll(/\s+/g, '-');
  return /^[!#&+,.\d:;<=>?@a-z[^_`|}~-]{1,100}$/.test(name) ? name : undefined;
}
