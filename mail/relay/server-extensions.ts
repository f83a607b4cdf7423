/** Service extensions in the EHLO reply of a server. RFC 5321 4.1.1.1. */
export interface ServerExtensions {
  pipelining: boolean;
  eightBit: boolean;
  smtputf8: boolean;
  dsn: boolean;
  startTls: boolean;
  /** REQUIRETLS, valid only over TLS. RFC 8689. */
  requireTls: boolean;
  /** Largest message in octets, 0 when the server named none; undefined without SIZE. RFC 1870. */
  size: number | undefined;
  /** Most recipients of one transaction. RFC 9422 RCPTMAX, and what every server must take. RFC 5321 4.5.3.1.8. */
  rcptMax: number;
  /** SASL mechanisms, upper case. RFC 4954 3. */
  auth: readonly string[];
}

const RCPT_MAX = 100;

/** Extensions of a server that knows only HELO: none. */
export const NO_EXTENSIONS: ServerExtensions = {
  pipelining: false,
  eightBit: false,
  smtputf8: false,
  dsn: false,
  startTls: false,
  requireTls: false,
  size: undefined,
  rcptMax: RCPT_MAX,
  auth: [],
};

/** Parses an EHLO reply; its first line is a greeting. */
export function parseExtensions(lines: readonly string[]): ServerExtensions {
  const words = new Map<string, string>();
  for (const line of lines.slice(1)) {
    const [keyword = '', ...parameters] = line.trim().split(/ +/);
    words.set(keyword.toUpperCase(), parameters.join(' '));
  }
  const rcptMax = /(?:^| )RCPTMAX=(\d{1,9})(?: |$)/i.exec(words.get('LIMITS') ?? '')?.[1];
  return {
    pipelining: words.has('PIPELINING'),
    eightBit: words.has('8BITMIME'),
    smtputf8: words.has('SMTPUTF8'),
    dsn: words.has('DSN'),
    startTls: words.has('STARTTLS'),
    requireTls: words.has('REQUIRETLS'),
    size: words.has('SIZE') ? Number(/^\d{1,15}/.exec(words.get('SIZE') ?? '')?.[0] ?? 0) : undefined,
    rcptMax: Math.max(1, Math.min(Number(rcptMax ?? RCPT_MAX), RCPT_MAX)),
    auth: (words.get('AUTH') ?? '').toUpperCase().split(' '),
  };
}
