/** A login at another server, and the mailbox here that it is pulled into. */
export interface RemoteLogin {
  user: string;
  address: string;
  secret: { password: string } | { accessToken: string };
}

const MAX_ACCOUNTS = 10_000;

/**
 * Parses lines of `user,password,address`; a field may be in double quotes. A first line with the word "password" in its
 * second field is a heading; with "token", the secrets are OAuth tokens. A text: what is wrong, by line.
 */
export function parseAccounts(text: string): RemoteLogin[] | string {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const found: RemoteLogin[] = [];
  let isToken = false;
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    if (found.length === 0 && /^(?:password|(?:access_?)?token)$/i.test(fields?.[1]?.trim() ?? '')) {
      isToken = /token/i.test(fields?.[1] ?? '');
      continue;
    }
    const [user = '', secret = '', address = user, ...more] = fields ?? [];
    if (fields === undefined || user === '' || secret === '' || more.length > 0) {
      return `line ${at + 1} of the CSV file is not "user,password,address"`;
    }
    found.push({ user, address, secret: isToken ? { accessToken: secret } : { password: secret } });
    if (found.length > MAX_ACCOUNTS) return `the CSV file has more than ${MAX_ACCOUNTS} accounts`;
  }
  return found.length === 0 ? 'the CSV file names no account' : found;
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
