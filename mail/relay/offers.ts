/** What a server offers in its answer to EHLO. RFC 5321 4.1.1.1. */
export interface Offers {
  pipelining: boolean;
  eightBit: boolean;
  smtputf8: boolean;
  dsn: boolean;
  startTls: boolean;
  /** RFC 8689. It counts only when it was offered over TLS. */
  requireTls: boolean;
  /** Largest message in octets, 0 when the server named none; undefined without SIZE. RFC 1870. */
  size: number | undefined;
  /** Most recipients of one transaction. RFC 9422 RCPTMAX, and what every server must take. RFC 5321 4.5.3.1.8. */
  rcptMax: number;
  /** SASL mechanisms, upper case. RFC 4954 3. */
  auth: readonly string[];
}

const RCPT_MAX = 100;

/** What a server offers that knows only HELO. */
export const NO_OFFERS: Offers = {
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

/** Reads the lines of an EHLO reply; the first is a greeting. */
export function readOffers(lines: readonly string[]): Offers {
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
