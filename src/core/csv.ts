/** Fields of one line of CSV, RFC 4180, without line breaks in fields. Undefined: a quote is not closed. Linear. */
export function csvFields(line: string): string[] | undefined {
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    while (line[at] === ' ' || line[at] === '\t') at++;
    const field = line[at] === '"' ? quotedField(line, at) : plainField(line, at);
    if (field === undefined) return undefined;
    fields.push(field.text);
    if (field.end >= line.length) return fields;
    if (line[field.end] !== ',') return undefined;
    at = field.end + 1;
  }
}

interface CsvField {
  text: string;
  /** Position of the comma behind it, or the end of the line. */
  end: number;
}

function plainField(line: string, from: number): CsvField {
  const comma = line.indexOf(',', from);
  const end = comma < 0 ? line.length : comma;
  return { text: line.slice(from, end).trim(), end };
}

function quotedField(line: string, from: number): CsvField | undefined {
  let text = '';
  for (let at = from + 1; ;) {
    const quote = line.indexOf('"', at);
    if (quote < 0) return undefined;
    text += line.slice(at, quote);
    if (line[quote + 1] !== '"') return { text, end: quote + 1 };
    text += '"';
    at = quote + 2;
  }
}

/**
 * One line of CSV, every field in quotes. Spreadsheets run fields that begin with =, +, - or @ as formulas (OWASP CSV
 * injection): such a field gets an apostrophe in front.
 */
export function csvLine(fields: readonly string[]): string {
  const quoted = fields.map((text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`);
  return `${quoted.join(',')}\r\n`;
}
