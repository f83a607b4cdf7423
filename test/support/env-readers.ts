/** Readers of environment files, written after the rules of those who read them. */

export type Variables = Record<string, string>;

/** systemd.exec(5), EnvironmentFile=; the states are those of its own reader, without continued lines. */
export function readAsSystemd(text: string): Variables {
  const found: Variables = {};
  for (const line of text.split('\n')) {
    if (/^\s*(?:[#;]|$)/.test(line)) continue;
    const at = line.indexOf('=');
    if (at < 1) throw new Error(`no variable: ${line}`);
    found[line.slice(0, at).trim()] = systemdValue(line.slice(at + 1));
  }
  return found;
}

function systemdValue(raw: string): string {
  let value = '';
  let state: 'plain' | 'single' | 'double' = 'plain';
  for (let i = 0; i < raw.length; i++) {
    const c = raw.charAt(i);
    const next = raw.charAt(i + 1);
    if (state === 'single') {
      if (c === "'") state = 'plain';
      else value += c;
    } else if (state === 'double') {
      if (c === '"') state = 'plain';
      else if (c === '\\') {
        value += '"\\`$'.includes(next) ? next : `\\${next}`;
        i++;
      } else value += c;
    } else if (c === "'") state = 'single';
    else if (c === '"') state = 'double';
    else if (c === '\\') {
      value += next;
      i++;
    } else value += c;
  }
  if (state !== 'plain') throw new Error(`no end of a quote: ${raw}`);
  return value;
}

/** compose-go's `dotenv` as of Docker Compose 2.20 and later; a `$` that is left would be looked up, so it is an error. */
export function readAsCompose(text: string): Variables {
  const found: Variables = {};
  for (const line of text.split('\n')) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, name = '', raw = ''] = /^(?:export\s+)?([\w.]+)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`no variable: ${line}`);
    found[name] = composeValue(raw);
  }
  return found;
}

function composeValue(raw: string): string {
  const quote = raw.charAt(0);
  if (quote !== "'" && quote !== '"') return expanded((raw.split(' #')[0] ?? '').trimEnd());
  let value = '';
  let escapes = false;
  for (let i = 1; i < raw.length; i++) {
    const c = raw.charAt(i);
    if (c !== quote) {
      if (!escapes && c === '\\') {
        escapes = true;
        continue;
      }
      value += escapes ? `\\${c}` : c;
      escapes = false;
    } else if (escapes) {
      value += c;
      escapes = false;
    } else {
      if (i !== raw.length - 1) throw new Error(`more after the quote: ${raw}`);
      return quote === '"' ? expanded(unescaped(value)) : value;
    }
  }
  throw new Error(`no end of a quote: ${raw}`);
}

const NAMED: Variables = { a: '\u0007', b: '\b', c: '', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function unescaped(text: string): string {
  return text.replace(/\\([abcfnrtv$"\\])/g, (_, c: string) => (c === '$' ? '$$' : (NAMED[c] ?? c)));
}

function expanded(text: string): string {
  return text.replace(/\$(.?)/g, (_, next: string) => {
    if (next !== '$') throw new Error(`it would be looked up: ${text}`);
    return '$';
  });
}
