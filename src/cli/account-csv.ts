/** A login at another server, and the mailbox here that it is pulled into. */
export interface RemoteLogin {
  user: string;
  address: string;
  secret: { password: string } | { accessToken: string };
  /** Line of the CSV file; undefined: the login is from the command line. */
  line?: number;
}

/** Logins of a CSV file, and the lines that are none. */
export interface AccountLines {
  logins: RemoteLogin[];
  bad: { line: number; problem: string }[];
}

const MAX_ACCOUNTS = 10_000;

/**
 * Parses lines of `user,password,address`; a field may be in double quotes. A first line with the word "password" in its
 * second field is a heading; with "token", the secrets are OAuth tokens. A text: the whole file is of no use.
 */
export function parseAccounts(text: string): AccountLines | string {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const found: AccountLines = { logins: [], bad: [] };
  let isToken = false;
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    const isFirst = found.logins.length + found.bad.length === 0;
    if (isFirst && /^(?:password|(?:access_?)?token)$/i.test(fields?.[1]?.trim() ?? '')) {
      isToken = /token/i.test(fields?.[1] ?? '');
      continue;
    }
    const [user = '', secret = '', address = user, ...more] = fields ?? [];
    // The line itself may contain a password.
    if (fields === undefined || user === '' || secret === '' || address === '' || more.length > 0)
      found.bad.push({
        line: at + 1,
        problem: 'The line is not "user,password,address". Correct it, then import again.',
      });
    else
      found.logins.push({
        line: at + 1,
        user,
        address,
        secret: isToken ? { accessToken: secret } : { password: secret },
      });
    if (found.logins.length + found.bad.length > MAX_ACCOUNTS)
      return `the CSV file has more than ${MAX_ACCOUNTS} accounts`;
  }
  const [first] = found.bad;
  if (found.logins.length > 0) return found;
  return first === undefined
    ? 'the CSV file names no account'
    : `line ${first.line} of the CSV file is not "user,password,address", and no other line is`;
}

/** RFC 4180: "" in quotes is one quote. Undefined: a quote is not closed. */
function fieldsOf(line: string): string[] | undefined {
  const fields: string[] = [];
  let rest = line;
  for (;;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*(,|$)/.exec(rest);
    const found = quoted ?? /^([^,"]*)(,|$)/.exec(rest);
    if (found === null) return undefined;
    fields.push(quoted === null ? (found[1] ?? '').trim() : (found[1] ?? '').replaceAll('""', '"'));
    if (found[2] === '') return fields;
    rest = rest.slice(found[0].length);
  }
}
